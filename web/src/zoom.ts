// Zooming: which part of the axes is shown after a key, or after a rectangle was drawn.
//
// SPDX-License-Identifier: Apache-2.0
import type { Range } from './axis';
import { x_place, y_place, type Box, type Frame, type View } from './frame';

/** Of what a panel shows at first: nearer than this, tics run out of digits. */
const kSmallestPart = 1e-6;

function around(range: Range, centre: number, factor: number): Range {
  return [centre - (centre - range[0]) * factor, centre + (range[1] - centre) * factor];
}

function is_wide_enough(range: Range, whole: Range): boolean {
  return range[1] - range[0] >= kSmallestPart * (whole[1] - whole[0]);
}

function allowed(view: View, whole: View, now: View): View {
  return {
    x: is_wide_enough(view.x, whole.x) ? view.x : now.x,
    y: is_wide_enough(view.y, whole.y) ? view.y : now.y,
  };
}

/** Both axes by a factor, about a place or the middle; null once everything is shown again. */
export function scaled(
  now: View,
  whole: View,
  factor: number,
  place: { x: number; y: number } | null,
): View | null {
  const view = {
    x: around(now.x, place?.x ?? (now.x[0] + now.x[1]) / 2, factor),
    y: around(now.y, place?.y ?? (now.y[0] + now.y[1]) / 2, factor),
  };
  const shows_all = view.x[1] - view.x[0] >= whole.x[1] - whole.x[0];
  return shows_all ? null : allowed(view, whole, now);
}

/** What lies inside a rectangle of the canvas. */
export function selected(frame: Frame, whole: View, box: Box): View {
  const ends = [y_place(frame, box.top), y_place(frame, box.top + box.height)];
  const view: View = {
    x: [x_place(frame, box.left), x_place(frame, box.left + box.width)],
    y: [Math.min(...ends), Math.max(...ends)],
  };
  return allowed(view, whole, frame.view);
}

/** The keys that all panels share; undefined where the key means something else. */
export function zoom_of_key(
  key: string,
  now: View,
  whole: View,
  place: { x: number; y: number } | null,
): View | null | undefined {
  if (key === '+' || key === '=') return scaled(now, whole, 1 / 1.5, place);
  if (key === '-') return scaled(now, whole, 1.5, place);
  return key === '0' || key === 'Escape' ? null : undefined;
}
