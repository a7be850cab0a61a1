// Sliders: whole steps along an axis that is linear, logarithmic, or made of given values.
//
// SPDX-License-Identifier: Apache-2.0
import { nearest_index } from './fields';

export interface Track {
  steps: number; // the slider goes from 0 to this
  value(step: number): number;
  step(value: number): number; // the nearest
}

function clamped(step: number, steps: number): number {
  return Math.min(steps, Math.max(0, Math.round(step)));
}

function rounded(value: number, digits: number): number {
  return Number(value.toPrecision(digits));
}

export function linear_track(least: number, most: number, step: number): Track {
  const steps = Math.round((most - least) / step);
  return {
    steps,
    value: (k) => rounded(least + k * step, 12),
    step: (value) => clamped((value - least) / step, steps),
  };
}

/** Steps of equal ratio, rounded to `digits`, and to whole numbers where asked. */
export function log_track(
  least: number,
  most: number,
  options: { per_decade?: number; digits?: number; whole?: boolean } = {},
): Track {
  const { per_decade = 20, digits = 3, whole = false } = options;
  const steps = Math.max(1, Math.round(per_decade * Math.log10(most / least)));
  const value = (k: number) => {
    if (k <= 0) return least;
    if (k >= steps) return most;
    const found = rounded(least * (most / least) ** (k / steps), digits);
    return whole ? Math.round(found) : found;
  };
  return {
    steps,
    value,
    step: (at) => clamped((steps * Math.log(at / least)) / Math.log(most / least) || 0, steps),
  };
}

export function listed_track(values: readonly number[]): Track {
  return {
    steps: Math.max(0, values.length - 1),
    value: (k) => values[clamped(k, values.length - 1)]!,
    step: (value) => nearest_index(values, value),
  };
}

/** Powers of two, for sizes. */
export function octave_track(least: number, most: number): Track {
  const values: number[] = [];
  for (let value = least; value <= most; value *= 2) values.push(value);
  return listed_track(values);
}

/** Logarithmic where the range spans decades. */
export function usual_track(least: number, most: number, whole: boolean): Track {
  if (least > 0 && most / least >= 1000) return log_track(least, most, { whole });
  const step = whole ? 1 : 10 ** Math.floor(Math.log10((most - least) / 100));
  return linear_track(least, most, step);
}
