// Figures and numbers of the room Condense.
//
// SPDX-License-Identifier: Apache-2.0
import { number_text } from '../numbers';
import type { LineFigureData } from '../data';
import { colour_at, kBlack, lines, panel, point, series } from './figure_parts';
import { coordinates, cut, has_variable, measured_at, type At, type DataFrame } from './frames';
import type { NumberRow } from './Numbers.svelte';

export interface CondenseResult {
  draws: number;
  condense: DataFrame;
  theory: DataFrame;
}

function keys_text(n: number): string {
  return `n = ${number_text(n, 3)}`;
}

const kLoad = { label: 't = βσ / √(2 log n)' };

/** The largest weight over the load: measured, at this n, and in the limit. */
export function largest_weight_figure(
  { condense, theory }: CondenseResult,
  t: number,
): LineFigureData {
  const all = coordinates(condense, 'n').flatMap((n, k) => [
    series(cut(theory, 'largest_weight', 't', { n: k }), {
      style: 'solid',
      colour: colour_at(k),
      theory: true,
      label: 'theory at this n',
    }),
    series(cut(condense, 'largest_weight', 't', { n: k }), {
      style: 'points',
      colour: colour_at(k),
      label: keys_text(n),
    }),
  ]);
  const limit = series(cut(theory, 'limit_largest_weight', 't', {}), {
    style: 'dashed',
    colour: kBlack,
    theory: true,
    label: 'limit n → ∞',
  });
  const y = { label: 'mean of w_max', from: 0, to: 1 };
  return lines([panel('', kLoad, y, [limit, ...all], [{ x: t, label: 't' }])]);
}

/** Ordered weights at one load, for every n. */
export function ordered_weights_figure({ condense }: CondenseResult, t: number): LineFigureData {
  const all = coordinates(condense, 'n').map((n, k) =>
    series(cut(condense, 'ordered_weight', 'rank', { n: k, t }), {
      colour: colour_at(k),
      label: keys_text(n),
    }),
  );
  const y = { label: 'mean weight', from: 0, to: 1 };
  return lines([panel('', { label: 'rank' }, y, all)]);
}

/** Which planted signals are found at which load, and where we are. */
export function retrieval_figure(
  { condense, theory }: CondenseResult,
  t: number,
  signals: readonly number[],
): LineFigureData {
  const line = series(cut(theory, 'retrieval_signal', 't', {}), {
    style: 'solid',
    colour: kBlack,
    theory: true,
    label: 's_c(t), limit',
  });
  const measured = coordinates(condense, 'n').map((n, k) =>
    series(cut(condense, 'retrieval_signal', 't', { n: k }), {
      style: 'points',
      colour: colour_at(k),
      label: keys_text(n),
    }),
  );
  const here = signals.map((signal) =>
    point(t, signal, { colour: '#8a4fa3', label: 'current point' }),
  );
  const y = { label: 'planted signal s', from: 0 };
  return lines([panel('', kLoad, y, [line, ...measured, ...here], [{ x: t, label: 't' }])]);
}

const kRows = ['largest_weight', 'participation', 'entropy', 'log_partition', 'retrieval_signal'];

export function condense_rows({ condense, theory }: CondenseResult, at: At): NumberRow[] {
  const rows: NumberRow[] = kRows
    .filter((name) => has_variable(condense, name))
    .map((name) => ({
      name,
      measured: measured_at(condense, name, at),
      theory: measured_at(theory, name, at).mean,
    }));
  if (has_variable(condense, 'planted_weight')) {
    rows.push({ name: 'planted_weight', measured: measured_at(condense, 'planted_weight', at) });
  }
  return rows;
}
