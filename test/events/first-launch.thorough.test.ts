// No change is lost between the payload of the first launch and the sequence, whatever happens at that moment
// (contract 4.25 and 4.26).
import { sql, type Transaction } from 'kysely';
import { expect, it } from 'vitest';
import type { DB } from '../../db/schema.ts';
import { locationOf, openApp, type TestInstance } from '../support/app/app.ts';
import {
  addPerson,
  againAfterDeadlock,
  deletePerson,
  latestOf,
  openSession,
  type Person,
  readOn,
  type WireEvent,
} from '../support/events/events.ts';
import { shared } from '../support/run/shared.ts';

const rounds = 8;

const app = shared(openApp);
const other = shared(() => app.startInstance());

type Launched = { status: number; path: string; payload?: { sid: string; profile: Record<string, unknown> } };

async function tryLaunch(cookie: string, instance: TestInstance): Promise<Launched> {
  const answer = await instance.send('/sso/launch/marketplace', { cookie });
  const { pathname, searchParams } = locationOf(answer);
  const payload = searchParams.get('payload');
  return {
    status: answer.status,
    path: pathname,
    ...(payload && { payload: JSON.parse(Buffer.from(payload, 'base64url').toString()) }),
  };
}

/**
 * Runs sixteen things at the same time: launches of four sessions on two instances, and `change`. Begins with the launches or
 * with the changes, at random.
 */
async function race(change: (person: Person, cookies: string[]) => Promise<unknown>[]) {
  const person = await addPerson(app.db);
  const cookies = await Promise.all(Array.from({ length: 4 }, () => openSession(app.db, person)));
  const before = await latestOf(app, 'marketplace');
  const launches = () =>
    cookies.flatMap((cookie, n) => [tryLaunch(cookie, n % 2 ? app : other), tryLaunch(cookie, app)]);
  const first = Math.random() < 0.5 ? launches() : [];
  const changes = change(person, cookies);
  const launched = await Promise.all([...first, ...(first.length > 0 ? [] : launches())]);
  await Promise.all(changes);
  return { person, cookies, launched, told: await readOn(app, 'marketplace', before) };
}

const bySql = (statement: ReturnType<typeof sql>) => againAfterDeadlock(() => statement.execute(app.db));

const typesOf = (told: WireEvent[], type: string) => told.filter((event) => event.type === type);

it('an edit is in the first event, or in one behind it', async () => {
  for (let round = 0; round < rounds; round++) {
    const { person, launched, told } = await race(({ id, accountId }, [cookie = '']) => [
      ...[1, 2, 3].map((n) => bySql(sql`update users set name = ${`By SQL ${n}`} where id = ${id}`)),
      ...[1, 2].map(() =>
        bySql(
          sql`update accounts set capabilities = capabilities || '{sell_services}' where id = ${accountId}`,
        ),
      ),
      ...[1, 2, 3].map((n) =>
        app.send('/trpc/profile.update', { json: { json: { name: `By tRPC ${n}` } }, cookie }),
      ),
    ]);
    expect(launched.map(({ status }) => status)).toEqual(Array(8).fill(303));
    // Each of the four sessions has one `sid`. The last event has the present profile, which is at least as new as the profile
    // of any launch.
    expect(new Set(launched.map(({ payload }) => payload?.sid)).size).toBe(4);
    const times = told.map(({ profile }) => profile?.profile_updated_at ?? '');
    expect(times).toEqual([...new Set(times)].sort());
    const { text } = await app.send('/sso/profile', { cookie: await openSession(app.db, person) });
    expect(told.at(-1)?.profile).toEqual(JSON.parse(text));
    for (const { payload } of launched)
      expect(String(payload?.profile.profile_updated_at) <= (times.at(-1) ?? '')).toBe(true);
  }
});

it('a logout ends every login that left, once', async () => {
  for (let round = 0; round < rounds; round++) {
    const { launched, told } = await race((_, cookies) =>
      cookies.flatMap((cookie) => [
        app.send('/logout', { method: 'POST', cookie }),
        other.send('/logout', { method: 'POST', cookie }),
      ]),
    );
    const left = new Set(launched.flatMap(({ payload }) => payload?.sid ?? []));
    const ended = typesOf(told, 'session.ended').map(({ sid }) => sid);
    expect(new Set(ended)).toEqual(new Set([...ended, ...left]));
    expect(new Set(ended).size).toBe(ended.length);
    for (const { payload, path } of launched) if (!payload) expect(path).toBe('/login');
  }
});

