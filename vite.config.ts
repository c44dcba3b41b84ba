import { fileURLToPath } from 'node:url';
import { vitePlugin as remix } from '@remix-run/dev';
import { defineConfig, mergeConfig, type UserConfig } from 'vite';
import { developers } from './app/developers/publish/plugin.ts';
import remixConfig from './remix.config.js';
import { bundle, reactForProduction, thirdPartyLicences } from './server/runtime/bundle.ts';

export default defineConfig(({ mode, command, isSsrBuild }) => {
  if (mode === 'service') return mergeConfig(bundle, service);
  return command === 'build' && isSsrBuild
    ? mergeConfig(bundle, { ...pages, plugins: pagesOnServer, build: { ...pages.build, sourcemap: false } })
    : pages;
});

const pages: UserConfig = {
  // The scripts of passkeys are built for the browser and for the server, which names them by their hash: so by the same options.
  esbuild: bundle.esbuild,
  plugins: [developers(), remix(remixConfig)],
  // No inlined assets: the content security policy allows files of our own only.
  build: { assetsInlineLimit: 0 },
  // Each of them (app/components/passkey-form.tsx, passkey-signals.tsx) is one file, as for a worker.
  worker: { format: 'es' as const },
};
const pagesOnServer = [pages.plugins, reactForProduction(), thirdPartyLicences()];

/** The service and its command line in a few files of JavaScript: they start in half the time and memory of the source. */
const service: UserConfig = {
  plugins: [thirdPartyLicences()],
  // Made for Node, pdfkit looks for a file beside itself; made for browsers, it holds it, and runs on Deno as it does on Node.
  resolve: {
    alias: {
      pdfkit: fileURLToPath(new URL('node_modules/pdfkit/js/pdfkit.browser.mjs', import.meta.url)),
      fontkit: fileURLToPath(new URL('node_modules/fontkit/dist/browser-module.mjs', import.meta.url)),
    },
  },
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'build/service',
    rollupOptions: {
      input: [
        'server/main.ts',
        'server/cli.ts',
        'server/billing/documents/document-thread.ts',
        'server/identity/password/password-thread.ts',
      ],
      output: { chunkFileNames: '[name].js' },
    },
  },
};
