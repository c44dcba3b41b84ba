import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// `npm test` is what one runs before a commit, within four minutes. So it leaves these groups out, and each has a script of
// its own (CONTRIBUTING.md).

// Long tables of cases, many rounds of races, databases that fall silent, and whatever else takes over five seconds to show
// what it shows.
const thorough = [
  'test/attacks/{afresh,allowances,edges,long-text,mails-first,staff,take-back}.test.ts',
  'test/billing/{after-restore,books,forecast,invoices-late,mails-by-smtp,money-races,new-country,odd-addresses,payments-load}.test.ts',
  'test/billing/{retention,set-settings,trials}.test.ts',
  'test/database/{database,database-away,database-silent,locked-row,pool,reader}.test.ts',
  'test/demo/demo-users.test.ts',
  'test/documents/rules-of-cen.test.ts',
  'test/events/{contracts,erasure,first-launch,nudges,numbers}.test.ts',
  'test/faults/worst-text.test.ts',
  'test/http/{deadline,odd-requests,page-floods,titles}.test.ts',
  'test/leaving/{earlier-addresses,erasure,user-delete}.test.ts',
  'test/login/{email-address,first-password,login-races}.test.ts',
  'test/login/{new-addresses,password-by-mail,refused-passwords,set-password}.test.ts',
  'test/mail/{advice,greeting,mail,mail-addresses,mail-failures,mail-limits,notice-limits}.test.ts',
  'test/marketplace/{hand-off-table,rights-edges}.test.ts',
  'test/new-address/{edges,races}.test.ts',
  'test/passkeys/passkey-by-mail.test.ts',
  'test/profile/{change-email,edited-meanwhile,ended-session,established-browsers,reserved-addresses}.test.ts',
  'test/signups/{signup-races,signup-refusals}.test.ts',
  'test/sso/{envelope-tampering,strict-json}.test.ts',
  'test/staff/{find-among-many,freeze}.test.ts',
  'test/take-back/{clocks,email-changed,many-changes,races,table,take-back}.test.ts',
];
// What puts a module of its own in place of another.
const mocked = [
  'test/attacks/{length-last,owner-gets-in}.test.ts',
  'test/login/{guessing,hashing-queue,login-refusals,names-and-passwords}.test.ts',
];
// Chromium also puts itself before all other processes where root runs it.
const browser = ['test/browser/*.test.ts'];
// What runs as a process of its own.
const processes = [
  'test/{cli,doctor,runtimes}/*.test.ts',
  'test/upgrades/version-before.test.ts',
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
  // A busy machine needs several times as long as a quiet one.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 15_000 } },
  // A worker loads the modules once for all its files, which halves the time of all.
  isolate: false,
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
        test: {
          ...common,
          name: 'service',
          include: [all],
          exclude: [...thorough, ...mocked, ...browser, ...processes, ...others],
        },
      },
      { test: { ...common, name: 'thorough', include: thorough } },
      { test: { ...common, name: 'mocked', include: mocked, isolate: true } },
      {
        test: {
          ...common,
          name: 'browser',
          include: browser,
          globalSetup: 'test/support/run/unpack-browser.ts',
        },
      },
      { test: { ...common, name: 'processes', include: processes } },
    ],
  },
});
