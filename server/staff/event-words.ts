// What happened, and what changed, in words for staff: those of the person's own activity, and more.
import type { AuditEventType } from '../../db/tables/audit-event-types.ts';
import type { AuditRow } from '../../db/tables/audit-events.ts';
import type { Change } from '../../db/tables/changes.ts';
import { describeEvent, words as own } from '../identity/history/activity.ts';
import { type Detail, describeHappening, describeMembers } from '../identity/history/change-words.ts';
import { sayMailKind } from '../mail/kind-words.ts';

/** Words for the events that the person does not read. */
const hidden: Partial<Record<AuditEventType, string>> = {
  'billing.resumed': 'Billing goes on after a restore of the database',
  'billing.set': 'The settings of billing were changed, or a change of them was stopped',
  'contract.moved': 'A contract moved on by itself',
  'database.backed_up': 'The database was backed up',
  'database.restored': 'The database was restored',
  'document.lost': 'Documents are lost by a restore of the database',
  'document.recovered': 'A lost document was recovered',
  'hand_off.email_skipped': 'The marketplace sent an address that somebody else has',
  'hand_off.refused': 'A hand-off of the marketplace was refused',
  'invoice.issued': 'An invoice was issued',
  'credit_note.issued': 'A credit note was issued',
  'invoice.paid': 'An invoice was paid',
  'invoice.void': 'An invoice was made void',
  'payment.allocated': 'A payment was put to an invoice',
  'payment.recorded': 'A payment was recorded',
  'payment.refunded': 'A refund was recorded, or a payment paid back',
  'session.started': 'A session began',
  'user.erased': 'The account was deleted for good',

  'staff.accept_country': 'Staff: decided whether a new country counts for the tax',
  'staff.check_vat_id': 'Staff: said whether the VAT ID is checked',
  'staff.change_email': 'Staff: asked for another email address',
  'staff.change_role': 'Staff: changed the role',
  'staff.create': 'Staff: created the account',
  'staff.erase': 'Staff: deleted the account for good',
  'staff.export_started': 'Staff: began to download',
  'staff.exported': 'Staff: downloaded',
  'staff.end_session': 'Staff: logged them out in one browser',
  'staff.end_sessions': 'Staff: logged them out everywhere',
  'staff.freeze': 'Staff: froze the account',
  'staff.give_up_mail': 'Staff: gave up a mail',
  'staff.grant': 'Staff: decided that the account may do something',
  'staff.keep': 'Staff: canceled the deletion',
  'staff.limited': 'Staff: reached the limit of looks or searches',
  'staff.looked': 'Staff: looked at a person',
  'staff.plan_deletion': 'Staff: planned the deletion',
  'staff.remove_factors': 'Staff: removed the second factors',
  'staff.remove_link': 'Staff: disconnected a marketplace account',
  'staff.resume': 'Staff: ended the suspension',
  'staff.retry_mail': 'Staff: sent a mail again that had failed',
  'staff.revoke': 'Staff: decided that the account may not do something',
  'staff.searched': 'Staff: searched for people',
  'staff.send_mail': 'Staff: sent a mail',
  'staff.suspend': 'Staff: suspended the account',
  'staff.thaw': 'Staff: ended the freeze or suspension, and said whose the account is',
  'staff.undecide': 'Staff: left a decision to the marketplace',
  'staff.unverify': 'Staff: decided that the account is not verified',
  'staff.verify': 'Staff: verified the account',
};

/** What happened, in words, with the number of the document, the id of the payment, the file or the kind of the mail that it is about. */
export function sayEvent(event: Pick<AuditRow, 'type' | 'reason' | 'details'>): string {
  const words = hidden[event.type as AuditEventType];
  if (words === undefined) return describeEvent(event) || event.type;
  const { number, payment, file, mail, kind } = event.details ?? {};
  const ofMail = mail === undefined ? undefined : sayMailKind(String(kind));
  return [words, number ?? payment ?? (file === undefined ? ofMail : sayFile(event.details))]
    .filter((part) => part !== undefined)
    .join(': ');
}

function sayFile({ file, from, to, rows, whole }: AuditRow['details']): string {
  const span = from === undefined ? '' : ` from ${from} to ${to}`;
  const count = rows === undefined ? '' : `, ${whole ? '' : 'broken off after '}${rows} rows`;
  return `${file}${span}${count}`;
}

/** Every kind of event, with words for it as a whole. */
export const listKinds = (): { kind: string; words: string }[] =>
  (Object.keys(own) as AuditEventType[])
    .map((kind) => {
      const said = own[kind];
      const words = hidden[kind] ?? (typeof said === 'string' ? said : (said?.any ?? kind));
      return { kind, words: words.trim() };
    })
    .sort((one, other) => one.words.localeCompare(other.words, 'en'));

const roles: Record<string, string> = { user: 'Customer', manager: 'Manager', admin: 'Administrator' };
const sayRole = (role: unknown) => (role == null ? null : (roles[String(role)] ?? String(role)));

/** What changed, in words. To the person all staff are administrators; to staff they are what they are. */
export function sayChange({ subject, kind, members }: Change): { what: string; changes: Detail[] } {
  const changes = members ? describeMembers(subject, members) : [];
  const role = subject === 'user' ? members?.role : undefined;
  return {
    what: describeHappening({ subject, kind }),
    changes: role
      ? [
          ...changes.filter(({ what }) => what !== 'Role'),
          { what: 'Role', from: sayRole(role.from), to: sayRole(role.to) },
        ]
      : changes,
  };
}
