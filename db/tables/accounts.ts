// The only writer of `accounts`. Triggers maintain the rights of an account. They combine what was decided here with what its
// links say (db/schema.sql, at accounts and external_links).
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepareDeferred } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';
import { endViesDecision } from './billing-details.ts';

export type Account = {
  id: string;
  name: string;
  capabilities: string[];
  verifiedAt: Date | null;
};

const accountColumns = ['id', 'name', 'capabilities', 'verified_at as verifiedAt'] as const;

/**
 * Stores rights as decided here. If the transaction works for the marketplace, the account's link is the source of the rights
 * instead.
 */
export const deferAccount = prepareDeferred((db, account: Account) =>
  db.insertInto('accounts').values({
    id: account.id,
    name: account.name,
    capabilities: account.capabilities,
    verified_at: account.verifiedAt,
  }),
);

export async function findAccountName(db: Database, id: string): Promise<string | undefined> {
  const row = await db.selectFrom('accounts').select('name').where('id', '=', id).executeTakeFirst();
  return row?.name;
}

/** Stores an edit by the owner. No hand-off overwrites it. */
export async function editAccountName(trx: Transaction<DB>, id: string, name: string): Promise<void> {
  await trx.updateTable('accounts').set({ name, name_edited_at: sql`now()` }).where('id', '=', id).execute();
  await endViesDecision(trx, id);
}

/** Deletes the account, unless a user or contracts belong to it. */
export async function deleteUnusedAccount(trx: Transaction<DB>, id: string): Promise<void> {
  await trx
    .deleteFrom('accounts as a')
    .where('id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('users as u').select('u.id').whereRef('u.account_id', '=', 'a.id'))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('service_contracts as c').select('c.id').whereRef('c.account_id', '=', 'a.id'))),
    )
    .execute();
}

export async function updateAccountNameUnlessEdited(
  trx: Transaction<DB>,
  id: string,
  name: string,
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('accounts')
    .set({ name })
    .where('id', '=', id)
    .where('name', '<>', name)
    .where('name_edited_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows > 0n) await endViesDecision(trx, id);
}

/** Works out the account's rights now. Triggers would do this only at the end of the transaction. */
export async function settleRights(trx: Transaction<DB>, id: string): Promise<void> {
  await sql`select settle_rights(${id})`.execute(trx);
}

/** Works out the account's rights now, and returns the account, which must exist. */
export async function settleAccount(trx: Transaction<DB>, id: string): Promise<Account> {
  await settleRights(trx, id);
  return trx.selectFrom('accounts').select(accountColumns).where('id', '=', id).executeTakeFirstOrThrow();
}

/**
 * Works out who decided the rights of an account, if the account is from an earlier version that did not store this. The caller
 * has locked the account's links.
 */
export async function knowSources(trx: Transaction<DB>, accountId: string): Promise<void> {
  await sql`select know_sources(${accountId})`.execute(trx);
}

export async function hasUnknownSources(db: Database, accountId: string): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    select not a.sources_known or exists (
      select from users u join external_links l on l.user_id = u.id where u.account_id = a.id and l.capabilities is null
    ) as "is" from accounts a where a.id = ${accountId}`.execute(db);
  return rows[0]?.is ?? false;
}

/** A decision about a right. Null means that the account's links decide. */
export type Decision = boolean | null;

/** The decision applies, even if the links say something else. Returns the changed account, or undefined if nothing changed. */
export async function decideCapability(
  trx: Transaction<DB>,
  id: string,
  capability: string,
  decision: Decision,
): Promise<Account | undefined> {
  await knowSources(trx, id);
  const isIn = (column: 'granted_here' | 'revoked_here') => sql`${capability} = any(${sql.ref(column)})`;
  const without = (column: 'granted_here' | 'revoked_here') =>
    sql<string[] | null>`array_remove(${sql.ref(column)}, ${capability})`;
  const withIt = (column: 'granted_here' | 'revoked_here') =>
    sql<string[] | null>`array_append(${without(column)}, ${capability})`;
  const present = sql<Decision>`case when ${isIn('granted_here')} then true when ${isIn('revoked_here')} then false end`;
  return trx
    .updateTable('accounts')
    .set({
      granted_here: decision === true ? withIt('granted_here') : without('granted_here'),
      revoked_here: decision === false ? withIt('revoked_here') : without('revoked_here'),
    })
    .where('id', '=', id)
    .where(present, 'is distinct from', decision)
    .returning(accountColumns)
    .executeTakeFirst();
}

/** The decision applies, even if the links say something else. Returns the changed account, or undefined if nothing changed. */
export async function decideVerification(
  trx: Transaction<DB>,
  id: string,
  decision: Decision,
): Promise<Account | undefined> {
  await knowSources(trx, id);
  return trx
    .updateTable('accounts')
    .set({ verified_here: decision })
    .where('id', '=', id)
    .where('verified_here', 'is distinct from', decision)
    .returning(accountColumns)
    .executeTakeFirst();
}

/** A member is null if nothing was decided here. */
export type Decided = {
  granted: string[] | null;
  revoked: string[] | null;
  verified: boolean | null;
};

export const findDecided = (db: Database, id: string): Promise<Decided | undefined> =>
  db
    .selectFrom('accounts')
    .select(['granted_here as granted', 'revoked_here as revoked', 'verified_here as verified'])
    .where('id', '=', id)
    .executeTakeFirst();

export type Rights = { capabilities: string[]; isVerified: boolean };

/**
 * Returns the rights that the account would have without the user's link at `provider`. Call `knowSources` first. Returns
 * undefined if the user is gone.
 */
export async function findRightsWithoutLink(
  db: Database,
  { userId, provider }: { userId: string; provider: string },
): Promise<Rights | undefined> {
  const { rows } = await sql<Rights>`
    select join_capabilities(others.capabilities, a.granted_here, a.revoked_here) as capabilities,
      coalesce(a.verified_here, others.verified) as "isVerified"
    from users me join accounts a on a.id = me.account_id, lateral (
      select array_agg(said.name) as capabilities, coalesce(bool_or(l.verified), false) as verified
      from users u join external_links l on l.user_id = u.id left join unnest(l.capabilities) as said(name) on true
      where u.account_id = a.id and not (u.id = me.id and l.provider = ${provider})
    ) others
    where me.id = ${userId}`.execute(db);
  return rows[0];
}
