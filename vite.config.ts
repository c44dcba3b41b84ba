import { vitePlugin as remix } from '@remix-run/dev';
import { defineConfig } from 'vite';
import remixConfig from './remix.config.js';
import { developers } from './server/runtime/developers/plugin.ts';

export default defineConfig(({ mode }) => (mode === 'service' ? service : pages));

const pages = {
  plugins: [developers(), remix(remixConfig)],
  // No inlined assets: the content security policy allows files of our own only.
  build: { assetsInlineLimit: 0, sourcemap: false },
  // The script of static pages (app/components/passkey-form.tsx) is built as one file, as for a worker.
  worker: { format: 'es' as const },
};

/** The service and its command line in a few files of JavaScript: they start in half the time and memory of the source. */
const service = {
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'build/service',
    rollupOptions: {
      input: ['server/main.ts', 'server/cli.ts'],
      output: { chunkFileNames: '[name].js' },
    },
  },
};
