// Finds out without a login which secret the client holds. The doctor signs one expired hand-off with each secret, without an
// attempt. If the client holds the secret, it says that the hand-off has expired. If not, it says that the signature is
// wrong. This uses up no nonce, needs no cookie and logs nobody in.
import { createNonce } from '../../server/sso/envelope.ts';
import { type Exam, makeFor, newBrowser, nowSeconds } from './exam.ts';
import { type Changes, randomDigits } from './hand-offs.ts';
import { listKnownKeys } from './known-keys.ts';
import { hideNumbers } from './name-tags.ts';
import type { Outcome } from './outcome.ts';
import { CannotExamineError } from './target.ts';

const longAgoSeconds = 7_200;

/** These codes say that the form of the query is wrong, so the client has checked no signature. */
const beforeMac = ['parameter_missing', 'parameter_repeated', 'payload_malformed', 'signature_malformed'];

/**
 * Returns the configured secrets that the client holds, or all of them if the client's refusals do not show which it holds. If
 * the client cannot accept our hand-offs, notes a finding and returns none.
 */
export async function findHeldSecrets(exam: Exam): Promise<readonly string[]> {
  const { target, notes } = exam;
  const control = await sendExpired(exam, randomDigits());
  requireCallback(control);
  if (beforeMac.includes(control.code ?? '')) {
    const saw = `A hand-off in its right form was answered with ${control.code}.`;
    notes.find('query_changed', { saw, launchId: control.launchId, unless: 'cache_in_front' });
    return [];
  }
  const isKnown = (outcome: Outcome) => !isAlike(outcome, control);
  const held: string[] = [];
  for (const secret of target.secrets) if (isKnown(await sendExpired(exam, secret))) held.push(secret);
  if (held.length > 0) {
    noteRotation(exam, held);
    return held;
  }
  for (const secret of target.secrets) {
    const outcome = await sendExpired(exam, secret, { signed: (_, json) => json });
    if (!isKnown(outcome)) continue;
    const saw = 'It accepts a MAC over the decoded JSON, and refuses one over the characters that arrived.';
    notes.find('mac_over_json', { saw, launchId: outcome.launchId });
    return [];
  }
  for (const [misspelt, words] of misspellings(target.secrets)) {
    const outcome = await sendExpired(exam, misspelt);
    if (!isKnown(outcome)) continue;
    notes.find('secret_wrong', { saw: `It holds the secret ${words}.`, launchId: outcome.launchId });
    return [];
  }
  for (const [key, words] of listKnownKeys(target)) {
    const outcome = await sendExpired(exam, key);
    if (!isKnown(outcome)) continue;
    const saw = `It holds ${words}, and not the secret configured here.`;
    notes.find('key_known', { saw, launchId: outcome.launchId });
    return [];
  }
  if (control.code !== 'signature_wrong') return target.secrets;
  const count = target.secrets.length > 1 ? 'either of the two secrets' : 'the secret';
  notes.find('secret_wrong', {
    saw: `It says that the signature is wrong, whatever it is made with: it does not hold ${count} configured here.`,
    launchId: control.launchId,
    unless: 'cache_in_front',
  });
  return [];
}

/**
 * Returns a function that says whether the client holds a key. Undefined if the client's refusals do not show whether a
 * signature is right. Call this only after the client has accepted a hand-off.
 */
export async function findTelling(exam: Exam): Promise<((key: string) => Promise<boolean>) | undefined> {
  const control = await sendExpired(exam, randomDigits());
  const isKnown = async (key: string) => !isAlike(await sendExpired(exam, key), control);
  const [held = ''] = exam.held;
  return (await isKnown(held)) && !(await isKnown(randomDigits())) ? isKnown : undefined;
}

/** Mistakes that often happen when somebody copies a secret into a setting. */
const misspellings = (secrets: readonly string[]): [string, words: string][] =>
  [
    ...secrets.flatMap((secret): [string, string][] => [
      [`${secret}\n`, 'with a line break at its end'],
      [`${secret} `, 'with a space at its end'],
      [`"${secret}"`, 'with its quotation marks'],
    ]),
    ...(secrets.length > 1 ? [[secrets.join(','), 'as both secrets with the comma between']] : []),
  ] as [string, string][];

async function sendExpired(exam: Exam, secret: string, changes: Changes = {}): Promise<Outcome> {
  const handOff = await makeFor(
    exam,
    { state: createNonce() },
    {
      secrets: [secret],
      changes: {
        ...changes,
        members: (payload) => {
          payload.exp = nowSeconds(exam) - longAgoSeconds;
          payload.iat = payload.exp - exam.target.ttlSeconds;
        },
      },
    },
  );
  return exam.logins.open(newBrowser(exam), handOff);
}

function requireCallback({ answer: { status, url }, code }: Outcome): void {
  if (status === 404 && code === undefined)
    throw new CannotExamineError(
      `There is nothing at the callback ${url.origin}${url.pathname} (404). Look up under which path this client takes its callback, and set that, or give it with --url.`,
    );
}

/** Whether two refusals are equal. Compares their codes or, if they have none, their pages. */
function isAlike(one: Outcome, other: Outcome): boolean {
  if (one.code !== undefined || other.code !== undefined) return one.code === other.code;
  return toFingerprint(one) === toFingerprint(other);
}

/** Removes from a refusal what differs from answer to answer. */
const toFingerprint = ({ answer: { status, text, location } }: Outcome) =>
  `${status} ${location?.pathname} ${hideNumbers(text)}`;

function noteRotation({ target, notes }: Exam, held: string[]): void {
  const [, second] = target.secrets;
  if (second === undefined || held.includes(second)) return;
  notes.find('rotation_unfinished', {
    saw: 'It holds the first of the two secrets, and not yet the second.',
  });
}
