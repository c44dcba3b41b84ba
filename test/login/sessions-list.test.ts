import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, openApp } from '../support/app/app.ts';
import { openClient, refusalOf, sessionIdOf } from '../support/app/trpc.ts';
import { cookieOf, isLoggedIn, submitProfile, textOf } from '../support/app/visitor.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';
const password = 'local demo password';
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

let mine: string;
let elsewhere: string;
let somebodys: string;
const app = shared(openApp);
const second = shared(() => app.startInstance());
beforeEach(async () => {
  await sql`delete from sessions`.execute(app.db);
  const headers = { 'user-agent': firefox };
  elsewhere = cookieOf(
    await app.send('/login', { form: { email, password }, headers, from: '198.51.100.4' }),
  );
  mine = await app.login(email);
  somebodys = await app.login('customer@example.test');
});

const listOf = (cookie: string) => openClient(app.send, cookie).sessions.list.query();

async function countEvents(type: string): Promise<number> {
  const { rows } = await sql`select 1 from audit_events where type = ${type}`.execute(app.db);
  return rows.length;
}

describe('the list of sessions', () => {
  it('shows the live sessions of the user, with device and address, and nobody else’s', async () => {
    const list = await listOf(mine);
    expect(list).toMatchObject([
      { current: true, device: 'Unknown browser', kind: undefined, address: '192.0.2.1' },
      { current: false, device: 'Firefox on Linux', kind: 'computer', address: '198.51.100.4' },
    ]);
    expect(list.map(({ id }) => id)).not.toContain(await sessionIdOf(app.send, somebodys));
    // The list has nothing that could be used for a login, and no raw browser string.
    expect(Object.keys(list[0] ?? {}).sort()).toEqual([
      'address',
      'createdAt',
      'current',
      'device',
      'id',
      'kind',
      'lastSeenAt',
      'place',
    ]);
  });

  it('gives each button a name of its own, even for two browsers of one kind', async () => {
    const headers = { 'user-agent': firefox };
    await app.send('/login', { form: { email, password }, headers, from: '198.51.100.4' });
    await sql`update sessions set created_at = created_at - interval '1 hour'
      where id = (select id from sessions where ended_at is null order by created_at limit 1)`.execute(
      app.db,
    );
    const { text } = await app.send('/profile/security', { cookie: mine });
    const names = [...text.matchAll(/<button[^>]*value="end-session"[^>]*>(.*?)<\/button>/gs)].map(
      ([, name = '']) => textOf({ text: name } as Answer),
    );
    expect(names).toHaveLength(2);
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/Log out of Firefox on Linux, logged in .* UTC/);
  });

  it('is on the page about security, where every other session can be ended', async () => {
    const page = await app.send('/profile/security', { cookie: mine });
    const text = textOf(page);
    expect(text).toContain('This browser');
    expect(text).toContain('Firefox on Linux Computer · 198.51.100.4');
    expect([...page.text.matchAll(/name="id" value="([^"]+)"/g)].map(([, id]) => id)).toEqual([
      await sessionIdOf(app.send, elsewhere),
    ]);
  });

  it('shows what a browser says about itself as text', async () => {
    const headers = { 'user-agent': '<img src=x onerror=alert(1)>/1.0 x' };
    await app.send('/login', { form: { email, password }, headers });
    const page = await app.send('/profile/security', { cookie: mine });
    expect(page.text).not.toContain('<img src=x');
  });
});

describe.each(
  [
    {
      via: 'the page',
      end: async (cookie: string, id: string) =>
        (await submitProfile(app.send, cookie, { intent: 'end-session', id })).status,
      endOthers: async (cookie: string) =>
        (await submitProfile(app.send, cookie, { intent: 'end-others' })).status,
    },
    {
      via: 'tRPC',
      end: async (cookie: string, id: string) => {
        const call = openClient(app.send, cookie).sessions.end.mutate({ id });
        return call.then(
          () => 200,
          async () => (await refusalOf(call)).httpStatus,
        );
      },
      endOthers: async (cookie: string) => {
        const { ended } = await openClient(app.send, cookie).sessions.endOthers.mutate();
        expect(ended).toBe(2);
        return 200;
      },
    },
  ].map((door) => [door.via, door] as const),
)('through %s', (_, { end, endOthers }) => {
  it('one session can be ended, at once on every instance', async () => {
    expect(await end(mine, await sessionIdOf(app.send, elsewhere))).toBe(200);
    expect(await isLoggedIn(second.send, elsewhere)).toBe(false);
    expect(await isLoggedIn(second.send, mine)).toBe(true);
    expect(await listOf(mine)).toHaveLength(1);
  });

  it('a session of somebody else, an unknown one and an ended one cannot be ended', async () => {
    for (const id of [await sessionIdOf(app.send, somebodys), crypto.randomUUID()])
      expect(await end(mine, id)).toBe(404);
    const id = await sessionIdOf(app.send, elsewhere);
    await end(mine, id);
    expect(await end(mine, id)).toBe(404);
    expect(await isLoggedIn(app.send, somebodys)).toBe(true);
  });

  it('a malformed session id is refused', async () => {
    for (const id of ['', 'x', '1', `${await sessionIdOf(app.send, elsewhere)}'`])
      expect(await end(mine, id)).toBe(422);
    expect(await isLoggedIn(app.send, elsewhere)).toBe(true);
  });

  it('all other sessions of the user can be ended, and nobody else’s', async () => {
    const third = await app.login(email);
    expect(await endOthers(mine)).toBe(200);
    for (const cookie of [elsewhere, third]) expect(await isLoggedIn(second.send, cookie)).toBe(false);
    for (const cookie of [mine, somebodys]) expect(await isLoggedIn(second.send, cookie)).toBe(true);
  });
});

it('exactly one of 16 requests at once ends a session', async () => {
  const id = await sessionIdOf(app.send, elsewhere);
  const before = await countEvents('session.ended');
  const ends = Array.from({ length: 16 }, (_, index) =>
    openClient(index % 2 === 0 ? app.send : second.send, mine).sessions.end.mutate({ id }),
  );
  const settled = await Promise.allSettled(ends);
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const [index, { status }] of settled.entries())
    if (status === 'rejected')
      expect(await refusalOf(ends[index] as Promise<unknown>)).toMatchObject({ problem: 'not_found' });
  expect((await countEvents('session.ended')) - before).toBe(1);
});

it('ending the current session logs this browser out', async () => {
  await openClient(app.send, mine).sessions.end.mutate({ id: await sessionIdOf(app.send, mine) });
  expect(await isLoggedIn(app.send, mine)).toBe(false);
});
