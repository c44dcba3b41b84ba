// The only writer of `accounts`.
import type { Database } from './client.ts';

export async function insertAccount(
  db: Database,
  account: { id: string; name: string; capabilities: string[]; verifiedAt: Date | null },
): Promise<void> {
  await db
    .insertInto('accounts')
    .values({
      id: account.id,
      name: account.name,
      capabilities: account.capabilities,
      verified_at: account.verifiedAt,
    })
    .execute();
}

export async function updateAccountName(db: Database, id: string, name: string): Promise<void> {
  await db.updateTable('accounts').set({ name }).where('id', '=', id).execute();
}
