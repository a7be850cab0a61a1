// The cases of tests/report/axis_test.cpp, and those of zooming in.
//
// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import { place, reading_text, tics, value, whole_tics, type Range } from './axis';
import type { Scale } from './data';

const kScales: Scale[] = ['linear', 'logarithmic', 'exponent'];

function numbers(scale: Scale, range: Range): string[] {
  return tics(scale, range)
    .map((tic) => tic.label)
    .filter((label) => label !== '');
}

describe('place', () => {
  it('is the value or its logarithm', () => {
    expect(place('linear', -2.5)).toBe(-2.5);
    expect(place('exponent', -1000)).toBe(-1000);
    expect(place('logarithmic', 100)).toBe(2);
  });

  it('is none for what the axis cannot show', () => {
    for (const scale of kScales) {
      for (const hidden of [NaN, Infinity, -Infinity]) expect(place(scale, hidden)).toBeNaN();
    }
    for (const hidden of [0, -1]) expect(place('logarithmic', hidden)).toBeNaN();
    expect(place('exponent', -2e15)).toBeNaN();
  });

  it('is undone by value', () => {
    for (const scale of kScales) expect(value(scale, place(scale, 1000))).toBeCloseTo(1000, 9);
  });
});

describe('tics', () => {
  const kRanges: Range[] = [
    [-0.03, 1.03],
    [-6.5, 6.5],
    [-123.4, 0.7],
    [2.3, 3.3],
    [-1e9, 12],
  ];

  it('increase and lie inside', () => {
    for (const scale of kScales) {
      for (const range of [...kRanges, [0.31, 0.32], [5.30102, 5.30104]] as Range[]) {
        const found = tics(scale, range).map((tic) => tic.place);
        // A tic may lie outside by a rounding: 10⁻⁹ of a step, and no step is longer than the range.
        const rounding = 1e-9 * Math.max(1, range[1] - range[0]);
        expect(found.length).toBeGreaterThan(1);
        expect(found[0]).toBeGreaterThanOrEqual(range[0] - rounding);
        expect(found.at(-1)).toBeLessThanOrEqual(range[1] + rounding);
        expect(found).toEqual([...new Set(found)].sort((a, b) => a - b));
      }
    }
  });

  // Property (1).
  it('are tidy on a linear axis', () => {
    expect(numbers('linear', [-0.03, 1.03])).toEqual(['0', '0.2', '0.4', '0.6', '0.8', '1']);
    expect(numbers('linear', [-6.5, 6.5])).toEqual(['−6', '−4', '−2', '0', '2', '4', '6']);
    const millions = ['0', '10⁶', '2·10⁶', '3·10⁶', '4·10⁶', '5·10⁶'];
    expect(numbers('linear', [0, 5e6])).toEqual(millions);
  });

  it('are few and end, even where adding 1 changes nothing', () => {
    expect(tics('linear', [1e20, 1e20 * (1 + 1e-14)]).length).toBeLessThan(12);
  });

  // Property (2), for a decade that begins anywhere.
  it('have at least three numbers in a decade', () => {
    expect(numbers('logarithmic', [-1, 0.5])).toEqual(['0.1', '0.2', '0.5', '1', '2']);
    for (let low = -2; low <= 2; low += 0.03125) {
      expect(numbers('logarithmic', [low, low + 1]).length).toBeGreaterThanOrEqual(3);
    }
    const far = ['10⁻⁴⁰⁰', '2·10⁻⁴⁰⁰', '5·10⁻⁴⁰⁰', '10⁻³⁹⁹'];
    expect(numbers('exponent', [-400, -399])).toEqual(far);
  });

  // Property (3).
  it('number the powers of ten', () => {
    const found = tics('logarithmic', [-3, 0]);
    expect(found.length).toBe(3 * 9 + 1);
    expect(found[0]).toEqual({ place: -3, label: '10⁻³' });
    expect(found[1]).toEqual({ place: -3 + Math.log10(2), label: '' });
    expect(found.at(-1)).toEqual({ place: 0, label: '10⁰' });
    expect(numbers('exponent', [-6.1, 0.1]).length).toBe(7);
  });

  // Property (4).
  it('are never crowded over many decades', () => {
    const twenties = ['10⁻¹²⁰', '10⁻¹⁰⁰', '10⁻⁸⁰', '10⁻⁶⁰', '10⁻⁴⁰', '10⁻²⁰', '10⁰'];
    expect(numbers('exponent', [-125, 5])).toEqual(twenties);
    for (let span = 8; span < 1e14; span *= 1.37) {
      const count = numbers('exponent', [-span, 0.3]).length;
      expect(count).toBeLessThanOrEqual(7);
      expect(count).toBeGreaterThanOrEqual(3);
    }
  });

  // Property (5).
  it('are values where a decade is seen from close by', () => {
    const near = tics('logarithmic', [Math.log10(311), Math.log10(319)]);
    expect(near.map((tic) => tic.label)).toEqual(['312', '314', '316', '318']);
    expect(near[0]!.place).toBeCloseTo(Math.log10(312), 12);
    expect(numbers('exponent', [-399.5, -399.4])).toContain('3.4·10⁻⁴⁰⁰');
  });
});

describe('whole_tics', () => {
  it('count rows', () => {
    expect(whole_tics([-0.5, 3.5]).map((tic) => tic.label)).toEqual(['0', '1', '2', '3']);
    expect(whole_tics([-0.5, 31.5]).map((tic) => tic.place)).toEqual([0, 10, 20, 30]);
  });
});

describe('reading_text', () => {
  it('says what the axis shows', () => {
    expect(reading_text('linear', 0.25, 0.01)).toBe('0.250 ± 0.010');
    expect(reading_text('logarithmic', 1e-9)).toBe('10⁻⁹');
    expect(reading_text('exponent', -3)).toBe('0.001');
    expect(reading_text('exponent', -1000.5)).toBe('3.1623·10⁻¹⁰⁰¹');
    expect(reading_text('exponent', -1000.5, 0.25)).toBe('10^(−1000.50 ± 0.25)');
  });
});
