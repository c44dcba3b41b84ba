// Codes of an authenticator app: TOTP (RFC 6238) with SHA-1, 30 seconds and six digits, which every authenticator app supports.
import { constantTimeEqual } from 'oslo/crypto';
import { base32 } from 'oslo/encoding';
import { generateHOTP } from 'oslo/otp';

const stepSeconds = 30;

/** The secret has 20 bytes, as many as SHA-1 gives (RFC 4226 section 4, R6). */
export const createSecret = (): Uint8Array => crypto.getRandomValues(new Uint8Array(20));

export const spellSecret = (secret: Uint8Array): string =>
  base32.encode(secret, { includePadding: false }).replace(/(.{4})(?!$)/g, '$1 ');

/** This does not use oslo's function, because oslo writes a space in the name as a plus, and apps would show the plus. */
export function buildKeyUri(
  secret: Uint8Array,
  { issuer, email }: { issuer: string; email: string },
): string {
  // A colon separates name and account, so the name must not contain one.
  const [name, account] = [issuer.replaceAll(':', ' '), email].map(encodeURIComponent);
  return `otpauth://totp/${name}:${account}?secret=${base32.encode(secret, { includePadding: false })}&issuer=${name}`;
}

export const isCode = (text: string) => /^\d{6}$/.test(text);

/**
 * Returns the time step that has this code. Also accepts the codes of the 30 seconds before and after, because clocks differ
 * and people type slowly. If several steps match, returns the latest.
 */
export async function findStep(secret: Uint8Array, code: string, now: Date): Promise<number | undefined> {
  const present = stepOf(now);
  let found: number | undefined;
  for (const step of [present - 1, present, present + 1])
    if (isSame(code, await generateHOTP(secret, step))) found = step;
  return found;
}

// Ten steps are five minutes. If the phone's clock is off by more than that, its owner can see it.
const furthestSteps = 10;

/** Finds the time steps that have this code and are within five minutes, but too far away for the code to be accepted. */
export async function findOtherSteps(secret: Uint8Array, code: string, now: Date): Promise<number[]> {
  const present = stepOf(now);
  const far = Array.from({ length: furthestSteps - 1 }, (_, at) => at + 2);
  const steps = far.flatMap((each) => [present - each, present + each]);
  const same = await Promise.all(steps.map(async (step) => isSame(code, await generateHOTP(secret, step))));
  return steps.filter((_, at) => same[at]);
}

export const stepOf = (at: Date): number => Math.floor(at.getTime() / 1_000 / stepSeconds);

const bytesOf = (text: string) => new TextEncoder().encode(text);

const isSame = (one: string, other: string) => constantTimeEqual(bytesOf(one), bytesOf(other));
