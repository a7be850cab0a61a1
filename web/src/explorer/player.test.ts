// SPDX-License-Identifier: Apache-2.0
import { expect, it } from 'vitest';

import { advanced, kWholePlay, paused, played, scrubbed } from './player';

it('plays to the end in a fixed time, and stops there', () => {
  let player = played({ at: 0, playing: false }, 101);
  player = advanced(player, kWholePlay / 2, 101);
  expect(player).toEqual({ at: 50, playing: true });
  expect(advanced(player, kWholePlay, 101)).toEqual({ at: 100, playing: false });
});

it('begins anew at the end, and has nothing to play in a single record', () => {
  expect(played({ at: 100, playing: false }, 101)).toEqual({ at: 0, playing: true });
  expect(played({ at: 0, playing: false }, 1).playing).toBe(false);
});

it('does not move while it is paused, and scrubs within the records', () => {
  const still = paused({ at: 3, playing: true });
  expect(advanced(still, 5, 101)).toEqual(still);
  expect(scrubbed(1000, 101)).toEqual({ at: 100, playing: false });
  expect(scrubbed(-1, 101).at).toBe(0);
  expect(scrubbed(5, 0).at).toBe(0);
});
