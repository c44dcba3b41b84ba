// What a user reads about their own account: the audit trail of 90 days, in plain words, and what else changed with it or
// by itself. It names nobody else who did something, and nothing about anybody else's account.

import {
  type ActivityLine,
  type LineChange,
  listActivity,
  listChangesOfLines,
} from '../../../db/tables/activity.ts';
import type { AuditEventType } from '../../../db/tables/audit-event-types.ts';
import { daysAfter } from '../../basics/instant.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { ToldRefusal } from '../ground/trail.ts';
import type { Actor } from '../session/actor.ts';
import {
  describeAuthor,
  describeCapability,
  describeHappening,
  describeMembers,
  nameEdited,
} from './change-words.ts';

/** Words by the event's reason; `any` for all other reasons. */
type ByReason = { any: string } & Record<string, string>;

/** Words for every type of event. `undefined` hides the event from the person. */
export const words: Record<AuditEventType, string | ByReason | undefined> = {
  // Hidden: the list tells what led to the session.
  'session.started': undefined,

  // Hidden: these are about accounts, contracts and the books, not about a person.
  'billing.resumed': undefined,
  'billing.set': undefined,
  'contract.moved': undefined,
  'database.backed_up': undefined,
  'database.restored': undefined,
  'credit_note.issued': undefined,
  'document.lost': undefined,
  'document.recovered': undefined,
  'invoice.issued': undefined,
  'invoice.paid': undefined,
  'invoice.void': undefined,
  'payment.allocated': undefined,
  'payment.recorded': undefined,
  'payment.refunded': undefined,
  // Hidden: nobody knows whose hand-off it was.
  'hand_off.refused': undefined,
  // Hidden: it would say that somebody else has that address.
  'hand_off.email_skipped': undefined,

  // Hidden: that staff looked is for the audit, and of these acts another event tells.
  'staff.looked': undefined,
  'staff.export_started': undefined,
  'staff.exported': undefined,
  'staff.searched': undefined,
  'staff.limited': undefined,
  'staff.suspend': undefined,
  'staff.freeze': undefined,
  'staff.resume': undefined,
  'staff.send_mail': undefined,
  'staff.remove_factors': undefined,
  'staff.verify': undefined,
  'staff.unverify': undefined,
  'staff.grant': undefined,
  'staff.revoke': undefined,
  'staff.undecide': undefined,
  'staff.plan_deletion': undefined,
  'staff.keep': undefined,
  'staff.thaw': undefined,
  'staff.remove_link': undefined,
  'staff.check_vat_id': 'Our support team checked the VAT ID',
  'staff.accept_country': {
    yes: 'Our support team accepted the new country of the billing address',
    any: 'Our support team refused the new country of the billing address',
  },
  'staff.retry_mail': undefined,
  'staff.create': undefined,
  'staff.erase': undefined,
  'staff.end_session': 'Our support team logged the account out in one browser',
  'staff.end_sessions': 'Our support team logged the account out everywhere',
  'staff.change_role': 'Our support team changed the role',
  'staff.give_up_mail': 'Our support team stopped trying to send an email that had not arrived',
  'staff.change_email': 'Our support team asked for another email address',

  // Hidden: the person is not here any more.
  'user.erased': undefined,

  'account.frozen': {
    by_staff: 'Our support team froze the account',
    any: 'The account was frozen with the link in an email',
  },
  'account.take_back_refused': 'A wrong code was entered to take the account back',
  'account.taken_back': {
    thawed: 'Our support team gave the account back to this email address',
    any: 'The account was taken back with the link in an email',
  },
  'account.thawed': 'Our support team unfroze the account',
  'authenticator.added': 'Added an authenticator app',
  'authenticator.removed': 'Removed the authenticator app',
  'billing.invoice_email_asked': 'Asked for an email to confirm the address for invoices',
  'billing.invoice_email_proved': 'The address for invoices was confirmed with the link in an email',
  'billing.updated': {
    taken_out: 'The address for invoices was removed, in case somebody else had added it',
    any: 'Changed the billing details',
  },
  'contract.cancel_asked': 'Canceled a contract',
  'contract.kept': 'Kept a contract that had been canceled',
  'capability.decided': {
    yes: 'We decided that the account may ',
    no: 'We decided that the account may not ',
    any: 'The marketplace decides again whether the account may ',
  },
  'data.downloaded': 'Downloaded a copy of the data',
  'email.change_canceled': 'Canceled the change of the email address',
  'email.change_requested': 'Asked to change the email address',
  'email.change_undone': 'The change of the email address was undone',
  'email.changed': 'Changed the email address',
  'email.new_address_refused':
    'A wrong code was entered with a link from our support team to change the email address',
  'email.new_address_stopped':
    'A change of the email address by our support team was stopped with the link in an email',
  'email.new_address_used':
    'The email address was changed and a new password set, with the link in an email that our support team sent',
  'email.verification_requested': 'Asked for an email to verify the email address',
  'email.verified': 'Verified the email address',
  'factors.removed': 'Passkeys or the authenticator app were removed',
  'hand_off.accepted': {
    created: 'The account was created from a marketplace account',
    linked: 'A marketplace account was connected',
    proved: 'The marketplace verified the email address',
    any: 'Came here from the marketplace',
  },
  'hand_off.confirmed': {
    connect: 'Connected a marketplace account',
    any: 'Logged in from the marketplace',
  },
  'hand_off.pending': 'A marketplace account that is not connected was used to come here',
  'import.accepted': 'Account details were imported from the marketplace',
  'link.removed': 'Disconnected a marketplace account',
  'login.code_asked': 'Entered the right password, then was asked for a code',
  'login.confirmed': {
    passkey: 'Used a passkey to confirm a change',
    any: 'Entered the password again to make a change',
  },
  'login.refused': {
    wrong_code: 'A login was refused: the code was wrong',
    passkey_counter: 'A login was refused: the passkey may have been copied',
    no_password: 'A login was refused: there is no password yet',
    suspended: 'A login was refused: the account was suspended',
    wrong_password: 'A login was refused: the password was wrong',
    any: 'A login was refused: the password was wrong',
  } satisfies ByReason & Record<ToldRefusal, string>,
  'login.succeeded': {
    passkey: 'Logged in with a passkey',
    recovery_code: 'Logged in with a recovery code',
    any: 'Logged in',
  },
  logout: 'Logged out',
  'passkey.added': 'Added a passkey',
  'passkey.removed': 'Removed a passkey',
  'password.changed': 'Changed the password',
  'password.refused': 'A change was refused: the password was wrong',
  'password.set': 'Set a password with the link in an email',
  'password_link.requested': {
    reserved: 'An email to take the account back was requested for an earlier email address',
    any: 'An email to set a new password was requested',
  },
  'profile.updated': 'Changed the profile',
  'recovery_codes.made': 'Made new recovery codes',
  'session.ended': 'Logged out another browser',
  'session.ended_others': 'Logged out everywhere else',
  'signup.accepted': {
    created: 'A service contract was added',
    unchanged: 'The details of a service contract were sent to us again, with no changes',
    any: 'A service contract was changed',
  },
  'user.created': { sign_up: 'Signed up', any: 'We created the account' },
  'user.deletion_canceled': 'Deletion of the account was canceled',
  'user.deletion_requested': 'Deletion of the account was requested',
  'user.resumed': 'We ended the suspension of the account',
  'user.suspended': 'We suspended the account',
  'verification.decided': {
    yes: 'We decided that the account is verified',
    no: 'We decided that the account is not verified',
    any: 'The marketplace decides again whether the account is verified',
  },
};

