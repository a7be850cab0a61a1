// Numbers: out of the page's data, and as a reader writes them (0.25, −3, 2.5·10⁻⁷, 0.31270 ± 0.00042).
//
// The C++ twin of power_of_ten_text() and number_text() is src/dewpoint/report/number_text.cpp.
//
// SPDX-License-Identifier: Apache-2.0
import type { Cell, PackedNumbers } from './data';

const kSuperscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function number_of_cell(cell: Cell): number {
  if (cell === null) return NaN;
  if (cell === 'inf') return Infinity;
  return cell === '-inf' ? -Infinity : cell;
}

function numbers_of_bytes(base64: string): Float64Array {
  const text = atob(base64);
  const bytes = new DataView(new ArrayBuffer(text.length));
  for (let k = 0; k < text.length; ++k) bytes.setUint8(k, text.charCodeAt(k));
  const count = Math.floor(text.length / 8);
  return Float64Array.from({ length: count }, (_, k) => bytes.getFloat64(8 * k, true));
}

/** NaN where nothing is known. */
export function unpacked(numbers: PackedNumbers): Float64Array {
  return Array.isArray(numbers)
    ? Float64Array.from(numbers, number_of_cell)
    : numbers_of_bytes(numbers.float64);
}

/** 10 to a whole power: "10⁻³", "10⁰", "10¹²". */
export function power_of_ten_text(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => kSuperscripts[Number(digit)]);
  return (exponent < 0 ? '10⁻' : '10') + digits.join('');
}

function is_plain(magnitude: number): boolean {
  return magnitude >= 1e-4 && magnitude < 1e5;
}

// Taken apart after rounding, so that 9.99999999999999e6 becomes 10⁷ and not 10·10⁶.
function scientific_text(magnitude: number, digits: number): string {
  const [mantissa, exponent] = magnitude.toExponential(digits - 1).split('e');
  const power = power_of_ten_text(Number(exponent));
  return Number(mantissa) === 1 ? power : `${Number(mantissa)}·${power}`;
}

/**
 * At most `digits` significant digits, without trailing zeros: plain from 10⁻⁴ up to 10⁵, otherwise
 * a mantissa and a power of ten, the mantissa left out where it is 1.
 */
export function number_text(value: number, digits = 12): string {
  if (Number.isNaN(value)) return 'NaN';
  const sign = value < 0 ? '−' : '';
  const magnitude = Math.abs(value);
  if (magnitude === Infinity) return `${sign}∞`;
  if (magnitude === 0) return '0';
  const text = is_plain(magnitude)
    ? String(Number(magnitude.toPrecision(digits)))
    : scientific_text(magnitude, digits);
  return sign + text;
}

/** For reading off a figure: five significant digits; whole numbers below 10⁹ in full. */
export function value_text(value: number): string {
  if (Number.isNaN(value)) return 'unknown';
  const is_count = Number.isInteger(value) && Math.abs(value) < 1e9;
  return is_count ? String(value).replace(/^-/, '−') : number_text(value, 5);
}

function fixed_text(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

// The power of ten of the second significant digit of an error, after rounding to it.
function last_place(error: number): number {
  return Number(error.toExponential(1).split('e')[1]) - 1;
}

function scaled(value: number, exponent: number): number {
  return Number(`${value}e${exponent}`.replace(/e(.*)e(.*)/, (_, a, b) => `e${+a + +b}`));
}

/**
 * "0.31270 ± 0.00042": the error has two significant digits and the value ends where the error
 * does; far from 1, "(3.127 ± 0.042)·10⁻⁷". Without an error above 0, the value alone.
 */
export function measured_text(value: number, error: number): string {
  if (!Number.isFinite(value) || !Number.isFinite(error) || error <= 0) return value_text(value);
  const magnitude = Math.max(Math.abs(value), error);
  const last = last_place(error);
  if (is_plain(magnitude) && last >= -12) {
    const decimals = Math.max(0, -last);
    return `${fixed_text(value, decimals)} ± ${fixed_text(error, decimals)}`;
  }
  const exponent = Number(magnitude.toExponential().split('e')[1]);
  const decimals = Math.min(15, Math.max(0, exponent - last));
  const parts = [value, error].map((part) => fixed_text(scaled(part, -exponent), decimals));
  return exponent === 0
    ? parts.join(' ± ')
    : `(${parts.join(' ± ')})·${power_of_ten_text(exponent)}`;
}
