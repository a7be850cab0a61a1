// SPDX-License-Identifier: Apache-2.0
import { expect, it } from 'vitest';

import { rich, type Piece } from './rich_text';

function html(pieces: Piece[]): string {
  return pieces
    .map((piece) => {
      if (piece.kind === 'text') return piece.text;
      if (piece.kind === 'code') return `<code>${piece.text}</code>`;
      const tag = piece.kind === 'lowered' ? 'sub' : 'sup';
      return `<${tag}>${html(piece.pieces)}</${tag}>`;
    })
    .join('');
}

it.each([
  ['‖x_i‖^{−1/2}', '‖x<sub>i</sub>‖<sup>−1/2</sup>'],
  ['e^{−tS_k} and w_max', 'e<sup>−tS<sub>k</sub></sup> and w<sub>max</sub>'],
  ['N^(−(1−t)²), n^0.05.', 'N<sup>−(1−t)²</sup>, n<sup>0.05</sup>.'],
  ["Wy_i, y'_i", "Wy<sub>i</sub>, y'<sub>i</sub>"],
  ['Σ_{i≠j} A_ji²', 'Σ<sub>i≠j</sub> A<sub>ji</sub>²'],
  ['V_⊥, ∂_δ, θ_½β*, w_*', 'V<sub>⊥</sub>, ∂<sub>δ</sub>, θ<sub>½</sub>β*, w<sub>*</sub>'],
  ['e^x, e^β/Z', 'e<sup>x</sup>, e<sup>β</sup>/Z'],
  ['`theory::mean_top_gap` is', '<code>theory::mean_top_gap</code> is'],
  ['standard_error _x', 'standard_error _x'],
  ['one ` and x^{2', 'one ` and x^{2'],
  ['', ''],
])('%s', (text, expected) => {
  expect(html(rich(text))).toBe(expected);
});
