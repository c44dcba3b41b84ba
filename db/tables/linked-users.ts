// Finds users by their id at another system (external-links.ts). This file only reads.
import type { Transaction } from 'kysely';
import { prepare } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';
import { toUser, type User, userColumns } from './users.ts';

export type LinkedUser = {
  user: User;
  /** The `profile_updated_at` of the last profile that was applied from the other system. */
  appliedProfileUpdatedAt: Date | null;
  /** The link does not work until its user connects it again, because a password was set by mail. */
  isSleeping: boolean;
};

const lockByLink = prepare((db, values: { provider: string; externalId: string }) =>
  db
    .selectFrom('external_links as l')
    .innerJoin('users as u', 'u.id', 'l.user_id')
    .innerJoin('accounts as a', 'a.id', 'u.account_id')
    .select(userColumns)
    .select(['l.applied_profile_updated_at as appliedProfileUpdatedAt', 'l.sleeping_since as sleepingSince'])
    .where('l.provider', '=', values.provider)
    .where('l.external_id', '=', values.externalId)
    .forUpdate('l')
    .forNoKeyUpdate(['a', 'u']),
);

/** Locks the link first, then account and user. */
export async function lockLinkedUser(
  trx: Transaction<DB>,
  provider: string,
  externalId: string,
): Promise<LinkedUser | undefined> {
  const [row] = await lockByLink(trx, { provider, externalId });
  if (!row) return undefined;
  const { appliedProfileUpdatedAt, sleepingSince, ...user } = row;
  return { user: toUser(user), appliedProfileUpdatedAt, isSleeping: sleepingSince !== null };
}
