// What a client that is down for days costs other clients (contract 14.73 and 14.77).
import { sql, type Transaction } from 'kysely';
import { expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { claimLogOuts } from '../../db/tables/log-outs.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { addRow } from '../support/openid/log-outs.ts';
import { shared } from '../support/run/shared.ts';

const database = shared(openFreshDatabase);
const by = { by: 'service', cause: 'test' } as const;

const addLogOuts = (trx: Transaction<DB>, id: string, count: number, due: string) =>
  sql`insert into log_outs (client_id, user_id, next_try_at)
    select ${id}, gen_random_uuid(), now() + ${due}::interval from generate_series(1, ${count}::int)`.execute(
    trx,
  );

/** Returns how many rows this transaction has read by an index. */
async function countRead(trx: Transaction<DB>): Promise<number> {
  const { rows } = await sql<{ n: number }>`select idx_tup_fetch::int as n from pg_stat_xact_user_tables
    where relname = 'log_outs'`.execute(trx);
  return rows[0]?.n ?? 0;
}

it('log-outs that wait for their time are not read at each claim, which comes four times a second', async () => {
  const { id } = await addRow(database);
  await inTransaction(database.db, by, async (trx) => {
    await addLogOuts(trx, id, 5_000, '30 minutes');
    const before = await countRead(trx);
    expect(await claimLogOuts(trx, [{ id, places: 16 }])).toEqual([]);
    expect((await countRead(trx)) - before).toBeLessThan(100);
  });
});

it('a client gets no more than its places, also if the clock of the database was set back', async () => {
  const { id } = await addRow(database);
  await inTransaction(database.db, by, async (trx) => {
    await addLogOuts(trx, id, 20, '-1 minute');
    await addLogOuts(trx, id, 20, '1 day');
    const claimed = [];
    for (let n = 0; n < 4; n++) claimed.push(await claimLogOuts(trx, [{ id, places: 16 }]));
    expect(claimed.map(({ length }) => length)).toEqual([16, 16, 8, 0]);
  });
});
