// What accounts may do in a database from before it was kept who decided that (contract section 2).
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { DatabaseClient } from '../../db/postgres/client.ts';
import { migrate, migrations } from '../../db/postgres/migrate.ts';

import { connect, emptyDatabase } from '../support/postgres.ts';

let client: DatabaseClient;
let drop: () => Promise<void>;
let url: string;
beforeAll(async () => {
  ({ url, drop } = await emptyDatabase(inject('templateUrl')));
  client = connect(url);
  const names = Object.keys(migrations).filter((name) => name < 'm021');
  await sql`create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)`.execute(
    client.db,
  );
  for (const name of names) {
    await migrations[name as keyof typeof migrations].up(client.db as never);
    await sql`insert into kysely_migration values (${name}, '')`.execute(client.db);
  }
});
afterAll(async () => {
  await client.close();
  await drop();
});

type Step = { by: 'marketplace' | 'person' | 'operator' | 'database'; to: string[]; verified?: boolean };

/** An account whose rights were set by each of these in turn. */
async function addAccount({ isLinked, steps }: { isLinked: boolean; steps: Step[] }): Promise<string> {
  const [accountId, userId] = [uuidv7(), uuidv7()];
  await sql`insert into accounts (id, name) values (${accountId}, 'Old')`.execute(client.db);
  await sql`insert into users (id, account_id, email, holds_email, name, role)
    values (${userId}, ${accountId}, ${`${userId}@example.test`}, true, 'Old', 'user')`.execute(client.db);
  if (isLinked) {
    await sql`insert into external_links (provider, external_id, user_id, applied_profile_updated_at)
      values ('marketplace', ${userId}, ${userId}, now())`.execute(client.db);
  }
  for (const { by, to, verified = false } of steps) {
    await client.db.transaction().execute(async (trx) => {
      if (by !== 'database')
        await sql`select set_config('identity.origin', ${JSON.stringify({ by })}, true)`.execute(trx);
      await sql`update accounts set capabilities = ${to},
        verified_at = case when ${verified} then coalesce(verified_at, now()) end where id = ${accountId}`.execute(
        trx,
      );
    });
  }
  return accountId;
}

type Case = [
  what: string,
  before: Parameters<typeof addAccount>[0],
  said: string[] | null,
  here: string[] | null,
];

const cases: Case[] = [
  [
    'a hand-off',
    { isLinked: true, steps: [{ by: 'marketplace', to: ['sell_services'] }] },
    ['sell_services'],
    null,
  ],
  [
    'a Connect',
    { isLinked: true, steps: [{ by: 'person', to: ['sell_services'] }] },
    ['sell_services'],
    null,
  ],
  ['SQL', { isLinked: true, steps: [{ by: 'database', to: ['sell_services'] }] }, null, ['sell_services']],
  [
    'a command',
    { isLinked: true, steps: [{ by: 'operator', to: ['sell_services'] }] },
    null,
    ['sell_services'],
  ],
  [
    'a hand-off, without a link any more',
    { isLinked: false, steps: [{ by: 'marketplace', to: ['sell_services'] }] },
    null,
    ['sell_services'],
  ],
  [
    'SQL and then a hand-off, each one of them',
    {
      isLinked: true,
      steps: [
        { by: 'database', to: ['manage_storefront'] },
        { by: 'marketplace', to: ['manage_storefront', 'sell_products'], verified: true },
      ],
    },
    ['sell_products', 'verified'],
    ['manage_storefront'],
  ],
  [
    'SQL, and then by a hand-off again after it was taken',
    {
      isLinked: true,
      steps: [
        { by: 'database', to: ['sell_services'], verified: true },
        { by: 'marketplace', to: [], verified: true },
        { by: 'marketplace', to: ['sell_services'], verified: true },
      ],
    },
    ['sell_services'],
    ['verified'],
  ],
];

it('each keeps what it has, as its link says or as was decided here', async () => {
  const ids: string[] = [];
  for (const [, before] of cases) ids.push(await addAccount(before));
  // From before the history began.
  const old = await addAccount({
    isLinked: true,
    steps: [{ by: 'database', to: ['sell_services'], verified: true }],
  });
  await sql`delete from changes where row_id = ${old}`.execute(client.db);
  ids.push(old);
  const readRights = async () =>
    (await sql`select id, capabilities, verified_at from accounts order by id`.execute(client.db)).rows;
  const countChanges = async () => (await sql`select count(*) from changes`.execute(client.db)).rows;
  const [rights, changes] = [await readRights(), await countChanges()];
  await migrate(url);
  expect([await readRights(), await countChanges()]).toEqual([rights, changes]);

  const { rows } = await sql<{ id: string; said: string[] | null; here: string[] | null }>`
    select a.id, array_cat(l.capabilities, case when l.verified then '{verified}'::text[] end) as said,
      array_cat(a.granted_here, case when a.verified_here then '{verified}'::text[] end) as here
    from accounts a join users u on u.account_id = a.id left join external_links l on l.user_id = u.id`.execute(
    client.db,
  );
  const found = ids
    .map((id) => rows.find((row) => row.id === id))
    .map((row) => [row?.said ?? null, row?.here ?? null]);
  expect(found).toEqual([
    ...cases.map(([, , said, here]) => [said, here]),
    [['sell_services', 'verified'], null],
  ]);
});
