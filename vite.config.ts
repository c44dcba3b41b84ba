import { vitePlugin as remix } from '@remix-run/dev';
import { defineConfig } from 'vite';
import remixConfig from './remix.config.js';

export default defineConfig({
  plugins: [remix(remixConfig)],
  // No inlined assets: the content security policy allows files of our own only.
  build: { assetsInlineLimit: 0, sourcemap: false },
});
