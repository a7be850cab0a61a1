// The explorer under test: a server of its own, a folder of its own, and the command line beside it.
//
// SPDX-License-Identifier: Apache-2.0
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { expect, test as base, type Locator, type Page } from '@playwright/test';

const program = resolve(process.env['DEWPOINT_PROGRAM'] ?? '../build/dev/src/cli/dewpoint');

/** A running `dewpoint serve`. */
export class RunningServer {
  private constructor(
    private readonly child: ChildProcess,
    readonly folder: string,
    readonly address: string, // the link that it prints, with the token
  ) {}

  static async start(folder: string, port = 0, token?: string): Promise<RunningServer> {
    // Two threads: what is long is long on any machine.
    const args = ['serve', '--port', String(port), '--dir', folder, '--threads', '2'];
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: token === undefined ? process.env : { ...process.env, DEWPOINT_TOKEN: token },
    });
    const address = await new Promise<string>((found, failed) => {
      let text = '';
      child.stdout!.on('data', (bytes: Buffer) => {
        text += bytes.toString();
        const line = /(http:\/\/\S+)/.exec(text);
        if (line) found(line[1]!);
      });
      child.once('exit', (status) => failed(new Error(`dewpoint serve ended with ${status}`)));
      child.once('error', failed);
    });
    return new RunningServer(child, folder, address);
  }

  get port(): number {
    return Number(new URL(this.address).port);
  }

  get token(): string {
    return new URL(this.address).searchParams.get('token') ?? '';
  }

  /** As a program asks, without the browser. */
  get(path: string): Promise<Response> {
    const headers = { Authorization: `Bearer ${this.token}` };
    return fetch(new URL(path, this.address), { headers });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((done) => this.child.once('exit', done));
    this.child.kill('SIGTERM');
    await ended;
  }
}

/** What the command of a view prints, by the same program, in a folder that is thrown away. */
export function printed(command: string, folder?: string): any {
  const place = folder ?? mkdtempSync(join(tmpdir(), 'dewpoint-command-'));
  try {
    expect(command).toMatch(/^dewpoint /);
    const line = `"${program}" ${command.slice('dewpoint '.length)} --json`;
    const text = execFileSync('sh', ['-c', line], { cwd: place, maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });
    return JSON.parse(text.toString());
  } finally {
    if (folder === undefined) rmSync(place, { recursive: true });
  }
}

interface Fixtures {
  explorer: Page; // fails its test when anything is written to the console
  open: (hash: string) => Promise<void>;
}

export const test = base.extend<Fixtures, { server: RunningServer }>({
  server: [
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), 'dewpoint-explorer-'));
      const server = await RunningServer.start(folder);
      await use(server);
      await server.stop();
      rmSync(folder, { recursive: true });
    },
    { scope: 'worker' },
  ],
  explorer: async ({ page }, use) => {
    const complaints: string[] = [];
    page.on('console', (message) => {
      // A refused question is an answer; the browser writes a line about its status all the same.
      const is_refusal = /status of 4\d\d/.test(message.text());
      if (['error', 'warning'].includes(message.type()) && !is_refusal) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await use(page);
    expect(complaints).toEqual([]);
  },
  open: async ({ explorer, server }, use) => {
    await use(async (hash) => {
      await explorer.goto(`${server.address}${hash}`);
      await expect(explorer.getByRole('heading', { level: 1 })).toBeVisible();
    });
  },
});

/** The progress of the room's own question. */
export function progress(page: Page): Locator {
  return page.locator('.bar [data-standing]');
}

/** Waits until the answer to what was asked last is complete, and gives its command. */
export async function completed(page: Page, part = ''): Promise<string> {
  await expect(progress(page)).toHaveAttribute('data-standing', 'done');
  const command = page.locator('[data-command]');
  if (part !== '') await expect(command).toContainText(part);
  await expect(progress(page)).toHaveAttribute('data-standing', 'done');
  return (await command.textContent()) ?? '';
}

/** The slider of a field, or of a cursor of the page. */
export function slider(page: Page, selector: string): Locator {
  return page.locator(`${selector} input[type=range]`);
}

/** One step of a slider, as the keyboard does it. */
export async function nudge(target: Locator, key: 'ArrowRight' | 'ArrowLeft', times = 1) {
  await target.focus();
  for (let k = 0; k < times; ++k) await target.press(key);
}

/** The number in a table of the page. */
export async function shown(scope: Page | Locator, quantity: string): Promise<number> {
  const row = scope.locator(`[data-quantity="${quantity}"]`);
  return Number(await row.first().getAttribute('data-value'));
}

export { expect };
