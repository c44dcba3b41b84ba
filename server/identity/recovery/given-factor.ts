// A factor given with a mail link instead of a login, to take an account back (take-back.ts) or to get a new address
// (new-address.ts).

import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import type { AuditEventType } from '../../../db/tables/audit-event-types.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { countNewAddressGuess } from '../../../db/tables/new-addresses.ts';
import { countGuess } from '../../../db/tables/take-back-changes.ts';
import { type CodeFactor, lockUser, type User } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import type { KeptFactors } from '../factor/remove-factors.ts';
import { type FactorUse, readFactor } from '../factor/second-factor-check.ts';
import { readTypedCode } from '../factor/typed-code.ts';
import { notifyOnceADay } from '../ground/notices.ts';
import { trailOf } from '../ground/trail.ts';
import { type Assertion, checkAssertion, consumePasskey } from '../passkey/passkey-assertion.ts';
import { PasskeyRefusal } from '../passkey/webauthn.ts';
import { isAnyLeft, type LeftFactors } from './left-factors.ts';

type Purpose = 'take-back' | 'new-address';

const rules: Record<
  Purpose,
  {
    countGuess: (db: Database, guess: { id: string; max: number }) => Promise<number | undefined>;
    usedUp: string;
    refused: AuditEventType;
  }
> = {
  'take-back': { countGuess, usedUp: faultWords.codes_used_up, refused: 'account.take_back_refused' },
  'new-address': {
    countGuess: countNewAddressGuess,
    usedUp: faultWords.codes_used_up_for_address,
    refused: 'email.new_address_refused',
  },
};

/** Guesses are counted by `changeId`, even if the mail was sent several times. */
type Link = { purpose: Purpose; changeId: string; user: User; left: LeftFactors };

export type Given = { newPassword: string; code?: string | undefined; passkey?: string | undefined };

export type Factor = { code: FactorUse; isLast: boolean } | { passkey: Assertion } | undefined;

export type Asks = { codeFactors: CodeFactor[]; passkey: boolean };

export const findAsks = (left: LeftFactors): Asks | undefined =>
  isAnyLeft(left) ? { codeFactors: left.codeFactors, passkey: left.passkeys.length > 0 } : undefined;

/**
 * Checks the given code or passkey. Each typed code is counted as a guess, even if it is right. The factor is not used up here:
 * `consumeFactor` does that in the transaction.
 */
export async function readGiven(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  link: Link,
  { code = '', passkey }: Omit<Given, 'newPassword'>,
): Promise<Factor> {
  const { purpose, user, left } = link;
  if (!isAnyLeft(left)) return undefined;
  if (passkey) {
    const use = { purpose, userId: user.id } as const;
    return {
      passkey: await checkAssertion(deps, request, visit, use, passkey).catch((error) =>
        refusePasskey(deps, visit, error),
      ),
    };
  }
  const { codeFactors: kinds, codesMadeBy: madeBy } = left;
  if (kinds.length === 0 || readTypedCode(code) === '') throw missing(left);
  const isLast = await countTry(deps, visit, link);
  const factor = await readFactor(deps, user.id, code, { kinds, madeBy });
  if (factor && factor !== 'other_time') return { code: factor, isLast };
  return refuseLast(deps, request, visit, link, { isLast, isOfOtherTime: factor !== undefined });
}

/** Uses the given factor up, and returns the factors to keep. The caller must lock the user before it reads `left`. */
export async function consumeFactor(
  trx: Transaction<DB>,
  deps: Dependencies,
  factor: Factor,
  left: LeftFactors,
): Promise<KeptFactors | 'wrong_code' | undefined> {
  if (!isAnyLeft(left)) return undefined;
  if (!factor) throw missing(left);
  if ('passkey' in factor) {
    const { id } = factor.passkey.passkey;
    const refusal = await consumePasskey(trx, deps, factor.passkey);
    if (refusal || !left.passkeys.some((each) => each.id === id)) throw wrongPasskey();
    return { passkey: id };
  }
  const { kind, consume } = factor.code;
  const codeFactors = left.codeFactors.filter((each) => kind === 'recovery_code' || each === kind);
  if (codeFactors.length === 0 || !(await consume(trx))) return 'wrong_code';
  return { codeFactors };
}

const maxGuesses = 30;

/**
 * A guess counts only for the link and not for the IP address, because a thief and the owner may guess from the same
 * place. Returns true for the last allowed guess.
 */
async function countTry(
  { db, takeBackLimits }: Dependencies,
  { address }: Visit,
  { purpose, changeId }: Link,
): Promise<boolean> {
  const { isLast } = await takeBackLimits.countTry({ account: changeId, address, device: undefined });
  const guesses = await rules[purpose].countGuess(db, { id: changeId, max: maxGuesses });
  if (guesses !== undefined) return isLast || guesses === maxGuesses;
  throw new AppError('rate_limited', {
    detail: rules[purpose].usedUp,
    headers: { 'Retry-After': String(24 * 60 * 60) },
  });
}

/**
 * Throws 422 `validation_failed` at `/code`. After the last allowed guess, the owner gets a notice, because a thief may read
 * the mailbox.
 */
export const refuseCode = (
  deps: Dependencies,
  request: Request,
  visit: Visit,
  link: Pick<Link, 'purpose' | 'user'>,
  factor: Factor,
): Promise<never> =>
  refuseLast(deps, request, visit, link, {
    isLast: factor !== undefined && 'code' in factor && factor.isLast,
  });

async function refuseLast(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  { purpose, user: { id: userId } }: Pick<Link, 'purpose' | 'user'>,
  { isLast, isOfOtherTime = false }: { isLast: boolean; isOfOtherTime?: boolean },
): Promise<never> {
  await inTransactionOf(visit, deps.db, async (trx) => {
    const user = await lockUser(trx, { id: userId });
    if (!user) return;
    deferAuditEvent(trx, { ...trailOf(visit), type: rules[purpose].refused, reason: 'wrong_code', userId });
    if (isLast) await notifyOnceADay(trx, deps, user, 'codes_guessed', request);
  });
  throw refusalAt('/code', isOfOtherTime ? faultWords.code_of_other_time : faultWords.code_wrong);
}

function refusePasskey({ log }: Dependencies, { address, requestId }: Visit, error: unknown): never {
  if (!(error instanceof PasskeyRefusal)) throw error;
  log.record({ requestId, address, reason: `passkey_${error.reason}` }, 'passkey not accepted');
  throw wrongPasskey();
}

const refusalAt = (pointer: string, detail: string) =>
  new AppError('validation_failed', { detail, errors: [{ pointer, detail }] });

const missing = ({ codeFactors, passkeys }: LeftFactors) =>
  codeFactors.length > 0
    ? refusalAt('/code', passkeys.length > 0 ? faultWords.code_or_passkey_missing : faultWords.code_missing)
    : refusalAt('/passkey', faultWords.passkey_missing);

const wrongPasskey = () => refusalAt('/passkey', faultWords.passkey_refused);
