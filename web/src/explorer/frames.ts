// Frames: measured and predicted numbers over named dimensions, and cuts through them.
//
// SPDX-License-Identifier: Apache-2.0

type Nested = number | null | Nested[];

export interface Variable {
  dimensions: string[];
  mean: Nested;
  standard_error?: Nested;
  samples?: Nested;
}

export interface DataFrame {
  name: string;
  dimensions: Record<string, number[] | string[]>;
  variables: Record<string, Variable>;
}

export interface Measured {
  mean: number; // NaN: not known
  error: number; // NaN: none
}

/** Positions along the dimensions that are not cut along; 0 where not named. */
export type At = Record<string, number>;

export function coordinates(frame: DataFrame, dimension: string): number[] {
  return (frame.dimensions[dimension] ?? []).map(Number);
}

function picked(numbers: Nested | undefined, path: number[]): number {
  let found: Nested | undefined = numbers;
  for (const index of path) found = Array.isArray(found) ? found[index] : undefined;
  return typeof found === 'number' ? found : NaN;
}

export function has_variable(frame: DataFrame | null | undefined, name: string): boolean {
  return frame?.variables[name] !== undefined;
}

/** NaN where the frame has no such number. */
export function measured_at(frame: DataFrame | null | undefined, name: string, at: At): Measured {
  const variable = frame?.variables[name];
  if (variable === undefined) return { mean: NaN, error: NaN };
  const path = variable.dimensions.map((dimension) => at[dimension] ?? 0);
  return { mean: picked(variable.mean, path), error: picked(variable.standard_error, path) };
}

export interface Cut {
  x: number[];
  y: number[];
  error: number[];
}

/** A variable along one dimension, the others held. */
export function cut(frame: DataFrame | null | undefined, name: string, along: string, at: At): Cut {
  if (!frame || !has_variable(frame, name)) return { x: [], y: [], error: [] };
  const x = coordinates(frame, along);
  const all = x.map((_, k) => measured_at(frame, name, { ...at, [along]: k }));
  return { x, y: all.map(({ mean }) => mean), error: all.map(({ error }) => error) };
}
