// The verifiers that docs/integrate.md gives to clients, against the vectors.
import { describe, expect, it } from 'vitest';
import { readOurFile } from '../support/documents.ts';
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

  it('keeps the times of the vectors', async () => {
    const answers = await verify(times.map(({ now }) => ({ query: good, now })));
    expect(answers).toEqual(
      times.map(({ accepted }) => (accepted ? JSON.parse(sso.json) : { error: 'expired' })),
    );
  });
});
