// An authenticator in software, and its browser. They do what WebAuthn requires (https://www.w3.org/TR/webauthn-3/) or, on
// request, what it forbids.
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { Answer } from '../app/app.ts';
import type { Browser } from '../app/visitor.ts';

type Options = { challenge: string; rpId?: string; rp?: { id: string }; user?: { id: string } };

/** What the authenticator does wrong. */
export type Lie = {
  origin?: string;
  crossOrigin?: boolean;
  rpId?: string;
  type?: string;
  challenge?: string;
  /** Says that somebody was there, but not who it was. */
  isUnverified?: boolean;
  isAbsent?: boolean;
  counter?: number;
  userHandle?: string | undefined;
  credentialId?: string;
  /** Signs other bytes than it sends. */
  isForged?: boolean;
  /** The format of the attestation, such as `packed`. */
  format?: string;
  publicKey?: Buffer;
};

export type Authenticator = ReturnType<typeof createAuthenticator>;

/** One passkey. `counter` counts up from 1, or stays 0 if the authenticator does not count. */
export function createAuthenticator({ counts = true, isSynced = false } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(32);
  let counter = 0;
  let userHandle: string | undefined;

  const next = (lie: Lie) => lie.counter ?? (counts ? ++counter : 0);

  return {
    credentialId: credentialId.toString('base64url'),
    publicKey: encodeKey(publicKey),
    /** What a browser's script posts as `passkey` to add the passkey. */
    register(options: Options, origin: string, lie: Lie = {}): string {
      userHandle = options.user?.id;
      const clientData = sayClientData('webauthn.create', options, origin, lie);
      const attested = Buffer.concat([
        Buffer.alloc(16),
        uint16(credentialId.length),
        credentialId,
        lie.publicKey ?? encodeKey(publicKey),
      ]);
      const authData = sayAuthData(
        lie.rpId ?? options.rp?.id ?? '',
        next(lie),
        { ...lie, isSynced },
        attested,
      );
      const attestation = cbor(
        new Map<string, Cbor>([
          ['fmt', lie.format ?? 'none'],
          ['attStmt', new Map()],
          ['authData', authData],
        ]),
      );
      return say(credentialId, {
        clientDataJSON: clientData.toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal', 'carrier-pigeon'],
      });
    },
    /** What a browser's script posts to log in or confirm. */
    answer(options: Options, origin: string, lie: Lie = {}): string {
      const clientData = sayClientData('webauthn.get', options, origin, lie);
      const authData = sayAuthData(lie.rpId ?? options.rpId ?? '', next(lie), { ...lie, isSynced });
      const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()]);
      const signature = createSign('sha256')
        .update(lie.isForged ? 'something else' : signed)
        .sign(privateKey);
      const id = lie.credentialId ? Buffer.from(lie.credentialId, 'base64url') : credentialId;
      return say(id, {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: 'userHandle' in lie ? lie.userHandle : userHandle,
      });
    },
  };
}

const say = (id: Buffer, response: object) =>
  JSON.stringify({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    response,
    clientExtensionResults: {},
    authenticatorAttachment: 'platform',
  });

const sayClientData = (type: string, options: Options, origin: string, lie: Lie) =>
  Buffer.from(
    JSON.stringify({
      type: lie.type ?? type,
      challenge: lie.challenge ?? options.challenge,
      origin: lie.origin ?? origin,
      crossOrigin: lie.crossOrigin ?? false,
    }),
  );

function sayAuthData(
  rpId: string,
  counter: number,
  { isUnverified, isAbsent, isSynced }: Lie & { isSynced: boolean },
  attested = Buffer.alloc(0),
): Buffer {
  const flags =
    (isAbsent ? 0 : 0x01) |
    (isUnverified || isAbsent ? 0 : 0x04) |
    (isSynced ? 0x18 : 0) |
    (attested.length > 0 ? 0x40 : 0);
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([flags]), count, attested]);
}

/** COSE: an EC2 key for ES256 on P-256. */
function encodeKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return cbor(
    new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]),
  );
}

type Cbor = number | string | Buffer | Map<string | number, Cbor>;

/** Writes CBOR (RFC 8949), as far as an authenticator needs it. */
export function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([
    head(5, value.size),
    ...[...value].flatMap(([name, each]) => [cbor(name), cbor(each)]),
  ]);
}

function head(major: number, size: number): Buffer {
  if (size < 24) return Buffer.from([(major << 5) | size]);
  if (size < 256) return Buffer.from([(major << 5) | 24, size]);
  return Buffer.concat([Buffer.from([(major << 5) | 25]), uint16(size)]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

/** Asks for options, as the script of a page does. */
export async function fetchOptions(
  browser: Pick<Browser, 'send'>,
  purpose: 'login' | 'confirm' | 'add' | 'arrive' | 'take-back' | 'new-address',
  token = '',
): Promise<Options> {
  const answer = await browser.send('/passkeys/options', { form: { purpose, token } });
  if (answer.status !== 200) throw new Error(`options for ${purpose}: ${answer.status} ${answer.text}`);
  return JSON.parse(answer.text);
}

export const origin = 'http://localhost:3000';

/** Adds a passkey in a browser that has just logged in. */
export async function addPasskey(
  browser: Browser,
  authenticator = createAuthenticator(),
  name = 'My phone',
): Promise<Authenticator> {
  const passkey = authenticator.register(await fetchOptions(browser, 'add'), origin);
  const { status, text } = await browser.send('/profile/passkeys/add', { form: { name, passkey } });
  if (status !== 303) throw new Error(`adding a passkey answered ${status}: ${text.slice(0, 300)}`);
  return authenticator;
}

export async function logInByPasskey(
  browser: Browser,
  authenticator: Authenticator,
  { lie, path = '/login' }: { lie?: Lie; path?: string } = {},
): Promise<Answer> {
  const passkey = authenticator.answer(await fetchOptions(browser, 'login'), origin, lie);
  return browser.send(path, { form: { passkey } });
}
