import { createHmac } from 'node:crypto';
import { HMAC } from 'oslo/crypto';
import { encodeHex } from 'oslo/encoding';
import { describe, expect, it, vi } from 'vitest';
import { sealEnvelope } from '../../server/sso/envelope.ts';
import { sign } from '../../server/sso/hmac.ts';
import {
  buildPayload,
  encodePayload,
  example,
  open,
  signJson,
  writePayload,
} from '../support/clients/hand-off.ts';
import { fc } from '../support/run/random.ts';

const { payload, signature, signature_next } = example;
const nextSecret = example.signature_next_secret;

describe('the worked example', () => {
  it('is what sealing its JSON gives, byte for byte', async () => {
    expect(await sealEnvelope(buildPayload(), [example.secret])).toEqual({ payload, signature });
    expect(await sealEnvelope(buildPayload(), [example.secret, nextSecret])).toEqual({
      payload,
      signature,
      signature_next,
    });
  });

  it('opens to exactly its JSON', async () => {
    const opened = await open(new URLSearchParams({ payload, signature }));
    expect(JSON.stringify(opened)).toBe(example.json);
  });

  it('is signed as oslo’s HMAC signs, whatever the secret and the message (contract 1.6 and 3.20)', async () => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    const texts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(texts, texts, async (secret, message) => {
        const mac = await new HMAC('SHA-256').sign(bytes(secret), bytes(message));
        expect(await sign(secret, message)).toBe(encodeHex(mac));
        // Our own code uses oslo's implementation. node:crypto has another one.
        expect(await sign(secret, message)).toBe(createHmac('sha256', secret).update(message).digest('hex'));
      }),
      { numRuns: 300 },
    );
  });

  const signatureCodes: Record<string, string> = {
    'MAC of the JSON text': 'invalid_signature',
    'MAC of the padded form': 'invalid_signature',
    'MAC of standard base64': 'invalid_signature',
    'upper-case hex': 'malformed_payload',
    'one digit short': 'malformed_payload',
    'HMAC-SHA-1': 'malformed_payload',
  };

  it.each(example.rejected_signatures)('is refused with another signature ($why)', async (rejected) => {
    const params = new URLSearchParams({ payload, signature: rejected.signature });
    await expect(open(params)).rejects.toMatchObject({ code: signatureCodes[rejected.why] });
  });

  it.each(example.rejected_payloads)('is refused with another payload ($why)', async (rejected) => {
    const params = new URLSearchParams({ payload: rejected.payload, signature: rejected.signature });
    await expect(open(params)).rejects.toMatchObject({ code: 'malformed_payload' });
  });

  it.each(
    example.times.map(({ now, accepted }) => [accepted ? 'accepted' : 'refused', now, accepted] as const),
  )('is %s at %i (contract 3.24)', async (_, now, accepted) => {
    for (const milliseconds of [0, 999]) {
      const opened = open(new URLSearchParams({ payload, signature }), {
        now: new Date(now * 1_000 + milliseconds),
      });
      if (accepted) await opened;
      else await expect(opened).rejects.toMatchObject({ code: 'payload_expired' });
    }
  });
});

