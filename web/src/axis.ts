// Axes: where a value lies, and which numbers stand beside it.
//
// An axis is linear in its own coordinate, the "place": the value itself or its decimal logarithm.
// Charts see places only, so that a curve may reach 10⁻¹⁰⁰⁰, which no double can hold. The C++ twin
// is src/dewpoint/report/axis.cpp. One rule is added here, because a reader may zoom in: where
// fewer than two numbers would be left on an axis of powers, its tics are tidy values instead.
//
// SPDX-License-Identifier: Apache-2.0
import type { Scale } from './data';
import { measured_text, number_text, power_of_ten_text, value_text } from './numbers';

export type Range = readonly [low: number, high: number];

export interface Tic {
  place: number;
  label: string; // empty: a short tic without a number
}

const kLargestExponent = 1e15; // whole numbers up to here are exact, as tics must be
const kRounding = 1e-9; // of a step: a tic this far outside still counts as inside
const kDensity = 0.7; // data with room around them need a finer step than a whole span
const kMostNumbers = 7;

/** NaN where the axis cannot show the value. */
export function place(scale: Scale, value: number): number {
  const found = scale === 'logarithmic' ? Math.log10(value) : value;
  const is_shown =
    Number.isFinite(found) && (scale !== 'exponent' || Math.abs(found) <= kLargestExponent);
  return is_shown ? found : NaN;
}

export function places(scale: Scale, values: Float64Array): Float64Array {
  return values.map((value) => place(scale, value));
}

/** What place() was given. */
export function value(scale: Scale, place: number): number {
  return scale === 'logarithmic' ? 10 ** place : place;
}

/** A value of this axis in words: what the axis shows there, with its error if there is one. */
export function reading_text(scale: Scale, value: number, error = NaN): string {
  if (scale !== 'exponent' || !Number.isFinite(value)) return measured_text(value, error);
  if (error > 0) return `10^(${measured_text(value, error)})`;
  const power = Math.floor(value);
  if (Math.abs(power) < 300) return value_text(10 ** value);
  return multiple_text(Number((10 ** (value - power)).toPrecision(5)), power);
}

/** The smallest of 1, 2, 5 times a power of ten that divides a span into at most five. */
export function tic_step(span: number): number {
  const rough = span / 5;
  const exponent = Math.floor(Math.log10(rough));
  for (const digit of [1, 2, 5]) {
    const step = Number(`${digit}e${exponent}`);
    if (step >= rough * 0.999) return step;
  }
  return Number(`1e${exponent + 1}`);
}

function multiples_inside([low, high]: Range, step: number): number[] {
  const first = Math.ceil(low / step - kRounding);
  const last = Math.floor(high / step + kRounding);
  // Counted, not stepped: far from 0, adding 1 may change nothing.
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => (first + k) * step + 0);
}

function linear_tics(range: Range): Tic[] {
  const step = tic_step(kDensity * (range[1] - range[0]));
  return multiples_inside(range, step).map((place) => ({ place, label: number_text(place) }));
}

/** Tics of rows and columns that are counted. */
export function whole_tics(range: Range): Tic[] {
  const step = Math.max(1, tic_step(range[1] - range[0]));
  return multiples_inside(range, step).map((place) => ({ place, label: number_text(place) }));
}

interface Stride {
  numbered: number; // decades from one number to the next
  all: number; // decades from one tic to the next
}

// The smallest of 2, 5, 10, 20, 50, ... of which at most kMostNumbers fit.
function decade_stride(decades: number): Stride {
  for (let power = 1; ; power *= 10) {
    for (const { numbered, all } of [
      { numbered: 2, all: 1 },
      { numbered: 5, all: 1 },
      { numbered: 10, all: 5 },
    ]) {
      if (Math.floor(decades / (numbered * power)) + 1 <= kMostNumbers) {
        return { numbered: numbered * power, all: all * power };
      }
    }
  }
}

function decade_tics(range: Range): Tic[] {
  const stride = decade_stride(Math.round(range[1] - range[0]));
  return multiples_inside(range, stride.all).map((exponent) => ({
    place: exponent,
    label: exponent % stride.numbered === 0 ? power_of_ten_text(exponent) : '',
  }));
}

// Written from its parts: the number itself may be no double.
function multiple_text(mantissa: number, exponent: number): string {
  if (Math.abs(exponent) < 300) return number_text(Number(`${mantissa}e${exponent}`));
  const power = power_of_ten_text(exponent);
  return mantissa === 1 ? power : `${number_text(mantissa)}·${power}`;
}

function digit_text(digit: number, exponent: number, only_powers: boolean): string {
  if (only_powers) return digit === 1 ? power_of_ten_text(exponent) : '';
  return digit === 1 || digit === 2 || digit === 5 ? multiple_text(digit, exponent) : '';
}

function multiple_tics([low, high]: Range, only_powers: boolean): Tic[] {
  const tics: Tic[] = [];
  for (let exponent = Math.floor(low); exponent <= Math.floor(high + kRounding); ++exponent) {
    for (let digit = 1; digit <= 9; ++digit) {
      const place = exponent + Math.log10(digit);
      if (place < low - kRounding || place > high + kRounding) continue;
      tics.push({ place, label: digit_text(digit, exponent, only_powers) });
    }
  }
  return tics;
}

// Less than a decade, seen from close by: equal steps of the value, as multiples of one power.
function close_tics([low, high]: Range): Tic[] {
  const power = Math.floor(low);
  const mantissas: Range = [10 ** (low - power), 10 ** (high - power)];
  const step = tic_step(kDensity * (mantissas[1] - mantissas[0]));
  return multiples_inside(mantissas, step).map((mantissa) => ({
    place: power + Math.log10(mantissa),
    label: multiple_text(Number(mantissa.toPrecision(12)), power),
  }));
}

/**
 * Tics inside a range of places, increasing.
 *
 *   Properties  (1) linear: multiples of a step of 1, 2 or 5 times a power of ten, all numbered.
 *               (2) otherwise, below two decades: 1, 2 and 5 times powers of ten are numbered, the
 *                   other multiples short. A whole decade has at least three numbers.
 *               (3) otherwise, up to seven whole powers: these are numbered, "10⁻³", their
 *                   multiples short.
 *               (4) otherwise: the multiples of a stride of 2, 5, 10, 20, 50, ... decades that
 *                   leaves at most seven numbers.
 *               (5) a part of a decade with less than two numbers by (2): as on a linear axis.
 */
export function tics(scale: Scale, range: Range): Tic[] {
  if (scale === 'linear') return linear_tics(range);
  const [low, high] = range;
  if (Math.floor(high + kRounding) - Math.ceil(low - kRounding) + 1 > kMostNumbers) {
    return decade_tics(range);
  }
  const found = multiple_tics(range, high - low >= 2);
  return found.filter((tic) => tic.label !== '').length < 2 ? close_tics(range) : found;
}
