// Fields of a question as texts: in the address, in boxes to type in, on the command line.
//
// SPDX-License-Identifier: Apache-2.0
import type { Field, Value } from './contract';

const kSmallestPlain = 1e-4;
const kLargestPlain = 1e6;

/** As one would type it, and exact: "0.95", "1e30", "2.5e-7". */
export function typed_number(value: number): string {
  const magnitude = Math.abs(value);
  const is_plain = value === 0 || (magnitude >= kSmallestPlain && magnitude < kLargestPlain);
  if (is_plain) return String(value);
  const plain = String(value);
  return plain.includes('e') ? plain.replace('e+', 'e') : short_power(value, plain);
}

// 1000000 becomes 1e6; a number with many digits stays as it is.
function short_power(value: number, plain: string): string {
  const power = value.toExponential().replace('e+', 'e');
  return power.length < plain.length ? power : plain;
}

export function number_of_text(text: string): number {
  return text.trim() === '' ? NaN : Number(text);
}

/** The text of a value in a box; empty for none. */
export function text_of_value(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'number') return typed_number(value);
  if (typeof value === 'boolean') return value ? '1' : '0';
  return Array.isArray(value) ? value.join(' ') : value;
}

/**
 * What was meant by a text. One that is no number, or too large for one, stays a text, for the server
 * to refuse.
 */
export function value_of_text(field: Field, text: string): Value {
  if (text.trim() === '') return field.default;
  if (field.kind === 'flag') return text !== '0' && text !== 'false';
  if (field.kind !== 'number' && field.kind !== 'whole') return text.trim();
  const number = number_of_text(text);
  return Number.isFinite(number) ? number : text.trim();
}

export function is_same_value(a: Value, b: Value): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

// ------------------------------------------------------------------------------------------ lists

/**
 * The numbers of a list as the command line writes it: "1,2,4", "0:0.95:20", "1e2:1e15:14:log".
 * Null where it cannot be read.
 */
export function numbers_of_list(value: Value): number[] | null {
  if (typeof value === 'number') return [value];
  if (typeof value !== 'string') return null;
  const numbers = value.includes(':') ? range_numbers(value) : value.split(',').map(number_of_text);
  return numbers.length > 0 && numbers.every(Number.isFinite) ? numbers : null;
}

function range_numbers(text: string): number[] {
  const [first, last, count, scale, ...rest] = text.split(':');
  const [low, high, size] = [first, last, count].map((part) => number_of_text(part ?? ''));
  const is_known = rest.length === 0 && (scale === undefined || scale === 'log');
  if (!is_known || !Number.isInteger(size) || size! < 1) return [NaN];
  return Array.from({ length: size! }, (_, k) => {
    if (k === 0) return low!;
    if (k === size! - 1) return high!;
    const share = k / (size! - 1);
    return scale === 'log' ? low! * (high! / low!) ** share : low! + (high! - low!) * share;
  });
}

const kSame = 1e-9; // relative: a number of a range that was typed

function is_close(a: number, b: number): boolean {
  return Math.abs(a - b) <= kSame * Math.max(Math.abs(a), Math.abs(b));
}

/** The index of a number in a list, or of the nearest one (by ratio where all are positive). */
export function nearest_index(numbers: readonly number[], value: number): number {
  const by_ratio = value > 0 && numbers.every((number) => number > 0);
  const distance = (number: number) =>
    by_ratio ? Math.abs(Math.log(number / value)) : Math.abs(number - value);
  let best = 0;
  numbers.forEach((number, k) => {
    if (distance(number) < distance(numbers[best]!)) best = k;
  });
  return best;
}

/** The list with a number added in its place; the same text where it is there already. */
export function list_with(value: Value, extra: number): Value {
  const numbers = numbers_of_list(value);
  if (numbers === null || numbers.some((number) => is_close(number, extra))) return value;
  return [...numbers, extra]
    .sort((a, b) => a - b)
    .map((number) => typed_number(Number(number.toPrecision(12))))
    .join(',');
}
