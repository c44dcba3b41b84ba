// Contract 10.2 to 10.6: numbers follow each other with no gap. No acknowledged change is hidden
// (docs/inside/decisions/event-numbers.md).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Database } from '../../db/postgres/client.ts';
import { numberAllEvents } from '../../server/events/number-events.ts';
import { readEvents } from '../../server/events/read-events.ts';
import { Deadline } from '../../server/web/deadline.ts';
import { openApp } from '../support/app/app.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { connect } from '../support/database/postgres.ts';
import { addPerson, addVisitor, latestOf, readOn, type WireEvent } from '../support/events/events.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const other = shared(() => app.startInstance());

describe('16 who edit and 16 who pull, on two instances at once,', () => {
  it('see each change once, without a gap, and what was acknowledged at once', async () => {
    const visitors = await Promise.all(Array.from({ length: 4 }, () => addVisitor(app, 'marketplace')));
    const start = await latestOf(app, 'marketplace');
    let acknowledged = 0;
    let isOver = false;
    const edit = async (writer: number) => {
      const { cookie } = visitors[writer % 4] ?? { cookie: '' };
      for (let n = 0; n < 10; n++) {
        const name = `Edit ${writer} ${n}`;
        const before = await latestOf(app, 'marketplace');
        const instance = (writer + n) % 2 ? app : other;
        const answer = await instance.send('/trpc/profile.update', { json: { json: { name } }, cookie });
        expect(answer.status).toBe(200);
        acknowledged++;
        const told = await readOn((writer + n) % 2 ? other : app, 'marketplace', before);
        expect(told.filter(({ profile }) => profile?.name === name)).toHaveLength(1);
      }
    };
    const follow = async (reader: number): Promise<WireEvent[]> => {
      const all: WireEvent[] = [];
      for (let isLast = false; ; isLast = isOver) {
        all.push(...(await readOn(reader % 2 ? app : other, 'marketplace', start + all.length)));
        if (isLast) return all;
      }
    };
    const readers = Array.from({ length: 16 }, (_, n) => follow(n));
    await Promise.all(Array.from({ length: 16 }, (_, n) => edit(n)));
    isOver = true;
    const [first = [], ...others] = await Promise.all(readers);
    for (const read of others) expect(read).toEqual(first);
    expect(first).toHaveLength(acknowledged);
    for (const { id } of visitors) {
      const times = first
        .filter(({ user_id }) => user_id === id)
        .map(({ profile }) => profile?.profile_updated_at);
      expect(times).toEqual([...new Set(times)].sort());
    }
  });
});

it('a change that began first and is committed last comes last, and nobody misses it', async () => {
  const [early, late] = [await addVisitor(app, 'marketplace'), await addVisitor(app, 'marketplace')];
  const start = await latestOf(app, 'marketplace');
  await app.db.transaction().execute(async (trx) => {
    await sql`update users set name = 'Began first' where id = ${early.id}`.execute(trx);
    await sql`update users set name = 'Committed first' where id = ${late.id}`.execute(app.db);
    expect(await readOn(app, 'marketplace', start)).toMatchObject([{ profile: { name: 'Committed first' } }]);
  });
  expect(await readOn(other, 'marketplace', start + 1)).toMatchObject([{ profile: { name: 'Began first' } }]);
});

it('what somebody holds comes later, in turn with what is newer about the same person, even if they let go of it', async () => {
  // No instance runs on this database, because its job would number the events before the test does.
  const alone = await openFreshDatabase();
  const [held, free] = [await addPerson(alone.db), await addPerson(alone.db)];
  const append = (type: string, userId: string) =>
    sql`insert into events (client, type, user_id) values ('marketplace', ${type}, ${userId})`.execute(
      alone.db,
    );
  await append('user.suspended', held.id);
  await append('user.suspended', free.id);
  await append('user.restored', held.id);
  await append('user.restored', free.id);
  const read = async () => {
    const page = { client: 'marketplace', after: 0, limit: 1_000 };
    const { events, latest } = await readEvents(alone, { deadline: new Deadline() }, page);
    expect(latest).toBe(events.length);
    return events.map(({ type, ...event }) => [type, 'userId' in event && event.userId]);
  };
  const first = [
    ['user.suspended', free.id],
    ['user.restored', free.id],
  ];
  // Acts like an erasure that has changed the first of the person's events, and is then rolled back.
  const erasing = alone.db.transaction().execute(async (trx) => {
    await sql`update events set type = 'erased', user_id = null where type = 'user.suspended' and user_id = ${held.id}`.execute(
      trx,
    );
    expect(await read()).toEqual(first);
    expect(await read()).toEqual(first);
    throw new Error('rolled back');
  });
  await expect(erasing).rejects.toThrow('rolled back');
  expect(await read()).toEqual([...first, ['user.suspended', held.id], ['user.restored', held.id]]);
  await alone.close();
});

