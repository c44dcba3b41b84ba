import { describe, expect, it, vi } from 'vitest';
import { sign } from '../../server/sso/hmac.ts';
import { encodePayload, example, open, signJson, writePayload } from '../support/clients/hand-off.ts';

type Fault = {
  name: string;
  code: string;
  reason: RegExp;
  /** Changed members of the payload. */
  changes?: Record<string, unknown>;
  /** A change of the payload's JSON text. */
  json?: (text: string) => string;
  /** A change of the payload's spelling, which is then signed. */
  spelling?: (payload: string) => string;
  /** A change of the URL's parameters. */
  params?: (params: URLSearchParams) => void;
  secret?: string;
  isReplay?: boolean;
};

// The faults are in the order of contract 3.22.
const faults: Fault[] = [
  {
    name: 'a missing parameter',
    code: 'invalid_request',
    reason: /^signature missing$/,
    params: (params) => params.delete('signature'),
  },
  {
    name: 'the spelling',
    code: 'malformed_payload',
    reason: /^payload (alphabet|spelling)$/,
    spelling: (payload) => `${payload}=`,
  },
  {
    name: 'the MAC',
    code: 'invalid_signature',
    reason: /^mac$/,
    secret: 'a secret that the verifier does not hold',
  },
  {
    name: 'the JSON',
    code: 'malformed_payload',
    reason: /duplicate name/,
    json: (text) => text.replace(/}$/, ',"x":1,"x":2}'),
  },
  {
    name: 'the schema',
    code: 'malformed_payload',
    reason: /^schema: profile\.role$/,
    changes: { 'profile.role': 'root' },
  },
  { name: 'iss', code: 'invalid_signature', reason: /^iss$/, changes: { iss: 'https://id.example.test/' } },
  { name: 'aud', code: 'invalid_signature', reason: /^aud$/, changes: { aud: 'crm_app' } },
  { name: 'client', code: 'invalid_signature', reason: /^client$/, changes: { client: 'crm_app' } },
  { name: 'the time', code: 'payload_expired', reason: /^exp$/, changes: { iat: 1_000, exp: 1_300 } },
  { name: 'the nonce', code: 'nonce_replayed', reason: /^nonce\b/, isReplay: true },
];

async function handOff(present: Fault[]): Promise<URLSearchParams> {
  let json = writePayload(Object.assign({}, ...present.map(({ changes }) => changes)));
  for (const fault of present) json = fault.json?.(json) ?? json;
  let payload = encodePayload(json);
  for (const fault of present) payload = fault.spelling?.(payload) ?? payload;
  const secret = present.find((fault) => fault.secret)?.secret ?? example.secret;
  const params = new URLSearchParams({ payload, signature: await sign(secret, payload) });
  for (const fault of present) fault.params?.(params);
  return params;
}

function openFaulty(params: URLSearchParams, present: Fault[]) {
  const consumeNonce = vi.fn(async () => !present.some(({ isReplay }) => isReplay));
  return { consumeNonce, opened: open(params, { consumeNonce }) };
}

describe('verification', () => {
  const pairs = faults.flatMap((earlier, index) =>
    faults.slice(index + 1).map((later) => [earlier.name, later.name, earlier, later] as const),
  );

  it.each(pairs)('reports %s before %s', async (_earlier, _later, earlier, later) => {
    const present = [earlier, later];
    const { opened, consumeNonce } = openFaulty(await handOff(present), present);
    await expect(opened).rejects.toMatchObject({
      code: earlier.code,
      reason: expect.stringMatching(earlier.reason),
    });
    expect(consumeNonce).not.toHaveBeenCalled();
  });

  it.each(faults.map((fault) => [fault.name, fault] as const))(
    'reports %s if only that is wrong',
    async (_, fault) => {
      const { opened, consumeNonce } = openFaulty(await handOff([fault]), [fault]);
      await expect(opened).rejects.toMatchObject({
        code: fault.code,
        reason: expect.stringMatching(fault.reason),
      });
      expect(consumeNonce).toHaveBeenCalledTimes(fault.isReplay ? 1 : 0);
    },
  );

  it('accepts the same hand-off if nothing is wrong', async () => {
    const { opened, consumeNonce } = openFaulty(await handOff([]), []);
    await opened;
    expect(consumeNonce).toHaveBeenCalledOnce();
  });

  it('reports only the first fault if everything is wrong', async () => {
    const { opened } = openFaulty(await handOff(faults), faults);
    await expect(opened).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe('a verifier', () => {
  it.each([
    ['iss', 'https://ID.example.test'],
    ['iss', 'http://id.example.test'],
    ['iss', ' https://id.example.test'],
    ['iss', ''],
    ['aud', 'Marketplace'],
    ['aud', 'marketplace '],
    ['aud', ''],
    ['client', 'market'],
    ['client', ''],
  ])('refuses the %s %j, which is not the expected one byte for byte', async (name, value) => {
    await expect(open(await signJson(writePayload({ [name]: value })))).rejects.toMatchObject({
      code: 'invalid_signature',
      reason: name,
    });
  });

  it('accepts a client that is not aud only if it was told which', async () => {
    const params = await signJson(writePayload({ aud: 'https://id.example.test', client: 'marketplace' }));
    const forUs = { aud: 'https://id.example.test' };
    await open(params, { ...forUs, client: 'marketplace' });
    await expect(open(params, forUs)).rejects.toMatchObject({ reason: 'client' });
    await expect(open(params, { ...forUs, client: 'crm_app' })).rejects.toMatchObject({ reason: 'client' });
  });

  it('reports the public code and the exact reason, without secret or signature', async () => {
    const params = await signJson(writePayload({ iss: 'https://evil.test' }));
    const refusal = await open(params).catch((error: Error) => error);
    expect(refusal).toMatchObject({ message: 'invalid_signature: iss' });
    const wrongMac = new URLSearchParams({ payload: example.payload, signature: '0'.repeat(64) });
    expect(await open(wrongMac).catch((error: Error) => error.message)).toBe('invalid_signature: mac');
  });
});
