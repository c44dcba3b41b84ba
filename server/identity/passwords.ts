// Hashes and verifies passwords with argon2id and OWASP's parameters, and says which new ones are accepted (contract
// section 9). Call it outside transactions: hashing is slow, and would hold their locks.
import { hash, verify } from '@node-rs/argon2';
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import pLimit from 'p-limit';
import { z } from 'zod';
import { hashingThreads } from '../runtime/hashing-threads.ts';

const argon2id = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

// A hash that no password matches. Verifying against it takes as long as against a real one, so that the time does not
// show whether a user exists or has a password.
const nobodysHash =
  '$argon2id$v=19$m=19456,t=2,p=1$XkgpURrtAfii57F9NJAw/A$aWDh0MdT925qDBS3SZ7COShNEWh7UWgVhKz7k3t9wPI';

const takeTurns = pLimit(hashingThreads);

const minLength = 12;
const maxLength = 128;

/** Gives the same characters one spelling, whatever keyboard they were typed on. */
const normalise = (password: string) => password.normalize('NFKC');

export function hashPassword(password: string): Promise<string> {
  return takeTurns(() => hash(normalise(password), argon2id));
}

/** Does the same work with or without a hash; without one the answer is false. */
export async function verifyPassword(
  passwordHash: string | null | undefined,
  password: string,
): Promise<boolean> {
  const matches = await takeTurns(() => verify(passwordHash ?? nobodysHash, normalise(password)));
  return matches && typeof passwordHash === 'string';
}

/** A new password: 12 to 128 code points in NFKC, and not a common one. */
export const newPasswordSchema = z
  .string()
  .refine((password) => length(password) >= minLength, {
    error: `Your password must be at least ${minLength} characters long. A few random words work well.`,
    abort: true,
  })
  .refine((password) => length(password) <= maxLength, {
    error: `Your password must be no more than ${maxLength} characters long.`,
    abort: true,
  })
  .refine(
    async (password) => !(await isCommon(password)),
    'This password is too easy to guess. Choose a different one.',
  );

const length = (password: string) => Array.from(normalise(password)).length;

let checker: Promise<ZxcvbnFactory> | undefined;

/** True for common passwords and their variations: repeated, counted up, or walked along the keyboard. */
async function isCommon(password: string): Promise<boolean> {
  checker ??= loadChecker();
  // The check slows down steeply with length, and 64 characters are enough to tell.
  const start = Array.from(normalise(password)).slice(0, 64).join('');
  // Scores 0 and 1 mean at most a million guesses.
  return (await checker).check(start).score <= 1;
}

// Loaded when somebody first sets a password: the list takes memory that most processes never need.
async function loadChecker(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
}