const shown = Object.keys(words).filter((type) => words[type as AuditEventType] !== undefined);

const days = 90;
const pageSize = 50;

/** A page of 50, newest first. `before` is the `next` of the page before; `next` is null on the last one. */
export async function listOwnActivity({ db, now }: Dependencies, { session }: Actor, before?: string) {
  const { id: userId, emailVerifiedAt, account } = session.user;
  const whose = {
    userId,
    accountId: account.id,
    // Contracts show only to users whose address is proved.
    types: emailVerifiedAt ? shown : shown.filter((type) => type !== 'signup.accepted'),
    withContracts: emailVerifiedAt !== null,
  };
  const after = daysAfter(now(), -days);
  const lines = await listActivity(db, { ...whose, after, before, limit: pageSize + 1 });
  const page = lines.slice(0, pageSize);
  const ids = page.map(({ id }) => id);
  const changes = groupByLine(await listChangesOfLines(db, whose, ids));
  return {
    events: page.map((line) => describeLine(line, changes.get(line.id) ?? [], userId)),
    next: lines.length > pageSize ? (page.at(-1)?.id ?? null) : null,
  };
}

/** Groups changes by the id of their line: that of their audit event, or of the first change of their transaction. */
function groupByLine(changes: LineChange[]): ReadonlyMap<string, LineChange[]> {
  const lineIds = new Map<string, string>();
  const groups = new Map<string, LineChange[]>();
  for (const change of changes) {
    const { id, eventId, beganAt } = change;
    const lineId = lineIds.get(beganAt) ?? eventId ?? `change-${id}`;
    lineIds.set(beganAt, lineId);
    groups.set(lineId, [...(groups.get(lineId) ?? []), change]);
  }
  return groups;
}

function describeLine(
  { id, at, device, place, ...line }: ActivityLine,
  changes: LineChange[],
  userId: string,
) {
  const [first] = changes;
  return {
    id,
    at,
    what: line.type === null && first ? describeHappening(first) : describeEvent(line),
    device,
    place,
    /** Who changed something, if anything changed. A version without history leaves an event, but does not say who did it. */
    by: first && (first.by !== 'database' || line.type === null) ? describeAuthor(first, userId) : null,
    changes: changes.flatMap(({ subject, members }) => (members ? describeMembers(subject, members) : [])),
  };
}

/** An event in words; empty for one that is hidden from the person. */
export function describeEvent({
  type,
  reason,
  details,
}: Pick<ActivityLine, 'type' | 'reason' | 'details'>): string {
  if (type === 'profile.updated') return describeEdit(details?.changed);
  const said = words[type as AuditEventType] ?? '';
  const cause =
    type === 'login.succeeded' && details?.factor === 'recovery_code'
      ? 'recovery_code'
      : (reason ?? details?.accepted);
  const text = typeof said === 'string' ? said : (said[String(cause)] ?? said.any);
  return type === 'capability.decided' ? text + describeCapability(details?.what) : text;
}

/** An edit in words, such as "Changed the name and account name". */
function describeEdit(changed: unknown): string {
  const names = (Array.isArray(changed) ? changed : []).flatMap((each) => nameEdited(String(each)) ?? []);
  return `Changed the ${names.join(' and ') || 'profile'}`;
}
