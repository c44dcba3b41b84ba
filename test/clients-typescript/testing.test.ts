// The fake service for tests of clients (contract 13.75 to 13.77), compared with the vectors and with a launch of the real
// service.
import { describe, expect, it } from 'vitest';
import {
  createIdentityClient,
  createMemoryStores,
  type RefusalCode,
} from '../../clients/typescript/src/index.ts';
import { fakeIdentity } from '../../clients/typescript/src/testing.ts';
import { identityRoutes } from '../../clients/typescript/src/web.ts';
import vectors from '../sso-vectors.json' with { type: 'json' };
import { expectAsAtRealService } from '../support/clients/real-launch.ts';
import { readOurFile } from '../support/project/documents.ts';

const { sso } = vectors;
const identityUrl = `https://shop:${sso.secret}@id.example.test`;
const origin = 'https://shop.example.test';
const now = () => new Date(sso.verifier.now * 1_000);
const launchOf = (query = '') => `https://id.example.test/sso/launch/shop?${query}`;

const hooks = { startSession: () => ({ 'Set-Cookie': 'shop=1' }), endSession: () => {} };

/**
 * Starts a login at a client. Returns the client, the URL of the launch, and a function that calls the callback in the same
 * browser.
 */
async function startAt(options: { prompt?: 'login' } = {}) {
  const client = createIdentityClient({ ...createMemoryStores({ now }), identityUrl, origin, now });
  const start = await client.startLogin(new Request(`${origin}/login`), { returnTo: '/orders', ...options });
  const cookie = start.headers.get('set-cookie')?.split(';')[0] ?? '';
  const receive = (address: string) =>
    client.handleCallback(new Request(address, { headers: { cookie } }), hooks);
  return { client, launch: start.headers.get('location') ?? '', receive };
}

const fake = fakeIdentity({ identityUrl, origin, now });
const refused: RefusalCode[] = [
  'parameter_missing',
  'parameter_repeated',
  'payload_malformed',
  'signature_malformed',
  'signature_wrong',
  'json_malformed',
  'member_wrong',
  'issuer_wrong',
  'audience_wrong',
  'issued_in_future',
  'expired',
  'lifetime_wrong',
  'state_missing',
  'state_unknown',
  'auth_time_too_old',
  'login_required',
  'interaction_required',
  'access_denied',
  'error_unknown',
];

describe('the fake service', () => {
  it('seals the worked example byte for byte, with both secrets of a rotation (contract 13.76)', async () => {
    const { iat, exp, client, ...said } = JSON.parse(sso.json);
    const ttlSeconds = exp - iat;
    const rotating = fakeIdentity({
      issuer: said.iss,
      client,
      secrets: [sso.secret, sso.signature_next_secret],
      origin,
      ttlSeconds,
      now: () => new Date(iat * 1_000),
    });
    const launch = `https://id.example.test/sso/launch/${client}`;
    const absent = { sid: undefined, auth_time: undefined, amr: undefined };
    const { searchParams } = new URL(await rotating.handOff(launch, { ...said, ...absent }));
    const { payload, signature, signature_next } = sso;
    expect(Object.fromEntries(searchParams)).toEqual({ payload, signature, signature_next });
  });

  it('signs a nudge as the service does (contract 13.77)', async () => {
    const { client, secrets, cases } = sso.nudges;
    const of = (all: string[]) =>
      fakeIdentity({ issuer: sso.verifier.iss, client, secrets: all, origin, now });
    const [one, both] = cases;
    for (const [all, example] of [
      [secrets, one],
      [[sso.signature_next_secret, ...secrets], both],
    ] as const) {
      const nudge = await of([...all]).webhook(17);
      expect([nudge.method, nudge.url, await nudge.text()]).toEqual([
        'POST',
        `${origin}/sso/events`,
        example?.body,
      ]);
      expect(Object.fromEntries(nudge.headers)).toMatchObject(example?.headers ?? {});
    }
  });

  it('answers a login, and each other answer is refused with its code (contract 13.75)', async () => {
    const { launch, receive, client } = await startAt({ prompt: 'login' });
    const answered: (string | null)[] = [];
    for (const code of refused)
      answered.push((await receive(await fake.refusal(code, launch))).headers.get('identity-refusal'));
    expect(answered).toEqual(refused);
    const answer = await receive(await fake.handOff(launch));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${origin}/orders`]);
    expect((await client.receiveNudge(await fake.webhook())).status).toBe(204);
  });

  it('says what it cannot make, and when the service would not answer with a hand-off', async () => {
    await expect(fake.refusal('nonce_replayed', launchOf())).rejects.toThrow(
      /^no hand-off alone is refused with nonce_replayed$/,
    );
    for (const launch of [
      'https://id.example.test/sso/launch/other?state=x',
      'https://other.example/sso/launch/shop',
    ])
      await expect(fake.handOff(launch)).rejects.toThrow(/^not a launch of this client: /);
  });

  it('runs as the guide says, in ten lines (contract 13.75)', async () => {
    const path = 'clients/typescript/README.md';
    const [, sample = ''] =
      /### Test without a service\n[\s\S]*?```js\n([\s\S]*?)```/.exec(readOurFile(path)) ?? [];
    expect(sample.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
    const client = createIdentityClient({
      ...createMemoryStores({ now }),
      ...{ identityUrl, origin, now },
      fetch: () => Promise.reject(new Error('no service')),
    });
    const answerRoute = identityRoutes(client);
    const asked: string[] = [];
    const app = async (given: string | Request, init?: RequestInit) => {
      const request = new Request(given instanceof Request ? given : new URL(given, origin), init);
      asked.push(new URL(request.url).pathname);
      return answerRoute(request);
    };
    const body = sample.replace(/^import .*\n/gm, '');
    const AsyncFunction = Object.getPrototypeOf(app).constructor;
    const names = ['fakeIdentity', 'process', 'assert', 'app'];
    const env = { IDENTITY_URL: identityUrl, ORIGIN: origin };
    const { strict } = await import('node:assert');
    const fakeNow = (given: object) => fakeIdentity({ ...given, identityUrl, origin, now });
    await new AsyncFunction(...names, body)(fakeNow, { env }, strict, app);
    expect(asked).toEqual(['/login', '/sso/callback', '/sso/callback', '/sso/events']);
  });
});

it('a launch of the real service gives what the fake gives (contract 13.76)', () =>
  expectAsAtRealService(({ origin: site, issuer, secret, launch }) =>
    fakeIdentity({ issuer, client: 'shop', secrets: [secret], origin: site }).handOff(launch),
  ));