it('behind what is held, a pull has everything about others, also past a full batch', async () => {
  const alone = await openFreshDatabase();
  const [held, free] = [await addPerson(alone.db), await addPerson(alone.db)];
  await sql`insert into events (client, type, user_id)
    select 'marketplace', 'user.restored', case when n <= 3 then ${held.id}::uuid else ${free.id}::uuid end
    from generate_series(1, 2500) n order by n`.execute(alone.db);
  const latest = async () =>
    (await readEvents(alone, { deadline: new Deadline() }, { client: 'marketplace', after: 0, limit: 1_000 }))
      .latest;
  await alone.db.transaction().execute(async (trx) => {
    await sql`select from events where user_id = ${held.id} order by id limit 1 for update`.execute(trx);
    expect(await latest()).toBe(1_996);
    await numberAllEvents(alone);
    expect(await latest()).toBe(2_497);
  });
  await numberAllEvents(alone);
  expect(await latest()).toBe(2_500);
  await alone.close();
});

describe('behind a backlog', () => {
  const many = 20_000;
  beforeEach(async () => {
    // One `truncate` of all these tables could deadlock with the service's jobs, so the tables are emptied one by one.
    for (const table of ['events', 'event_sequences'])
      await sql`truncate ${sql.table(table)}`.execute(app.db);
  });

  const appendBacklog = (db: Database, userId: string) =>
    sql`insert into events (client, type, user_id) select 'network_site', 'user.restored', ${userId}
      from generate_series(1, ${many}::int)`.execute(db);

  async function withBacklog(work: () => Promise<void>) {
    const { id } = await addPerson(app.db);
    const { db, close } = connect(app.databaseUrl, { statementTimeoutMs: 0 });
    try {
      await appendBacklog(db, id);
      await work();
    } finally {
      await close();
    }
  }
  /** Gives events their numbers. Like the job, tries again if a busy database gave no connection in time. */
  async function numberPatiently(triesLeft = 5): Promise<void> {
    try {
      await numberAllEvents(app);
    } catch (error) {
      if (triesLeft === 0) throw error;
      await numberPatiently(triesLeft - 1);
    }
  }
  const countUnnumbered = async () =>
    (await sql<{ n: number }>`select count(*)::int as n from events where seq is null`.execute(app.db))
      .rows[0]?.n ?? 0;

  it('a pull numbers no more than its page needs, and says that there is more', async () => {
    // No instance runs on this database, because its job would number the other events.
    const alone = await openFreshDatabase();
    const { id } = await addPerson(alone.db);
    await appendBacklog(alone.db, id);
    const page = { client: 'network_site', after: 0, limit: 1_000 };
    const { events, latest } = await readEvents(alone, { deadline: new Deadline() }, page);
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_000 }, (_, n) => n + 1));
    expect(latest).toBe(2_000);
    await alone.close();
  });

  it('a pull of another client gets its events at once', async () => {
    const visitor = await addVisitor(app, 'marketplace');
    await withBacklog(async () => {
      const start = await latestOf(app, 'marketplace');
      // This lock stops the numbering for the network site.
      await app.db.transaction().execute(async (trx) => {
        await sql`select pg_advisory_xact_lock(hashtextextended('events for network_site', 0))`.execute(trx);
        await sql`update users set name = 'At once' where id = ${visitor.id}`.execute(app.db);
        expect(await readOn(app, 'marketplace', start)).toMatchObject([{ profile: { name: 'At once' } }]);
        expect((await app.send('/healthz')).status).toBe(200);
      });
    });
  });

  it('the job numbers all of it, also for clients that nobody has configured, and also 16 at once', async () => {
    await withBacklog(async () => {
      const { id } = await addPerson(app.db);
      await sql`insert into events (client, type, user_id) values ('gone', 'user.restored', ${id})`.execute(
        app.db,
      );
      await Promise.all(Array.from({ length: 16 }, () => numberPatiently()));
      expect(await countUnnumbered()).toBe(0);
      const { rows } =
        await sql`select client, count(*)::int as n, max(seq)::int as newest, count(distinct seq)::int as each
        from events group by client order by client`.execute(app.db);
      expect(rows).toEqual([
        { client: 'gone', n: 1, newest: 1, each: 1 },
        { client: 'network_site', n: many, newest: many, each: many },
      ]);
    });
  });

  it('an instance numbers what nobody pulls', async () => {
    await withBacklog(async () => {
      await vi.waitFor(async () => expect(await countUnnumbered()).toBe(0), 15_000);
    });
  });
});

it('somebody who holds up the numbers of one client holds up no other', async () => {
  const visitor = await addVisitor(app, 'crm_app', 'network_site');
  await numberAllEvents(app);
  const held = connect(app.databaseUrl);
  let letGo = () => {};
  let holding = Promise.resolve();
  await new Promise<void>((isHeld) => {
    holding = held.db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('events for crm_app', 0))`.execute(trx);
      isHeld();
      await new Promise<void>((done) => {
        letGo = done;
      });
    });
  });
  await sql`update users set name = 'Held up' where id = ${visitor.id}`.execute(app.db);
  const numbered = async (client: string) => {
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from events
      where user_id = ${visitor.id} and client = ${client} and seq is null`.execute(app.db);
    return rows[0]?.n === 0;
  };
  await numberAllEvents(app);
  expect([await numbered('crm_app'), await numbered('network_site')]).toEqual([false, true]);
  letGo();
  await holding;
  await held.close();
  await numberAllEvents(app);
  expect(await numbered('crm_app')).toBe(true);
});
