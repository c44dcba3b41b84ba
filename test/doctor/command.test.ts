import { describe, expect, it } from 'vitest';
import { shared } from '../support/run/shared.ts';
import { settings, startClients } from './harness/clients.ts';
import { type HttpsOptions, startHttpsClients } from './harness/https-clients.ts';
import { operatorSettings, runDoctor } from './harness/run-doctor.ts';

const clients = shared(() => startClients('typescript', { issuer: 'http://localhost:3000' }));

const [secret = ''] = settings.secrets;
const envFor = (name: string, more: Record<string, string> = {}) => ({
  ...operatorSettings(clients.base, name),
  ...more,
});

it('proves a right client right, with exit status 0, and says before whom it logs in where (contract 11.30)', async () => {
  const { code, out, err } = await runDoctor(['shop'], envFor('right'));
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringContaining('shop: right. Nothing wrong was found.'),
  });
  expect(out).toMatch(/Secret {3}It holds the secret configured here\./);
  expect(out).toMatch(/Clock {4}right/);
  expect(out).toContain('Whether it compares signatures in constant time.');
  expect(err).toContain('test people called "Identity doctor"');
  expect(err).toContain(`Callback      ${clients.base}/right/callback`);
});

it('says in plain words what is wrong, with exit status 1 (contract 11.30)', async () => {
  const { code, out } = await runDoctor(['shop'], envFor('audience_not_checked'));
  expect(code).toBe(1);
  expect(out).toMatch(
    /Accepts what it must not\n {2}audience_not_checked · [0-9a-f]{4}-[0-9a-f]{4}\n {4}Sent another "aud": it was taken \(303 to \S+\)\.\n {4}Compare "aud" with your client name\./,
  );
});

it('is the same for programs with --json', async () => {
  const { code, out } = await runDoctor(['shop', '--json'], envFor('nonce_not_checked'));
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual({
    client: 'shop',
    issuer: 'http://localhost:3000',
    callback_url: `${clients.base}/nonce_not_checked/callback`,
    login_url: `${clients.base}/nonce_not_checked/login`,
    events_url: `${clients.base}/nonce_not_checked/events`,
    is_demo: false,
    verdict: 'wrong',
    reason: null,
    holds_secrets: [1],
    clock_ahead_seconds: expect.any(Number),
    with_events: false,
    findings: [
      {
        id: 'nonce_not_checked',
        group: 'accepts',
        saw: expect.stringContaining('a second time'),
        remedy: expect.any(String),
        launch_id: expect.stringMatching(/^[0-9a-f]{4}-[0-9a-f]{4}$/),
      },
    ],
    unseen: [{ id: 'events_not_pulled', why: expect.stringMatching(/^The (service|database) /) }],
    requests: expect.any(Number),
    took_ms: expect.any(Number),
  });
});

it('takes addresses of the command line before those of the settings', async () => {
  const args = ['--url', 'callback', '--login-url', 'login', '--events-url', 'events'].map((arg) =>
    arg.startsWith('--') ? arg : `${clients.base}/right/${arg}`,
  );
  expect(await runDoctor(['shop', ...args], envFor('mac_not_checked'))).toMatchObject({ code: 0 });
});

it('examines a client by its own settings and the issuer, without those of the service (contract 3.37)', async () => {
  const { SSO_CLIENTS: _, ...own } = envFor('right');
  const env = { ...own, NODE_ENV: 'production', IDENTITY_ISSUER: 'not read', IDENTITY_NAME: '' };
  const args = ['shop', '--service', 'http://localhost:3000', '--json'];
  const { code, out, err } = await runDoctor(args, env);
  expect({ code, err }, out).toEqual({ code: 0, err: expect.stringContaining('Identity doctor') });
  expect(JSON.parse(out)).toMatchObject({
    issuer: 'http://localhost:3000',
    verdict: 'right',
    unseen: [{ id: 'events_not_pulled', why: 'The database is where the service is.' }],
  });
  const other = await runDoctor(['shop', '--service', 'http://localhost:3001', '--json'], env);
  expect(JSON.parse(other.out)).toMatchObject({ verdict: 'wrong', findings: [{ id: 'genuine_refused' }] });
});

it.each([
  ['SSO_SHOP_CALLBACK_URL', /set SSO_SHOP_CALLBACK_URL/],
  ['SSO_SHOP_SECRET', /set SSO_SHOP_SECRET/],
])('with --service, it says that %s is missing', async (setting, words) => {
  const { code, err } = await runDoctor(
    ['shop', '--service', 'http://localhost:3000'],
    envFor('right', { [setting]: '' }),
  );
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(words) });
});

it('is not sure, with exit status 3, if no page names anybody (contract 3.36)', async () => {
  const { code, out } = await runDoctor(['shop'], envFor('people_not_shown'));
  expect(code).toBe(3);
  expect(out).toMatch(/^shop: not sure\. .+\n\nNo page that was seen says who is logged in/);
});

it('is not sure, and nothing is wrong, if a login leaves no trace (contract 3.36)', async () => {
  const { code, out } = await runDoctor(['shop', '--json'], envFor('nobody_logged_in'));
  expect(code).toBe(3);
  expect(JSON.parse(out)).toMatchObject({
    verdict: 'not_sure',
    findings: [],
    reason: expect.stringContaining('nobody may be logged in'),
  });
});

