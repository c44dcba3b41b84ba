// A search for common words finds the people that a look at everybody would find (contract 12.50 to 12.61).
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { findPeople } from '../../server/staff/find-people.ts';
import { indexPeople } from '../../server/staff/index-people.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { shared } from '../support/run/shared.ts';

const names = ['anna', 'annabel', 'bert', 'cara', 'dora', 'emil', 'emilia', 'fritz'];

type Person = { id: string; text: string; role: string };
let older: Person[];

const add = (count: number, id: string, who: string, name = sql`${who}`, role = sql`'user'`) =>
  sql`
    with account as (insert into accounts (id, name) values (gen_random_uuid(), ${who}) returning id)
    insert into users (id, account_id, email, holds_email, name, role)
      select (${id}::text || lpad(to_hex(n), 12, '0'))::uuid, id, ${who}::text || n || '@example.test', true, ${name}, ${role}
      from account, generate_series(1, ${sql.lit(count)}) n`.execute(client.db);

const client = shared(openFreshDatabase);
beforeAll(async () => {
  const some = names.map(
    (name, n) =>
      sql`case when hashint4(n * 8 + ${sql.lit(n)}) % ${sql.lit(n + 2)} = 0 then ${sql.lit(name)} end`,
  );
  await add(
    6_000,
    '00000000-0000-7000-8000-',
    'Older',
    sql`concat_ws(' ', ${sql.join(some)}, 'Tail')`,
    sql`case when n % 400 = 0 then 'manager' else 'user' end`,
  );
  await add(4_000, 'fffffff0-0000-7000-8000-', 'Newer');
  await indexPeople(client);
  const { rows } = await sql<Person>`
    select id, role, lower(name || ' older ' || email) as text from users where email like 'Older%'`.execute(
    client.db,
  );
  older = rows;
}, 120_000);

/** Finds people by going over all of them, the newest first. */
const listOlder = (words: string[], role?: string) =>
  older
    .filter((person) => !role || person.role === role)
    .filter(({ text }) => words.every((word) => text.split(/[ .@]/).some((own) => own.startsWith(word))))
    .map(({ id }) => id)
    .sort()
    .reverse();

it('finds the people who have all words, and nobody else', async () => {
  expect(older).toHaveLength(6_000);
  const words = [...names, 'a', 'e', 'em', 'tail', 'zzyzx', 'annabell'];
  for (const one of words)
    for (const other of words)
      for (const third of ['', 'fritz', 'bert'])
        for (const role of [undefined, 'manager'] as const) {
          const asked = [one, other, third, 'older'].filter((word) => word);
          const expected = listOlder(asked, role);
          const { people, more } = await findPeople(
            { db: client.db, now: () => new Date() },
            { q: asked.join(' '), role },
          );
          const found = people.map(({ id }) => id);
          expect(more, asked.join()).toBe(expected.length > 50);
          if (more) for (const id of found) expect(expected).toContain(id);
          else expect(found, asked.join()).toEqual(expected);
        }
}, 120_000);
