// `npm run cli -- doctor`, as an operator runs it: settings in, a report and an exit status out.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate } from '../support/certificate.ts';
import type { Outcome } from '../support/cli.ts';
import { createClients } from './broken/typescript.ts';
import { type Clients, settings, startClients } from './harness/clients.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** No database: the settings alone. */
function runDoctor(words: string[], env: Record<string, string> = {}): Promise<Outcome> {
  const child = spawn(process.execPath, ['build/service/cli.js', 'doctor', ...words], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'test',
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      ...env,
    },
  });
  const outcome: Outcome = { code: null, out: '', err: '' };
  child.stdout.on('data', (data) => {
    outcome.out += data;
  });
  child.stderr.on('data', (data) => {
    outcome.err += data;
  });
  return new Promise((done) => child.on('close', (code) => done({ ...outcome, code })));
}

let clients: Clients;
beforeAll(async () => {
  clients = await startClients('typescript', { issuer: 'http://localhost:3000' });
});
afterAll(() => clients?.stop());

const [secret = ''] = settings.secrets;
const envFor = (name: string, more: Record<string, string> = {}) => ({
  SSO_CLIENTS: 'shop',
  SSO_SHOP_CALLBACK_URL: `${clients.base}/${name}/callback`,
  SSO_SHOP_LOGIN_URL: `${clients.base}/${name}/login`,
  SSO_SHOP_EVENTS_URL: `${clients.base}/${name}/events`,
  SSO_SHOP_SECRET: secret,
  ...more,
});

it('proves a right client right, with exit status 0, and says before whom it logs in where', async () => {
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

it('says in plain words what is wrong, with exit status 1', async () => {
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
    callback_url: `${clients.base}/nonce_not_checked/callback`,
    login_url: `${clients.base}/nonce_not_checked/login`,
    events_url: `${clients.base}/nonce_not_checked/events`,
    verdict: 'wrong',
    reason: null,
    holds_secrets: [1],
    clock_ahead_seconds: expect.any(Number),
    findings: [
      {
        id: 'nonce_not_checked',
        group: 'accepts',
        saw: expect.stringContaining('a second time'),
        remedy: expect.any(String),
        launch_id: expect.stringMatching(/^[0-9a-f]{4}-[0-9a-f]{4}$/),
      },
    ],
    unseen: [],
    requests: expect.any(Number),
    took_ms: expect.any(Number),
  });
});

it('takes addresses of the command line before those of the settings', async () => {
  const words = ['--url', 'callback', '--login-url', 'login', '--events-url', 'events'].map((word) =>
    word.startsWith('--') ? word : `${clients.base}/right/${word}`,
  );
  expect(await runDoctor(['shop', ...words], envFor('mac_not_checked'))).toMatchObject({ code: 0 });
});

it('prints no secret and no signature', async () => {
  const { out, err } = await runDoctor(['shop'], envFor('mac_not_checked'));
  expect(out).toContain('mac_not_checked');
  expect(out + err).not.toContain(secret);
  expect(out + err).not.toMatch(/[0-9a-f]{32}/);
});

describe('says why it cannot examine, with exit status 2:', () => {
  it.each<[string, RegExp, string[], Record<string, string>]>([
    [
      'a client that is not there',
      /No client nobody is set here\. Run this with the service's environment/,
      ['nobody'],
      {},
    ],
    ['no login URL', /is not set: set its LOGIN_URL/, ['shop'], { SSO_SHOP_LOGIN_URL: '' }],
    ['nobody there', /did not answer/, ['shop', '--url', 'http://127.0.0.1:1/callback'], {}],
    [
      'an address that is not safe',
      /--url must be an https URL/,
      ['shop', '--url', 'http://shop.example.test/'],
      {},
    ],
    ['settings that are wrong', /IDENTITY_SSO_TTL must be/, ['shop'], { IDENTITY_SSO_TTL: 'x' }],
    [
      'no redirect to the launch',
      /answers 200, and not with a redirect/,
      ['shop', '--login-url', 'HOME'],
      {},
    ],
  ])('%s', async (_, sentence, words, env) => {
    const { code, out, err } = await runDoctor(
      words.map((word) => word.replace('HOME', `${clients.base}/right/`)),
      envFor('right', env),
    );
    expect(code).toBe(2);
    expect(out + err).toMatch(sentence);
    expect(err).not.toMatch(/\n\s+at /);
  });
});

describe('over https', () => {
  const day = 86_400_000;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'identity-doctor-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** What is not as it should be of the certificate, or of the client behind it. */
  type Case = {
    days?: number;
    name?: string;
    isKnown?: boolean;
    isHttps?: boolean;
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
  ])('%s', async (_, { days = 90, name = 'localhost', isKnown = true, isHttps = true, finding, words }) => {
    const certificate = makeCertificate(
      name,
      new Date(Date.now() - 100 * day),
      new Date(Date.now() + days * day),
    );
    const file = join(folder, `${name}${days}${isKnown}.pem`);
    await writeFile(file, certificate.cert);
    const handle = createClients({ ...settings, issuer: 'http://localhost:3000', isHttps });
    const server = createServer(certificate, (request, response) => handle(request, response)).listen(
      0,
      'localhost',
    );
    await new Promise((done) => server.once('listening', done));
    const base = `https://localhost:${(server.address() as AddressInfo).port}/right`;
    try {
      const { code, out } = await runDoctor(['shop'], {
        ...envFor('right'),
        SSO_SHOP_CALLBACK_URL: `${base}/callback`,
        SSO_SHOP_LOGIN_URL: `${base}/login`,
        SSO_SHOP_EVENTS_URL: `${base}/events`,
        ...(isKnown && { NODE_EXTRA_CA_CERTS: file }),
      });
      expect(out).toMatch(words);
      if (finding) expect(out).toContain(finding);
      expect(code).toBe(finding ? 1 : 0);
    } finally {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  });
});
