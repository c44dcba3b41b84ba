// Which new passwords are accepted (contract 9.31). This runs on a thread of its own (server/identity/password/password-thread.ts), and on no
// thread that answers requests: of some passwords the check takes a tenth of a second. So it takes nothing but texts.
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { faultWords } from '../../basics/fault-words.ts';
import { textBounds } from '../../basics/text.ts';
import type { NewPassword } from '../../ground/dependencies.ts';

const minLength = 12;
const maxLength = 128;

/** Gives the same characters one spelling, whatever keyboard they were typed on. */
export const normalise = (password: string) => password.normalize('NFKC');

/**
 * What is wrong with a new password, for its owner to read, or undefined. It must have 12 to 128 code points in NFKC, and
 * be neither common nor made of the person's own name and address or the names of this service and its clients.
 */
export async function findPasswordFault({ password, ...names }: NewPassword): Promise<string | undefined> {
  if (password.length > textBounds.newPassword) return faultWords.password_long;
  const length = Array.from(normalise(password)).length;
  if (length < minLength) return faultWords.password_short;
  if (length > maxLength) return faultWords.password_long;
  const [ourNames, ownNames] = [withParts(names.ourNames), withParts(names.ownNames)];
  if (isMadeOf([...ourNames, ...ownNames], password) || (await isEasy(password, ourNames, ownNames)))
    return faultWords.password_easy;
  return undefined;
}

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

// zxcvbn takes more than the square of the length, for each way to read signs as letters, and a password can make it find every
// name in every place. So length, names and readings have a limit each: then no password and name take more than a tenth of a
// second.
const lookedAt = 32;
const maxOwnNames = 8;
const maxReadings = 32;

/** True for common passwords, for names, and for variations of them: repeated, counted up, or walked along the keyboard. */
async function isEasy(password: string, ourNames: string[], ownNames: string[]): Promise<boolean> {
  const start = normalise(password).slice(0, lookedAt);
  // A name longer than `start` cannot be in it. `isMadeOf` looks at all names.
  const short = ownNames.filter((each) => each.length <= lookedAt).slice(0, maxOwnNames);
  checker ??= loadChecker();
  // Scores 0 and 1 mean at most a million guesses.
  return (await checker).check(start, [...ourNames, ...short]).score <= 1;
}

let checker: Promise<ZxcvbnFactory> | undefined;

async function loadChecker(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, l33tMaxSubstitutions: maxReadings });
}
