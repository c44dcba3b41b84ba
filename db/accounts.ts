// The only writer of `accounts`.
import { sql, type Transaction } from 'kysely';
import { prepareDeferredWrite } from './postgres/prepare.ts';
import type { DB } from './schema.ts';

type NewAccount = { id: string; name: string; capabilities: string[]; verifiedAt: Date | null };

const insert = prepareDeferredWrite((db, account: NewAccount) =>
  db.insertInto('accounts').values({
    id: account.id,
    name: account.name,
    capabilities: account.capabilities,
    verified_at: account.verifiedAt,
  }),
);

export async function insertAccount(trx: Transaction<DB>, account: NewAccount): Promise<void> {
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

/**
 * What the marketplace says about an account: its capabilities, its name unless that was edited here, and that it is
 * verified. It never takes a verification back. The result is the account as it is now.
 */
export async function updateAccountFromMarketplace(
  trx: Transaction<DB>,
  id: string,
  account: { name: string | undefined; capabilities: string[]; verifiedAt: Date | null },
): Promise<NewAccount> {
  return trx
    .updateTable('accounts')
    .set(({ fn, val, ref, eb }) => ({
      capabilities: account.capabilities,
      verified_at: fn.coalesce('verified_at', val(account.verifiedAt)),
      ...(account.name !== undefined && {
        name: eb.case().when('name_edited_at', 'is', null).then(account.name).else(ref('name')).end(),
      }),
    }))
    .where('id', '=', id)
    .returning(['id', 'name', 'capabilities', 'verified_at as verifiedAt'])
    .executeTakeFirstOrThrow();
}
