// SPDX-License-Identifier: Apache-2.0
import { expect, it } from 'vitest';

import { view } from './fake_server';
import { standing_text } from './standing_text';
import { seconds_text } from './time_text';

it('says how far an answer is', () => {
  expect(standing_text('running', 0.567, view({ level: 2 }))).toBe('level 2 of 3, 57 %');
  expect(standing_text('running', 0.2, view({ levels: 0 }))).toBe('20 %');
  expect(standing_text('done', 1, view({ cached: true }))).toBe('complete, from memory');
  expect(standing_text('done', 1, null)).toBe('complete');
});

it('says times as a reader does', () => {
  expect([0.42, 31.4, 240, 9000].map(seconds_text)).toEqual(['0.4 s', '31 s', '4 min', '2.5 h']);
});
