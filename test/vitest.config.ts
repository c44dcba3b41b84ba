import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// `npm test` leaves these out, because they take minutes: each group has a script of its own (CONTRIBUTING.md).
// Chromium also puts itself before all other processes where root runs it.
const browser = ['test/browser/*.test.ts'];
const processes = [
  'test/{cli,doctor,runtimes}/*.test.ts',
  'test/faults/!(worst-text).test.ts',
  'test/*/*-on-deno.test.ts',
  'test/clients-typescript/{example,pulls,stores,vectors}.test.ts',
  'test/database/embedded.test.ts',
  'test/developers/archive.test.ts',
  'test/events/{doors,wait}.test.ts',
  'test/history/*.test.ts',
  'test/marketplace/{hand-off-races,import*}.test.ts',
  'test/project/samples*.test.ts',
  'test/signups/signup-{chaos,checker}.test.ts',
];
// They need packages of Debian's.
const others = ['test/{clients,cluster,wordpress}/**'];

const common = {
  setupFiles: 'test/support/run/no-output.ts',
  testTimeout: 60_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 15_000 } },
  // An unusual time zone, so that no test depends on the developer's.
  env: { TZ: 'Asia/Kathmandu', LANG: 'C' },
};
const all = 'test/**/*.test.ts';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    globalSetup: 'test/support/run/global-setup.ts',
    // Tests spend much of their time waiting for Postgres or another process.
    maxWorkers: 3,
    projects: [
      {
        test: { ...common, name: 'service', include: [all], exclude: [...browser, ...processes, ...others] },
      },
      { test: { ...common, name: 'browser', include: browser } },
      { test: { ...common, name: 'processes', include: processes } },
    ],
  },
});
