// The rows of docs/errata.md: its tables with six columns, under the headings of their papers.
//
// Of Markdown there is `code` inside the cells, which rich_text.ts sets, and \| for a bar.
//
// SPDX-License-Identifier: Apache-2.0

export interface Erratum {
  number: number;
  where: string;
  printed: string;
  right: string;
  evidence: string;
  status: string;
}

export interface ErrataSection {
  title: string;
  before: string[]; // paragraphs above the table
  rows: Erratum[];
  after: string[]; // and below it
}

const kHeadings = ['#', 'where', 'printed', 'right', 'evidence', 'status in Dewpoint'];

function cells(line: string): string[] {
  const inside = line.trim().replace(/^\||\|$/g, '');
  return inside.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function erratum(line: string): Erratum {
  const [number = '', where = '', printed = '', right = '', evidence = '', status = '', ...more] =
    cells(line);
  if (!/^\d+$/.test(number) || status === '' || more.length > 0) {
    throw new Error(`errata.md: expected a number and five cells, found "${line}"`);
  }
  return { number: Number(number), where, printed, right, evidence, status };
}

function is_table(block: string): boolean {
  const first = cells(block.split('\n')[0] ?? '');
  return kHeadings.every((heading, column) => first[column] === heading);
}

function section(text: string): ErrataSection {
  const [title = '', ...blocks] = text.trim().split(/\n\s*\n/);
  const table = blocks.findIndex(is_table);
  const paragraphs = (some: string[]) => some.map((block) => block.replace(/\s*\n\s*/g, ' '));
  if (table < 0) return { title, before: paragraphs(blocks), rows: [], after: [] };
  return {
    title,
    before: paragraphs(blocks.slice(0, table)),
    rows: blocks[table]!.trim().split('\n').slice(2).map(erratum),
    after: paragraphs(blocks.slice(table + 1)),
  };
}

/** Sections without errata (our own working formulas) are left out. */
export function parse_errata(markdown: string): ErrataSection[] {
  const texts = markdown.split(/^## /m).slice(1);
  return texts.map(section).filter((each) => each.rows.length > 0);
}
