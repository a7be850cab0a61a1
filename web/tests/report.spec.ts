// The page that `dewpoint reproduce` writes: everything is there, says the numbers of the files, and
// can be used with a keyboard, in the dark, on a telephone and on paper.
//
// SPDX-License-Identifier: Apache-2.0
import { readFileSync, statSync } from 'node:fs';

import type { Locator, Page } from '@playwright/test';

import { measured_text } from '../src/numbers';
import { csvRows, dataOf, expect, reportFile, test, written } from './report';

const sixMegabytes = 6e6;

/** How many different colours a canvas shows: one or two means that it is empty. */
function coloursOf(canvas: Locator): Promise<number> {
  return canvas.evaluate((element: HTMLCanvasElement) => {
    const context = element.getContext('2d');
    if (!context || element.width === 0 || element.height === 0) return 0;
    const pixels = new Uint32Array(
      context.getImageData(0, 0, element.width, element.height).data.buffer,
    );
    return new Set(pixels).size;
  });
}

async function shownFigure(page: Page, id: string): Promise<Locator> {
  const figure = page.locator(`[data-figure="${id}"]`);
  await figure.scrollIntoViewIfNeeded();
  return figure;
}

test('is one small file', () => {
  expect(statSync(reportFile).size).toBeLessThan(sixMegabytes);
});

test('shows every figure, and none is empty', async ({ report }) => {
  const data = await dataOf(report);
  expect(data.figures.length).toBeGreaterThan(0);
  for (const entry of data.figures) {
    const figure = await shownFigure(report, entry.id);
    await expect(figure.getByRole('heading', { name: entry.title })).toBeVisible();
    const panels = figure.locator('[data-panel]');
    await expect(panels).toHaveCount(entry.figure.panels.length);
    for (const panel of await panels.all()) {
      await panel.scrollIntoViewIfNeeded();
      await expect
        .poll(() => coloursOf(panel.locator('canvas').first()), { message: entry.id })
        .toBeGreaterThan(3);
    }
  }
});

test('has every row of the certificate, and filters them', async ({ report }) => {
  test.skip((await dataOf(report)).certificate === null, 'this report was made without a certificate');
  const file = JSON.parse(written('certificate.json')) as { rows: { id: string; verdict: string }[] };
  const rows = report.locator('[data-claim]').filter({ visible: true });
  const certificate = report.locator('#certificate');
  await expect(certificate.locator('[data-claim]')).toHaveCount(file.rows.length);
  for (const row of file.rows) {
    await expect(certificate.locator(`[data-claim="${row.id}"]`)).toHaveCount(1);
  }
  const corrected = file.rows.filter((row) => row.verdict === 'holds as corrected').length;
  await certificate.getByRole('button', { name: /^holds as corrected/ }).click();
  await expect(certificate.locator('[data-claim]').filter({ visible: true })).toHaveCount(corrected);
  expect(await rows.count()).toBeGreaterThan(0);
});

test('a hover shows the value of the CSV file', async ({ report }) => {
  const data = await dataOf(report);
  const entry = data.figures.find(({ figure }) => figure.kind === 'heatmap');
  const figure = await shownFigure(report, entry?.id ?? '');
  const box = await figure.locator('[data-panel="0"] canvas').first().boundingBox();
  expect(box).not.toBeNull();
  if (!box) return;
  await report.mouse.move(box.x + 0.6 * box.width, box.y + 0.4 * box.height);
  const tooltip = figure.locator('[data-tooltip]').filter({ visible: true });
  await expect(tooltip).toBeVisible();
  const shown = await tooltip.evaluate((element: HTMLElement) => ({ ...element.dataset }));
  const row = csvRows(written(`${entry?.id}.csv`)).find(
    (fields) =>
      fields[0] === entry?.figure.panels[0]?.title &&
      fields[1] === '' &&
      Number(fields[2]) === Number(shown['x']) &&
      Number(fields[3]) === Number(shown['y']),
  );
  expect(row, `no row at x = ${shown['x']}, y = ${shown['y']}`).toBeDefined();
  expect(Number(row?.[4])).toBe(Number(shown['value']));
  expect(Number(row?.[5])).toBe(Number(shown['error']));
  const text = measured_text(Number(row?.[4]), Number(row?.[5]));
  expect(await tooltip.textContent()).toContain(text);
});

