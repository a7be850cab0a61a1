// SPDX-License-Identifier: Apache-2.0
import { expect, it } from 'vitest';

import { cell_text, estimate_text, measured_text, predicted_text } from './comparison_text';
import type { Cell, Comparison } from '../data';

function comparison(mean: Cell, standard_error: Cell): Comparison {
  const measured = { mean, standard_error, samples: 9 };
  const prediction = { relation: 'at least' as const, predicted: -0.25, tolerance: 6.25e-13 };
  return { quantity: 'x', ...prediction, measured, holds: true };
}

it('a prediction has its relation', () => {
  expect(predicted_text(comparison(1, 0))).toBe('≥ −0.25');
});

it('a measurement has its error, or its tolerance where nothing is random', () => {
  expect(measured_text(comparison(0.501234, 0.0047))).toBe('0.5012 ± 0.0047');
  expect(measured_text(comparison(1.0000000000000002, 0))).toBe('1 (tolerance 6·10⁻¹³)');
});

it('what is not known is a question mark', () => {
  expect(estimate_text(comparison(null, 0.1).measured)).toBe('?');
  expect(estimate_text(comparison(0.5, null).measured)).toBe('0.5 ± ?');
  expect(measured_text(comparison(null, 0))).toBe('? (tolerance 6·10⁻¹³)');
  expect(cell_text('-inf')).toBe('−∞');
});
