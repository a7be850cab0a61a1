// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import { stages_of, type CycleResult } from './cycle_figures';

const kNothing = { name: '', dimensions: {}, variables: {} };

function run_with(stage: string[], mean: (number | null)[]): CycleResult {
  const time = { dimensions: ['stage'], mean };
  const stages = { name: 'stages', dimensions: { stage }, variables: { time } };
  return { complete: true, time: 1, until: 1, diverged: null, best_loss: null, frames: { trajectory: kNothing, stages } };
}

describe('stages of a training', () => {
  it('are those of the frame that were reached, in its order', () => {
    const run = run_with(['condensation', 'focus', 'half-dilution', 'new direction'], [60, 100, null, 305]);
    expect(stages_of(run)).toEqual([
      { name: 'condensation', label: 'condensed', time: 60 },
      { name: 'focus', label: 'focus', time: 100 },
      { name: 'new direction', label: 'new direction', time: 305 },
    ]);
  });

  it('are none where the run is not complete yet', () => {
    expect(stages_of({ ...run_with([], []), frames: { trajectory: kNothing } })).toEqual([]);
  });
});
