// Figures of the room Heads: a map of phases, and one head over the length of the context.
//
// SPDX-License-Identifier: Apache-2.0
import type { HeatmapFigureData, LineFigureData } from '../data';
import { colour_at, heat_map, heat_panel, kBlack, lines, panel, series } from './figure_parts';
import { coordinates, cut, measured_at, type Cut, type DataFrame } from './frames';
import { nearest_index } from './fields';

export interface Verdict {
  phase: string;
  probability: number | null;
  reason: string;
}

export interface HeadsResult {
  source: 'dump' | 'study';
  layers: number;
  heads: number;
  longest: number;
  notes: string[];
  frame: DataFrame;
  verdicts:
    | { layer: number; head: number; warnings: string[]; verdicts: Record<string, Verdict> }[]
    | null;
  schedules: DataFrame | null;
}

/** Where the multiplier is 1. */
export function plain_index(frame: DataFrame): number {
  return nearest_index(coordinates(frame, 'multiplier'), 1);
}

/**
 * Phases of all heads at one length. Multiplying the logits by m multiplies the phase, exactly, so
 * the map needs nothing measured anew.
 */
export function phase_map_figure(
  { frame }: HeadsResult,
  n: number,
  multiplier: number,
): HeatmapFigureData {
  const layers = coordinates(frame, 'layer');
  const heads = coordinates(frame, 'head');
  const at = { n, multiplier: plain_index(frame) };
  const all = heads.flatMap((_, head) =>
    layers.map((_, layer) => measured_at(frame, 'phase', { ...at, layer, head })),
  );
  const look = {
    x_label: 'head',
    y_label: 'layer',
    z_label: 'phase τ = β/β_dew',
    z: [0.1, 10] as const,
    z_scale: 'logarithmic' as const,
    colours: 'diverging' as const,
    look: 'matrix' as const,
  };
  const z = all.map(({ mean }) => multiplier * mean);
  const error = all.map(({ error }) => multiplier * error);
  return heat_map(look, [heat_panel('', heads, layers, z, error)]);
}

function scaled(points: Cut, factors: readonly number[]): Cut {
  return {
    x: points.x,
    y: points.y.map((value, k) => value * (factors[k] ?? NaN)),
    error: points.error.map((value, k) => value * (factors[k] ?? NaN)),
  };
}

/** The phase of one head over the length: as it is, times m, and under schedules. */
export function head_figure(
  { frame, schedules }: HeadsResult,
  layer: number,
  head: number,
  multiplier: number,
): LineFigureData {
  const plain = cut(frame, 'phase', 'n', { layer, head, multiplier: plain_index(frame) });
  const lengths = schedules ? coordinates(schedules, 'n') : [];
  const names = schedules ? (schedules.dimensions['schedule'] ?? []).map(String) : [];
  const own = plain.x.map(() => multiplier);
  const all = [
    series({ x: plain.x, y: plain.x.map(() => 1), error: [] }, {
      style: 'dashed',
      colour: kBlack,
      theory: true,
      label: 'dew point, τ = 1',
    }),
    series(plain, { colour: colour_at(0), label: 'as it is' }),
    ...names.map((label, schedule) => {
      const factors = plain.x.map(
        (n) => measured_at(schedules, 'multiplier', { schedule, n: nearest_index(lengths, n) }).mean,
      );
      return series(scaled(plain, factors), { colour: colour_at(schedule + 2), label });
    }),
  ];
  if (multiplier !== 1) {
    all.push(series(scaled(plain, own), { colour: colour_at(1), label: 'times m' }));
  }
  const x = { label: 'keys n', scale: 'logarithmic' as const };
  return lines([panel('', x, { label: 'phase τ', scale: 'logarithmic' }, all)]);
}

/** Multipliers of the schedules, on to lengths beyond the dump. */
export function schedules_figure(schedules: DataFrame): LineFigureData {
  const names = (schedules.dimensions['schedule'] ?? []).map(String);
  const all = names.map((label, schedule) =>
    series(cut(schedules, 'multiplier', 'n', { schedule }), {
      style: 'solid',
      colour: colour_at(schedule + 2),
      label,
    }),
  );
  const x = { label: 'keys n', scale: 'logarithmic' as const };
  return lines([panel('', x, { label: 'multiplier m(n)' }, all)]);
}
