// Passwords (contract section 9; OWASP's parameters for argon2id). Hashing happens outside transactions:
// never while a lock is held.
import { hash, verify } from '@node-rs/argon2';
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import pLimit from 'p-limit';
import { z } from 'zod';
import { passwordThreads } from '../runtime/hash.ts';

const argon2id = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

// A hash of the same cost that no password is behind: who has none, or does not exist, costs the same time.
const nobodysHash =
  '$argon2id$v=19$m=19456,t=2,p=1$XkgpURrtAfii57F9NJAw/A$aWDh0MdT925qDBS3SZ7COShNEWh7UWgVhKz7k3t9wPI';

// One waits where the next thread to be free finds it, so that none is idle.
const atMost = pLimit(passwordThreads + 1);

const minLength = 12;
const maxLength = 128;

/** One spelling for the same characters typed on different keyboards. */
const normalise = (password: string) => password.normalize('NFKC');

export function hashPassword(password: string): Promise<string> {
  return atMost(() => hash(normalise(password), argon2id));
}

/** The same work whether there is a hash or not; false without one. */
export async function verifyPassword(
  passwordHash: string | null | undefined,
  password: string,
): Promise<boolean> {
  const matches = await atMost(() => verify(passwordHash ?? nobodysHash, normalise(password)));
  return matches && typeof passwordHash === 'string';
}

/** A password that somebody sets: 12 to 128 code points in NFKC, not among the common ones. Nothing else. */
export const newPasswordSchema = z
  .string()
  .refine((password) => length(password) >= minLength, {
    error: `Please use at least ${minLength} characters; a few words in a row do well.`,
    abort: true,
  })
  .refine((password) => length(password) <= maxLength, {
    error: `Please keep it to ${maxLength} characters.`,
    abort: true,
  })
  .refine(
    async (password) => !(await isCommon(password)),
    'This is among the passwords that are guessed first. Please choose another.',
  );

const length = (password: string) => Array.from(normalise(password)).length;

let checker: Promise<ZxcvbnFactory> | undefined;

/** Among common passwords, or one of them repeated, counted up or walked along the keyboard. */
async function isCommon(password: string): Promise<boolean> {
  checker ??= loadChecker();
  // Its work grows steeply with the length, and 64 characters show whether a password is a common one.
  const start = Array.from(normalise(password)).slice(0, 64).join('');
  // Scores 0 and 1: guessed within a million tries.
  return (await checker).check(start).score <= 1;
}

// Loaded when somebody first sets a password: the list of common ones takes memory that most processes never need.
async function loadChecker(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
}
