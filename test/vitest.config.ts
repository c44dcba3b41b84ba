import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    // They need packages of Debian's.
    exclude: ['test/cluster/**', 'test/clients/**', 'test/wordpress/**'],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/no-output.ts',
    // Tests spend much of their time waiting for Postgres or another process.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    // An unusual time zone, so that no test depends on the developer's.
    env: { TZ: 'Asia/Kathmandu', LANG: 'C' },
  },
});