describe('a hand-off', () => {
  it.each(['payload', 'signature'])('is refused without %s', async (name) => {
    const params = new URLSearchParams({ payload, signature });
    params.delete(name);
    await expect(open(params)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it.each(['payload', 'signature', 'signature_next'])(
    'is refused with %s given twice, even if both are equal',
    async (name) => {
      const params = new URLSearchParams({ payload, signature, signature_next });
      params.append(name, params.get(name) ?? '');
      await expect(open(params)).rejects.toMatchObject({ code: 'invalid_request' });
    },
  );

  it('is accepted among other parameters, which are ignored', async () => {
    await open(new URLSearchParams({ lang: 'de', payload, error: 'none', signature, Payload: 'x' }));
  });
});

describe('a hand-off during a rotation', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => `${name}-`.repeat(20)) as [string, string, string];
  const held = [[a], [b], [c], [a, b], [b, a], [b, c], [a, c]];
  const initials = (secrets: string[]) => secrets.map((secret) => secret[0]).join(' and ');
  const pairs = held.flatMap((signing) =>
    held.map((verifying) => {
      const accepted = signing.some((secret) => verifying.includes(secret));
      return [
        accepted ? 'accepted' : 'refused',
        initials(signing),
        initials(verifying),
        accepted,
        signing,
        verifying,
      ] as const;
    }),
  );

  it.each(pairs)(
    'is %s if it was signed with %s and the verifier holds %s',
    async (_verdict, _signing, _held, accepted, signing, verifying) => {
      const opened = open(new URLSearchParams(await sealEnvelope(buildPayload(), signing)), {
        secrets: verifying,
      });
      if (accepted) await opened;
      else await expect(opened).rejects.toMatchObject({ code: 'invalid_signature' });
    },
  );

  it('has one signature if there is one secret, and cannot be sealed without one', async () => {
    expect(Object.keys(await sealEnvelope(buildPayload(), [a]))).toEqual(['payload', 'signature']);
    await expect(sealEnvelope(buildPayload(), [])).rejects.toThrow(TypeError);
    await expect(sealEnvelope(buildPayload(), [''])).rejects.toThrow(TypeError);
  });

  it('is never verified with an empty secret, even if it was signed with one', async () => {
    const unsigned = createHmac('sha256', '').update(payload).digest('hex');
    const opened = open(new URLSearchParams({ payload, signature: unsigned }), { secrets: [''] });
    await expect(opened).rejects.toThrow(TypeError);
  });

  it('is refused if the verifier holds no secret', async () => {
    const opened = open(new URLSearchParams({ payload, signature }), { secrets: [] });
    await expect(opened).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  it.each([
    ['refused if signature_next is empty', '', 'malformed_payload'],
    ['refused if signature_next is misspelt', signature_next.toUpperCase(), 'malformed_payload'],
    ['accepted if only signature_next is wrong', '0'.repeat(64), undefined],
  ])('is %s', async (_, spelling, code) => {
    const opened = open(new URLSearchParams({ payload, signature, signature_next: spelling }));
    if (code) await expect(opened).rejects.toMatchObject({ code });
    else await opened;
  });
});

describe('a lifetime (contract 3.24)', () => {
  const { iat } = buildPayload();
  const { ttl } = example.verifier;
  const openWith = async (changes: Record<string, unknown>, now = iat) =>
    open(await signJson(writePayload(changes)), { now: new Date(now * 1_000) });

  it.each([1, ttl - 1, ttl])('of %i s is accepted', async (seconds) => {
    expect((await openWith({ exp: iat + seconds })).exp).toBe(iat + seconds);
  });

  it.each([0, -1, -ttl, ttl + 1, 2 * ttl, 1e9])('of %i s is refused', async (seconds) => {
    await expect(openWith({ exp: iat + seconds })).rejects.toMatchObject({ code: 'payload_expired' });
  });

  it.each([undefined, null, '1767225600', iat + 0.5, 2 ** 53, 1e300, true, {}])(
    'is refused if a time is %j',
    async (value) => {
      for (const name of ['iat', 'exp']) {
        await expect(openWith({ [name]: value })).rejects.toMatchObject({
          code: 'malformed_payload',
          reason: `schema: ${name}`,
        });
      }
    },
  );

  it('is measured against the TTL of the verifier, not one in the payload', async () => {
    const params = await signJson(writePayload({ ttl: 3_600 }));
    await expect(open(params, { ttlSeconds: ttl - 1 })).rejects.toMatchObject({ reason: 'lifetime' });
    await open(params, { ttlSeconds: ttl });
  });

  // A comparison with NaN is always false. Code that compares the wrong way round would accept the payload for ever.
  it('is over if the clock or the TTL is not a number', async () => {
    const params = new URLSearchParams({ payload, signature });
    for (const wrong of [{ now: new Date(Number.NaN) }, { ttlSeconds: Number.NaN }]) {
      await expect(open(params, wrong)).rejects.toMatchObject({ code: 'payload_expired' });
    }
  });
});

describe('a payload', () => {
  /** Builds a payload whose JSON has exactly `bytes` bytes. */
  const sized = (bytes: number) => {
    const filler = bytes - new TextEncoder().encode(writePayload({ filler: '' })).length;
    return JSON.parse(writePayload({ filler: 'x'.repeat(filler) }));
  };

  it('is accepted up to 8,192 characters', async () => {
    const sealed = await sealEnvelope(sized(6_144), [example.secret]);
    expect(sealed.payload).toHaveLength(8_192);
    await open(new URLSearchParams(sealed));
  });

  it('is refused above 8,192 characters, both when sealed and when verified (contract 3.19)', async () => {
    await expect(sealEnvelope(sized(6_145), [example.secret])).rejects.toThrow(RangeError);
    const tooLong = { code: 'malformed_payload', reason: 'payload length' };
    const params = await signJson(JSON.stringify(sized(6_145)));
    await expect(open(params)).rejects.toMatchObject(tooLong);
    params.set('payload', encodePayload(JSON.stringify(sized(6_144))).concat('A'));
    expect(params.get('payload')).toHaveLength(8_193);
    await expect(open(params)).rejects.toMatchObject(tooLong);
  });
});

describe('the nonce', () => {
  it('is used up once, and kept until a minute after exp', async () => {
    const consumeNonce = vi.fn(async () => true);
    await open(new URLSearchParams({ payload, signature }), { consumeNonce });
    const { nonce, exp } = buildPayload();
    expect(consumeNonce.mock.calls).toEqual([[nonce, new Date((exp + 60) * 1_000)]]);
  });

  it('fails the hand-off if it cannot be stored', async () => {
    const consumeNonce = () => Promise.reject(new Error('away'));
    await expect(open(new URLSearchParams({ payload, signature }), { consumeNonce })).rejects.toThrow('away');
  });
});
