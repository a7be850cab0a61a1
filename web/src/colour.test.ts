// The cases of tests/report/colour_test.cpp and diverging_colour_test.cpp, and dark paper.
//
// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import {
  colour_of,
  diverging,
  kUnknownBesideWhite,
  kUnknownColour,
  luma,
  ok_lab,
  on_dark_paper,
  on_paper,
  viridis,
} from './colour';

const kOkabeIto = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'];

describe('viridis', () => {
  it('has its published ends', () => {
    expect([viridis(0), viridis(1)]).toEqual(['#440154', '#fde725']);
  });

  it('grows lighter', () => {
    for (let k = 1; k <= 50; ++k) {
      expect(luma(viridis(k / 50))).toBeGreaterThan(luma(viridis((k - 1) / 50)));
    }
  });

  it('stays at its ends outside and is grey where nothing is known', () => {
    expect(viridis(-1)).toBe(viridis(0));
    expect(viridis(Infinity)).toBe(viridis(1));
    expect(viridis(NaN)).toBe(kUnknownColour);
  });
});

describe('diverging', () => {
  it('runs from blue over white to red', () => {
    expect([-1, 0, 0.5, 2].map(diverging)).toEqual(['#053061', '#053061', '#f7f7f7', '#67001f']);
    expect(diverging(NaN)).toBe(kUnknownBesideWhite);
    expect(diverging(0.05)).toBe('#134b87'); // half-way between two of its colours
  });

  it('is lightest in the middle', () => {
    for (let k = 0; k < 25; ++k) {
      expect(luma(diverging(k / 50))).toBeLessThan(luma(diverging((k + 1) / 50)));
      expect(luma(diverging(1 - k / 50))).toBeLessThan(luma(diverging(1 - (k + 1) / 50)));
    }
  });
});

describe('colour_of', () => {
  it('follows the scale of the colours', () => {
    const bounds = { colours: 'viridis', z_low: 0.01, z_high: 100 } as const;
    const logarithmic = { ...bounds, z_scale: 'logarithmic' } as const;
    expect(colour_of(logarithmic, 1)).toBe(viridis(0.5));
    expect(colour_of(logarithmic, 0)).toBe(viridis(0));
    expect(colour_of(logarithmic, -1)).toBe(kUnknownColour);
    expect(colour_of(logarithmic, Infinity)).toBe(viridis(1));
    expect(colour_of({ ...bounds, z_scale: 'linear' }, -1)).toBe(viridis(0));
  });
});

describe('on_dark_paper', () => {
  function hue(colour: string): number {
    const [, a, b] = ok_lab(colour);
    return Math.atan2(b, a);
  }

  // Property (1).
  it('turns black ink into nearly white ink', () => {
    expect(luma(on_dark_paper('#000000'))).toBeGreaterThan(225);
    expect(luma(on_dark_paper('#8c8c8c'))).toBeGreaterThan(120);
  });

  // Property (2). Channels are rounded to whole numbers, which turns a hue by a degree or so.
  it('keeps the hue', () => {
    for (const colour of [...kOkabeIto, ...[0, 0.2, 0.4, 0.6, 0.8].map(viridis)]) {
      const turn = Math.abs(hue(on_dark_paper(colour)) - hue(colour));
      expect(Math.min(turn, 2 * Math.PI - turn), colour).toBeLessThan(0.03);
    }
  });

  // Property (3).
  it('keeps the order of colours that differ in degree', () => {
    const shown = [0, 0.2, 0.4, 0.6, 0.8].map((t) => ok_lab(on_dark_paper(viridis(t)))[0]);
    expect(shown).toEqual([...shown].sort((a, b) => a - b));
  });

  // 0.55 is what lightness_on_dark() gives the darkest colour; a hundredth for rounding.
  it('leaves nothing dark', () => {
    for (const colour of ['#000000', ...kOkabeIto, ...[0, 0.3, 0.7].map(viridis)]) {
      expect(ok_lab(on_dark_paper(colour))[0], colour).toBeGreaterThan(0.54);
    }
  });

  it('is not asked on white paper', () => {
    expect(on_paper('#0072b2', false)).toBe('#0072b2');
    expect(on_paper('#0072b2', true)).toBe(on_dark_paper('#0072b2'));
  });
});
