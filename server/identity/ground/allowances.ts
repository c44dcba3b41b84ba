// How often a user may make each change, so that one person cannot fill the tables with audit events, history and events
// for clients, nor mailboxes with mails (contract 9.52 to 9.68). `withoutAllowance` names all other changes, with the
// reason. The counts are in Postgres, for all instances together.
import { base64url } from 'oslo/encoding';
import type { Database } from '../../../db/postgres/client.ts';
import { countChange, findFullCount } from '../../../db/tables/rate-limits.ts';
import { AppError } from '../../basics/errors.ts';
import { sha256 } from '../../runtime/hash.ts';

type Allowance = { times: number; seconds: number };

const hour = 60 * 60;
const day = 24 * hour;

/** The allowances, by the audit event that the change leaves: for each user, unless said otherwise. */
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
  'billing.updated': { times: 30, seconds: hour },
  'contract.cancel_asked': { times: 10, seconds: day },
  // To each address for invoices that signups name.
  'invoice-email-of-signup': { times: 2, seconds: day },
  // For each session: whoever else is in the account cannot use up what the owner needs to log them out.
  'login.confirmed': { times: 30, seconds: hour },
  // For each password, so that a password set by mail starts to count afresh. Counted in each browser that the user has had
  // for a week; in all browsers that are new to them; and in all others together, so that another login adds no allowance.
  'login-own-browser': { times: 60, seconds: hour },
  'login-new-browser': { times: 100, seconds: hour },
  'login-known-browser': { times: 300, seconds: hour },
  // For each of the staff.
  'staff.searched': { times: 600, seconds: hour },
  // For each administrator: each may mail all of them.
  'billing.set': { times: 60, seconds: hour },
  // To each person, by all of the staff.
  'staff.send_mail': { times: 5, seconds: hour },
  // For each passkey.
  'login-passkey': { times: 300, seconds: hour },
} satisfies Record<string, Allowance>;

export type AllowanceName = keyof typeof allowances;

/** Every other audit event, and what limits how often it happens. */
export const withoutAllowance = {
  // Changes that end access, remove what was added or keep things as they were: a thief must not use up an allowance for
  // them. There are no more of them than of the changes before them.
  logout: 'logins',
  'session.ended': 'logins',
  'session.ended_others': 'logins',
  'link.removed': 'hand-offs',
  'passkey.removed': 'passkey.added',
  'authenticator.removed': 'authenticator.added',
  'user.deletion_canceled': 'user.deletion_requested',
  'email.change_canceled': 'email.change_requested',
  'contract.kept': 'contract.cancel_asked',

  // Logins are counted before they are tried (rate-limits.ts); the others follow a login that was counted.
  'login.succeeded': 'logins',
  'session.started': 'logins',
  'login.code_asked': 'logins',
  'login.refused': 'guesses of a password or code, and logins',
  'password.refused': 'guesses of a password',
  'email.verification_requested': 'mails',
  'password_link.requested': 'mails',
  'billing.invoice_email_asked': 'mails',

  // Changes by a link in a mail, which works once.
  'email.verified': 'links of mails',
  'billing.invoice_email_proved': 'links of mails',
  'email.changed': 'links of mails',
  'email.change_undone': 'links of mails',
  'email.new_address_used': 'links of mails',
  'email.new_address_stopped': 'links of mails',
  'email.new_address_refused': 'guesses of a code with a link of a mail',
  'account.taken_back': 'links of mails',
  'account.take_back_refused': 'guesses of a code with a link of a mail',
  'account.frozen': 'links of mails, commands and staff, and nothing while it is frozen',
  'password.set': 'links of mails',
  'user.created': 'links of mails, and commands',
  'factors.removed': 'links of mails, and commands',

  // Changes by staff, each with a credential and a reason. Whom they may change is bounded by whom they may look at.
  'staff.looked': '300 people an hour',
  'staff.limited': 'one a day',
  'staff.export_started': 'five an hour, counted in the audit',
  'staff.exported': 'staff.export_started',
  'staff.suspend': 'staff.looked',
  'staff.freeze': 'staff.looked',
  'staff.resume': 'staff.looked',
  'staff.end_session': 'staff.looked',
  'staff.end_sessions': 'staff.looked',
  'staff.remove_factors': 'staff.looked',
  'staff.verify': 'staff.looked',
  'staff.unverify': 'staff.looked',
  'staff.grant': 'staff.looked',
  'staff.revoke': 'staff.looked',
  'staff.undecide': 'staff.looked',
  'staff.change_role': 'staff.looked',
  'staff.plan_deletion': 'staff.looked',
  'staff.keep': 'staff.looked',
  'staff.change_email': 'staff.looked',
  'staff.thaw': 'staff.looked',
  'staff.remove_link': 'staff.looked',
  'staff.check_vat_id': 'staff.looked',
  'staff.accept_country': 'staff.looked',
  'staff.retry_mail': 'mails that failed',
  'staff.give_up_mail': 'mails that have not left',

  // Changes that no user makes.
  'staff.create': 'commands',
  'staff.erase': 'commands',
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
  'invoice.void': 'commands, and staff',
  'credit_note.issued': 'commands, and staff',
  'payment.recorded': 'the payment provider, whose signature counts, commands, and staff',
  'payment.refunded': 'the payment provider, whose signature counts, commands, and staff',
  'payment.allocated': 'commands, and staff',
  'user.erased': 'time, and commands',
  'account.thawed': 'commands',
  'capability.decided': 'commands',
  'verification.decided': 'commands',
  'user.resumed': 'commands',
  'user.suspended': 'commands',
  'database.backed_up': 'commands',
  'database.restored': 'commands',
  'document.lost': 'commands',
  'document.recovered': 'commands',
  'billing.resumed': 'commands',
} satisfies Record<string, string>;

const countOf = (name: AllowanceName, of: string) => {
  const { times, seconds } = allowances[name];
  const digest = base64url.encode(sha256(of), { includePadding: false });
  return { key: `allowance-${name}:${digest}`, times, windowMs: seconds * 1_000 };
};

/**
 * Counts a change, in the transaction that makes the change: a change that fails counts nothing, and a change over the
 * limit leaves nothing. `of` says whose allowance it is. Throws 429 `rate_limited`.
 */
export async function spendAllowance(trx: Database, name: AllowanceName, of: string): Promise<void> {
  const count = countOf(name, of);
  if (!(await countChange(trx, count))) throw refuse((await findFullCount(trx, count)) ?? 0);
}

/** Checks an allowance without counting, before a user does something in vain. Throws 429 `rate_limited`. */
export async function requireAllowance(db: Database, name: AllowanceName, of: string): Promise<void> {
  const waitMs = await findFullCount(db, countOf(name, of));
  if (waitMs !== undefined) throw refuse(waitMs);
}

const refuse = (waitMs: number) =>
  new AppError('rate_limited', {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
  });
