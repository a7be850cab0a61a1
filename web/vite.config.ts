import { svelte } from '@sveltejs/vite-plugin-svelte';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { defineConfig } from 'vitest/config';

// One file with everything inside: script, styles, and the place where the program writes its data.
export default defineConfig({
  plugins: [svelte(), viteSingleFile()],
  build: {
    outDir: 'dist',
    target: 'es2022',
    modulePreload: { polyfill: false }, // it would fetch
    rollupOptions: { input: 'report.html' },
  },
  // The errata come from ../docs.
  server: { fs: { allow: ['..'] } },
  test: { css: true, include: ['src/**/*.test.ts'] },
});
