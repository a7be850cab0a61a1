// SPDX-License-Identifier: Apache-2.0
import { beforeAll, expect, it, vi } from 'vitest';

beforeAll(() => {
  const query = { matches: false, addEventListener: () => undefined };
  vi.stubGlobal('matchMedia', () => query);
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('devicePixelRatio', 1);
  vi.stubGlobal('localStorage', {
    getItem: () => {
      throw new Error('refused');
    },
  });
});

it('a browser that refuses to remember is no error, and the system decides', async () => {
  const { theme } = await import('./theme.svelte');
  expect(theme.choice).toBe('system');
  expect(() => theme.toggle()).not.toThrow();
  expect(theme.choice).toBe('dark');
  expect(theme.dark).toBe(true);
});

it.each([true, false])('the first click changes what is seen (system dark: %s)', async (dark) => {
  const { next_choice } = await import('./theme.svelte');
  const [system, other] = dark ? ['dark', 'light'] : ['light', 'dark'];
  expect(next_choice('system', dark)).toBe(other);
  expect(next_choice(other as 'light' | 'dark', dark)).toBe(system);
  expect(next_choice(system as 'light' | 'dark', dark)).toBe('system');
});
