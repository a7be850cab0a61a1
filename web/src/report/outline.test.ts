// SPDX-License-Identifier: Apache-2.0
import { expect, it } from 'vitest';

import type { FigureEntry, PageData } from '../data';
import { anchor_in, anchors, figure_groups, outline } from './outline';

function figure(id: string, group: string): FigureEntry {
  return { id, group, title: `title of ${id}` } as FigureEntry;
}

const figures = [figure('a', 'CAS'), figure('b', 'SL'), figure('c', 'CAS')];
const empty: PageData = {
  title: '',
  intro: '',
  figures: [],
  certificate: null,
  errata: null,
  not_run: [],
  footer: [],
};

it('figures are numbered in the order in which the page shows them', () => {
  const groups = figure_groups(figures);
  expect(groups.map((group) => group.title)).toEqual(['CAS', 'SL']);
  const numbered = groups.flatMap(({ figures }) => figures);
  const texts = numbered.map(({ entry, number }) => `${number} ${entry.id}`);
  expect(texts).toEqual(['1 a', '2 c', '3 b']);
});

it('the outline has what the page has, and nothing else', () => {
  const certificate = { effort: 'quick' as const, seed: '1', version: '0', rows: [] };
  const not_run = [{ name: 'n', title: 't', command: 'c' }];
  expect(anchors(outline(empty))).toEqual(['about']);
  const full = { ...empty, figures, certificate, errata: certificate, not_run };
  expect(anchors(outline(full))).toEqual([
    'group-1',
    'a',
    'c',
    'group-2',
    'b',
    'certificate',
    'errata',
    'not-run',
    'about',
  ]);
});

it('an anchor is what the address says, even if it is no proper code', () => {
  expect(anchor_in('#claim-cas.theorem-2.1')).toBe('claim-cas.theorem-2.1');
  expect(anchor_in('#a%20b')).toBe('a b');
  expect(anchor_in('#100%')).toBe('100%');
  expect(anchor_in('')).toBe('');
});
