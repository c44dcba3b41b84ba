// Hashes and verifies passwords with argon2id and OWASP's parameters (contract 9.30). Call it outside transactions: hashing is
// slow, and would hold their locks.

import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { nobodysHash } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { textBounds } from '../../basics/text.ts';
import { hashingThreads } from '../../runtime/hashing-threads.ts';
import { normalise } from './password-fault.ts';

const argon2id = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const threads = pLimit(hashingThreads);

// A hash takes 14 ms of a processor, and twice that on a busy one. So a thread takes half a second to a second for 25
// hashes, and whoever comes last waits no longer than that.
const maxSlots = hashingThreads * (1 + 25);
let slotsTaken = 0;
let slotsRefused = 0;

/** The refusal where too many passwords are being hashed. */
export const buildBusy = () =>
  new AppError('unavailable', {
    detail: 'Too many people are logging in right now. Nothing has been lost. Try again in a moment.',
    headers: { 'Retry-After': '2' },
  });

/** Whether one more password would be one too many. If so, that counts as refused. */
export function refusesSlot(): boolean {
  if (slotsTaken < maxSlots) return false;
  slotsRefused++;
  return true;
}

/** How many passwords are being hashed, how many wait for it, and how many were refused since the start. */
export const readHashing = () => ({
  active: threads.activeCount,
  waiting: threads.pendingCount,
  refused: slotsRefused,
});
/** How many requests are hashing a password, or wait for their turn. */
export const countHashing = () => slotsTaken;

/**
 * Runs work that hashes a password, with what has to come before the hashing. If too many passwords are being hashed
 * already, throws 503 `unavailable` at once and starts nothing.
 */
export async function takeSlot<T>(work: () => Promise<T>): Promise<T> {
  if (refusesSlot()) throw buildBusy();
  slotsTaken++;
  try {
    return await work();
  } finally {
    slotsTaken--;
  }
}

export const isSamePassword = (one: string, other: string): boolean => normalise(one) === normalise(other);

/**
 * Hashes a password. Throws 503 `unavailable` if too many passwords are being hashed, and 400 `invalid_request` if the
 * client has gone before its turn.
 */
export function hashPassword(password: string, signal?: AbortSignal): Promise<string> {
  return takeSlot(() => takeThread(() => hash(normalise(password), argon2id), signal));
}

/**
 * Verifies a password, with the same work with or without a hash; without a hash the answer is false. The caller has taken
 * a slot. Throws 400 `invalid_request` if the client has gone before its turn.
 */
export async function verifyPassword(
  passwordHash: string | null | undefined,
  password: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const isTooLong = password.length > textBounds.password;
  const matches = await takeThread(
    () => verify(passwordHash ?? nobodysHash, isTooLong ? '' : normalise(password)),
    signal,
  );
  return matches && !isTooLong && typeof passwordHash === 'string';
}

function takeThread<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return threads(() => {
    if (signal?.aborted) throw new AppError('invalid_request', { detail: 'The request was canceled.' });
    return work();
  });
}
