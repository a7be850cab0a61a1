// Figures of the room Phase.
//
// SPDX-License-Identifier: Apache-2.0
import type { HeatmapFigureData, LineFigureData } from '../data';
import { colour_at, heat_map, heat_panel, lines, panel, series, type HeatLook } from './figure_parts';
import { nearest_index } from './fields';
import { coordinates, cut, has_variable, measured_at, type DataFrame } from './frames';
import { labelled } from './symbols';

export interface PhaseResult {
  map: DataFrame;
}

export interface Grid {
  rho: number[];
  gamma: number[];
}

const kCurves = {
  critical_gamma: 'γ_c of the simplex',
  critical_gamma_at_finite_d: 'γ_c at this dimension',
};

// The whole range of a variable, so that colours mean the same in every view.
function range_of(name: string, frame: DataFrame): [number, number] {
  const n = coordinates(frame, 'n')[0] ?? 2;
  if (name === 'entropy') return [0, Math.log(n)];
  if (name === 'jacobian_norm') return [0, 1.5];
  return [0, 1];
}

/**
 * The map on the grid that was asked for. Of a coarse level each cell that is not measured yet
 * borrows the value of the nearest one that is, so that nothing moves when the rest arrives.
 */
export function map_figure(result: PhaseResult, grid: Grid, variable: string): HeatmapFigureData {
  const { map } = result;
  const measured = { rho: coordinates(map, 'rho'), gamma: coordinates(map, 'gamma') };
  const rows = grid.gamma.map((gamma) => nearest_index(measured.gamma, gamma));
  const z: number[] = [];
  const error: number[] = [];
  const borrowed: number[] = [];
  for (const rho of grid.rho) {
    const column = nearest_index(measured.rho, rho);
    grid.gamma.forEach((gamma, k) => {
      const found = measured_at(map, variable, { rho: column, gamma: rows[k]! });
      const is_here =
        is_near(measured.rho[column]!, rho) && is_near(measured.gamma[rows[k]!]!, gamma);
      if (!is_here) borrowed.push(z.length);
      z.push(found.mean);
      error.push(is_here ? found.error : NaN);
    });
  }
  const look: HeatLook = {
    x_label: labelled('rho'),
    y_label: labelled('gamma'),
    z_label: labelled(variable),
    z: range_of(variable, map),
  };
  const cells = { ...heat_panel('', grid.rho, grid.gamma, z, error), borrowed };
  const curves = Object.entries(kCurves)
    .filter(([name]) => has_variable(map, name))
    .map(([name, label], k) => {
      const { x, y } = cut(map, name, 'rho', { gamma: 0 });
      const known = y.map((value) => (Number.isNaN(value) ? null : value));
      return { label, style: k === 0 ? ('dashed' as const) : ('solid' as const), x, y: known };
    });
  return heat_map(look, [{ ...cells, curves }]);
}

function is_near(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
}

/** Variables of a map that can be shown, the important ones first: what was measured. */
export function map_variables(map: DataFrame): string[] {
  return Object.keys(map.variables).filter(
    (name) => !name.endsWith('_theory') && !name.startsWith('critical_'),
  );
}

// -------------------------------------------------------------------------------------- the depth

export interface DepthResult {
  depth: DataFrame;
  theory: DataFrame | null;
}

/** The gap 1 − cosine, layer by layer. */
export function depth_figure({ depth, theory }: DepthResult): LineFigureData {
  const drawn = coordinates(depth, 'gamma').flatMap((value, gamma) => [
    series(cut(theory, 'log10_gap', 'layer', { gamma }), {
      style: 'solid',
      colour: colour_at(gamma),
      theory: true,
      label: 'simplex, exact',
    }),
    series(cut(depth, 'log10_gap', 'layer', { gamma }), {
      style: 'points',
      colour: colour_at(gamma),
      label: `measured, γ = ${value}`,
    }),
  ]);
  const y = { label: 'mean 1 − cosine', scale: 'exponent' as const };
  return lines([panel('', { label: 'layer', from: 0 }, y, drawn)]);
}
