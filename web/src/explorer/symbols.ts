// Symbols of quantities, their names and what they mean: what a reader sees who rests on one. They
// are those of docs/quantities.md, which the program reads too.
//
// SPDX-License-Identifier: Apache-2.0
import page from '../../../docs/quantities.md?raw';

export interface Symbol {
  sign: string; // as a formula of rich_text.ts
  name: string;
  definition: string; // "β / log n"; empty: none
  meaning: string; // with its unit, where it has one
}

function symbol(row: string): [string, Symbol] {
  const cells = row.split('|').map((cell) => cell.trim());
  const [, code = '', sign = '', name = '', definition = '', unit = '', , meaning = ''] = cells;
  if (cells.length !== 9 || name === '' || meaning === '') {
    throw new Error(`quantities.md: expected seven cells, found "${row}"`);
  }
  const explained = unit === '' ? meaning : `${meaning}, in ${unit}`;
  return [code.replaceAll('`', ''), { sign, name, definition, meaning: explained }];
}

const kSymbols = new Map(
  page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map(symbol),
);

/** A name that is not in the table is its own explanation. */
export function symbol_of(name: string): Symbol {
  const words = name.replaceAll(/[_-]/g, ' ');
  return kSymbols.get(name) ?? { sign: '', name: words, definition: '', meaning: words };
}

/** "contraction λ", "scale γ = β / log n": a label of an axis or of a row. */
export function labelled(name: string): string {
  const { sign, name: words, definition } = symbol_of(name);
  const title = sign === '' ? words : `${words} ${sign}`;
  return definition === '' ? title : `${title} = ${definition}`;
}
