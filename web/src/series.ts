// The series of a panel at their places, and the search for one of their points.
//
// SPDX-License-Identifier: Apache-2.0
import { place, places } from './axis';
import type { LinePanelData, SeriesData } from './data';
import { is_inside, x_pixel, y_pixel, type Frame } from './frame';
import { unpacked } from './numbers';

export interface PlacedSeries {
  data: SeriesData;
  values: { x: Float64Array; y: Float64Array; error: Float64Array };
  x: Float64Array; // places; NaN in both where there is none in one
  y: Float64Array;
  low: Float64Array; // ends of the error bars; NaN: beyond every place
  high: Float64Array;
}

export interface Point {
  series: PlacedSeries;
  index: number;
}

function placed(panel: LinePanelData, data: SeriesData): PlacedSeries {
  const values = { x: unpacked(data.x), y: unpacked(data.y), error: unpacked(data.error) };
  const x = places(panel.x.scale, values.x);
  const y = places(panel.y.scale, values.y);
  x.forEach((_, k) => {
    if (Number.isNaN(x[k]! + y[k]!)) x[k] = y[k] = NaN;
  });
  const end = (sign: number) =>
    values.error.map((error, k) => place(panel.y.scale, values.y[k]! + sign * error));
  return { data, values, x, y, low: end(-1), high: end(1) };
}

export function placed_series(panel: LinePanelData): PlacedSeries[] {
  return panel.series.map((series) => placed(panel, series));
}

function is_shown(frame: Frame, series: PlacedSeries, index: number): boolean {
  const x = x_pixel(frame, series.x[index]!);
  return is_inside(frame, x, y_pixel(frame, series.y[index]!));
}

/** The point of all series that is nearest on the screen; the last of equals, which lies on top. */
export function nearest_point(
  frame: Frame,
  all: readonly PlacedSeries[],
  x: number,
  y: number,
): Point | null {
  let found: Point | null = null;
  let least = Infinity;
  for (const series of all) {
    for (let index = 0; index < series.x.length; ++index) {
      if (!is_shown(frame, series, index)) continue;
      const across = x_pixel(frame, series.x[index]!) - x;
      const distance = Math.hypot(across, y_pixel(frame, series.y[index]!) - y);
      if (distance > least) continue;
      least = distance;
      found = { series, index };
    }
  }
  return found;
}

/** The next shown point of the same series, in its own order; the same one at its end. */
export function next_point(frame: Frame, point: Point, step: 1 | -1): Point {
  const { series } = point;
  for (let index = point.index + step; index >= 0 && index < series.x.length; index += step) {
    if (is_shown(frame, series, index)) return { series, index };
  }
  return point;
}

/** The first point shown of any series. */
export function first_point(frame: Frame, all: readonly PlacedSeries[]): Point | null {
  for (const series of all) {
    const index = series.x.findIndex((_, k) => is_shown(frame, series, k));
    if (index >= 0) return { series, index };
  }
  return null;
}

/** The point of the next series that is nearest to this one; from the last series to the first. */
export function point_of_next_series(
  frame: Frame,
  all: readonly PlacedSeries[],
  point: Point,
  step: 1 | -1,
): Point {
  const x = x_pixel(frame, point.series.x[point.index]!);
  const y = y_pixel(frame, point.series.y[point.index]!);
  const start = all.indexOf(point.series);
  for (let k = 1; k <= all.length; ++k) {
    const series = all[(start + step * k + all.length * k) % all.length]!;
    const found = nearest_point(frame, [series], x, y);
    if (found && series !== point.series) return found;
  }
  return point;
}
