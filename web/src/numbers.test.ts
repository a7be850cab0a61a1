// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import { measured_text, number_text, power_of_ten_text, unpacked, value_text } from './numbers';

describe('unpacked', () => {
  it('reads plain numbers, with NaN for null and both infinities', () => {
    expect([...unpacked([1.5, null, 'inf', '-inf'])]).toEqual([1.5, NaN, Infinity, -Infinity]);
    expect(unpacked([]).length).toBe(0);
  });

  it('reads the bytes of little-endian doubles bit for bit', () => {
    const numbers = [0.1 + 0.2, -0, 5e-324, NaN, Infinity, -1e308];
    const bytes = new DataView(new ArrayBuffer(8 * numbers.length));
    numbers.forEach((number, k) => bytes.setFloat64(8 * k, number, true));
    const float64 = btoa(String.fromCharCode(...new Uint8Array(bytes.buffer)));
    expect([...unpacked({ float64 })]).toEqual(numbers);
    expect([...unpacked({ float64: 'AAAAAAAA8D8AAAAAAAAAQA==' })]).toEqual([1, 2]);
  });
});

// The cases of tests/report/number_text_test.cpp.
describe('number_text', () => {
  it('raises the digits of powers', () => {
    expect([0, -3, 1234567890].map(power_of_ten_text)).toEqual(['10⁰', '10⁻³', '10¹²³⁴⁵⁶⁷⁸⁹⁰']);
  });

  it('is plain near one', () => {
    const numbers = [0, -0, 3 * 0.1, -2.5, 1e-4, 99999];
    const texts = ['0', '0', '0.3', '−2.5', '0.0001', '99999'];
    expect(numbers.map((number) => number_text(number))).toEqual(texts);
  });

  it('has a power of ten far from one', () => {
    const numbers = [1e5, -2.5e-7, 9.9999999999999e6, 5e-324];
    const texts = ['10⁵', '−2.5·10⁻⁷', '10⁷', '4.94065645841·10⁻³²⁴'];
    expect(numbers.map((number) => number_text(number))).toEqual(texts);
  });

  it('names what is not finite', () => {
    expect([NaN, -Infinity].map((number) => number_text(number))).toEqual(['NaN', '−∞']);
  });
});

describe('value_text', () => {
  it('has five digits, and whole numbers in full', () => {
    const numbers = [1 / 3, -1048576, 2.123456e-9, 123456.7, 1e12, NaN];
    const texts = ['0.33333', '−1048576', '2.1235·10⁻⁹', '1.2346·10⁵', '10¹²', 'unknown'];
    expect(numbers.map(value_text)).toEqual(texts);
  });
});

describe('measured_text', () => {
  it('ends the value where two digits of the error end', () => {
    expect(measured_text(0.312704, 0.000417)).toBe('0.31270 ± 0.00042');
    expect(measured_text(-12.3456, 0.31)).toBe('−12.35 ± 0.31');
    expect(measured_text(1234.4, 56)).toBe('1234 ± 56');
    expect(measured_text(0.5, 0.0996)).toBe('0.50 ± 0.10');
    expect(measured_text(-1e-9, 0.25)).toBe('0.00 ± 0.25');
  });

  it('shares a power of ten far from one', () => {
    expect(measured_text(3.127e-7, 4.2e-9)).toBe('(3.127 ± 0.042)·10⁻⁷');
    expect(measured_text(-2.5e8, 1e6)).toBe('(−2.500 ± 0.010)·10⁸');
    expect(measured_text(5e-324, 5e-324)).toContain('·10⁻³²⁴');
  });

  it('says the value alone where there is no error', () => {
    for (const error of [0, NaN, Infinity, -1]) expect(measured_text(0.25, error)).toBe('0.25');
    expect(measured_text(NaN, 0.1)).toBe('unknown');
    expect(measured_text(-Infinity, 0.1)).toBe('−∞');
  });

  it('gives both numbers back to two digits of the error', () => {
    for (let k = 0; k < 200; ++k) {
      const value = Math.sin(k) * 10 ** ((k % 9) - 3);
      const error = (1 + (k % 7)) * 10 ** ((k % 5) - 4);
      const text = measured_text(value, error).replaceAll('−', '-');
      const [, a, b, power] = /^\(?(\S+) ± ([^)]+)\)?(?:·10(.*))?$/.exec(text)!;
      const raised = [...(power ?? '⁰')].map((c) => '⁰¹²³⁴⁵⁶⁷⁸⁹'.indexOf(c));
      const sign = power?.startsWith('⁻') ? -1 : 1;
      const unit = 10 ** (sign * Number(raised.filter((digit) => digit >= 0).join('')));
      expect(Math.abs(Number(a) * unit - value)).toBeLessThanOrEqual(0.051 * error);
      expect(Math.abs(Number(b) * unit - error)).toBeLessThanOrEqual(0.051 * error);
    }
  });
});
