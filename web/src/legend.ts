// The legend of a figure: its entries, and which of them a series answers to.
//
// A series without a label belongs to the labelled one of its colour, as the points on a curve do;
// and to an entry without data of its style, which stands for all of them ("measured").
//
// SPDX-License-Identifier: Apache-2.0
import type { CurveData, FigureData, LineFigureData, SeriesData } from './data';
import { unpacked } from './numbers';

export type Sample =
  | { kind: 'series'; style: SeriesData['style']; colour: string }
  | { kind: 'curve'; style: CurveData['style'] };

export interface Entry {
  label: string;
  samples: Sample[]; // one of each look
  theory: boolean; // all of it
}

function is_empty(series: SeriesData): boolean {
  return unpacked(series.x).length === 0;
}

function is_same(a: Sample, b: Sample): boolean {
  const colour = (sample: Sample) => (sample.kind === 'series' ? sample.colour : '');
  return a.kind === b.kind && a.style === b.style && colour(a) === colour(b);
}

function labelled_samples(figure: FigureData): [string, Sample, boolean][] {
  if (figure.kind === 'heatmap') {
    return figure.panels.flatMap((panel) =>
      panel.curves.map(({ label, style }) => [label, { kind: 'curve', style }, true] as const),
    ) as [string, Sample, boolean][];
  }
  return figure.panels.flatMap((panel) =>
    panel.series.map(
      ({ label, style, colour, theory }): [string, Sample, boolean] => [
        label,
        { kind: 'series', style, colour },
        theory,
      ],
    ),
  );
}

/** Each label once, in the order in which the panels bring them. */
export function legend_entries(figure: FigureData): Entry[] {
  const entries = new Map<string, Entry>();
  for (const [label, sample, theory] of labelled_samples(figure)) {
    if (label === '') continue;
    const entry = entries.get(label) ?? { label, samples: [], theory: true };
    entries.set(label, entry);
    if (!entry.samples.some((known) => is_same(known, sample))) entry.samples.push(sample);
    entry.theory &&= theory;
  }
  return [...entries.values()];
}

// Nothing where two labels share the colour: it would be a guess.
function label_of_colour(panel: SeriesData[], colour: string): string[] {
  const labels = panel
    .filter((series) => series.label !== '' && series.colour === colour && !is_empty(series))
    .map((series) => series.label);
  return new Set(labels).size === 1 ? labels.slice(0, 1) : [];
}

/** The entries that a series answers to: its own, or those of its kin. */
export function labels_of(figure: LineFigureData): Map<SeriesData, string[]> {
  const everything = figure.panels.flatMap((panel) => panel.series);
  const stand_ins = everything.filter((series) => series.label !== '' && is_empty(series));
  const labels = new Map<SeriesData, string[]>();
  for (const panel of figure.panels) {
    for (const series of panel.series) {
      const kin = stand_ins.filter((entry) => entry.style === series.style);
      const borrowed = [
        ...label_of_colour(panel.series, series.colour),
        ...kin.slice(0, 1).map((entry) => entry.label),
      ];
      labels.set(series, series.label === '' ? borrowed : [series.label]);
    }
  }
  return labels;
}

/** Whether there is theory, and anything else that stays when it is hidden. */
export function can_hide_theory(figure: FigureData): boolean {
  if (figure.kind === 'heatmap') return figure.panels.some((panel) => panel.curves.length > 0);
  const drawn = figure.panels.flatMap((panel) => panel.series).filter((series) => !is_empty(series));
  return drawn.some(({ theory }) => theory) && drawn.some(({ theory }) => !theory);
}

/** Cells that nothing is known of, which the legend explains. */
export function has_unknown(figure: FigureData): boolean {
  if (figure.kind !== 'heatmap') return false;
  return figure.panels.some((panel) => unpacked(panel.z).some((z) => Number.isNaN(z)));
}
