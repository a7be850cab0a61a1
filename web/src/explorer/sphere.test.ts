// SPDX-License-Identifier: Apache-2.0
import { expect, it } from 'vitest';

import { radius_of_weight, seen, turned } from './sphere';

it('shows a point of the sphere as far from the middle as it is', () => {
  const { x, y, depth } = seen([0.6, 0, 0.8], { azimuth: 0.3, height: 0.4 });
  expect(x ** 2 + y ** 2 + depth ** 2).toBeCloseTo(1, 12);
});

it('has the first axis ahead and the third upwards before it is turned', () => {
  const turn = { azimuth: 0, height: 0 };
  expect(seen([1, 0, 0], turn).depth).toBeCloseTo(1, 12);
  expect(seen([0, 0, 1], turn).y).toBeCloseTo(1, 12);
  expect(seen([0, 1, 0], turn).x).toBeCloseTo(1, 12);
});

it('does not turn over the poles', () => {
  expect(turned({ azimuth: 0, height: 1.5 }, 0.1, 1)).toEqual({ azimuth: 0.1, height: Math.PI / 2 });
});

it('gives a weight an area', () => {
  expect(radius_of_weight(0.25, 10)).toBe(5);
  expect(radius_of_weight(-1e-18, 10)).toBe(0);
});
