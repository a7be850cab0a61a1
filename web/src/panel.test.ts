// Places and pixels of a panel, zooming, and the search for points.
//
// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import { kLineFigure } from './fixture';
import { x_pixel, x_place, y_pixel, y_place, type Frame, type View } from './frame';
import {
  first_point,
  nearest_point,
  next_point,
  placed_series,
  point_of_next_series,
} from './series';
import { scaled, selected, zoom_of_key } from './zoom';

const kPanel = kLineFigure.panels[1]!;
const kSeries = placed_series(kPanel);
const kWhole: View = { x: kPanel.x.range, y: kPanel.y.range };

function framed(view = kWhole, turned = false): Frame {
  const texts = { x_label: '', y_label: '', x_tics: [], y_tics: [] };
  const box = { left: 50, top: 20, width: 300, height: 200 };
  return { ...texts, view, box, width: 370, height: 260, room_above: 20, square: false, turned };
}

describe('frame', () => {
  it('turns pixels back into places, with y upwards or downwards', () => {
    for (const frame of [framed(), framed(kWhole, true)]) {
      expect(x_place(frame, x_pixel(frame, -1.25))).toBeCloseTo(-1.25, 12);
      expect(y_place(frame, y_pixel(frame, -3.5))).toBeCloseTo(-3.5, 12);
    }
    expect(y_pixel(framed(), kWhole.y[0])).toBe(220);
    expect(y_pixel(framed(kWhole, true), kWhole.y[0])).toBe(20);
  });
});

describe('zoom', () => {
  it('shows what the rectangle held', () => {
    const view = selected(framed(), kWhole, { left: 50, top: 20, width: 150, height: 100 });
    expect(view.x).toEqual([kWhole.x[0], -1]);
    expect(view.y[0]).toBeCloseTo(-2.9, 12);
    expect(view.y[1]).toBeCloseTo(kWhole.y[1], 12);
  });

  it('keeps its centre where it is, and ends with the whole', () => {
    const nearer = scaled(kWhole, kWhole, 0.5, { x: 0, y: -2 })!;
    expect(x_pixel(framed(nearer), 0)).toBeCloseTo(x_pixel(framed(), 0), 9);
    expect(scaled(nearer, kWhole, 2, null)).toBeNull();
    expect(zoom_of_key('Escape', nearer, kWhole, null)).toBeNull();
    expect(zoom_of_key('a', nearer, kWhole, null)).toBeUndefined();
  });

  it('stops before tics run out of digits', () => {
    let view = kWhole;
    for (let k = 0; k < 200; ++k) view = zoom_of_key('+', view, kWhole, null)!;
    expect(view.x[1] - view.x[0]).toBeGreaterThan(1e-6);
  });
});

describe('points', () => {
  const path = kSeries[1]!;

  it('are found by where they lie', () => {
    const frame = framed();
    const [x, y] = [x_pixel(frame, path.x[3]!), y_pixel(frame, path.y[3]!)];
    expect(nearest_point(frame, kSeries, x + 0.1, y)).toEqual({ series: path, index: 3 });
  });

  it('are walked in their own order, past what has no place', () => {
    const frame = framed();
    expect(path.y[6]).toBeNaN();
    expect(next_point(frame, { series: path, index: 5 }, 1).index).toBe(7);
    expect(next_point(frame, { series: path, index: 0 }, -1).index).toBe(0);
    expect(first_point(frame, [path])).toEqual({ series: path, index: 0 });
  });

  it('stay inside what is shown', () => {
    const frame = framed({ x: [-1, 0], y: kWhole.y });
    const found = first_point(frame, [path])!;
    expect(path.values.x[found.index]).toBeGreaterThanOrEqual(0.1);
  });

  it('lead from series to series and round again', () => {
    const frame = framed();
    let point = first_point(frame, kSeries)!;
    const visited = kSeries.map(() => (point = point_of_next_series(frame, kSeries, point, 1)));
    expect(visited.map(({ series }) => kSeries.indexOf(series))).toEqual([1, 2, 0]);
    const back = point_of_next_series(frame, kSeries, point, -1);
    expect(kSeries.indexOf(back.series)).toBe(2);
  });
});
