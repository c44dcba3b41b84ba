// How often somebody may make each change of theirs: one person cannot fill the tables with audit events, history and
// events for clients, nor mailboxes with mails (contract 9.52 to 9.68). What is not here is in `withoutAllowance`, with the
// reason. The counts are in Postgres, for all instances together.
import { base64url } from 'oslo/encoding';
import type { Database } from '../../../db/postgres/client.ts';
import { countChange, findFullCount } from '../../../db/tables/rate-limits.ts';
import { AppError } from '../../basics/errors.ts';
import { sha256 } from '../../runtime/hash.ts';

type Allowance = { times: number; seconds: number };

const hour = 60 * 60;
const day = 24 * hour;

/** By the audit event that the change leaves. For each user, unless said otherwise. */
export const allowances = {
  'profile.updated': { times: 60, seconds: hour },
  'user.deletion_requested': { times: 5, seconds: day },
  // In each browser that the user has had for a week, and in all others together.
  'password.changed': { times: 10, seconds: hour },
  'email.change_requested': { times: 10, seconds: hour },
  'passkey.added': { times: 30, seconds: hour },
  'authenticator.added': { times: 10, seconds: hour },
  'recovery_codes.made': { times: 10, seconds: hour },
  'data.downloaded': { times: 5, seconds: hour },
  // For each session: whoever else is in the account cannot use up what the owner needs to put them out.
  'login.confirmed': { times: 30, seconds: hour },
  // For each password, so that one set by mail starts to count afresh. In each browser that the user has had for a week; in
  // all that are new to them; and in all others together, so that a login more makes no allowance more.
  'login-own-browser': { times: 60, seconds: hour },
  'login-new-browser': { times: 100, seconds: hour },
  'login-known-browser': { times: 300, seconds: hour },
  // For each passkey.
  'login-passkey': { times: 300, seconds: hour },
} satisfies Record<string, Allowance>;

export type AllowanceName = keyof typeof allowances;

/** Every other audit event, and what bounds how often there is one. */
export const withoutAllowance = {
  // What ends access, removes what was added or keeps things as they were: a thief must not use it up. There is no more
  // of it than of what came before it.
  logout: 'logins',
  'session.ended': 'logins',
  'session.ended_others': 'logins',
  'link.removed': 'hand-offs',
  'passkey.removed': 'passkey.added',
  'authenticator.removed': 'authenticator.added',
  'user.deletion_canceled': 'user.deletion_requested',
  'email.change_canceled': 'email.change_requested',

  // Counted before it is tried (rate-limits.ts), or after a login that was counted.
  'login.succeeded': 'logins',
  'session.started': 'logins',
  'login.code_asked': 'logins',
  'login.refused': 'guesses of a password or code, and logins',
  'password.refused': 'guesses of a password',
  'email.verification_requested': 'mails',
  'password_link.requested': 'mails',

  // By a link of a mail, which works once.
  'email.verified': 'links of mails',
  'email.changed': 'links of mails',
  'email.change_undone': 'links of mails',
  'account.taken_back': 'links of mails',
  'account.take_back_refused': 'guesses of a code with a link of a mail',
  'account.frozen': 'links of mails, and nothing while it is frozen',
  'password.set': 'links of mails',
  'user.created': 'links of mails, and commands',
  'factors.removed': 'links of mails, and commands',

  // Not by a user.
  'hand_off.accepted': 'the marketplace, whose signature counts once',
  'hand_off.confirmed': 'the marketplace, whose signature counts once',
  'hand_off.email_skipped': 'the marketplace, whose signature counts once',
  'hand_off.pending': 'the marketplace, whose signature counts once',
  'hand_off.refused': 'the marketplace, whose signature counts once',
  'import.accepted': 'commands',
  'signup.accepted': 'the CRM, whose signature counts',
  'contract.moved': 'time',
  'invoice.issued': 'time',
  'invoice.paid': 'commands',
  'invoice.void': 'commands',
  'user.erased': 'time, and commands',
  'account.thawed': 'commands',
  'capability.decided': 'commands',
  'verification.decided': 'commands',
  'user.resumed': 'commands',
  'user.suspended': 'commands',
  'database.restored': 'commands',
} satisfies Record<string, string>;

const countOf = (name: AllowanceName, of: string) => {
  const { times, seconds } = allowances[name];
  const digest = base64url.encode(sha256(of), { includePadding: false });
  return { key: `allowance-${name}:${digest}`, times, windowMs: seconds * 1_000 };
};

/**
 * Counts a change, in the transaction that makes it: one that fails counts nothing, and one more than there may be leaves
 * nothing. `of` is whose it is. Throws 429 `rate_limited`.
 */
export async function spendAllowance(trx: Database, name: AllowanceName, of: string): Promise<void> {
  const count = countOf(name, of);
  if (!(await countChange(trx, count))) throw refuse((await findFullCount(trx, count)) ?? 0);
}

/** Counts nothing: for what comes before the change, so that nobody does it in vain. Throws 429 `rate_limited`. */
export async function requireAllowance(db: Database, name: AllowanceName, of: string): Promise<void> {
  const waitMs = await findFullCount(db, countOf(name, of));
  if (waitMs !== undefined) throw refuse(waitMs);
}

const refuse = (waitMs: number) =>
  new AppError('rate_limited', {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
  });
