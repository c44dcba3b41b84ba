import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/no-output.ts',
    // Much of a test is waiting, for Postgres or another process.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Dates and languages as on nobody's machine in particular.
    env: { TZ: 'Asia/Kathmandu', LANG: 'C' },
  },
});
