import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// `npm test` runs before each commit and takes at most four minutes. It leaves out these groups, and each group has a script of
// its own (CONTRIBUTING.md).

// Long tables of cases, many rounds of races, databases that fall silent, and all other tests that take over five seconds.
const thorough = ['test/**/*.thorough.test.ts'];
// Tests that put a module of their own in place of another.
const mocked = ['test/**/*.mocked.test.ts'];
// If root runs the tests, Chromium gives itself a higher priority than all other processes.
const browser = ['test/browser/*.test.ts'];
// Tests that run something as a process of its own.
const processes = [
  'test/{cli,doctor,runtimes}/*.test.ts',
  'test/*/*-on-deno.test.ts',
  'test/**/*.processes.test.ts',
];
// Tests that need packages of Debian.
const clients = ['test/clients/*.test.ts'];
const cluster = ['test/cluster/*.test.ts'];
const wordpress = ['test/wordpress/*.test.ts'];
const oidc = ['test/oidc/*.test.ts'];

const common = {
  setupFiles: 'test/support/run/no-output.ts',
  // A busy machine needs several times as long as a quiet one.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 15_000 } },
  // A worker loads the modules one time for all its files, which halves the time of all tests.
  isolate: false,
  // Most objects of tests are needed only briefly. With more space for new objects, V8 collects garbage less often, which saves
  // a tenth of a worker's processor time.
  execArgv: ['--max-semi-space-size=64'],
  // An unusual time zone, so that no test depends on the time zone of a developer.
  env: { TZ: 'Asia/Kathmandu', LANG: 'C' },
};
const all = 'test/**/*.test.ts';
const resolve = {
  alias: { '@node-rs/argon2': fileURLToPath(new URL('support/run/cheap-hashes.ts', import.meta.url)) },
};
// These tests share one WordPress, or measure something, so they run alone.
const alone = { fileParallelism: false, sequence: { groupOrder: 1 } };
// In CI, the suites of clients run while all earlier tests wait for something.
const later = { sequence: { groupOrder: 2 } };

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    globalSetup: 'test/support/run/global-setup.ts',
    // Tests spend much of their time waiting for Postgres or another process.
    maxWorkers: 4,
    // Each project would translate the same modules again.
    experimental: { fsModuleCache: true },
    projects: [
      {
        resolve,
        test: {
          ...common,
          name: 'service',
          include: [all],
          exclude: [
            ...thorough,
            ...mocked,
            ...browser,
            ...processes,
            ...clients,
            ...cluster,
            ...wordpress,
            ...oidc,
          ],
        },
      },
      { resolve, test: { ...common, name: 'thorough', include: thorough } },
      { test: { ...common, name: 'mocked', include: mocked, isolate: true } },
      {
        resolve,
        test: {
          ...common,
          ...later,
          name: 'browser',
          include: browser,
          globalSetup: 'test/support/run/unpack-browser.ts',
        },
      },
      { test: { ...common, ...later, name: 'processes', include: processes } },
      {
        test: {
          ...common,
          name: 'clients',
          include: clients,
          globalSetup: 'test/support/run/unpack-browser.ts',
        },
      },
      {
        test: {
          ...common,
          name: 'oidc',
          include: oidc,
          globalSetup: 'test/support/run/unpack-browser.ts',
        },
      },
      {
        test: {
          ...common,
          ...alone,
          name: 'cluster',
          include: cluster,
          testTimeout: 600_000,
        },
      },
      {
        test: {
          ...common,
          ...alone,
          name: 'wordpress',
          include: wordpress,
          globalSetup: ['test/wordpress/global-setup.ts', 'test/support/run/unpack-browser.ts'],
        },
      },
    ],
  },
});
