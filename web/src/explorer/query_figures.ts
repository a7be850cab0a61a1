// Figures and numbers of the room Query.
//
// SPDX-License-Identifier: Apache-2.0
import { number_text } from '../numbers';
import type { LineFigureData } from '../data';
import { colour_at, kBlack, lines, panel, point, series } from './figure_parts';
import { coordinates, cut, has_variable, measured_at, type At, type DataFrame } from './frames';
import type { NumberRow } from './Numbers.svelte';
import { labelled, symbol_of } from './symbols';

export type Unit = 'theta' | 'beta' | 'edge';

export interface QueryResult {
  draws: number;
  regime: string[][] | null;
  query: DataFrame;
  theory: DataFrame | null; // not yet, at the first level
  sphere: { n: number; unit: Unit; temperatures: number[]; query: [number, number, number] } | null;
}

/** The dimension of the frame that the temperatures are on. */
export function unit_of(frame: DataFrame): Unit {
  if ('edge' in frame.dimensions) return 'edge';
  return 'beta' in frame.dimensions ? 'beta' : 'theta';
}

/** Ordered weights at one temperature, beside the limit law at every rank and the exact mean of the first. */
export function ordered_weights_figure({ query, theory }: QueryResult, at: At): LineFigureData {
  const unit = unit_of(query);
  const values = coordinates(query, unit);
  const all = values.map((value, k) => ({
    is_here: k === at[unit],
    series: series(cut(query, 'weight', 'rank', { ...at, [unit]: k }), {
      colour: k === at[unit] ? colour_at(0) : '#9aa3ad',
      style: k === at[unit] ? 'line-and-points' : 'solid',
      label: k === at[unit] ? `${symbol_of(unit).sign} = ${number_text(value, 4)}` : 'other temperatures',
    }),
  }));
  const limit = series(cut(theory, 'limit_weight', 'rank', at), {
    style: 'dashed',
    colour: colour_at(1),
    theory: true,
    label: 'limit law',
  });
  const exact = point(1, measured_at(theory, 'exact_largest_weight', at).mean, {
    label: 'exact at this n, first',
    colour: kBlack,
    theory: true,
  });
  const drawn = [...all.filter((one) => !one.is_here), ...all.filter((one) => one.is_here)];
  const y = { label: 'mean weight', scale: 'logarithmic' as const };
  return lines([panel('', { label: 'rank' }, y, [...drawn.map((one) => one.series), limit, exact])]);
}

const kSides = [
  ['scaled_bias', 'bias'],
  ['scaled_scatter', 'scatter'],
] as const;

/** Bias and fluctuation of the output over the temperature. */
export function output_figure({ query, theory }: QueryResult, here: number): LineFigureData {
  const unit = unit_of(query);
  const panels = kSides.map(([name, stem]) => {
    const all = coordinates(query, 'n').flatMap((n, k) => [
      series(cut(theory, `exact_${stem}`, unit, { n: k }), {
        style: 'solid',
        colour: colour_at(k),
        theory: true,
        label: 'exact at this n',
      }),
      series(cut(query, name, unit, { n: k }), {
        style: 'points',
        colour: colour_at(k),
        label: `n = ${number_text(n, 3)}`,
      }),
    ]);
    const limit = series(cut(theory, `limit_${stem}`, unit, {}), {
      style: 'dashed',
      colour: kBlack,
      theory: true,
      label: 'limit law',
    });
    const x = { label: labelled(unit), scale: 'logarithmic' as const };
    const y = { label: labelled(name), scale: 'logarithmic' as const };
    return panel('', x, y, [limit, ...all], [{ x: here, label: symbol_of(unit).sign }]);
  });
  return lines(panels);
}

const kRows = [
  ['participation', 'exact_participation'],
  ['entropy', 'exact_entropy'],
  ['scaled_bias', 'exact_bias'],
  ['scaled_scatter', 'exact_scatter'],
] as const;

export function query_rows({ query, theory }: QueryResult, at: At): NumberRow[] {
  const first: NumberRow = {
    name: 'largest_weight',
    measured: measured_at(query, 'weight', { ...at, rank: 0 }),
    theory: measured_at(theory, 'exact_largest_weight', at).mean,
  };
  const rest = kRows
    .filter(([name]) => has_variable(query, name))
    .map(([name, exact]) => ({
      name,
      measured: measured_at(query, name, at),
      theory: measured_at(theory, exact, at).mean,
    }));
  return [first, ...rest];
}
