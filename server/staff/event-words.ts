// What happened, and what changed, in words for staff. Staff get these words besides the ones that people read about their own
// activity.
import { auditEventTypes, findEventType } from '../../db/tables/audit-event-types.ts';
import type { AuditRow } from '../../db/tables/audit-events.ts';
import type { Change } from '../../db/tables/changes.ts';
import { describeEvent } from '../identity/history/activity.ts';
import {
  type Detail,
  describeHappening,
  describeMembers,
  type Reading,
} from '../identity/history/change-words.ts';
import { sayMailKind } from '../mail/kind-words.ts';

/** Returns what happened, in words, with the document, payment, file or kind of mail that it is about. */
export function sayEvent(event: Pick<AuditRow, 'type' | 'reason' | 'details'>): string {
  const words = findEventType(event.type)?.staff;
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

/** Every kind of event, with words that fit all events of the kind. */
export const listKinds = (): { kind: string; words: string }[] =>
  Object.keys(auditEventTypes)
    .map((kind) => {
      const { staff, person } = findEventType(kind) ?? {};
      const words = staff ?? (typeof person === 'string' ? person : (person?.any ?? kind));
      return { kind, words: words.trim() };
    })
    .sort((one, other) => one.words.localeCompare(other.words, 'en'));

export const roleWords = { user: 'Customer', manager: 'Manager', admin: 'Administrator' };
const sayRole = (role: unknown) =>
  role == null ? null : (roleWords[String(role) as keyof typeof roleWords] ?? String(role));

/**
 * Returns what changed, in words. In their own history, people read that all staff are administrators. Staff read the real
 * role.
 */
export function sayChange(
  { subject, kind, members }: Change,
  reading: Reading,
): { what: string; changes: Detail[] } {
  const changes = members ? describeMembers(subject, members, reading) : [];
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
