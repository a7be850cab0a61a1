// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';

import {
  count_papers,
  count_verdicts,
  kSigmas,
  margin,
  nearest_to_failing,
  paper_of,
  passes,
  summary,
  toggled,
  type Filter,
} from './certificate';
import type { Cell, ClaimRow, Comparison } from '../data';
import claim_header from '../../../src/dewpoint/claims/claim.hpp?raw';

it('allows as many standard errors as the program does', () => {
  expect(claim_header).toContain(`kSigmas = ${kSigmas};`);
});

function comparison(
  relation: Comparison['relation'],
  predicted: Cell,
  mean: Cell,
  standard_error: Cell = 0,
  tolerance: Cell = 0,
): Comparison {
  const measured = { mean, standard_error, samples: 1 };
  return { quantity: 'a number', relation, predicted, measured, tolerance, holds: true };
}

function row(changes: Partial<ClaimRow>): ClaimRow {
  return {
    id: 'cas.theorem-2.1',
    place: 'CAS, Theorem 2.1',
    statement: 'Cosines contract.',
    parameters: 'n = 512',
    verdict: 'holds',
    comparisons: [],
    as_printed: [],
    seconds: 1,
    command: 'dewpoint verify --only cas.theorem-2.1',
    ...changes,
  };
}

const kAll: Filter = { text: '', verdicts: new Set(), papers: new Set() };

describe('the margin of an equality', () => {
  it('is the share of what is allowed that is left', () => {
    expect(margin(comparison('equals', 1, 1, 0.1))).toBe(1);
    expect(margin(comparison('equals', 1, 1 + 0.25 * kSigmas, 0.5))).toBeCloseTo(0.5, 12);
    expect(margin(comparison('equals', 1, 0.5, 0, 1))).toBe(0.5);
    expect(margin(comparison('equals', 1, 1.5, 0.05, 0.22))).toBeCloseTo(0, 12);
    expect(margin(comparison('equals', 1, 4, 0, 1))).toBe(-2);
  });
  it('is all or nothing where nothing is allowed', () => {
    expect(margin(comparison('equals', 3, 3))).toBe(1);
    expect(margin(comparison('equals', 3, 3.0000001))).toBe(-1);
  });
});

describe('the margin of a bound', () => {
  it('is the room relative to the bound, in the direction of the bound', () => {
    expect(margin(comparison('at least', 2, 3))).toBe(0.5);
    expect(margin(comparison('at least', 2, 1))).toBe(-0.5);
    expect(margin(comparison('at most', 2, 1))).toBe(0.5);
    expect(margin(comparison('at most', -2, -1, 0, 3))).toBe(1);
    expect(margin(comparison('at most', 2, 2, 0.1, 0.44))).toBeCloseTo(0.5, 12);
  });
  it('is at most 1, for a bound of 0 too', () => {
    expect(margin(comparison('at least', 1, 1000))).toBe(1);
    expect(margin(comparison('at least', 0, 1e-9))).toBe(1);
  });
});

describe('a number that is not known', () => {
  it('fails, wherever it is', () => {
    expect(margin(comparison('equals', null, 1, 1))).toBe(-1);
    expect(margin(comparison('at least', 1, null))).toBe(-1);
    expect(margin(comparison('at most', 1, 0, null))).toBe(-1);
    expect(margin(comparison('at most', 1, 0, 0, null))).toBe(-1);
  });
  it('an infinity is known: it is larger than any bound', () => {
    expect(margin(comparison('at least', 1, 'inf'))).toBe(1);
    expect(margin(comparison('at most', 1, 'inf'))).toBe(-Infinity);
    expect(margin(comparison('equals', 'inf', 'inf', 0, 1))).toBe(-1);
  });
});

it('the comparison shown is the one with the least margin, of equals the first', () => {
  const good = comparison('equals', 1, 1, 0.1);
  const close = comparison('equals', 1, 1.9, 0, 1);
  const same = comparison('equals', 2, 2.9, 0, 1);
  expect(nearest_to_failing([good, close, same])).toBe(close);
  expect(nearest_to_failing([])).toBeNull();
});

describe('a filter', () => {
  const rows = [
    row({}),
    row({ id: 'sl.x', place: 'next to SL, sampled', verdict: 'does not reproduce' }),
    row({ id: 'fd.y', place: 'FD, Eq (20)', verdict: 'holds as corrected', statement: 'η grows' }),
    row({ id: 'z', place: 'our own', comparisons: [comparison('equals', 1, 1)] }),
  ];
  const kept = (filter: Partial<Filter>) =>
    rows.filter((each) => passes(each, { ...kAll, ...filter })).map((each) => each.id);

  it('that asks for nothing keeps all', () => expect(kept({})).toHaveLength(4));
  it('finds every word, in any order and case, anywhere in the row', () => {
    expect(kept({ text: ' 2.1 THEOREM ' })).toEqual(['cas.theorem-2.1']);
    expect(kept({ text: 'a number' })).toEqual(['z']);
    expect(kept({ text: 'η' })).toEqual(['fd.y']);
    expect(kept({ text: 'theorem η' })).toEqual([]);
  });
  it('keeps any of the verdicts and any of the papers', () => {
    expect(kept({ verdicts: new Set(['holds']) })).toEqual(['cas.theorem-2.1', 'z']);
    expect(kept({ papers: new Set(['SL', 'FD']) })).toEqual(['sl.x', 'fd.y']);
    expect(kept({ papers: new Set(['SL']), verdicts: new Set(['holds']) })).toEqual([]);
  });
  it('a paper is read from the words in front of the comma', () => {
    expect(rows.map(paper_of)).toEqual(['CAS', 'SL', 'FD', null]);
    expect(paper_of(row({ place: 'CCS, after CAS' }))).toBeNull();
  });
  it('counts', () => {
    expect(count_papers(rows)).toEqual({ CAS: 1, CC: 0, SL: 1, FD: 1 });
    expect(count_verdicts(rows)).toEqual({
      holds: 2,
      'holds as corrected': 1,
      'does not reproduce': 1,
      fails: 0,
    });
    expect(summary(rows)).toBe(
      '4 statements examined: 2 hold, 1 hold as corrected, 1 do not reproduce, 0 fail',
    );
    expect(summary([row({ verdict: 'fails' })])).toMatch(/^1 statement examined: 0 hold.* 1 fail$/);
  });
});

it('a toggled set has one member more or less, and the old one stays', () => {
  const before = new Set(['a']);
  expect([...toggled(before, 'b')]).toEqual(['a', 'b']);
  expect([...toggled(before, 'a')]).toEqual([]);
  expect([...before]).toEqual(['a']);
});
