import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../server/runtime/listen.ts';
import { openApp, type TestApp } from './support/app.ts';
import { findFreePort } from './support/process.ts';

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');
const readme = await read('README.md');
const { sso } = JSON.parse(await read('test/sso-vectors.json'));

type Verify = (
  query: URLSearchParams,
  options: Record<string, unknown>,
) => Promise<{ profile: { name: string } }>;
const code = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
const { verifyHandOff }: { verifyHandOff: Verify } = await import(
  /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`
);

describe("the README's verifier", () => {
  const verify = (params: Record<string, string>, now = sso.verifier.now, isUnused = true) =>
    verifyHandOff(new URLSearchParams(params), {
      secrets: [sso.secret],
      issuer: sso.verifier.iss,
      client: sso.verifier.aud,
      ttlSeconds: sso.verifier.ttl,
      now,
      consumeNonce: async () => isUnused,
    });
  const { payload, signature } = sso;

  it('accepts the vector', async () => {
    expect((await verify({ payload, signature })).profile.name).toBe('Zoë O’Neil >> ??~!');
    expect(await verify({ payload, signature: sso.signature_next, signature_next: signature })).toBeDefined();
  });

  it('refuses every rejected one, and a replay', async () => {
    const refused = [
      ...sso.rejected_signatures.map(({ signature: rejected }: { signature: string }) => ({
        payload,
        signature: rejected,
      })),
      ...sso.rejected_payloads.map((rejected: { payload: string; signature: string }) => rejected),
      { payload: '', signature: '' },
      { payload },
    ];
    for (const { payload, signature } of refused) {
      const params = { payload, ...(signature !== undefined && { signature }) };
      await expect(verify(params), JSON.stringify(params)).rejects.toThrow();
    }
    await expect(verify({ payload, signature }, sso.verifier.now, false)).rejects.toThrow('used before');
  });

  it.each<{ now: number; accepted: boolean }>(sso.times)(
    'at $now: accepted is $accepted',
    async ({ now, accepted }) => {
      const outcome = verify({ payload, signature }, now);
      if (accepted) expect(await outcome).toBeDefined();
      else await expect(outcome).rejects.toThrow('expired');
    },
  );
});

describe('the examples of a signup', () => {
  let site: { app: TestApp; baseUrl: string; close: () => Promise<void> };
  beforeAll(async () => {
    const port = await findFreePort();
    const app = await openApp({ env: { PORT: String(port) } });
    const listener = await listen(app.fetch, { host: '127.0.0.1', port });
    site = {
      app,
      baseUrl: `http://localhost:${port}`,
      async close() {
        await listener.close(1_000);
        await app.close();
      },
    };
  });
  afterAll(() => site.close());

  it('works in JavaScript', async () => {
    const code = /```js\n(import \{ Webhook \}[\s\S]*?)```/.exec(readme)?.[1] ?? '';
    const file = createRequire(import.meta.url).resolve('standardwebhooks');
    const resolved = code.replace('standardwebhooks', pathToFileURL(file).href);
    const { pushSignup } = await import(
      /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(resolved)}`
    );
    const signup = JSON.parse(/```json\n(\{\s+"signup_id": [\s\S]*?)```/.exec(readme)?.[1] ?? '');
    const secret = site.app.config.crmSignupsSecrets?.[0];
    const first = await pushSignup(site.baseUrl, secret, 'msg_1', signup);
    expect(first).toMatchObject({ status: 201, answer: { signup_id: 'crm_1001', user: { created: true } } });
    expect(await pushSignup(site.baseUrl, secret, 'msg_1', signup)).toEqual(first);
  });

  it('works with curl and openssl', async ({ skip }) => {
    const script = /```sh\n(secret=[\s\S]*?)```/.exec(readme)?.[1] ?? '';
    const run = promisify(execFile);
    const hasTools = await run('sh', ['-c', 'command -v curl openssl base64 od']).then(
      () => true,
      () => false,
    );
    if (!hasTools) return skip();
    const here = script.replace('http://localhost:3000', site.baseUrl).replaceAll('crm_1001', 'crm_1002');
    const { stdout } = await run('sh', ['-c', here]);
    expect(stdout).toMatch(/^HTTP\/1\.1 201 Created[\s\S]*"signup_id":"crm_1002"/);
  });
});

it('tells every setting that the service reads', async () => {
  const source = await read('server/config.ts');
  const settings = new Set(source.match(/\b(?=[A-Z_]*_)[A-Z][A-Z_]{3,}\b(?=')/g));
  const named = [...settings].filter((name) => !/^SSO_(MARKETPLACE|WEBSITE|CRM)$/.test(name));
  expect(named.length).toBeGreaterThan(12);
  expect(named.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});

it('names only commands that there are', async () => {
  const { scripts } = JSON.parse(await read('package.json'));
  const commands = [...readme.matchAll(/npm (?:run (?:--silent )?)?([a-z:]+)/g)].map(
    (match) => match[1] ?? '',
  );
  expect(commands).toContain('start');
  expect(
    commands.filter((command) => !['ci', 'package', 'prune'].includes(command) && !(command in scripts)),
  ).toEqual([]);
});
