// Checks the verifier with the contract's vectors. vitest runs this on Node. Deno runs it as a program that prints what it
// checked.
import { readFileSync } from 'node:fs';
import { EnvelopeError, sealEnvelope, verifyEnvelope } from '../../../server/sso/envelope.ts';
import { payloadSchema } from '../../../server/sso/payload.ts';

const { sso } = JSON.parse(readFileSync(new URL('../../sso-vectors.json', import.meta.url), 'utf8'));

async function isAccepted(params: Record<string, string>, nowSeconds: number, secret: string = sso.secret) {
  try {
    await verifyEnvelope(new URLSearchParams(params), {
      secrets: [secret],
      schema: payloadSchema,
      iss: sso.verifier.iss,
      aud: sso.verifier.aud,
      ttlSeconds: sso.verifier.ttl,
      now: new Date(nowSeconds * 1_000),
    });
    return true;
  } catch (error) {
    if (error instanceof EnvelopeError) return false;
    throw error;
  }
}

/** The result of every vector: each must be `[as expected]`. */
export async function checkVectors(): Promise<{ name: string; isRight: boolean }[]> {
  const { payload, signature, verifier } = sso;
  const results: { name: string; isRight: boolean }[] = [];
  const check = (name: string, isRight: boolean) => results.push({ name, isRight });

  const sealed = await sealEnvelope(JSON.parse(sso.json), [sso.secret, sso.signature_next_secret]);
  check('payload', sealed.payload === payload);
  check('signature', sealed.signature === signature);
  check('signature_next', sealed.signature_next === sso.signature_next);
  check('accepted', await isAccepted({ payload, signature }, verifier.now));
  const rotated = { payload, signature, signature_next: sso.signature_next };
  check('accepted by the next secret', await isAccepted(rotated, verifier.now, sso.signature_next_secret));
  for (const { why, signature: rejected } of sso.rejected_signatures) {
    check(why, !(await isAccepted({ payload, signature: rejected }, verifier.now)));
  }
  for (const { why, refusal, ...rejected } of sso.rejected_payloads)
    check(`${why}: ${refusal}`, !(await isAccepted(rejected, verifier.now)));
  for (const { now, accepted } of sso.times) {
    check(`at ${now}`, (await isAccepted({ payload, signature }, now)) === accepted);
  }
  return results;
}

if ('Deno' in globalThis) process.stdout.write(JSON.stringify(await checkVectors()));