it('a suspension ends every login that left, and is told of wherever somebody was handed over', async () => {
  for (let round = 0; round < rounds; round++) {
    const { launched, told } = await race(({ id }) =>
      Array.from({ length: 8 }, () => bySql(sql`update users set suspended_at = now() where id = ${id}`)),
    );
    const left = new Set(launched.flatMap(({ payload }) => payload?.sid ?? []));
    expect(new Set(typesOf(told, 'session.ended').map(({ sid }) => sid))).toEqual(left);
    expect(typesOf(told, 'user.suspended')).toHaveLength(left.size > 0 ? 1 : 0);
    if (left.size > 0) expect(told.at(-1)?.type).toBe('user.suspended');
    for (const { payload, path } of launched) if (!payload) expect(path).toBe('/login');
  }
});

it('an erasure is the last event, and nobody launches a client after it', async () => {
  for (let round = 0; round < rounds; round++) {
    const { person, launched, told } = await race((one) =>
      Array.from({ length: 8 }, () => deletePerson(app.db, one)),
    );
    for (const { status, path } of launched)
      expect([status, path]).toEqual([303, expect.stringMatching(/^\/(login|demo\/marketplace\/callback)$/)]);
    const wasHandedOver = launched.some(({ payload }) => payload);
    const { rows } = await sql`select from users where id = ${person.id}`.execute(app.db);
    expect(rows).toEqual([]);
    expect(typesOf(told, 'user.deleted')).toHaveLength(wasHandedOver ? 1 : 0);
    if (wasHandedOver) expect(told.at(-1)?.type).toBe('user.deleted');
  }
});

it('a launch that Postgres ended to resolve a deadlock is tried again', async () => {
  const person = await addPerson(app.db);
  const before = await latestOf(app, 'marketplace');
  const cookie = await openSession(app.db, person);
  let launching: Promise<Launched> | undefined;
  // Locks the session before the user, an order that the service never uses.
  await app.db.transaction().execute(async (trx) => {
    await sql`set local deadlock_timeout = '20s'`.execute(trx);
    await sql`update sessions set last_seen_at = now() where user_id = ${person.id}`.execute(trx);
    launching = tryLaunch(cookie, app);
    await untilOneWaits(trx);
    await sql`update users set name = 'By SQL' where id = ${person.id}`.execute(trx);
  });
  const launched = await launching;
  expect(launched).toMatchObject({ status: 303, payload: { sid: expect.any(String) } });
  expect(await readOn(app, 'marketplace', before)).toMatchObject([
    { type: 'profile.updated', profile: { name: 'By SQL' } },
  ]);
});

/** Waits until a statement waits for a row that `trx` has locked. */
async function untilOneWaits(trx: Transaction<DB>): Promise<void> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
  const pid = rows[0]?.pid;
  await expect
    .poll(
      async () => {
        const waiting = sql`select from pg_stat_activity where ${pid}::int = any(pg_blocking_pids(pid))`;
        return (await waiting.execute(app.db)).rows.length;
      },
      { timeout: 10_000, interval: 20 },
    )
    .toBe(1);
}

it('a launch that an instance of the version before writes is told of likewise', async () => {
  const person = await addPerson(app.db);
  const before = await latestOf(app, 'marketplace');
  await openSession(app.db, person);
  await sql`update sessions set ended_at = now() where user_id = ${person.id}`.execute(app.db);
  await sql`update users set suspended_at = now() where id = ${person.id}`.execute(app.db);
  await sql`insert into launches (session_id, client, user_id, sid)
    select id, 'marketplace', user_id, 'sid-of-the-version-before' from sessions where user_id = ${person.id}`.execute(
    app.db,
  );
  expect(await readOn(app, 'marketplace', before)).toMatchObject([
    { type: 'profile.updated', user_id: person.id },
    { type: 'session.ended', user_id: person.id, sid: 'sid-of-the-version-before' },
    { type: 'user.suspended', user_id: person.id },
  ]);
});
