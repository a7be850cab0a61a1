// What holds in every room of the explorer: addresses, messages, cancelling, a lost connection,
// keyboard, narrow screens, and a policy under which nothing else runs.
//
// SPDX-License-Identifier: Apache-2.0
import type { Page } from '@playwright/test';

import { completed, expect, nudge, progress, RunningServer, shown, slider, test } from './explorer';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const kSmall: Record<string, string> = {
  phase: '#/phase?n=32&d=16&rho=0:0.9:4&gamma=0.5:4:8',
  condense: '#/condense?draws=100&n=1e2,1e6&t=0.5,1,2',
  query: '#/query?d=3&n=500,1e6&theta=0.2,1,5&draws=100',
  dew: '#/dew?draws=50&n=1e2:1e6:5:log',
  cycle: '#/cycle?optimiser=flow&time=10&record-every=1&m=4',
  heads: '#/heads',
  studies: '#/studies',
};

test('an address restores a view, in another tab too', async ({ explorer, open, server, context }) => {
  await open(kSmall['condense']!);
  await completed(explorer);
  await nudge(slider(explorer, '[data-cursor=t]'), 'ArrowRight', 4);
  await completed(explorer, '1.4');
  await expect(explorer).toHaveURL(/_t=1\.4/);
  const before = await shown(explorer, 'largest_weight');
  const other = await context.newPage();
  await other.goto(explorer.url());
  await completed(other);
  expect(await shown(other, 'largest_weight')).toBe(before);
  expect(other.url()).toBe(explorer.url());
  expect(new URL(other.url()).origin).toBe(new URL(server.address).origin);
});

test('a bad parameter is refused next to its field, and a good one takes the message away', async ({
  explorer,
  open,
}) => {
  await open(kSmall['phase']!);
  await completed(explorer);
  const field = explorer.locator('[data-field=gamma]').first();
  const box = field.getByRole('textbox');
  await box.fill('-1,2');
  await box.press('Enter');
  await expect(field.getByRole('alert')).toContainText('gamma');
  await expect(box).toHaveAttribute('aria-invalid', 'true');
  await box.fill('1,2');
  await box.press('Enter');
  await expect(field.getByRole('alert')).toBeEmpty();
  await completed(explorer, '--gamma 1,2');
});

test('a wrong name in an address is explained', async ({ explorer, open }) => {
  await open('#/phase?gama=2');
  await expect(explorer.getByRole('alert').filter({ hasText: 'gama' })).toBeVisible();
});

test('a long computation is cancelled, and a new question ends the one it outdates', async ({
  explorer,
  open,
  server,
}) => {
  await open('#/phase?n=2048&d=64&rho=0:0.95:40&gamma=0.25:8:32');
  await expect(progress(explorer)).toHaveAttribute('data-standing', /queued|running/);
  await explorer.locator('.bar').getByRole('button', { name: 'Cancel' }).click();
  await expect(progress(explorer)).toHaveAttribute('data-standing', 'cancelled');
  const asked = explorer.waitForResponse((response) => response.url().endsWith('/api/phase'));
  await explorer.locator('.bar').getByRole('button', { name: 'Compute' }).click();
  const first = (await (await asked).json()) as { job: string };
  await expect(progress(explorer)).toHaveAttribute('data-standing', /queued|running/);

  // One new question: of the jobs of a tab in a room the newest two are remembered.
  const box = explorer.locator('[data-field=n]').getByRole('textbox');
  await box.fill('64');
  await box.press('Enter');
  await completed(explorer, '--n 64');
  const outdated = await (await server.get(`/api/jobs/${first.job}`)).json();
  expect((outdated as { state: string }).state).toBe('cancelled');
});

test('a room that is left and a tab that is closed end their jobs, and no tab waits for another', async ({
  explorer,
  open,
  server,
  context,
}) => {
  const kHeavy = '#/phase?n=2048&d=64&rho=0:0.95:40&gamma=0.25:8:32&_rho=0.5&_gamma=2';
  const state = async (job: string) =>
    ((await (await server.get(`/api/jobs/${job}`)).json()) as { state: string }).state;
  const asked = async (page: Page, show: () => Promise<unknown>) => {
    const response = page.waitForResponse((one) => one.url().endsWith('/api/phase'));
    await show();
    return ((await (await response).json()) as { job: string }).job;
  };

  const left = await asked(explorer, () => open(kHeavy));
  const dropped = explorer.waitForResponse((one) => one.request().method() === 'DELETE' && one.url().endsWith(left));
  await explorer.getByRole('link', { name: 'Condense', exact: true }).click();
  expect((await dropped).status()).toBe(200);
  await expect.poll(() => state(left)).toBe('cancelled');
  await completed(explorer, 'dewpoint condense');

  // With the cell and its layers, six questions, more than the browser has connections with a third tab's.
  const tabs = [await context.newPage(), await context.newPage()];
  const heavy: string[] = [];
  for (const tab of tabs) heavy.push(await asked(tab, () => tab.goto(`${server.address}${kHeavy}&seed=${2 + heavy.length}`)));
  await open(kSmall['phase']!);
  await completed(explorer, 'phase map');
  for (const job of heavy) expect(await state(job)).toMatch(/queued|running/);
  for (const tab of tabs) await tab.close();
  for (const job of heavy) await expect.poll(() => state(job)).toBe('cancelled');
});

