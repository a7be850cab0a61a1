// How curves, points, error bars and markers look on a canvas; the looks of
// src/dewpoint/report/line_figure.cpp. All lengths are CSS pixels.
//
// SPDX-License-Identifier: Apache-2.0
import { place } from './axis';
import { draw_text, text_width } from './canvas_text';
import { on_paper } from './colour';
import type { LinePanelData, SeriesStyle } from './data';
import { draw_axes, draw_grid, draw_sides, is_inside, x_pixel, y_pixel } from './frame';
import type { Frame, Ink } from './frame';
import type { PlacedSeries } from './series';

type Context = CanvasRenderingContext2D;

const kLineWidth = 1.75;
const kBarWidth = 1.25;
const kHalo = 1.3; // paper around a point whose line is not its own
const kMarkerLabelSize = 11.5;
const kMarkerGap = 6;
export const kMarkerRoom = 20;

export function has_line(style: SeriesStyle): boolean {
  return style !== 'points' && style !== 'dots';
}

export function has_points(style: SeriesStyle): boolean {
  return !has_line(style) || style === 'line-and-points';
}

export function dashes_of(style: SeriesStyle | 'solid' | 'dashed'): number[] {
  if (style === 'dashed') return [7, 4];
  return style === 'dotted' ? [1.75, 3.25] : [];
}

export function radius_of(style: SeriesStyle): number {
  return style === 'dots' ? 1.2 : 3;
}

// Points on the edge are whole; lines end there.
function clipped(context: Context, frame: Frame, room: number, draw: () => void) {
  const { left, top, width, height } = frame.box;
  context.save();
  context.beginPath();
  context.rect(left - room, top - room, width + 2 * room, height + 2 * room);
  context.clip();
  draw();
  context.restore();
}

/** A path through places that breaks where there is none. */
export function trace(context: Context, frame: Frame, x: Float64Array, y: Float64Array) {
  context.beginPath();
  let is_broken = true;
  for (let k = 0; k < x.length; ++k) {
    const across = x_pixel(frame, x[k]!);
    const up = y_pixel(frame, y[k]!);
    if (Number.isNaN(across + up)) {
      is_broken = true;
    } else if (is_broken) {
      context.moveTo(across, up);
      is_broken = false;
    } else {
      context.lineTo(across, up);
    }
  }
}

function draw_line(context: Context, frame: Frame, series: PlacedSeries, dark: boolean) {
  context.strokeStyle = on_paper(series.data.colour, dark);
  context.lineWidth = kLineWidth;
  context.lineJoin = 'round';
  context.setLineDash(dashes_of(series.data.style));
  trace(context, frame, series.x, series.y);
  context.stroke();
  context.setLineDash([]);
}

// A bar that reaches 0 on a logarithmic axis has no lower end and leaves the panel.
function draw_bars(context: Context, frame: Frame, series: PlacedSeries, dark: boolean) {
  const bottom = frame.box.top + frame.box.height;
  context.strokeStyle = on_paper(series.data.colour, dark);
  context.lineWidth = kBarWidth;
  context.beginPath();
  series.values.error.forEach((error, k) => {
    if (!(error > 0) || Number.isNaN(series.x[k]!)) return;
    const x = x_pixel(frame, series.x[k]!);
    const low = y_pixel(frame, series.low[k]!);
    context.moveTo(x, Number.isNaN(low) ? bottom : low);
    context.lineTo(x, y_pixel(frame, series.high[k]!));
  });
  context.stroke();
}

function fill_discs(context: Context, frame: Frame, series: PlacedSeries, radius: number) {
  context.beginPath();
  for (let k = 0; k < series.x.length; ++k) {
    const x = x_pixel(frame, series.x[k]!);
    const y = y_pixel(frame, series.y[k]!);
    if (!is_inside(frame, x, y)) continue;
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, 2 * Math.PI);
  }
  context.fill();
}

