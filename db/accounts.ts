// The only writer of `accounts`. Triggers keep what an account may do the sum of what was decided here and what its links
// say (db/migrations/m021-decided-here.ts).
import { sql, type Transaction } from 'kysely';
import type { Database } from './postgres/client.ts';
import { prepareDeferredWrite } from './postgres/prepare.ts';
import type { DB } from './schema.ts';
import type { User } from './users.ts';

type Account = User['account'];

const insert = prepareDeferredWrite((db, account: Account) =>
  db.insertInto('accounts').values({
    id: account.id,
    name: account.name,
    capabilities: account.capabilities,
    verified_at: account.verifiedAt,
  }),
);

/** Its rights are decided here, but in a transaction by the marketplace, whose link says them. */
export async function insertAccount(trx: Transaction<DB>, account: Account): Promise<void> {
  await insert(trx, account);
}

/** An edit by the owner, which no hand-off overwrites. */
export async function editAccountName(trx: Transaction<DB>, id: string, name: string): Promise<void> {
  await trx.updateTable('accounts').set({ name, name_edited_at: sql`now()` }).where('id', '=', id).execute();
}

/** Unless somebody belongs to it, or contracts do. */
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

/** A new name, unless that was edited here. */
export async function updateAccountNameUnlessEdited(
  trx: Transaction<DB>,
  id: string,
  name: string,
): Promise<void> {
  const update = trx.updateTable('accounts').set({ name }).where('id', '=', id);
  await update.where('name_edited_at', 'is', null).execute();
}

/**
 * Makes the account's rights the sum of what was decided here and what its links say by now. The triggers do that at the
 * end of a transaction; this is for whoever needs the account as it will be.
 */
export async function settleAccount(trx: Transaction<DB>, id: string): Promise<Account> {
  await sql`select settle_rights(${id})`.execute(trx);
  return trx
    .selectFrom('accounts')
    .select(['id', 'name', 'capabilities', 'verified_at as verifiedAt'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

/** Whether the account has it, whatever links say: `null` leaves it to them again. */
export async function decideCapability(
  trx: Transaction<DB>,
  id: string,
  capability: string,
  decision: boolean | null,
): Promise<void> {
  const without = (column: 'granted_here' | 'revoked_here') =>
    sql<string[] | null>`array_remove(${sql.ref(column)}, ${capability})`;
  const withIt = (column: 'granted_here' | 'revoked_here') =>
    sql<string[] | null>`array_append(${without(column)}, ${capability})`;
  await trx
    .updateTable('accounts')
    .set({
      granted_here: decision === true ? withIt('granted_here') : without('granted_here'),
      revoked_here: decision === false ? withIt('revoked_here') : without('revoked_here'),
    })
    .where('id', '=', id)
    .execute();
}

/** Whether the account is verified, whatever links say: `null` leaves it to them again. */
export async function decideVerification(
  trx: Transaction<DB>,
  id: string,
  decision: boolean | null,
): Promise<void> {
  await trx.updateTable('accounts').set({ verified_here: decision }).where('id', '=', id).execute();
}

export type Rights = { capabilities: string[]; isVerified: boolean };

/**
 * What the account of a user would come to, if the link of theirs at that system said this, or were gone. Takes no lock.
 */
export async function foreseeRights(
  db: Database,
  { userId, provider }: { userId: string; provider: string },
  said: Rights | undefined,
): Promise<Rights> {
  const { capabilities = [], isVerified = false } = said ?? {};
  const { rows } = await sql<Rights>`
    select join_capabilities(array_cat(others.capabilities, ${capabilities}::text[]), a.granted_here, a.revoked_here)
        as capabilities,
      coalesce(a.verified_here, others.verified or ${isVerified}) as "isVerified"
    from users me join accounts a on a.id = me.account_id, lateral (
      select coalesce(array_agg(o.name) filter (where o.name is not null), '{}') as capabilities,
        coalesce(bool_or(l.verified), false) as verified
      from users u join external_links l on l.user_id = u.id left join unnest(l.capabilities) as o(name) on true
      where u.account_id = a.id and not (l.user_id = me.id and l.provider = ${provider})
    ) others
    where me.id = ${userId}`.execute(db);
  const [rights] = rows;
  if (!rights) throw new Error('There is no such user.');
  return rights;
}
