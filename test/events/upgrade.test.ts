// Whoever was handed to a client before there were events is heard of from then on.
import { sql } from 'kysely';
import { expect, inject, it } from 'vitest';
import { migrations } from '../../db/migrations/list.ts';
import { connect, emptyDatabase } from '../support/database/postgres.ts';
import { addPerson, openSession } from '../support/events/events.ts';

it('knows from the launches who was handed to whom', async () => {
  const { url, drop } = await emptyDatabase(inject('templateUrl'));
  const { db, close } = connect(url);
  try {
    const all = Object.entries(migrations);
    const at = all.findIndex(([name]) => name === '2026-11-25-events');
    for (const [, { up }] of all.slice(0, at)) await up(db as never);
    const person = await addPerson(db);
    for (let n = 0; n < 2; n++) await openSession(db, person);
    await sql`insert into launches (session_id, client, user_id, sid, at)
      select id, 'marketplace', user_id, id::text, now() - interval '1 day' from sessions`.execute(db);
    for (const [, { up }] of all.slice(at)) await up(db as never);
    const { rows } = await sql`select client, user_id, since < now() - interval '1 hour' as is_old
      from client_users`.execute(db);
    expect(rows).toEqual([{ client: 'marketplace', user_id: person.id, is_old: true }]);
    expect((await sql`select from events`.execute(db)).rows).toEqual([]);
    await sql`update users set name = 'Heard of' where id = ${person.id}`.execute(db);
    expect((await sql`select client from events`.execute(db)).rows).toEqual([{ client: 'marketplace' }]);
  } finally {
    await close();
    await drop();
  }
});