function draw_points(context: Context, frame: Frame, series: PlacedSeries, dark: boolean) {
  context.fillStyle = on_paper(series.data.colour, dark);
  fill_discs(context, frame, series, radius_of(series.data.style));
}

function draw_halo(context: Context, frame: Frame, series: PlacedSeries, paper: string) {
  context.fillStyle = paper;
  fill_discs(context, frame, series, radius_of(series.data.style) + kHalo);
}

// Dots, lines, then halos, bars and discs: what was measured lies on top.
function draw_series(
  context: Context,
  frame: Frame,
  all: readonly PlacedSeries[],
  paper: string,
  dark: boolean,
) {
  const dots = all.filter(({ data }) => data.style === 'dots');
  const points = all.filter(({ data }) => data.style !== 'dots' && has_points(data.style));
  clipped(context, frame, 0, () => {
    context.globalAlpha = 0.55;
    for (const series of dots) draw_points(context, frame, series, dark);
    context.globalAlpha = 1;
    for (const series of all) {
      if (has_line(series.data.style)) draw_line(context, frame, series, dark);
    }
  });
  clipped(context, frame, radius_of('points') + kHalo + 1, () => {
    for (const series of points.filter(({ data }) => data.style === 'points')) {
      draw_halo(context, frame, series, paper);
    }
  });
  clipped(context, frame, 0, () => {
    for (const series of all) draw_bars(context, frame, series, dark);
  });
  clipped(context, frame, radius_of('points') + 1, () => {
    for (const series of points) draw_points(context, frame, series, dark);
  });
}

// ---------------------------------------------------------------------------------------- markers

interface PlacedMarker {
  x: number; // of its line
  label: string;
  width: number;
  at: number; // the middle of its label
}

// From left to right, each clear of the one before; then back from the right edge.
function push_apart(markers: PlacedMarker[], right: number) {
  let free_from = -Infinity;
  for (const marker of markers) {
    marker.at = Math.max(marker.at, free_from + marker.width / 2);
    free_from = marker.at + marker.width / 2 + kMarkerGap;
  }
  let free_to = right;
  for (const marker of [...markers].reverse()) {
    marker.at = Math.min(marker.at, free_to - marker.width / 2);
    free_to = marker.at - marker.width / 2 - kMarkerGap;
  }
}

function placed_markers(context: Context, frame: Frame, panel: LinePanelData, font: string) {
  const markers = panel.markers
    .map(({ x, label }): PlacedMarker => {
      const pixel = x_pixel(frame, place(panel.x.scale, x));
      const width = text_width(context, label, { size: kMarkerLabelSize, font });
      return { x: pixel, label, width, at: pixel };
    })
    .filter(({ x }) => x >= frame.box.left && x <= frame.box.left + frame.box.width)
    .sort((a, b) => a.x - b.x);
  push_apart(markers, frame.width);
  return markers;
}

function draw_markers(context: Context, frame: Frame, panel: LinePanelData, ink: Ink) {
  const { top, height } = frame.box;
  const look = { size: kMarkerLabelSize, font: ink.font, colour: ink.quiet };
  for (const marker of placed_markers(context, frame, panel, ink.font)) {
    context.strokeStyle = ink.quiet;
    context.lineWidth = 1;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(marker.x, top);
    context.lineTo(marker.x, top + height);
    context.stroke();
    context.setLineDash([]);
    draw_text(context, marker.label, marker.at, top - kMarkerRoom / 2, look);
  }
}

export function paint_lines(
  context: Context,
  frame: Frame,
  panel: LinePanelData,
  shown: readonly PlacedSeries[],
  ink: Ink,
  dark: boolean,
) {
  draw_grid(context, frame, ink);
  draw_sides(context, frame, ink);
  draw_markers(context, frame, panel, ink);
  draw_series(context, frame, shown, ink.paper, dark);
  draw_axes(context, frame, ink);
}
