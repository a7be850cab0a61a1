// How the cells and curves of a heat map look on a canvas; the looks of
// src/dewpoint/report/heatmap.cpp. All lengths are CSS pixels.
//
// SPDX-License-Identifier: Apache-2.0
import { text_width } from './canvas_text';
import { number_of, type PlacedCells, type PlacedCurve } from './cells';
import { luma, type ColourMap } from './colour';
import type { HeatmapFigureData } from './data';
import { draw_axes, measure, x_pixel, y_pixel, type Box, type Frame, type Ink } from './frame';
import { dashes_of, trace } from './line_paint';

type Context = CanvasRenderingContext2D;

const kValueSize = 10.5;

/** Light on dark, or the other way round where the map is white in its middle. */
export function curve_colours(map: ColourMap): { halo: string; stroke: string } {
  return map === 'viridis'
    ? { halo: 'rgb(16 16 20 / 0.69)', stroke: '#ffffff' }
    : { halo: 'rgb(255 255 255 / 0.81)', stroke: '#101014' };
}

/** A cell on the canvas. Its edges are those of pixels, so that cells touch without seams. */
export function cell_box(
  frame: Frame,
  cells: PlacedCells,
  column: number,
  row: number,
  ratio: number,
): Box {
  const pixel = (length: number) => Math.round(length * ratio) / ratio;
  const left = pixel(x_pixel(frame, cells.x[column]!));
  const right = pixel(x_pixel(frame, cells.x[column + 1]!));
  const ends = [cells.y[row]!, cells.y[row + 1]!].map((edge) => pixel(y_pixel(frame, edge)));
  const top = Math.min(...ends);
  return { left, top, width: right - left, height: Math.max(...ends) - top };
}

function clip_to_box(context: Context, frame: Frame) {
  const { left, top, width, height } = frame.box;
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
}

function is_visible({ left, top, width, height }: Box, frame: Frame): boolean {
  const { box } = frame;
  const beside = left > box.left + box.width || left + width < box.left;
  return !beside && top <= box.top + box.height && top + height >= box.top;
}

function each_visible(
  frame: Frame,
  cells: PlacedCells,
  ratio: number,
  visit: (box: Box, index: number) => void,
) {
  for (let column = 0; column + 1 < cells.x.length; ++column) {
    for (let row = 0; row + 1 < cells.y.length; ++row) {
      const box = cell_box(frame, cells, column, row, ratio);
      if (is_visible(box, frame)) visit(box, number_of(cells, { column, row }));
    }
  }
}

function draw_cells(context: Context, frame: Frame, cells: PlacedCells, ratio: number) {
  each_visible(frame, cells, ratio, (box, index) => {
    context.fillStyle = cells.colours[index]!;
    context.fillRect(box.left, box.top, box.width, box.height);
  });
}

// Black on light cells, white on dark ones, where the cells are wide enough.
function write_values(
  context: Context,
  frame: Frame,
  cells: PlacedCells,
  ratio: number,
  font: string,
) {
  const wide = text_width(measure(), '−0.00', { size: kValueSize, font }) + 4;
  context.font = `${kValueSize}px ${font}`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  each_visible(frame, cells, ratio, ({ left, top, width, height }, index) => {
    const z = cells.values.z[index]!;
    if (Number.isNaN(z) || width < wide || height < kValueSize + 3) return;
    context.fillStyle = luma(cells.colours[index]!) > 128 ? '#000000' : '#ffffff';
    const text = z.toFixed(2).replace('-', '−');
    context.fillText(text, left + width / 2, top + height / 2 + 0.5);
  });
}

// All halos lie under all strokes, so that two curves side by side do not darken each other.
function draw_curves(context: Context, frame: Frame, curves: PlacedCurve[], map: ColourMap) {
  const { halo, stroke } = curve_colours(map);
  context.lineJoin = 'round';
  for (const layer of [
    { colour: halo, width: 3.8 },
    { colour: stroke, width: 1.75 },
  ]) {
    for (const curve of curves) {
      context.strokeStyle = layer.colour;
      context.lineWidth = layer.width;
      context.setLineDash(layer.colour === halo ? [] : dashes_of(curve.data.style));
      trace(context, frame, curve.x, curve.y);
      context.stroke();
    }
  }
  context.setLineDash([]);
}

export function paint_heat_map(
  context: Context,
  frame: Frame,
  figure: HeatmapFigureData,
  cells: PlacedCells,
  curves: PlacedCurve[],
  ink: Ink,
  ratio: number,
) {
  context.save();
  clip_to_box(context, frame);
  draw_cells(context, frame, cells, ratio);
  if (figure.look === 'matrix') write_values(context, frame, cells, ratio, ink.font);
  draw_curves(context, frame, curves, figure.colours);
  context.restore();
  draw_axes(context, frame, ink);
}
