// The cells of a heat map at their places; the C++ twin of cell_edges() is in
// src/dewpoint/report/heatmap.cpp.
//
// SPDX-License-Identifier: Apache-2.0
import { places } from './axis';
import { colour_of } from './colour';
import type { CurveData, HeatmapFigureData, HeatmapPanelData } from './data';
import type { View } from './frame';
import { unpacked } from './numbers';

/**
 * Edges of cells around increasing centres: half-way between neighbours, and as far outside the
 * first and the last as their inner edges are inside. A single centre c has the edges c ± 1/2.
 */
export function cell_edges(centres: Float64Array): Float64Array {
  const count = centres.length;
  if (count === 1) return Float64Array.of(centres[0]! - 0.5, centres[0]! + 0.5);
  const edges = new Float64Array(count + 1);
  for (let k = 1; k < count; ++k) {
    edges[k] = centres[k - 1]! + (centres[k]! - centres[k - 1]!) / 2;
  }
  edges[0] = centres[0]! - (edges[1]! - centres[0]!);
  edges[count] = centres[count - 1]! + (centres[count - 1]! - edges[count - 1]!);
  return edges;
}

export interface PlacedCurve {
  data: CurveData;
  x: Float64Array;
  y: Float64Array;
}

export interface PlacedCells {
  values: { x: Float64Array; y: Float64Array; z: Float64Array; error: Float64Array };
  x: Float64Array; // edges, in places
  y: Float64Array;
  colours: string[]; // as z
  borrowed: ReadonlySet<number>;
  curves: PlacedCurve[];
}

export interface CellIndex {
  column: number;
  row: number;
}

export function placed_cells(figure: HeatmapFigureData, panel: HeatmapPanelData): PlacedCells {
  const [x, y, z] = [unpacked(panel.x), unpacked(panel.y), unpacked(panel.z)];
  return {
    values: { x, y, z, error: unpacked(panel.error) },
    x: cell_edges(places(figure.x_scale, x)),
    y: cell_edges(places(figure.y_scale, y)),
    colours: Array.from(z, (value) => colour_of(figure, value)),
    borrowed: new Set(panel.borrowed),
    curves: panel.curves.map((data) => ({
      data,
      x: places(figure.x_scale, unpacked(data.x)),
      y: places(figure.y_scale, unpacked(data.y)),
    })),
  };
}

export function whole_view(cells: PlacedCells): View {
  return { x: [cells.x[0]!, cells.x.at(-1)!], y: [cells.y[0]!, cells.y.at(-1)!] };
}

/** Index into z. */
export function number_of(cells: PlacedCells, { column, row }: CellIndex): number {
  return column * cells.values.y.length + row;
}

// The last edge at or below the place, where a cell begins.
function cell_at(edges: Float64Array, place: number): number {
  let low = 0;
  let high = edges.length - 2;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (edges[middle]! <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The cell that holds a place, or the nearest one. */
export function cell_of(cells: PlacedCells, x: number, y: number): CellIndex {
  return { column: cell_at(cells.x, x), row: cell_at(cells.y, y) };
}
