// The real page in a real browser. DEWPOINT_REPORT names the folder that `dewpoint reproduce` wrote;
// DEWPOINT_CHROMIUM the browser, Debian's unless told otherwise.
//
// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from '@playwright/test';

// Chromium refuses to sandbox itself for root, which is who runs tests in containers.
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

export default defineConfig({
  testDir: 'tests',
  outputDir: process.env['DEWPOINT_BROWSER_OUTPUT'] ?? 'test-results',
  workers: 1,
  timeout: 240_000, // patience with a busy machine; nothing here is a measure of speed
  expect: { timeout: 60_000 },
  reporter: 'list',
  use: {
    browserName: 'chromium',
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      executablePath: process.env['DEWPOINT_CHROMIUM'] ?? '/usr/bin/chromium',
      args,
    },
  },
});
