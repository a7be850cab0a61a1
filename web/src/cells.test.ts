// The cases of tests/report/heatmap_test.cpp, and the search for a cell.
//
// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import { cell_edges, cell_of, number_of, placed_cells, whole_view } from './cells';
import { kUnknownColour } from './colour';
import { kGraphFigure } from './fixture';

describe('cell_edges', () => {
  it('lie half-way between centres', () => {
    expect([...cell_edges(Float64Array.of(0, 1, 3))]).toEqual([-0.5, 0.5, 2, 4]);
    expect([...cell_edges(Float64Array.of(7))]).toEqual([6.5, 7.5]);
  });

  it('enclose every centre', () => {
    const centres = Float64Array.of(0.001, 0.01, 0.1, 1, 10);
    const edges = cell_edges(centres);
    expect(edges.length).toBe(centres.length + 1);
    centres.forEach((centre, k) => {
      expect(edges[k]).toBeLessThan(centre);
      expect(edges[k + 1]).toBeGreaterThan(centre);
    });
  });
});

describe('cell_of', () => {
  const panel = kGraphFigure.panels[0]!;
  const cells = placed_cells(kGraphFigure, panel);

  it('finds every cell by its centre', () => {
    cells.values.x.forEach((x, column) => {
      cells.values.y.forEach((y, row) => expect(cell_of(cells, x, y)).toEqual({ column, row }));
    });
  });

  it('finds the nearest one from outside', () => {
    const { x, y } = whole_view(cells);
    expect(cell_of(cells, x[0] - 1, y[1] + 1)).toEqual({ column: 0, row: 23 });
    expect(number_of(cells, { column: 1, row: 2 })).toBe(26);
  });

  it('has grey cells where nothing is known, and knows which borrow', () => {
    expect(cells.colours.filter((colour) => colour === kUnknownColour).length).toBe(9);
    expect([...cells.borrowed]).toEqual(panel.borrowed);
  });

  it('has geometric edges on a logarithmic axis', () => {
    const figure = { ...kGraphFigure, x_scale: 'logarithmic' as const };
    const one = { ...panel, x: [1, 100], y: [0], z: [1, 2], error: [], borrowed: [], curves: [] };
    expect([...placed_cells(figure, one).x]).toEqual([-1, 1, 3]);
  });
});
