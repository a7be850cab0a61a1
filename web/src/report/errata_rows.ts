// Errata as text and errata as measured, one beside the other.
//
// SPDX-License-Identifier: Apache-2.0
import type { ClaimRow } from '../data';
import type { Erratum, ErrataSection } from './errata_text';

export interface JoinedErratum {
  key: string;
  text: Erratum | null; // null: measured, but not in the text of this build
  row: ClaimRow | null; // null: not measured
}

export interface JoinedSection {
  title: string;
  before: string[];
  errata: JoinedErratum[];
  after: string[];
}

/** Every text and every row once; rows without a text come last, under a heading of their own. */
export function join_errata(sections: ErrataSection[], rows: ClaimRow[]): JoinedSection[] {
  const left = new Map(rows.map((row) => [row.id, row]));
  const take = (id: string): ClaimRow | null => {
    const row = left.get(id) ?? null;
    left.delete(id);
    return row;
  };
  const joined: JoinedSection[] = sections.map((section) => ({
    ...section,
    errata: section.rows.map((text) => {
      const key = `erratum.${text.number}`;
      return { key, text, row: take(key) };
    }),
  }));
  const alone = [...left.values()].map((row) => ({ key: row.id, text: null, row }));
  if (alone.length > 0) joined.push({ title: 'Others', before: [], errata: alone, after: [] });
  return joined;
}