it('says that it examines the demo client where no callback is set, and does not where one is given', async () => {
  const env = { PORT: '1' };
  const demo = await runDoctor(['network_site'], env);
  expect(demo.code).toBe(2);
  for (const text of [demo.err, demo.out])
    expect(text).toContain('THE DEMO CLIENT, and not your network_site: SSO_WEBSITE_CALLBACK_URL is not set');
  expect(JSON.parse((await runDoctor(['network_site', '--json'], env)).out)).toMatchObject({ is_demo: true });

  const args = ['network_site', '--url', `${clients.base}/right/callback`];
  const unset = await runDoctor(args);
  expect(unset.err).toMatch(/set SSO_WEBSITE_LOGIN_URL, or give --login-url/);
  const given = await runDoctor([...args, '--login-url', `${clients.base}/right/login`]);
  expect(given.out + given.err).not.toContain('THE DEMO CLIENT');
  expect(given.err).toContain('Events        not examined');
});

it('prints no secret and no signature', async () => {
  const { out, err } = await runDoctor(['shop'], envFor('mac_not_checked'));
  expect(out).toContain('mac_not_checked');
  expect(out + err).not.toContain(secret);
  expect(out + err).not.toMatch(/[0-9a-f]{32}/);
});

describe('says why it cannot examine, with exit status 2: (contract 11.30)', () => {
  it.each<[string, RegExp, string[], Record<string, string>]>([
    [
      'a client that is not there',
      /No client nobody is set here\. The clients are: marketplace \(a demo client\), .*, shop\.\nNo client has the settings SSO_NOBODI_SECRET\.\n.*SSO_NOBODY_CALLBACK_URL/,
      ['nobody'],
      { SSO_NOBODI_SECRET: 'x' },
    ],
    ['no login URL', /is not set: set SSO_SHOP_LOGIN_URL/, ['shop'], { SSO_SHOP_LOGIN_URL: '' }],
    [
      'nothing at the callback',
      /There is nothing at the callback \S+ \(404\)\. Look up under which path/,
      ['shop', '--url', 'HOME../nothing_there/callback'],
      {},
    ],
    ['nobody there', /did not answer/, ['shop', '--url', 'http://127.0.0.1:1/callback'], {}],
    [
      'an address that is not safe',
      /--url must be an https URL/,
      ['shop', '--url', 'http://shop.example.test/'],
      {},
    ],
    ['a pace that is none', /Enter a number from 20 to 6000/, ['shop', '--pace', '19'], {}],
    [
      'events without a database',
      /leave --service out/,
      ['shop', '--events', '--service', 'http://localhost:3000'],
      {},
    ],
    ['settings that are wrong', /IDENTITY_SSO_TTL must be/, ['shop'], { IDENTITY_SSO_TTL: 'x' }],
    [
      'no redirect to the launch',
      /answers 200, and not with a redirect/,
      ['shop', '--login-url', 'HOME'],
      {},
    ],
  ])('%s', async (_, sentence, args, env) => {
    const { code, out, err } = await runDoctor(
      args.map((arg) => arg.replace('HOME', `${clients.base}/right/`)),
      envFor('right', env),
    );
    expect(code).toBe(2);
    expect(out + err).toMatch(sentence);
    expect(err).not.toMatch(/\n\s+at /);
  });
});

describe('over https', () => {
  /** What is wrong with the certificate, or with the client behind it. */
  type Case = HttpsOptions & {
    client?: string;
    isKnown?: boolean;
    finding?: string;
    words: RegExp;
  };
  it.each<[string, Case]>([
    ['a right certificate', { words: /Nothing wrong was found/ }],
    ['one that ends soon', { days: 5, finding: 'certificate_expires', words: /is valid for 4 more days/ }],
    ['one that has expired', { days: -1, finding: 'certificate_wrong', words: /expired on \d{4}-\d\d-\d\d/ }],
    [
      'one for another name',
      { name: 'other.test', finding: 'certificate_wrong', words: /is for another name/ },
    ],
    ['one of nobody', { isKnown: false, finding: 'certificate_wrong', words: /is signed by itself/ }],
    [
      'a cookie without Secure',
      { isHttps: false, finding: 'session_cookie_insecure', words: /without Secure/ },
    ],
    [
      'a client that believes Host',
      {
        client: 'host_header_followed',
        finding: 'host_followed',
        words: /another host in host: the callback/,
      },
    ],
    ['a server that hangs up on other hosts', { hangsUpOnOthers: true, words: /Nothing wrong was found/ }],
  ])('%s', async (_, { client = 'right', isKnown = true, finding, words, ...options }) => {
    const { base, certificateFile, stop } = await startHttpsClients(options);
    try {
      const { code, out } = await runDoctor(['shop'], {
        ...operatorSettings(base, client),
        ...(isKnown && { NODE_EXTRA_CA_CERTS: certificateFile }),
      });
      expect(out).toMatch(words);
      if (finding) expect(out).toContain(finding);
      expect(code).toBe(finding ? 1 : 0);
    } finally {
      await stop();
    }
  });
});
