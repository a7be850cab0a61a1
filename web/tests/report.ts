// The report under test: where it is, what it should show, and what may never happen on its page.
//
// SPDX-License-Identifier: Apache-2.0
import { expect, test as base, type Page } from '@playwright/test';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { PageData } from '../src/data';

const folder = process.env['DEWPOINT_REPORT'];
if (!folder || !existsSync(join(folder, 'report.html'))) {
  throw new Error(`DEWPOINT_REPORT: '${folder ?? ''}' holds no report.html`);
}

export const reportFile = resolve(folder, 'report.html');

/** A file that `dewpoint reproduce` wrote beside the page. */
export function written(name: string): string {
  return readFileSync(resolve(folder as string, name), 'utf8');
}

/** Lines of a CSV file without quoted line breaks, split into fields. */
export function csvRows(text: string): string[][] {
  const lines = text.trimEnd().split(/\r?\n/);
  return lines.map((line) =>
    [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)]
      .map((match) => match[1] ?? '')
      .slice(0, -1)
      .map((field) => (field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field)),
  );
}

/** A page that fails its test when anything is written to the console or asked of a network. */
export const test = base.extend<{ report: Page }>({
  report: async ({ page }, use) => {
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const url = request.url();
      if (!/^(file|data|blob):/.test(url)) complaints.push(`asked the network for ${url}`);
    });
    await page.goto(pathToFileURL(reportFile).href);
    await use(page);
    expect(complaints).toEqual([]);
  },
});

/** What the program wrote into the page. */
export async function dataOf(page: Page): Promise<PageData> {
  const text = await page.locator('#dewpoint-data').textContent();
  return JSON.parse(text ?? 'null') as PageData;
}

export { expect };
