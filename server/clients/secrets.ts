// The secrets of rows: their form, and how they are sealed (contract 13.20 to 13.27). If a row is copied to another issuer or
// name, its secrets cannot be opened there.
import { base64url, encodeHex } from 'oslo/encoding';
import { seal, unseal } from '../basics/sealing.ts';
import { sha256 } from '../runtime/hash.ts';

type Keys = readonly Uint8Array[];
type Owner = { id: string; issuer: string; name: string };

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function crc32(text: string): number {
  let crc = -1;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/**
 * Returns a checksum of six digits in base 62, as in GitHub's tokens. A secret scanner can use it to tell a real secret from a
 * random text.
 */
function checksumOf(random: string): string {
  let text = '';
  for (let left = crc32(random), n = 0; n < 6; n++) {
    text = digits.charAt(left % 62) + text;
    left = Math.floor(left / 62);
  }
  return text;
}

export const spellSecret = (random: Uint8Array): string => {
  const text = base64url.encode(random, { includePadding: false });
  return `idsec_${text}${checksumOf(text)}`;
};

export const makeSecret = (): string => spellSecret(crypto.getRandomValues(new Uint8Array(32)));

export const isSecret = (text: string): boolean =>
  /^idsec_[A-Za-z0-9_-]{43}[A-Za-z0-9]{6}$/.test(text) && checksumOf(text.slice(6, 49)) === text.slice(49);

const contextOf = ({ id, issuer, name }: Owner) => `client ${issuer} ${name} ${id}`;

/** Identifies the key that sealed something, without revealing the key. */
export const keyIdOf = (key: Uint8Array | undefined): string => encodeHex(sha256(key ?? '').slice(0, 4));

export async function sealSecret(keys: Keys, owner: Owner, secret: string) {
  const sealed = await seal(keys, contextOf(owner), new TextEncoder().encode(secret));
  return { sealed, keyId: keyIdOf(keys[0]) };
}

/** Returns undefined if none of the keys opens the secret. */
export async function openSecret(keys: Keys, owner: Owner, sealed: Uint8Array): Promise<string | undefined> {
  const opened = await unseal(keys, contextOf(owner), sealed);
  return opened && new TextDecoder().decode(opened.plain);
}
