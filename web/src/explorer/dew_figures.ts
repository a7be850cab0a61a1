// Figures and numbers of the room Dew.
//
// SPDX-License-Identifier: Apache-2.0
import type { LineFigureData } from '../data';
import { colour_at, lines, panel, series } from './figure_parts';
import { coordinates, cut, measured_at, type DataFrame } from './frames';
import type { NumberRow } from './Numbers.svelte';

export interface Growth {
  law: string;
  reason: string;
}

export interface LawResult {
  law: string;
  curve: DataFrame;
  beta_edge: (number | null)[] | null;
  growth: { beta_pr?: Growth | null; beta_dew?: Growth | null };
}

export interface DewResult {
  draws: number;
  laws: LawResult[];
}

const kKeys = { label: 'keys n', scale: 'logarithmic' as const };

function edge_of({ curve, beta_edge }: LawResult) {
  const x = coordinates(curve, 'n');
  return { x, y: x.map((_, k) => beta_edge?.[k] ?? NaN), error: [] };
}

export function dew_figure({ laws }: DewResult, n: number): LineFigureData {
  const all = laws.flatMap((one, k) => {
    const colour = colour_at(k);
    return [
      series(edge_of(one), { style: 'dashed', colour, theory: true, label: 'β_edge' }),
      ...['beta_dew_lower', 'beta_dew_upper'].map((name) =>
        series(cut(one.curve, name, 'n', {}), { style: 'dotted', colour, label: 'quartiles' }),
      ),
      series(cut(one.curve, 'beta_dew_median', 'n', {}), { colour, label: one.law }),
    ];
  });
  const slopes = laws.map((one, k) =>
    series(cut(one.curve, 'slope_dew', 'n', {}), { colour: colour_at(k), label: one.law }),
  );
  const here = [{ x: n, label: 'n' }];
  return lines([
    panel('', kKeys, { label: 'dew point β_dew', scale: 'logarithmic' }, all, here),
    panel('', kKeys, { label: 'slope d log β_dew / d log n', from: 0 }, slopes, here),
  ]);
}

const kRows = ['beta_dew_median', 'beta_pr', 'accumulation', 'slope_dew', 'slope_pr'];

export function dew_rows({ curve }: LawResult, n: number): NumberRow[] {
  return kRows.map((name) => ({ name, measured: measured_at(curve, name, { n }) }));
}
