// The activity that users read about their own account, in plain words: 90 days of audit events, and of changes that have no
// audit event. The activity names nobody else, and says nothing about other accounts.

import {
  type ActivityLine,
  type LineChange,
  listActivity,
  listChangesOfLines,
} from '../../../db/tables/activity.ts';
import { auditEventTypes, findEventType } from '../../../db/tables/audit-event-types.ts';
import { daysAfter } from '../../basics/instant.ts';
import { readPage } from '../../basics/page.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Actor } from '../session/actor.ts';
import {
  describeAuthor,
  describeCapability,
  describeHappening,
  describeMembers,
  type FindLastDayIn,
  nameEdited,
  type Reading,
} from './change-words.ts';

const shown = Object.keys(auditEventTypes).filter((type) => findEventType(type)?.person);

const days = 90;

/** Returns a page of 50, newest first. `before` is the `next` of the previous page. On the last page `next` is null. */
export async function listOwnActivity(
  { db, now }: Dependencies,
  { session }: Actor,
  { before, findLastDay }: { before?: string | undefined; findLastDay: FindLastDayIn },
) {
  const { id: userId, emailVerifiedAt, account, timeZone } = session.user;
  const whose = {
    userId,
    accountId: account.id,
    // Only users who have proved their address see contracts.
    types: emailVerifiedAt ? shown : shown.filter((type) => type !== 'signup.accepted'),
    withContracts: emailVerifiedAt !== null,
  };
  const after = daysAfter(now(), -days);
  const { page, last } = await readPage((limit) => listActivity(db, { ...whose, after, before, limit }));
  const ids = page.map(({ id }) => id);
  const changes = groupByLine(await listChangesOfLines(db, whose, ids));
  return {
    events: page.map((line) =>
      describeLine(line, changes.get(line.id) ?? [], { userId, findLastDay, timeZone }),
    ),
    next: last?.id ?? null,
  };
}

/**
 * Groups the changes by the line that shows them. A line is an audit event, or the first change of a transaction without an
 * audit event.
 */
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
  { userId, ...reading }: { userId: string } & Reading,
) {
  const [first] = changes;
  return {
    id,
    at,
    what: line.type === null && first ? describeHappening(first) : describeEvent(line),
    device,
    place,
    /**
     * Null if the author is unknown. If an event's change is by `database`, an old version that kept no history made the event,
     * so the author is unknown, too.
     */
    by: first && (first.by !== 'database' || line.type === null) ? describeAuthor(first, userId) : null,
    changes: changes.flatMap(({ subject, members }) =>
      members ? describeMembers(subject, members, reading) : [],
    ),
  };
}

/** Empty for an event that is hidden from the person. */
export function describeEvent({
  type,
  reason,
  details,
}: Pick<ActivityLine, 'type' | 'reason' | 'details'>): string {
  if (type === 'profile.updated') return describeEdit(details?.changed);
  const said = findEventType(type ?? '')?.person ?? '';
  const cause =
    type === 'login.succeeded' && details?.factor === 'recovery_code'
      ? 'recovery_code'
      : (reason ?? details?.accepted);
  const text = typeof said === 'string' ? said : (said[String(cause)] ?? said.any);
  return type === 'capability.decided' ? text + describeCapability(details?.what) : text;
}

function describeEdit(changed: unknown): string {
  const names = (Array.isArray(changed) ? changed : []).flatMap((each) => nameEdited(String(each)) ?? []);
  return `Changed the ${names.join(' and ') || 'profile'}`;
}
