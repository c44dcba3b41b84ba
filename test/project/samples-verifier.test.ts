// The verifiers that docs/integrate.md gives to clients, against the vectors.
import { describe, expect, it } from 'vitest';
import { readOurFile } from '../support/documents.ts';
import { signJson, writePayload } from '../support/hand-off.ts';
import { hasTools, importSample, runPhp, toPhp } from '../support/run-sample.ts';
import { phpVerifierSample, verifierSample } from '../support/samples.ts';

const { sso } = JSON.parse(readOurFile('test/sso-vectors.json'));
const { payload, signature } = sso;

type Params = { payload: string; signature?: string; signature_next?: string };
type Attempt = { query: string; now?: number; isUnused?: boolean; isOurs?: boolean };

const toQuery = ({ payload, signature, signature_next }: Params) =>
  new URLSearchParams({
    payload,
    ...(signature !== undefined && { signature }),
    ...(signature_next !== undefined && { signature_next }),
  }).toString();

const good = toQuery({ payload, signature });
const rotating = toQuery({ payload, signature: sso.signature_next, signature_next: signature });
const refused: string[] = [
  ...sso.rejected_signatures.map(({ signature }: Params) => toQuery({ payload, signature })),
  ...sso.rejected_payloads.map((rejected: Params) => toQuery(rejected)),
  toQuery({ payload: '', signature: '' }),
  toQuery({ payload }),
];
const refusedFor: [Attempt, reason: string][] = [
  [{ query: good, isUnused: false }, 'used before'],
  [{ query: good, isOurs: false }, 'state unknown'],
  [{ query: `${good}&payload=${payload}` }, 'payload repeated'],
  [{ query: `payload=${payload}=&signature=${signature}` }, 'payload malformed'],
];
const json: string = sso.json;
const nest = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const signAll = async (texts: (string | Uint8Array)[]) =>
  (await Promise.all(texts.map((text) => signJson(text)))).map(String);
/** Rightly signed, and not a payload. */
const misshapen = await signAll([
  'null',
  '[]',
  '"text"',
  json.slice(1),
  `${json},`,
  `\ufeff${json}`,
  Buffer.from(json, 'latin1'),
  json.replace('"aud"', '"aud":"other","aud"'),
  json.replace('"aud"', '"\\u0061ud":"marketplace","aud"'),
  json.replace('"aud"', '"a\\"b":"a\\":","aud":"marketplace","aud"'),
  json.replace('"role"', '"role" : "admin","role"'),
  json.replace('"aud"', '"more":[{"x":{"y":1,"y":1}}],"aud"'),
  json.replace('"aud"', `"more":${nest(16)},"aud"`),
  ...[
    { exp: '1767225900' },
    { iat: 1767225600.5 },
    { auth_time: '1767225600' },
    { nonce: 'AAECAwQFBgcICQoLDA0OD' },
    { nonce: 1234567890123456 },
    { nonce: undefined },
    { state: 1 },
    { return_to: '//evil.example' },
    { return_to: '/\\evil.example' },
    { return_to: 'https://evil.example' },
    { return_to: '/a\nb' },
    { profile: null },
    { profile: 'zoe' },
    { 'profile.id': 1 },
    { 'profile.email': undefined },
    { 'profile.role': ['admin'] },
    { 'profile.account': undefined },
    { 'profile.account.capabilities': 'sell_products' },
    { 'profile.account.capabilities': [1] },
  ].map(writePayload),
]);
/** Unusual, and right. */
const unusual = await signAll([
  ` ${json}\n`,
  json.replace('"aud"', '"aud" '),
  json.replace('"aud"', `"more":${nest(15)},"aud"`),
  json.replace('"aud"', '"more":{"":1,"__proto__":1,"a\\"b\\\\":"\\":{[","7":[{},{}]},"aud"'),
  writePayload({ return_to: '/orders?x=1', state: 'Zk3v', auth_time: 1767225600 }),
  writePayload({ 'profile.account.capabilities': [] }),
]);
const times: { now: number; accepted: boolean }[] = sso.times;

describe('the verifier in JavaScript', async () => {
  const { verifyHandOff } = await importSample(verifierSample);
  const verify = ({ query, now = sso.verifier.now, isUnused = true, isOurs = true }: Attempt) =>
    verifyHandOff(new URLSearchParams(query), {
      secrets: [sso.secret],
      issuer: sso.verifier.iss,
      client: sso.verifier.aud,
      ttlSeconds: sso.verifier.ttl,
      now,
      checkState: () => isOurs,
      consumeNonce: async () => isUnused,
    });

  it('accepts the vector', async () => {
    expect((await verify({ query: good })).profile.name).toBe('Zoë O’Neil >> ??~!');
    expect(await verify({ query: rotating })).toBeDefined();
  });

  it('refuses every rejected one, and a replay', async () => {
    for (const query of refused) await expect(verify({ query }), query).rejects.toThrow();
    for (const [attempt, reason] of refusedFor) await expect(verify(attempt)).rejects.toThrow(reason);
  });

  it('takes JSON only that all parsers read alike, and that is a payload', async () => {
    for (const query of misshapen) {
      const text = Buffer.from(new URLSearchParams(query).get('payload') ?? '', 'base64url').toString();
      await expect(verify({ query }), text).rejects.toThrow();
    }
    for (const query of unusual) expect((await verify({ query })).profile.role).toBe('merchant');
  });

  it.each(times)('at $now: accepted is $accepted', async ({ now, accepted }) => {
    const outcome = verify({ query: good, now });
    if (accepted) expect(await outcome).toBeDefined();
    else await expect(outcome).rejects.toThrow('expired');
  });
});

describe.runIf(await hasTools('php'))('the verifier in PHP', () => {
  const verify = (attempts: Attempt[]) =>
    runPhp(
      phpVerifierSample,
      attempts.map(({ query, now = sso.verifier.now, isUnused = true, isOurs = true }) => {
        const words = [query, [sso.secret], sso.verifier.iss, sso.verifier.aud, now].map(toPhp);
        const checks = [`fn($state) => ${isOurs}`, `fn($nonce, $keepUntil) => ${isUnused}`];
        return `verify_hand_off(${[...words, ...checks, sso.verifier.ttl].join(', ')})`;
      }),
    );

  it('accepts the vector', async () => {
    const expected = JSON.parse(sso.json);
    expect(await verify([{ query: good }, { query: rotating }])).toEqual([expected, expected]);
  });

  it('refuses every rejected one, and a replay', async () => {
    const answers = await verify(refused.map((query) => ({ query })));
    const anyRefusal = { error: expect.stringMatching(/malformed|wrong/) };
    expect(answers).toEqual(refused.map(() => anyRefusal));
    expect(await verify(refusedFor.map(([attempt]) => attempt))).toEqual(
      refusedFor.map(([, error]) => ({ error })),
    );
  });

  it('takes JSON only that all parsers read alike, and that is a payload', async () => {
    const answers = await verify(misshapen.map((query) => ({ query })));
    const anyRefusal = { error: expect.stringMatching(/malformed|[Ss]yntax|UTF-8|depth/) };
    expect(answers).toEqual(misshapen.map(() => anyRefusal));
    expect(await verify(unusual.map((query) => ({ query })))).toEqual(
      unusual.map(() => expect.objectContaining({ profile: expect.objectContaining({ role: 'merchant' }) })),
    );
  });

  it('keeps the times of the vectors', async () => {
    const answers = await verify(times.map(({ now }) => ({ query: good, now })));
    expect(answers).toEqual(
      times.map(({ accepted }) => (accepted ? JSON.parse(sso.json) : { error: 'expired' })),
    );
  });
});
