// Finds likely slips in a typed domain: domains that differ by one letter from a mail host that very many people use (contract
// 9.220 to 9.222).
import { AppError, type FieldError } from '../../basics/errors.ts';
import { readEmailAddress } from './email-address.ts';

const bigHosts = [
  'gmail.com',
  'yahoo.com',
  'outlook.com',
  'hotmail.com',
  'icloud.com',
  'qq.com',
  '163.com',
  'mail.ru',
  'aol.com',
  'live.com',
  'msn.com',
  'googlemail.com',
  'yandex.ru',
  'gmx.de',
  'web.de',
  'gmx.net',
  't-online.de',
  'protonmail.com',
  'proton.me',
  'comcast.net',
];

/** Real hosts that differ by one letter from one of `bigHosts`. */
const realHosts = new Set([
  ...['mail.com', 'email.com', 'ymail.com', 'gmail.ru', 'mai.ru', 'yandex.eu'],
  ...['aon.com', 'ao.com', 'bol.com', 'sol.com', 'love.com', 'life.com', 'line.com', 'five.com', 'olive.com'],
  ...[
    'cloud.com',
    'man.com',
    'msc.com',
    'msu.com',
    'q.com',
    'hq.com',
    'iq.com',
    'qa.com',
    '263.com',
    'weg.de',
  ],
]);

export function findLikelyAddress(typed: string): string | undefined {
  const email = readEmailAddress(typed);
  if (email === undefined) return undefined;
  const at = email.lastIndexOf('@') + 1;
  const host = email.slice(at);
  if (bigHosts.includes(host) || realHosts.has(host)) return undefined;
  const likely = bigHosts.find((each) => isOneLetterOff(host, each));
  return likely && email.slice(0, at) + likely;
}

function isOneLetterOff(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let end = 0;
  const shorter = Math.min(one.length, other.length) - start;
  while (end < shorter && one.at(-1 - end) === other.at(-1 - end)) end++;
  const [left = '', right = ''] = [one, other].map((host) => host.slice(start, host.length - end));
  const isSwapped = left.length === 2 && left === [...right].reverse().join('');
  return isSwapped || Math.max(left.length, right.length) === 1;
}

/** `isMeant`: the person was asked before, and said that the address is right as typed. */
export function askAboutHost(typed: string, isMeant: boolean): FieldError[] {
  const likely = isMeant ? undefined : findLikelyAddress(typed);
  if (likely === undefined) return [];
  const detail = `Did you mean ${likely}? If not, continue with the address that you entered.`;
  return [{ pointer: '/meant', detail }];
}

/** Throws 422 `validation_failed` at `/meant` if the address looks mistyped and the person has not said that they mean it. */
export function requireMeant({ email, isMeant }: { email: string; isMeant: boolean }): void {
  const errors = askAboutHost(email, isMeant);
  if (errors.length > 0) throw new AppError('validation_failed', { errors });
}
