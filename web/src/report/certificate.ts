// The rows of a certificate: which comparison to show, what a filter keeps, how many there are.
//
// SPDX-License-Identifier: Apache-2.0
import type { ClaimRow, Comparison, Verdict } from '../data';
import { value_of } from './comparison_text';

/** How many standard errors a measurement may be off: claims::kSigmas. */
export const kSigmas = 5.6;

export const kVerdicts: readonly Verdict[] = [
  'holds',
  'holds as corrected',
  'does not reproduce',
  'fails',
];

export const kPapers = ['CAS', 'CC', 'SL', 'FD'] as const;
export type Paper = (typeof kPapers)[number];

/**
 * How far a comparison is from failing, below 0 if it fails: for an equality the share of what is
 * allowed that is left, for a bound the room relative to the bound, at most 1. The rule of the
 * program (src/cli/certificate.cpp).
 */
export function margin(comparison: Comparison): number {
  const predicted = value_of(comparison.predicted);
  const excess = value_of(comparison.measured.mean) - predicted;
  const room =
    kSigmas * value_of(comparison.measured.standard_error) + value_of(comparison.tolerance);
  if (Number.isNaN(excess) || Number.isNaN(room)) return -1;
  if (comparison.relation === 'equals') {
    if (room > 0) return 1 - Math.abs(excess) / room;
    return excess === 0 ? 1 : -1;
  }
  const inside = (comparison.relation === 'at least' ? excess : -excess) + room;
  return Math.min(1, inside / Math.max(Math.abs(predicted), 1e-300));
}

/** The comparison to show where there is room for one; of equals the first. */
export function nearest_to_failing(comparisons: Comparison[]): Comparison | null {
  let nearest: Comparison | null = null;
  for (const comparison of comparisons) {
    if (nearest === null || margin(comparison) < margin(nearest)) nearest = comparison;
  }
  return nearest;
}

/** The paper that a row is about: "next to SL, ..." is about SL. */
export function paper_of(row: ClaimRow): Paper | null {
  const words = (row.place.split(',')[0] ?? '').split(' ');
  return kPapers.find((paper) => words.includes(paper)) ?? null;
}

export interface Filter {
  text: string; // every word of it has to occur somewhere in the row
  verdicts: ReadonlySet<Verdict>; // empty: all of them
  papers: ReadonlySet<Paper>; // empty: all of them
}

function searched_text(row: ClaimRow): string {
  const quantities = [...row.comparisons, ...row.as_printed].map((each) => each.quantity);
  return [row.id, row.place, row.statement, row.parameters, row.verdict, ...quantities]
    .join('\n')
    .toLowerCase();
}

export function passes(row: ClaimRow, filter: Filter): boolean {
  if (filter.verdicts.size > 0 && !filter.verdicts.has(row.verdict)) return false;
  const paper = paper_of(row);
  if (filter.papers.size > 0 && (paper === null || !filter.papers.has(paper))) return false;
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const text = searched_text(row);
  return words.every((word) => text.includes(word));
}

export function count_verdicts(rows: ClaimRow[]): Record<Verdict, number> {
  const counts = { holds: 0, 'holds as corrected': 0, 'does not reproduce': 0, fails: 0 };
  for (const row of rows) ++counts[row.verdict];
  return counts;
}

export function count_papers(rows: ClaimRow[]): Record<Paper, number> {
  const counts = { CAS: 0, CC: 0, SL: 0, FD: 0 };
  for (const row of rows) {
    const paper = paper_of(row);
    if (paper !== null) ++counts[paper];
  }
  return counts;
}

/** "86 statements examined: 62 hold, 20 hold as corrected, 4 do not reproduce, 0 fail" */
export function summary(rows: ClaimRow[]): string {
  const counts = count_verdicts(rows);
  return (
    `${rows.length} ${rows.length === 1 ? 'statement' : 'statements'} examined: ` +
    `${counts.holds} hold, ${counts['holds as corrected']} hold as corrected, ` +
    `${counts['does not reproduce']} do not reproduce, ${counts.fails} fail`
  );
}

/** A set with one member more, or less if it was there: such sets are replaced, not changed. */
export function toggled<Member>(set: ReadonlySet<Member>, member: Member): ReadonlySet<Member> {
  const result = new Set(set);
  if (!result.delete(member)) result.add(member);
  return result;
}
