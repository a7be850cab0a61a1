// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import type { DataFrame } from './frames';
import { ordered_weights_figure, type QueryResult } from './query_figures';

const dimensions = { n: [1e3], theta: [0.5, 2], rank: [1, 2, 3] };
const over_ranks = ['n', 'theta', 'rank'];

function frame(name: string, variables: DataFrame['variables']): DataFrame {
  return { name, dimensions, variables };
}

const result: QueryResult = {
  draws: 10,
  regime: null,
  query: frame('query', {
    weight: { dimensions: over_ranks, mean: [[[0.3, 0.2, 0.1], [0.7, 0.2, 0.05]]] },
  }),
  theory: frame('query_theory', {
    limit_weight: { dimensions: over_ranks, mean: [[[0.31, 0.21, 0.11], [0.71, 0.21, 0.06]]] },
    exact_largest_weight: { dimensions: ['n', 'theta'], mean: [[0.32, 0.72]] },
  }),
  sphere: null,
};

function curves(of: QueryResult, theta: number) {
  const all = ordered_weights_figure(of, { n: 0, theta }).panels[0]!.series;
  return (label: string) => all.find((one) => one.label === label)?.y;
}

test('ordered weights stand beside their limit law at every rank, at the temperature of the cursor', () => {
  const warm = curves(result, 0);
  expect(warm('θ = 0.5')).toEqual([0.3, 0.2, 0.1]);
  expect(warm('limit law')).toEqual([0.31, 0.21, 0.11]);
  expect(warm('exact at this n, first')).toEqual([0.32]);
  expect(curves(result, 1)('limit law')).toEqual([0.71, 0.21, 0.06]);
});

test('a result that has no theory yet shows what is measured', () => {
  const early = curves({ ...result, theory: null }, 1);
  expect(early('θ = 2')).toEqual([0.7, 0.2, 0.05]);
  expect(early('limit law')).toEqual([]);
});
