import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { defineConfig } from 'vitest/config';

// `dewpoint serve` replaces these letters by the nonce of its answer.
const kNonce = 'DEWPOINT_NONCE';

// After everything was put inside: what has no nonce would not run under the server's policy.
function with_nonces(): Plugin {
  return {
    name: 'with-nonces',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type !== 'asset' || !file.fileName.endsWith('.html')) continue;
          // Only tags of the page itself: at the start of a line, not inside a script.
          file.source = String(file.source).replace(
            /^(\s*)<(script|style)\b(?![^>]*\bnonce=)/gm,
            `$1<$2 nonce="${kNonce}"`,
          );
        }
      },
    },
  };
}

// One file with everything inside, for each of the two pages: the report has the place where the
// program writes its data, the explorer asks a server. `--mode explorer` builds the second.
export default defineConfig(({ mode }) => ({
  plugins: [svelte(), viteSingleFile(), ...(mode === 'explorer' ? [with_nonces()] : [])],
  build: {
    outDir: 'dist',
    emptyOutDir: false, // the other page is there
    target: 'es2022',
    modulePreload: { polyfill: false }, // it would fetch
    rollupOptions: { input: mode === 'explorer' ? 'explorer.html' : 'report.html' },
  },
  // The errata and the names of quantities come from ../docs.
  server: { fs: { allow: ['..'] } },
  test: { css: true, include: ['src/**/*.test.ts'], setupFiles: ['vitest_setup.js'] },
}));
