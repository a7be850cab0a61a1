// Plays the records of a training: which of them is shown at a moment.
//
// SPDX-License-Identifier: Apache-2.0

export interface Player {
  at: number; // index of the record that is shown
  playing: boolean;
}

/** Seconds that all of a training takes on the screen. */
export const kWholePlay = 12;

export function scrubbed(at: number, count: number): Player {
  return { at: Math.min(Math.max(0, Math.round(at)), Math.max(0, count - 1)), playing: false };
}

/** From the beginning where it stands at the end. */
export function played(player: Player, count: number): Player {
  return { at: player.at >= count - 1 ? 0 : player.at, playing: count > 1 };
}

export function paused(player: Player): Player {
  return { ...player, playing: false };
}

/** After so many seconds of playing; at the last record it stops. `at` may be between two. */
export function advanced(player: Player, seconds: number, count: number): Player {
  if (!player.playing) return player;
  const at = player.at + (seconds * (count - 1)) / kWholePlay;
  return at >= count - 1 ? { at: Math.max(0, count - 1), playing: false } : { at, playing: true };
}
