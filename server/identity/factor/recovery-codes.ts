// Recovery codes. A user can give one instead of a code from the authenticator app. Each recovery code works one time.
import { sha256 } from '../../runtime/hash.ts';
import { readTypedCode } from './typed-code.ts';

const count = 10;

// Crockford's base32: no letter in it looks like a digit.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Codes of 60 random bits each, such as `7k2m-0qfx-w9zd`. */
export const createRecoveryCodes = (): string[] => Array.from({ length: count }, createCode);

function createCode(): string {
  const random = crypto.getRandomValues(new Uint8Array(12));
  const letters = Array.from(random, (byte) => alphabet[byte % alphabet.length]).join('');
  return letters.replace(/(.{4})(?!$)/g, '$1-');
}

/** The hash includes the user's id, so that nobody can try one guess against the codes of all users. */
export function hashRecoveryCode(userId: string, typed: string): Uint8Array {
  const code = readTypedCode(typed)
    .replace(/[^a-z0-9]/g, '')
    .replaceAll('o', '0')
    .replace(/[il]/g, '1');
  return sha256(new TextEncoder().encode(`${userId} ${code}`));
}
