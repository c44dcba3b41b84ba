// Whose search words the job writes, how often, and what may happen at the same time (contract 12.53 and 2.81).
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findPeople } from '../../server/staff/find-people.ts';
import { indexPeople } from '../../server/staff/index-people.ts';
import { openApp } from '../support/app/app.ts';
import { countRows, openFreshDatabase, type TestClient } from '../support/database/database.ts';
import { connect } from '../support/database/postgres.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';

let client: TestClient;
beforeEach(async () => {
  client = await openFreshDatabase();
});
afterEach(() => client.close());

async function addPeople(count: number): Promise<void> {
  await sql`
    with account as (insert into accounts (id, name) values (gen_random_uuid(), 'Together') returning id)
    insert into users (id, account_id, email, holds_email, name)
      select gen_random_uuid(), id, 'person-' || n || '@example.test', true, 'Person ' || n
      from account, generate_series(1, ${sql.lit(count)}) n`.execute(client.db);
}

const now = () => new Date();

const namesBy = async (q: string) =>
  (await findPeople({ db: client.db, now }, { q })).people.map(({ name }) => name);

it('16 at once write everybody once', async () => {
  await addPeople(1_000);
  await sql`create table written (user_id uuid)`.execute(client.db);
  await sql`create function note() returns trigger language plpgsql as
    'begin insert into written values (new.user_id); return null; end'`.execute(client.db);
  await sql`create trigger note after insert or update on person_words for each row execute function note()`.execute(
    client.db,
  );
  const others = Array.from({ length: 15 }, () => connect(client.url));
  try {
    await Promise.all([client, ...others].map((each) => indexPeople(each)));
    // A run returns early if another run is working, so this last run makes sure that the queue is empty.
    await indexPeople(client);
  } finally {
    await Promise.all(others.map(({ close }) => close()));
  }
  const { rows } =
    await sql`select count(*)::int as all, count(distinct user_id)::int as people from written`.execute(
      client.db,
    );
  expect(rows).toEqual([{ all: 1_000, people: 1_000 }]);
  expect(await countRows(client.db, 'people_to_index')).toBe(0);
  // If nothing is new, nothing is written.
  await sql`update users set name = 'Other ' || name; update users set name = substr(name, 7)`.execute(
    client.db,
  );
  await indexPeople(client);
  expect(await countRows(client.db, 'written')).toBe(1_000);
});

it('a change under way is written once it is committed, though the job took the person meanwhile', async () => {
  await addPeople(1);
  const other = connect(client.url);
  try {
    await inTransaction(other.db, { by: 'operator' }, async (trx) => {
      await sql`update users set name = 'Latest'`.execute(trx);
      await indexPeople(client);
      expect(await namesBy('person')).toEqual(['Person 1']);
    });
    expect(await namesBy('latest')).toEqual([]);
    await indexPeople(client);
    expect(await namesBy('latest')).toEqual(['Latest']);
  } finally {
    await other.close();
  }
});

it('a person who is being erased holds up nobody, and the others are written', async () => {
  await addPeople(2);
  const other = connect(client.url);
  try {
    await inTransaction(other.db, { by: 'service' }, async (trx) => {
      await sql`select from accounts a join users u on u.account_id = a.id where u.name = 'Person 1' for update`.execute(
        trx,
      );
      await indexPeople(client);
      expect(await namesBy('person')).toEqual(['Person 2']);
      await sql`delete from users where name = 'Person 1'`.execute(trx);
    });
    await indexPeople(client);
    expect(await countRows(client.db, 'people_to_index')).toBe(0);
    expect(await countRows(client.db, 'person_words')).toBe(1);
  } finally {
    await other.close();
  }
});

it('a first hand-off costs one statement and one row, and a later one without news nothing', async () => {
  const app = await openApp();
  try {
    await sql`create table noted (people bigint)`.execute(app.db);
    await sql`create function note() returns trigger language plpgsql as
      'begin insert into noted select count(*) from added; return null; end'`.execute(app.db);
    await sql`create trigger note after insert on people_to_index referencing new table as added
      for each statement execute function note()`.execute(app.db);
    const profile = { id: 'first', role: 'merchant', capabilities: ['sell_products'] };
    for (let n = 0; n < 2; n++) {
      expect((await app.send(await buildHandOff(app, { ...profile, role: 'merchant' }))).status).toBe(303);
      expect((await sql`select people::int from noted`.execute(app.db)).rows).toEqual([{ people: 1 }]);
    }
  } finally {
    await app.close();
  }
});
