import type { Database } from '../../../db/postgres/client.ts';
import {
  type Change,
  listChangesOfUser,
  type Members,
  type Row,
  readTrackedRow,
  type Subject,
} from '../../../db/tables/changes.ts';
import { listActiveCapabilities, readCapabilities } from '../ground/capabilities.ts';
import { roleOf } from '../person/profile.ts';

const keyOf = (subject: Subject, rowId: string | null) => `${subject} ${rowId}`;

/** Returns the rows as they are after all `changes`. Keys are like `user 0190…`. Null members and erased rows are left out. */
export function replay(
  changes: Pick<Change, 'subject' | 'rowId' | 'kind' | 'members'>[],
): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>();
  for (const { subject, rowId, kind, members } of changes) {
    const key = keyOf(subject, rowId);
    if (kind === 'removed' || !members) rows.delete(key);
    else rows.set(key, applyMembers(kind === 'changed' ? rows.get(key) : undefined, members));
  }
  return rows;
}

function applyMembers(row: Row = {}, members: Members): Row {
  const changed = { ...row };
  for (const [name, { to }] of Object.entries(members)) {
    if (to === null) delete changed[name];
    else changed[name] = to;
  }
  return changed;
}

/** Spells an RFC 3339 time as the history does: in UTC, with six digits after the point. */
export function toChangeTime(text: string): string {
  const [, fraction = ''] = /\.(\d+)/.exec(text) ?? [];
  return `${new Date(text).toISOString().slice(0, 19)}.${fraction.padEnd(6, '0').slice(0, 6)}Z`;
}

/** `profile` is the standard profile (contract 3.6 to 3.11), without the time of its last change. */
export type PastProfile = ReturnType<typeof describePast>;

/** Returns undefined if the user did not exist yet at that time, or is erased. */
export async function findPastProfile(
  db: Database,
  userId: string,
  at: string,
): Promise<PastProfile | undefined> {
  const changes = await listChangesOfUser(db, { userId, accountId: null });
  const user = await findPastRow(db, changes, { subject: 'user', id: userId, at });
  const accountId = user && String(user.account_id);
  if (!user || !accountId) return undefined;
  const withAccount = await listChangesOfUser(db, { userId, accountId });
  const account = await findPastRow(db, withAccount, { subject: 'account', id: accountId, at });
  return account && describePast({ at, userId, accountId, user, account });
}

/**
 * A row without a change in the history is older than the history, and has not changed since. So it was then as it is today.
 */
async function findPastRow(
  db: Database,
  changes: Change[],
  { subject, id, at }: { subject: 'user' | 'account'; id: string; at: string },
): Promise<Row | undefined> {
  const isOfRow = (change: Change) => change.subject === subject && change.rowId === id;
  if (!changes.some(isOfRow)) return readTrackedRow(db, { subject, id, at });
  return replay(changes.filter((change) => change.at <= at)).get(keyOf(subject, id));
}

function describePast(past: { at: string; userId: string; accountId: string; user: Row; account: Row }) {
  const { at, userId, accountId, user, account } = past;
  const capabilities = Array.isArray(account.capabilities) ? account.capabilities : [];
  const verifiedAt = typeof account.verified_at === 'string' ? account.verified_at : null;
  const granted = { capabilities, verifiedAt: verifiedAt === null ? null : new Date(verifiedAt) };
  const textOf = (value: Row[string] | undefined) => (typeof value === 'string' ? value : null);
  return {
    at,
    profile: {
      id: userId,
      email: String(user.email),
      name: String(user.name),
      role: roleOf({ role: String(user.role), account: granted }),
      account: { capabilities: listActiveCapabilities(granted) },
    },
    email_held: user.holds_email === true,
    email_verified_at: textOf(user.email_verified_at),
    suspended_at: textOf(user.suspended_at),
    deletion_due_at: textOf(user.deletion_due_at),
    account: {
      id: accountId,
      name: String(account.name),
      capabilities: readCapabilities(capabilities),
      verified_at: verifiedAt,
    },
  };
}
