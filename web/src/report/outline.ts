// The sections of a page in their order, for the page itself and for its navigation.
//
// SPDX-License-Identifier: Apache-2.0
import type { FigureEntry, PageData } from '../data';

export interface NumberedFigure {
  entry: FigureEntry;
  number: number;
}

export interface FigureGroup {
  anchor: string;
  title: string;
  figures: NumberedFigure[];
}

export interface Link {
  anchor: string;
  title: string;
  inner: Link[];
}

/** Figures by their group, groups in the order of their first figures, numbers through all. */
export function figure_groups(figures: FigureEntry[]): FigureGroup[] {
  const groups = new Map<string, FigureEntry[]>();
  for (const entry of figures) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  let number = 0;
  return [...groups].map(([title, entries], index) => ({
    anchor: `group-${index + 1}`,
    title,
    figures: entries.map((entry) => ({ entry, number: ++number })),
  }));
}

/** Only what the page has. */
export function outline(data: PageData): Link[] {
  const links: Link[] = figure_groups(data.figures).map(({ anchor, title, figures }) => ({
    anchor,
    title,
    inner: figures.map(({ entry, number }) => ({
      anchor: entry.id, // of its card
      title: `${number}. ${entry.title}`,
      inner: [],
    })),
  }));
  const add = (anchor: string, title: string) => links.push({ anchor, title, inner: [] });
  if (data.certificate !== null) add('certificate', 'Certificate');
  if (data.errata !== null) add('errata', 'Errata');
  if (data.not_run.length > 0) add('not-run', 'Not run');
  add('about', 'About this page');
  return links;
}

/** The anchor in the address of a page, "#..." or nothing. */
export function anchor_in(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return hash.slice(1); // a percent sign that means itself
  }
}

/** The anchors from the top of the page to its end. */
export function anchors(links: Link[]): string[] {
  return links.flatMap((link) => [link.anchor, ...anchors(link.inner)]);
}
