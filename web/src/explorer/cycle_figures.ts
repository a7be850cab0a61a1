// Figures of the room Cycle: a training, and one moment of it.
//
// SPDX-License-Identifier: Apache-2.0
import type { HeatmapFigureData, LineFigureData } from '../data';
import { number_text } from '../numbers';
import { colour_at, heat_map, heat_panel, kBlack, lines, panel, point, series } from './figure_parts';
import { coordinates, cut, measured_at, type DataFrame, type Measured } from './frames';

export interface CycleResult {
  complete: boolean;
  time: number;
  until: number;
  diverged: unknown;
  best_loss: number | null;
  frames: { trajectory: DataFrame } & Partial<Record<string, DataFrame>>;
}

/** What the records stand for: tokens are named by their frequency. */
export interface Names {
  time: string; // label of the axis
  tokens: string[];
}

const kStages: Record<string, string> = {
  condensation: 'condensed',
  focus: 'focus',
  peak: 'peak',
  'half-dilution': 'half diluted',
  'new direction': 'new direction',
};

export function names_of(pi: readonly number[], is_flow: boolean, count: number): Names {
  const tokens = Array.from({ length: count }, (_, k) => {
    const share = pi[k];
    return share === undefined ? `token ${k}` : `token ${k}, π = ${number_text(share, 3)}`;
  });
  return { time: is_flow ? 'time of the flow' : 'step', tokens };
}

export interface Stage {
  name: string;
  label: string;
  time: number;
}

/** Those that were reached. */
export function stages_of(result: CycleResult): Stage[] {
  const stages = result.frames['stages'];
  return (stages?.dimensions['stage'] ?? [])
    .map(String)
    .map((name, stage) => ({ name, label: kStages[name] ?? name, time: measured_at(stages, 'time', { stage }).mean }))
    .filter(({ time }) => Number.isFinite(time));
}

function markers(stages: readonly Stage[], now: number) {
  return [...stages.map(({ time, label }) => ({ x: time, label })), { x: now, label: '▼' }];
}

export function loss_figure(
  { frames: { trajectory } }: CycleResult,
  names: Names,
  stages: readonly Stage[],
  now: number,
  until: number,
): LineFigureData {
  const groups = names.tokens.map((label, token) =>
    series(cut(trajectory, 'group_loss', 'time', { token }), {
      style: 'solid',
      colour: colour_at(token),
      label,
    }),
  );
  const all = series(cut(trajectory, 'loss', 'time', {}), {
    style: 'dashed',
    colour: kBlack,
    label: 'all',
  });
  const x = { label: names.time, from: 0, to: until };
  return lines([panel('', x, { label: 'loss, nats', from: 0 }, [...groups, all], markers(stages, now))]);
}

export function norms_figure(
  { frames: { trajectory } }: CycleResult,
  names: Names,
  now: number,
  until: number,
): LineFigureData {
  const drawn = names.tokens.map((label, token) =>
    series(cut(trajectory, 'embedding_norm', 'time', { token }), {
      style: 'solid',
      colour: colour_at(token),
      label,
    }),
  );
  const x = { label: names.time, from: 0, to: until };
  return lines([panel('', x, { label: 'norm of the embedding', from: 0 }, drawn, [{ x: now, label: '▼' }])]);
}

export function attention_figure(
  { frames: { trajectory } }: CycleResult,
  record: number,
): HeatmapFigureData {
  const keys = coordinates(trajectory, 'key');
  const queries = coordinates(trajectory, 'query');
  const z = keys.flatMap((_, key) =>
    queries.map((_, query) => measured_at(trajectory, 'attention', { time: record, query, key }).mean),
  );
  const look = { x_label: 'key', y_label: 'query', z_label: 'attention', z: [0, 1] as const };
  return heat_map({ ...look, look: 'matrix' }, [heat_panel('', keys, queries, z)]);
}

/** Embeddings in the plane of their two largest directions; discs are where they are now. */
export function path_figure(
  { frames: { trajectory } }: CycleResult,
  names: Names,
  record: number,
): LineFigureData {
  const drawn = names.tokens.flatMap((label, token) => {
    const [x, y] = [0, 1].map((component) => cut(trajectory, 'path', 'time', { token, component }).y);
    const look = { colour: colour_at(token), label };
    return [
      series({ x: x!, y: y!, error: [] }, { ...look, style: 'solid' }),
      point(x![record] ?? NaN, y![record] ?? NaN, look),
    ];
  });
  const share = (component: number) =>
    Math.round(100 * measured_at(trajectory, 'path_explained', { component }).mean);
  const label = (component: number) =>
    `direction ${component + 1}${share(component) >= 0 ? ` (${share(component)} %)` : ''}`;
  return lines([panel('', { label: label(0) }, { label: label(1) }, drawn)]);
}

export function loss_at({ frames: { trajectory } }: CycleResult, record: number): Measured {
  return measured_at(trajectory, 'loss', { time: record });
}
