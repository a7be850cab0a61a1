// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import text from '../../../docs/errata.md?raw';
import { join_errata } from './errata_rows';
import { parse_errata } from './errata_text';
import type { ClaimRow } from '../data';

const sections = parse_errata(text);
const rows = sections.flatMap((section) => section.rows);

describe('docs/errata.md', () => {
  it('gives as many errata as it has lines that begin with a number', () => {
    expect(rows.length).toBeGreaterThan(0);
    expect(rows).toHaveLength(text.match(/^\| *\d+ *\|/gm)!.length);
  });
  it('has every number once, from 1 on', () => {
    const numbers = rows.map((row) => row.number).sort((a, b) => a - b);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });
  it('has six cells in every row, none of them empty', () => {
    for (const row of rows) {
      expect(Object.values(row), `row ${row.number}`).toHaveLength(6);
      for (const cell of Object.values(row)) expect(String(cell), `row ${row.number}`).not.toBe('');
    }
  });
  it('loses nothing between the bars', () => {
    const line = text.split('\n').find((each) => each.startsWith('| 4 |'))!;
    const { where, printed, right, evidence, status } = rows.find((row) => row.number === 4)!;
    expect(line).toBe(`| 4 | ${where} | ${printed} | ${right} | ${evidence} | ${status} |`);
  });
  it('keeps paragraphs beside the table, on one line, and no links', () => {
    const paragraphs = sections.flatMap(({ before, after }) => [...before, ...after]);
    expect(paragraphs.length).toBeGreaterThan(0);
    for (const paragraph of paragraphs) expect(paragraph).not.toMatch(/\n|\]\(|^\|/);
  });
});

describe('a table', () => {
  const head =
    '| # | where | printed | right | evidence | status in Dewpoint |\n|---|---|---|---|---|---|\n';

  it('may have a bar inside a cell', () => {
    const [section] = parse_errata(`## CAS\n\n${head}| 1 | a | \\|x\\| | b | \`c\` | – |\n`);
    expect(section!.rows[0]!.printed).toBe('|x|');
  });
  it('with a cell too few is an error, not a row', () => {
    expect(() => parse_errata(`## CAS\n\n${head}| 1 | a | b | c | d |\n`)).toThrow('five cells');
  });
});

it('texts and measurements meet by number, and what has no partner is kept', () => {
  const measured = (id: string) => ({ id }) as ClaimRow;
  const some = [{ ...sections[0]!, rows: rows.slice(0, 2) }];
  const [first, second] = some[0]!.rows;
  const found = [measured(`erratum.${second!.number}`), measured('erratum.999')];
  const joined = join_errata(some, found);
  expect(joined.map((section) => section.errata)).toEqual([
    [
      { key: `erratum.${first!.number}`, text: first, row: null },
      { key: `erratum.${second!.number}`, text: second, row: { id: `erratum.${second!.number}` } },
    ],
    [{ key: 'erratum.999', text: null, row: { id: 'erratum.999' } }],
  ]);
});
