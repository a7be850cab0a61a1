// Panels and series from numbers, in the colours that all rooms share.
//
// SPDX-License-Identifier: Apache-2.0
import { place, type Range } from '../axis';
import type {
  AxisData,
  Cell,
  HeatmapFigureData,
  HeatmapPanelData,
  LineFigureData,
  LinePanelData,
  Scale,
  SeriesData,
} from '../data';
import type { Cut } from './frames';

/** Chosen for white paper; colour.ts makes them lighter on dark. */
export const kColours = [
  '#1b6ca8',
  '#c4501b',
  '#2c8a4b',
  '#8a4fa3',
  '#9a7413',
  '#4c5a67',
  '#a3324f',
  '#1f8a8a',
];
export const kBlack = '#1d2025';

export function colour_at(index: number): string {
  return kColours[index % kColours.length]!;
}

// JSON's way to say what is no number, which the panels read.
function cells(numbers: readonly number[]): Cell[] {
  return numbers.map((number) => {
    if (Number.isNaN(number)) return null;
    if (number === Infinity) return 'inf';
    return number === -Infinity ? '-inf' : number;
  });
}

export type Look = Partial<Pick<SeriesData, 'label' | 'style' | 'colour' | 'theory'>>;

export function series(points: Cut, look: Look): SeriesData {
  const has_errors = points.error.some((error) => error > 0);
  return {
    label: '',
    style: 'line-and-points',
    colour: kBlack,
    theory: false,
    ...look,
    x: cells(points.x),
    y: cells(points.y),
    error: has_errors && !look.theory ? cells(points.error) : [],
  };
}

export interface AxisPlan {
  label: string;
  scale?: Scale;
  from?: number; // values; the data decide where absent
  to?: number;
}

const kMargin = 0.04;

function values_of(all: readonly SeriesData[], which: 'x' | 'y'): number[] {
  return all.flatMap((one) => (one[which] as Cell[]).map((cell) => (typeof cell === 'number' ? cell : NaN)));
}

/** From the data, with a little room; ends that are given stay as they are. */
export function axis(plan: AxisPlan, values: readonly number[]): AxisData {
  const scale = plan.scale ?? 'linear';
  const found = values.map((value) => place(scale, value)).filter((at) => !Number.isNaN(at));
  const low = plan.from === undefined ? Math.min(...found) : place(scale, plan.from);
  const high = plan.to === undefined ? Math.max(...found) : place(scale, plan.to);
  return { label: plan.label, scale, range: roomy(plan, low, high) };
}

function roomy(plan: AxisPlan, low: number, high: number): [number, number] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const span = high > low ? high - low : Math.max(1e-3, Math.abs(low) * 0.2, 0.5);
  const room = kMargin * span;
  const is_point = high <= low;
  return [
    plan.from === undefined ? low - (is_point ? span / 2 : room) : low,
    plan.to === undefined ? high + (is_point ? span / 2 : room) : high,
  ];
}

export function panel(
  title: string,
  x: AxisPlan,
  y: AxisPlan,
  all: SeriesData[],
  markers: LinePanelData['markers'] = [],
): LinePanelData {
  return {
    title,
    x: axis(x, values_of(all, 'x')),
    y: axis(y, values_of(all, 'y')),
    series: all,
    markers: markers.filter(({ x: at }) => Number.isFinite(at)),
  };
}

export function lines(panels: LinePanelData[], columns = panels.length): LineFigureData {
  return { kind: 'lines', columns, panels };
}

/** A single value on an axis. */
export function point(x: number, y: number, look: Look): SeriesData {
  return series({ x: [x], y: [y], error: [NaN] }, { style: 'points', ...look });
}

export interface HeatLook {
  x_label: string;
  y_label: string;
  z_label: string;
  z: Range; // values of the first and the last colour
  x_scale?: Scale;
  y_scale?: Scale;
  z_scale?: Scale;
  colours?: HeatmapFigureData['colours'];
  look?: HeatmapFigureData['look'];
}

export function heat_map(look: HeatLook, panels: HeatmapPanelData[]): HeatmapFigureData {
  return {
    kind: 'heatmap',
    columns: panels.length,
    x_label: look.x_label,
    y_label: look.y_label,
    z_label: look.z_label,
    x_scale: look.x_scale ?? 'linear',
    y_scale: look.y_scale ?? 'linear',
    z_scale: look.z_scale ?? 'linear',
    z_low: look.z[0],
    z_high: look.z[1],
    colours: look.colours ?? 'viridis',
    look: look.look ?? 'graph',
    panels,
  };
}

/** `z` in the order of columns: z[i * y.length + j] at x[i], y[j]. */
export function heat_panel(
  title: string,
  x: readonly number[],
  y: readonly number[],
  z: readonly number[],
  error: readonly number[] = [],
): HeatmapPanelData {
  const bars = error.some((each) => each > 0) ? cells(error) : [];
  return { title, subtitle: '', x: cells(x), y: cells(y), z: cells(z), error: bars, borrowed: [], curves: [] };
}

/** Row by row, as arrays come, into columns of a matrix whose row 0 is on top. */
export function matrix_panel(title: string, values: Float64Array, rows: number, columns: number): HeatmapPanelData {
  const count = (size: number) => Array.from({ length: size }, (_, k) => k);
  const z = count(columns).flatMap((column) => count(rows).map((row) => values[row * columns + column] ?? NaN));
  return heat_panel(title, count(columns), count(rows), z);
}
