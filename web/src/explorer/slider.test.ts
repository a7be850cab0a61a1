// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import { linear_track, listed_track, log_track, octave_track, usual_track } from './slider';

describe('a track', () => {
  it('has tidy values in equal steps', () => {
    const track = linear_track(0, 0.99, 0.01);
    expect(track.steps).toBe(99);
    expect(track.value(70)).toBe(0.7);
    expect(track.step(0.7)).toBe(70);
    expect(track.step(7)).toBe(99);
  });

  it('reaches both ends of thirty decades, in whole numbers of few digits', () => {
    const track = log_track(10, 1e30, { per_decade: 4, digits: 2 });
    expect(track.steps).toBe(116);
    expect([track.value(0), track.value(4), track.value(116)]).toEqual([10, 100, 1e30]);
    for (let k = 0; k <= track.steps; ++k) expect(track.step(track.value(k))).toBe(k);
    expect(track.step(1)).toBe(0);
    expect(track.step(0)).toBe(0);
    expect(log_track(2, 512, { whole: true, digits: 2 }).value(10)).toBe(6);
  });

  it('may be made of given values, or of powers of two', () => {
    expect(listed_track([1, 10, 100]).step(12)).toBe(1);
    expect(octave_track(16, 2048).steps).toBe(7);
    expect(octave_track(16, 2048).value(3)).toBe(128);
  });

  it('is logarithmic where the range spans decades', () => {
    expect(usual_track(1, 1e6, true).value(20)).toBe(10);
    expect(usual_track(0, 100, false).value(10)).toBe(10);
    expect(usual_track(1, 64, true).steps).toBe(63);
  });
});
