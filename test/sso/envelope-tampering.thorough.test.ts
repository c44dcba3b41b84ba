import { describe, expect, it, vi } from 'vitest';
import { readEmailAddress } from '../../server/identity/ground/email-address.ts';
import { EnvelopeError, sealEnvelope } from '../../server/sso/envelope.ts';
import { encodePayload, example, open, signJson, writePayload } from '../support/clients/hand-off.ts';
import { fc } from '../support/run/random.ts';

type HandOff = { payload: string; signature: string };

async function isAccepted(handOff: HandOff, consumeNonce = async () => true): Promise<boolean> {
  return open(new URLSearchParams(handOff), { consumeNonce }).then(
    () => true,
    (error) => {
      expect(error).toBeInstanceOf(EnvelopeError);
      return false;
    },
  );
}

const replaceAt = (text: string, at: number, by: string) => text.slice(0, at) + by + text.slice(at + 1);
const otherThan = (digit: string | undefined, by: string, otherwise: string) =>
  digit === by ? otherwise : by;

/** 100 other spellings of a signed payload. `stranger` is another genuine hand-off. */
function alterations({ payload, signature }: HandOff, stranger: HandOff): HandOff[] {
  const json = Buffer.from(payload, 'base64url').toString();
  const flipped = (text: string, at: number) => replaceAt(text, at, otherThan(text[at], '0', '1'));
  const digits = Array.from({ length: 30 }, (_, index) => flipped(signature, index * 2));
  const signatures = [
    ...digits,
    signature.toUpperCase(),
    signature.slice(1),
    signature.slice(0, -1),
    `${signature}0`,
    `0${signature}`,
    ` ${signature}`,
    `${signature}\n`,
    `0x${signature}`,
    `sha256=${signature}`,
    `${signature}${signature}`,
    [...signature].reverse().join(''),
    '',
    '0'.repeat(64),
    'f'.repeat(64),
    Buffer.from(signature, 'hex').toString('base64'),
    Buffer.from(signature, 'hex').toString('base64url'),
    Buffer.from(signature, 'hex').toString('latin1'),
    signature.slice(0, 32) + '0'.repeat(32),
    encodePayload(signature),
    stranger.signature,
  ];
  const places = Array.from({ length: 30 }, (_, index) => Math.floor((index / 30) * payload.length));
  const rewritten = [
    json.replace('merchant"', 'admin"'),
    json.replace('"aud":"marketplace"', '"aud":"crm_app"'),
    json.replace('sell_products', 'sell_services'),
    json.replace('@example.test', '@evil.test'),
    json.replace(/"exp":\d+/, '"exp":1767225899'),
    json.replace(/"iat":\d+/, '"iat":1767225601'),
    json.replace('"nonce":"', '"nonce":"A').replace(/(.)","client"/, '","client"'),
    json.replace(/}$/, ',"state":"x"}'),
    json.replace(/}$/, ' }'),
    ` ${json}`,
    JSON.stringify(JSON.parse(json), null, 1),
  ].map((text) => encodePayload(text));
  const payloads = [
    ...places.map((at) => flipped(payload, at)),
    ...rewritten,
    `${payload}=`,
    `${payload}==`,
    `${payload}A`,
    payload.slice(0, -1),
    payload.slice(4),
    payload.replaceAll('_', '/').replaceAll('-', '+'),
    `${payload}.`,
    '',
    stranger.payload,
  ];
  return [
    ...signatures.map((changed) => ({ payload, signature: changed })),
    ...payloads.map((changed) => ({ payload: changed, signature })),
  ];
}

it('accepts none of 10,000 changed hand-offs, and each of the 100 genuine ones', async () => {
  const genuine = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const changes = {
        'profile.name': `Zoë >>> ${'?~ÿ'.repeat(index % 7)} ${index}`,
        'profile.email': `zoe${index}@example.test`,
        nonce: `AAECAwQFBgcICQoLDA${String(index).padStart(4, '0')}`,
      };
      const { payload, signature } = await sealEnvelope(JSON.parse(writePayload(changes)), [example.secret]);
      return { payload, signature };
    }),
  );
  expect(new Set(genuine.map(({ payload }) => payload)).size).toBe(100);

  const consumeNonce = vi.fn(async () => true);
  let accepted = 0;
  let tried = 0;
  for (const [index, handOff] of genuine.entries()) {
    expect(await isAccepted(handOff)).toBe(true);
    const changed = alterations(handOff, genuine[(index + 1) % 100] as HandOff);
    expect(new Set([handOff, ...changed].map((each) => JSON.stringify(each))).size).toBe(101);
    for (const each of changed) {
      tried++;
      if (await isAccepted(each, consumeNonce)) accepted++;
    }
  }
  expect({ tried, accepted }).toEqual({ tried: 10_000, accepted: 0 });
  expect(consumeNonce).not.toHaveBeenCalled();
});

describe('a change of one byte', () => {
  const { payload, signature } = example;
  const anyByte = fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte));
  const base64urlCharacter = fc.constantFrom(
    ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
  );

  it.each([
    ['payload', payload],
    ['signature', signature],
  ] as const)('is refused anywhere in the %s', async (name, text) => {
    const at = fc.integer({ min: 0, max: text.length - 1 });
    await fc.assert(
      fc.asyncProperty(at, fc.oneof(anyByte, base64urlCharacter), async (place, by) => {
        fc.pre(text[place] !== by);
        const changed = { payload, signature, [name]: replaceAt(text, place, by) };
        expect(await isAccepted(changed)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is refused for each of the 960 signatures that differ in one digit', async () => {
    for (let place = 0; place < 64; place++) {
      for (const digit of '0123456789abcdef') {
        const changed = replaceAt(signature, place, digit);
        expect(await isAccepted({ payload, signature: changed })).toBe(changed === signature);
      }
    }
  });

  it('is refused if it removes or inserts the byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(payload.length - 1), base64urlCharacter, async (place, by) => {
        const without = payload.slice(0, place) + payload.slice(place + 1);
        const withMore = payload.slice(0, place) + by + payload.slice(place);
        for (const changed of [without, withMore]) {
          expect(await isAccepted({ payload: changed, signature })).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });
});

it('carries any name, e-mail address and state unchanged from sealing to verifying', async () => {
  const name = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 200 })
    .filter((text) => Array.from(text).length <= 200);
  const address = fc
    .oneof(
      fc.emailAddress(),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 241 }).map((local) => `${local}@example.test`),
    )
    .map(readEmailAddress)
    .filter((text) => text !== undefined);
  const state = fc.option(fc.stringMatching(/^[A-Za-z0-9._~-]{1,512}$/), { nil: undefined });
  await fc.assert(
    fc.asyncProperty(name, address, state, async (...values) => {
      const changes = { 'profile.name': values[0], 'profile.email': values[1], state: values[2] };
      const payload = JSON.parse(writePayload(changes));
      const sealed = await sealEnvelope(payload, [example.secret]);
      expect(await open(new URLSearchParams(sealed))).toEqual(payload);
      // In a real query, the parameters are encoded and decoded another time.
      const url = new URL(`https://market.example.test/?${new URLSearchParams(sealed)}`);
      expect(await open(url.searchParams)).toEqual(payload);
    }),
    { numRuns: 300 },
  );
});

it('accepts a payload made in another language, which may escape more of its JSON', async () => {
  const escaped = example.json.replaceAll(/[^\x20-\x7e]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  expect(escaped).not.toBe(example.json);
  expect((await open(await signJson(escaped))).profile.name).toBe(JSON.parse(example.json).profile.name);
});
