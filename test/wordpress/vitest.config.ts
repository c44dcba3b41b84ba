import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/wordpress/*.test.ts'],
    globalSetup: ['test/wordpress/global-setup.ts', 'test/support/run/unpack-browser.ts'],
    setupFiles: 'test/support/run/no-output.ts',
    // They share one WordPress.
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    env: { TZ: 'Asia/Kathmandu', LANG: 'C' },
  },
});
