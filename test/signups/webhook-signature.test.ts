import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../server/basics/errors.ts';
import { requireWebhookSignature, signWebhook } from '../../server/web/webhook-signature.ts';
import vectors from '../sso-vectors.json' with { type: 'json' };
import { fc } from '../support/run/random.ts';

const { signups } = vectors;
const encode = (text: string) => new TextEncoder().encode(text);
const decode = (base64: string) => Uint8Array.from(Buffer.from(base64, 'base64'));

/** Returns the id that our verifier finds in a message, or undefined if it refuses the message. */
async function verify(
  { id, timestamp, signature, body }: Record<'id' | 'timestamp' | 'signature', string> & { body: Uint8Array },
  secrets: string[],
  now = new Date(Number(timestamp) * 1_000),
): Promise<string | undefined> {
  const headers = new Headers({
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  });
  return requireWebhookSignature(headers, body, { secrets, now })
    .then(({ id }) => id)
    .catch((error) => {
      expect(error).toBeInstanceOf(AppError);
      expect([error.status, error.code]).toEqual([401, 'invalid_webhook_signature']);
      return undefined;
    });
}

const secrets = fc
  .uint8Array({ minLength: 24, maxLength: 64 })
  .map((key) => `whsec_${Buffer.from(key).toString('base64')}`);
const ids = fc.stringMatching(/^[A-Za-z0-9_-]{1,255}$/);
const bodies = fc.oneof(fc.json(), fc.string({ unit: 'binary', maxLength: 300 }));

describe('the standard’s own library and ours', () => {
  it('sign the same and accept each other’s signatures, for any secret, id and body', async () => {
    await fc.assert(
      fc.asyncProperty(secrets, ids, bodies, async (secret, id, body) => {
        const at = new Date();
        const timestamp = String(Math.floor(at.getTime() / 1_000));
        const theirs = new Webhook(secret).sign(id, at, body);
        const ours = await signWebhook(secret, { id, timestamp, body: encode(body) });
        expect(ours).toBe(theirs);
        expect(await verify({ id, timestamp, signature: theirs, body: encode(body) }, [secret])).toBe(id);
        new Webhook(secret).verify(
          body,
          { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': ours },
          { jsonParse: false },
        );
      }),
      { numRuns: 300 },
    );
  });

  it('refuse the same messages when one bit of the body, id, timestamp or key is changed', async () => {
    const flip = (bytes: Uint8Array, bit: number) => {
      const copy = Uint8Array.from(bytes);
      const at = Math.floor(bit / 8) % copy.length;
      copy[at] = (copy[at] ?? 0) ^ (1 << (bit % 8));
      return copy;
    };
    await fc.assert(
      fc.asyncProperty(secrets, ids, bodies, fc.nat(), async (secret, id, text, bit) => {
        const body = encode(`${text} `);
        const timestamp = '1767225600';
        const now = new Date(1_767_225_600_000);
        const message = {
          id,
          timestamp,
          body,
          signature: await signWebhook(secret, { id, timestamp, body }),
        };
        const otherKey = Buffer.from(flip(decode(secret.slice('whsec_'.length)), bit)).toString('base64');
        expect(await verify(message, [secret], now)).toBe(id);
        expect(await verify({ ...message, body: flip(body, bit) }, [secret], now)).toBeUndefined();
        expect(await verify({ ...message, id: `${id.slice(1)}-_` }, [secret], now)).toBeUndefined();
        expect(await verify({ ...message, timestamp: '1767225601' }, [secret], now)).toBeUndefined();
        expect(await verify(message, [`whsec_${otherKey}`], now)).toBeUndefined();
        expect(await verify(message, [], now)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });

  it('sign bytes that are not text unchanged', async () => {
    const body = new Uint8Array([0xff, 0x00, 0xfe]);
    const message = { id: 'msg_1', timestamp: '1767225600', body };
    const signature = await signWebhook(signups.secret, message);
    expect(await verify({ ...message, signature }, [signups.secret])).toBe('msg_1');
    const replaced = { ...message, body: encode('\ufffd\u0000\ufffd') };
    expect(await verify({ ...replaced, signature }, [signups.secret])).toBeUndefined();
  });
});

describe('the published vector', () => {
  const { webhook_id: id, webhook_timestamp: timestamp, secret, webhook_signature: signature } = signups;
  const body = encode(signups.body);

  it('is what we sign and accept', async () => {
    expect(await signWebhook(secret, { id, timestamp, body })).toBe(signature);
    expect(await verify({ id, timestamp, signature, body }, [secret])).toBe(id);
  });

  it.each(signups.rejected_signatures.map(({ why, webhook_signature }) => [why, webhook_signature] as const))(
    'is refused with a wrong signature: %s',
    async (_, webhook_signature) => {
      expect(await verify({ id, timestamp, signature: webhook_signature, body }, [secret])).toBeUndefined();
    },
  );

  it.each([
    ['is accepted', -300_000, true],
    ['is refused', -300_001, false],
    ['is accepted', 300_000, true],
    // The service compares whole seconds, because the timestamp has no fractions.
    ['is accepted', 300_999, true],
    ['is refused', 301_000, false],
  ])('%s when our clock is %i ms past its timestamp', async (_, ms, isAccepted) => {
    const now = new Date(Number(timestamp) * 1_000 + ms);
    const verified = await verify({ id, timestamp, signature, body }, [secret], now);
    expect(verified).toBe(isAccepted ? id : undefined);
  });
});