test('its CSV links give the files beside it, byte for byte', async ({ report }) => {
  const data = await dataOf(report);
  for (const entry of data.figures) {
    const figure = await shownFigure(report, entry.id);
    const download = report.waitForEvent('download');
    await figure.getByRole('link', { name: /CSV/ }).click();
    const saved = await (await download).path();
    expect((await download).suggestedFilename()).toBe(`${entry.id}.csv`);
    expect(readFileSync(saved, 'utf8') === written(`${entry.id}.csv`), entry.id).toBe(true);
  }
});

test('can be read with a keyboard alone', async ({ report }) => {
  await report.keyboard.press('Tab');
  await expect(report.locator(':focus')).toHaveText(/skip/i);
  const data = await dataOf(report);
  for (const kind of ['lines', 'heatmap']) {
    const entry = data.figures.find(({ figure }) => figure.kind === kind);
    const panel = (await shownFigure(report, entry?.id ?? '')).locator('[data-panel="0"]');
    await panel.locator('[tabindex="0"]').first().focus();
    const readings = new Set<string>();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowUp', 'ArrowRight']) {
      await report.keyboard.press(key);
      readings.add((await panel.locator('[aria-live]').textContent()) ?? '');
    }
    expect(readings.size).toBeGreaterThanOrEqual(3);
    for (const reading of readings) expect(reading).toMatch(/\d/);
  }
});

test('theory can be switched off and on', async ({ report }) => {
  const data = await dataOf(report);
  const entry = data.figures.find(
    ({ figure }) =>
      figure.kind === 'lines' && figure.panels.some((panel) => panel.series.some((s) => s.theory)),
  );
  const figure = await shownFigure(report, entry?.id ?? '');
  const canvas = figure.locator('[data-panel="0"] canvas').first();
  const picture = () => canvas.evaluate((element: HTMLCanvasElement) => element.toDataURL());
  const before = await picture();
  const toggle = figure.getByRole('button', { name: 'theory', exact: true });
  await toggle.click();
  await expect(toggle).toHaveAttribute('aria-pressed', 'false');
  await expect.poll(picture).not.toBe(before);
});

test('a link to a claim opens its row', async ({ report }) => {
  const data = await dataOf(report);
  test.skip(data.certificate === null, 'this report was made without a certificate');
  const entry = data.figures.find(({ claims }) => claims.length > 0);
  const id = entry?.claims[0] ?? '';
  const figure = await shownFigure(report, entry?.id ?? '');
  await figure.getByRole('link', { name: id }).click();
  const row = report.locator(`[data-claim="${id}"]`);
  await expect(row).toBeInViewport();
  await expect(report.getByText(`dewpoint verify --only ${id}`).first()).toBeVisible();
});

test('is dark where the system is, and when asked', async ({ report }) => {
  const lightness = () =>
    report.evaluate(() => {
      const [r = 0, g = 0, b = 0] = getComputedStyle(document.body)
        .backgroundColor.match(/[\d.]+/g)!
        .map(Number);
      return (r + g + b) / 3;
    });
  await expect.poll(lightness).toBeGreaterThan(200);
  await report.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(lightness).toBeLessThan(60);
  await report.emulateMedia({ colorScheme: 'light' });
  await report.getByRole('button', { name: /theme|dark/i }).first().click();
  await expect.poll(lightness).toBeLessThan(60);
});

test('fits a telephone without scrolling sideways', async ({ report }) => {
  await report.setViewportSize({ width: 400, height: 800 });
  const overflow = () =>
    report.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  await expect.poll(overflow).toBeLessThanOrEqual(0);
});

test('prints', async ({ report }, info) => {
  const paper = await report.pdf({ format: 'A4', path: info.outputPath('report.pdf') });
  const pages = paper.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  const data = await dataOf(report);
  expect(pages).toBeGreaterThan(data.figures.length / 3);
});

for (const [name, width, scheme] of [
  ['light', 1440, 'light'],
  ['dark', 1440, 'dark'],
  ['telephone', 400, 'light'],
] as const) {
  test(`gives ${name}.png to look at`, async ({ report }, info) => {
    await report.setViewportSize({ width, height: 900 });
    await report.emulateMedia({ colorScheme: scheme });
    for (const figure of await report.locator('[data-figure]').all()) {
      await figure.scrollIntoViewIfNeeded();
    }
    const picture = await report.screenshot({ fullPage: true, path: info.outputPath(`${name}.png`) });
    expect(picture.length).toBeGreaterThan(50_000);
  });
}
