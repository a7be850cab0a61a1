// The colours of app.css, as a reader of small print sees them: WCAG 2.1, 1.4.3.
//
// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import css from './app.css?raw';

function tokens(selector: string): Map<string, string> {
  const block = css.split(`${selector} {`)[1]!.split('}')[0]!;
  const found = [...block.matchAll(/(--\w+): (#[0-9a-f]{6});/g)];
  return new Map(found.map(([, name, colour]) => [name!, colour!]));
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const channel = parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

const kInks = ['--ink', '--quiet', '--accent', '--good', '--warn', '--bad'];

describe.each([
  ['light', ':root'],
  ['dark', "[data-theme='dark']"],
])('text on %s paper', (_, selector) => {
  const colours = tokens(selector);
  it.each(kInks)('%s has a contrast of at least 4.5', (ink) => {
    for (const ground of ['--paper', '--raised']) {
      expect(contrast(colours.get(ink)!, colours.get(ground)!), ground).toBeGreaterThan(4.5);
    }
  });
});

it('contrast is 21 between black and white', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 12);
});
