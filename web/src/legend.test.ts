// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import { kGraphFigure, kLineFigure, kMatrixFigure } from './fixture';
import { can_hide_theory, has_unknown, labels_of, legend_entries } from './legend';

describe('legend_entries', () => {
  it('name each label once, in order', () => {
    const labels = legend_entries(kLineFigure).map((entry) => entry.label);
    expect(labels).toEqual([
      ...['N = 10³', 'N = 10⁶', 'N = 10¹²', 'N → ∞', 'measured'],
      ...['draws', 'a path', 'linear response'],
    ]);
    expect(legend_entries(kGraphFigure).map((entry) => entry.label)).toEqual([
      'critical line',
      'as printed',
    ]);
  });

  it('have every look of a label, and are theory only where all of it is', () => {
    const [panel] = kLineFigure.panels;
    const [first] = panel!.series;
    const twin = { ...first!, style: 'points' as const, theory: false };
    const figure = { ...kLineFigure, panels: [{ ...panel!, series: [first!, twin, first!] }] };
    const entries = legend_entries(figure);
    expect(entries.length).toBe(1);
    expect(entries[0]!.samples.map((sample) => sample.style)).toEqual(['solid', 'points']);
    expect(entries[0]!.theory).toBe(false);
    expect(legend_entries(kLineFigure)[0]!.theory).toBe(true);
  });
});

describe('labels_of', () => {
  const labels = labels_of(kLineFigure);
  const [panel] = kLineFigure.panels;

  it('is its own label where a series has one', () => {
    expect(labels.get(panel!.series[0]!)).toEqual(['N = 10³']);
  });

  it('is that of its kin where it has none', () => {
    expect(labels.get(panel!.series[3]!)).toEqual(['N = 10³', 'measured']);
  });

  it('does not guess between two labels of one colour', () => {
    const series = panel!.series.map((one) => ({ ...one, colour: '#000000' }));
    const figure = { ...kLineFigure, panels: [{ ...panel!, series }] };
    expect(labels_of(figure).get(series[3]!)).toEqual(['measured']);
  });
});

it('knows whether there is theory, and whether something is unknown', () => {
  expect([kLineFigure, kGraphFigure, kMatrixFigure].map(can_hide_theory)).toEqual([true, true, false]);
  expect([kLineFigure, kGraphFigure, kMatrixFigure].map(has_unknown)).toEqual([false, true, false]);
});
