import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** What needs PHP and Python: the kits in these languages, and the broken clients that the doctor is tried on. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/clients/*.test.ts'],
    // Some start the service that they are clients of.
    globalSetup: 'test/support/run/global-setup.ts',
    setupFiles: 'test/support/run/no-output.ts',
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
