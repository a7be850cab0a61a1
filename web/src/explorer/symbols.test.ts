// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from 'vitest';

import page from '../../../docs/quantities.md?raw';
import { labelled, symbol_of } from './symbols';

describe('symbols', () => {
  test('every row of docs/quantities.md is known', () => {
    const names = [...page.matchAll(/^\| `([^`]+)`/gm)].map((row) => row[1]!);
    expect(names.length).toBeGreaterThan(70);
    for (const name of names) expect(symbol_of(name).meaning, name).not.toBe(name.replaceAll('_', ' '));
  });

  test('labels have the symbol and the definition', () => {
    expect(labelled('contraction')).toBe('contraction λ');
    expect(labelled('gamma')).toBe('scale γ = β / log n');
    expect(symbol_of('entropy').meaning).toBe('−Σ w log w of a row of weights, in nats');
  });

  test('another name stands for itself', () => {
    expect(labelled('my_own-number')).toBe('my own number');
  });
});
