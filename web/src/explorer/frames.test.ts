// SPDX-License-Identifier: Apache-2.0
import { expect, it } from 'vitest';

import { coordinates, cut, measured_at, type DataFrame } from './frames';

const frame: DataFrame = {
  name: 'condense',
  dimensions: { n: [100, 1e6], t: [0.5, 1, 2] },
  variables: {
    weight: {
      dimensions: ['n', 't'],
      mean: [
        [0.1, 0.2, null],
        [0.01, 0.3, 0.6],
      ],
      standard_error: [
        [0.01, 0.02, null],
        [0.001, 0.03, 0.06],
      ],
    },
    peak: { dimensions: [], mean: 7 },
  },
};

it('cuts along a dimension with the others held', () => {
  expect(cut(frame, 'weight', 't', { n: 1 })).toEqual({
    x: [0.5, 1, 2],
    y: [0.01, 0.3, 0.6],
    error: [0.001, 0.03, 0.06],
  });
  expect(cut(frame, 'weight', 'n', { t: 1 }).y).toEqual([0.2, 0.3]);
});

it('knows a single number, and says NaN where there is none', () => {
  expect(measured_at(frame, 'weight', { n: 1, t: 2 })).toEqual({ mean: 0.6, error: 0.06 });
  expect(measured_at(frame, 'weight', { n: 0, t: 2 }).mean).toBeNaN();
  expect(measured_at(frame, 'peak', {}).mean).toBe(7);
  expect(measured_at(frame, 'absent', {}).mean).toBeNaN();
  expect(measured_at(null, 'weight', {}).mean).toBeNaN();
  expect(cut(null, 'weight', 't', {})).toEqual({ x: [], y: [], error: [] });
  expect(coordinates(frame, 'n')).toEqual([100, 1e6]);
});
