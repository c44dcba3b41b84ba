// argon2id with OWASP's parameters (contract 9.30). Hashing is slow, so do it outside transactions, which hold locks.

import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { nobodysHash } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { textBounds } from '../../basics/text.ts';
import { hashingThreads } from '../../runtime/hashing-threads.ts';
import { normalise } from './password-fault.ts';

const argon2id = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const threads = pLimit(hashingThreads);

// A hash takes 14 ms of a processor, or twice that on a busy one. So 25 hashes take a thread at most a second, and nobody
// waits for longer.
const maxSlots = hashingThreads * (1 + 25);
let slotsTaken = 0;
let slotsRefused = 0;

export const buildBusy = () =>
  new AppError('unavailable', {
    detail: 'Too many people are logging in right now. Nothing has been lost. Try again in a moment.',
    headers: { 'Retry-After': '2' },
  });

/** Returns whether all slots are taken. If so, counts a refusal. */
export function refusesSlot(): boolean {
  if (slotsTaken < maxSlots) return false;
  slotsRefused++;
  return true;
}

/** `active` and `waiting` are the present numbers. `refused` is the number since the start of the process. */
export const readHashing = () => ({
  active: threads.activeCount,
  waiting: threads.pendingCount,
  refused: slotsRefused,
});
export const countHashing = () => slotsTaken;

/** If too many passwords are being hashed already, throws 503 `unavailable` immediately and starts nothing. */
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

/** Throws 503 `unavailable` if too many passwords are being hashed, and 400 `invalid_request` if `signal` is aborted. */
export function hashPassword(password: string, signal?: AbortSignal): Promise<string> {
  return takeSlot(() => takeThread(() => hash(normalise(password), argon2id), signal));
}

/** Does the same work if there is no hash. The caller must hold a slot. Throws 400 `invalid_request` if `signal` is aborted. */
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
