// Hashes and verifies passwords with argon2id and OWASP's parameters, and says which new passwords are accepted (contract
// 9.30 and 9.31). Call it outside transactions: hashing is slow, and would hold their locks.

import { hash, verify } from '@node-rs/argon2';
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import pLimit from 'p-limit';
import { nobodysHash } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import type { Visit } from '../../http/requests.ts';
import { textBounds } from '../../http/text.ts';
import { hashingThreads } from '../../runtime/hashing-threads.ts';
import type { Config } from '../../settings/config.ts';

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

const minLength = 12;
const maxLength = 128;

/** Gives the same characters one spelling, whatever keyboard they were typed on. */
const normalise = (password: string) => password.normalize('NFKC');

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

/** Whose password it is: their data is what a stranger would try first. */
export type PasswordContext = {
  config: Pick<Config, 'name' | 'baseUrl' | 'clients'>;
  email: string;
  name: string;
};

/**
 * What is wrong with a new password, for its owner to read, or undefined. It must have 12 to 128 code points in NFKC, and
 * be neither common nor made of the person's own name and address or the names of this service and its clients.
 */
export async function findPasswordFault(
  password: string,
  context: PasswordContext,
): Promise<string | undefined> {
  if (password.length > textBounds.newPassword) return faultWords.password_long;
  const length = Array.from(normalise(password)).length;
  if (length < minLength) return faultWords.password_short;
  if (length > maxLength) return faultWords.password_long;
  if (isMadeOf(listNames(context), password) || (await isEasy(password, context)))
    return faultWords.password_easy;
  return undefined;
}

/**
 * Throws 422 `validation_failed` at `/newPassword` for a bad password, and 503 `unavailable` as `takeSlot`. Hashes nothing.
 */
export async function requireGoodPassword(password: string, context: PasswordContext): Promise<void> {
  const detail = await findPasswordFault(password, context);
  if (detail) throw new AppError('validation_failed', { errors: [{ pointer: '/newPassword', detail }] });
}

/** The hash of a new password. Throws 422 `validation_failed` at `/newPassword`, and what `hashPassword` throws. */
export async function hashNewPassword(
  { deadline, signal }: Pick<Visit, 'deadline' | 'signal'>,
  password: string,
  context: PasswordContext,
): Promise<string> {
  await requireGoodPassword(password, context);
  return deadline.pause(() => hashPassword(password, signal));
}

const listNames = (context: PasswordContext) => [...listOurNames(context), ...listOwnNames(context)];

const listOurNames = ({ config }: PasswordContext) =>
  withParts([
    'identity service',
    config.name,
    new URL(config.baseUrl).hostname,
    ...[...config.clients.values()].flatMap((client) => [client.name, client.title]),
  ]);

const listOwnNames = ({ email, name }: PasswordContext) => withParts([email, name]);

/** The names whole, and their parts. */
const withParts = (names: string[]) =>
  names
    .flatMap((each) => [each, ...each.split(/[^\p{L}\p{N}]+/u)])
    .map(normalise)
    .filter((each) => each.length > 2);

/** Whether a password without the names leaves less than half of the shortest password, such as a year. */
function isMadeOf(names: string[], password: string): boolean {
  const whole = normalise(password).toLowerCase();
  const longestFirst = [...names].sort((one, other) => other.length - one.length);
  const left = longestFirst.reduce((rest, name) => rest.replaceAll(name.toLowerCase(), ''), whole);
  return left !== whole && left.replace(/[^\p{L}\p{N}]/gu, '').length < minLength / 2;
}

let checker: Promise<ZxcvbnFactory> | undefined;

/**
 * Loads the check, once in a process, before anybody waits for it: loading takes a tenth of a second and blocks everything
 * else.
 */
export async function loadPasswordCheck(): Promise<void> {
  checker ??= loadChecker();
  await checker;
}

// The check takes more than the square of the length, for each way to read signs as letters, and a password can make it find
// every name in every place. So length, names and readings have a limit each: then no password and name take more than 25 ms of
// a processor. Checks run one at a time, and other work comes in between: many at once would be one long wait for everybody.
const takeCheckTurn = pLimit(1);
const lookedAt = 32;
const maxOwnNames = 8;
const maxReadings = 32;

/** True for common passwords, for names, and for variations of them: repeated, counted up, or walked along the keyboard. */
async function isEasy(password: string, context: PasswordContext): Promise<boolean> {
  checker ??= loadChecker();
  const start = normalise(password).slice(0, lookedAt);
  // A name longer than `start` cannot be in it. `isMadeOf` looks at all names.
  const ownNames = listOwnNames(context)
    .filter((each) => each.length <= lookedAt)
    .slice(0, maxOwnNames);
  const loaded = await checker;
  return takeSlot(() =>
    takeCheckTurn(async () => {
      await new Promise((done) => setTimeout(done));
      // Scores 0 and 1 mean at most a million guesses.
      return loaded.check(start, [...listOurNames(context), ...ownNames]).score <= 1;
    }),
  );
}

async function loadChecker(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, l33tMaxSubstitutions: maxReadings });
}
