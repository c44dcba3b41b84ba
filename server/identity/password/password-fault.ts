// Which new passwords are accepted (contract 9.31). This runs on its own thread (password-thread.ts), because some passwords
// take a tenth of a second. Its input is only texts, because a thread gets copies of its input.
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { faultWords } from '../../basics/fault-words.ts';
import { textBounds } from '../../basics/text.ts';
import type { NewPassword } from '../../ground/dependencies.ts';

const minLength = 12;
const maxLength = 128;

/** Gives the same characters one spelling, even if they were typed on different keyboards. */
export const normalise = (password: string) => password.normalize('NFKC');

/**
 * Returns the fault in words for the owner: too short, too long, common, or made of the owner's names or the service's names.
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

const withParts = (names: string[]) =>
  names
    .flatMap((each) => [each, ...each.split(/[^\p{L}\p{N}]+/u)])
    .map(normalise)
    .filter((each) => each.length > 2);

/**
 * Returns true if the password without the names has less than half of the shortest allowed length, for example only a year.
 */
function isMadeOf(names: string[], password: string): boolean {
  const whole = normalise(password).toLowerCase();
  const longestFirst = [...names].sort((one, other) => other.length - one.length);
  const left = longestFirst.reduce((rest, name) => rest.replaceAll(name.toLowerCase(), ''), whole);
  return left !== whole && left.replace(/[^\p{L}\p{N}]/gu, '').length < minLength / 2;
}

// zxcvbn reads signs as letters in several ways. For each way, its time grows faster than the square of the password's length.
// A password can also make zxcvbn find every name in every place. With these limits, no password takes more than a tenth of a
// second.
const lookedAt = 32;
const maxOwnNames = 8;
const maxReadings = 32;

/** Returns true if the password is mostly common words, names, repetitions, sequences, or walks along the keyboard. */
async function isEasy(password: string, ourNames: string[], ownNames: string[]): Promise<boolean> {
  const start = normalise(password).slice(0, lookedAt);
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