test('a server that goes away is missed, and found again', async ({ page }) => {
  const folder = mkdtempSync(join(tmpdir(), 'dewpoint-lost-'));
  let server = await RunningServer.start(folder);
  try {
    await page.goto(`${server.address}${kSmall['condense']}`);
    await completed(page);
    await server.stop();
    await nudge(slider(page, '[data-cursor=t]'), 'ArrowRight');
    const banner = page.getByRole('alert').filter({ hasText: 'does not answer' });
    await expect(banner).toBeVisible();
    server = await RunningServer.start(folder, server.port, server.token);
    await banner.getByRole('button', { name: 'Try again' }).click();
    await expect(banner).toBeHidden();
    await completed(page, '1.25');
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
});

test('a view is kept as a study, which the room Studies opens', async ({ explorer, open }) => {
  await open(kSmall['condense']!);
  await completed(explorer);
  await explorer.getByRole('button', { name: 'Save' }).click();
  await explorer.getByRole('textbox', { name: 'Study' }).fill('kept.study');
  await explorer.getByRole('button', { name: 'Write' }).click();
  await expect(explorer.getByRole('status').filter({ hasText: 'kept as kept.study' })).toBeVisible();
  await explorer.getByRole('link', { name: 'Studies' }).click();
  await explorer.getByRole('button', { name: 'kept.study' }).click();
  await expect(explorer.locator('[data-open="kept.study"] canvas').first()).toBeVisible();
});

for (const [room, hash] of Object.entries(kSmall)) {
  test(`${room}: fits a telephone, in the dark, without a pointer`, async ({ explorer, open }) => {
    await explorer.emulateMedia({ colorScheme: 'dark' });
    await explorer.setViewportSize({ width: 390, height: 844 });
    await open(hash);
    if (!['heads', 'studies'].includes(room)) await completed(explorer);
    const overflow = await explorer.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBe(0);
    const nameless = await explorer
      .locator('main :is(button, input, select, textarea)')
      .evaluateAll((all) =>
        all
          .filter((each) => (each as HTMLElement).checkVisibility())
          .filter((each) => {
            const control = each as HTMLInputElement;
            const labels = control.labels?.length ?? 0;
            const name = control.getAttribute('aria-label') ?? control.getAttribute('aria-labelledby');
            return labels === 0 && !name && (control.textContent ?? '').trim() === '';
          })
          .map((each) => each.outerHTML),
      );
    expect(nameless).toEqual([]);
    await explorer.keyboard.press('Tab');
    await explorer.keyboard.press('Tab');
    expect(await explorer.evaluate(() => document.activeElement?.tagName)).toBe('A');
  });
}

test('the link lets the browser in, and leaves no token in the address', async ({ page, server, context }) => {
  await page.goto(`${server.address}${kSmall['condense']}`);
  await completed(page);
  expect(new URL(page.url()).search).toBe('');
  expect(new URL(page.url()).hash).toBe(kSmall['condense']);
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', value: server.token });
  expect(await page.evaluate(() => document.cookie)).toBe('');
});

test('the link works from a file, as --open gives it', async ({ page, server }) => {
  writeFileSync(join(server.folder, 'link.html'), `<meta http-equiv="refresh" content="0; url=${server.address}">`);
  await page.goto(`file://${server.folder}/link.html`);
  await expect(page.getByRole('heading', { level: 1, name: 'Phase' })).toBeVisible();
  await expect(page).toHaveURL(new URL('/', server.address).href);
});

test('without the link a page says where it is', async ({ page, server }) => {
  const response = await page.goto(new URL('/', server.address).href);
  expect(response?.status()).toBe(401);
  await expect(page.getByText('Open the link that dewpoint serve printed')).toBeVisible();
});

test('a server with another token says so, instead of seeming gone', async ({ page }) => {
  const folder = mkdtempSync(join(tmpdir(), 'dewpoint-token-'));
  let server = await RunningServer.start(folder);
  try {
    await page.goto(`${server.address}${kSmall['condense']}`);
    await completed(page);
    await server.stop();
    server = await RunningServer.start(folder, server.port);
    await nudge(slider(page, '[data-cursor=t]'), 'ArrowRight');
    await expect(page.getByRole('alert').filter({ hasText: 'open the link' })).toBeVisible();
    await expect(page.getByRole('alert').filter({ hasText: 'does not answer' })).toBeHidden();
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
});

test('a number that is too large for one is refused with its range, and no other command is shown', async ({
  explorer,
  open,
}) => {
  await open(kSmall['phase']!);
  await completed(explorer, '--n 32');
  const field = explorer.locator('[data-field=n]');
  await field.getByRole('textbox').fill('1e400');
  await field.getByRole('textbox').press('Enter');
  await expect(field.getByRole('alert')).toHaveText('n: "1e400" is not a whole number in [2, 2048]');
  await expect(field.getByRole('textbox')).toHaveValue('1e400');
  await expect(explorer.locator('[data-command]')).toBeEmpty();
  await expect(explorer.locator('.keep').getByRole('button', { name: 'Copy command' })).toBeDisabled();
});

test('a cursor refuses what is no number with its range', async ({ explorer, open }) => {
  await open(kSmall['condense']!);
  await completed(explorer);
  const cursor = explorer.locator('[data-cursor=t]');
  await cursor.getByRole('textbox').fill('1e400');
  await cursor.getByRole('textbox').press('Enter');
  await expect(cursor.getByRole('alert')).toContainText("t: '1e400' is not a number from ");
});

// Without the fixture that counts complaints: the browser complains here, and should.
test('nothing runs but the page itself', async ({ page, server }) => {
  const response = await page.goto(server.address);
  const policy = response?.headers()['content-security-policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("script-src 'unsafe-inline'");
  const is_blocked = await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.intruder = true';
    const blocked = new Promise((seen) =>
      document.addEventListener('securitypolicyviolation', () => seen(true), { once: true }),
    );
    document.body.append(script);
    return blocked;
  });
  expect(is_blocked).toBe(true);
  expect(await page.evaluate(() => 'intruder' in window)).toBe(false);
});
