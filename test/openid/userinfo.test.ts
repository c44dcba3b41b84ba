// What /oauth/userinfo answers to an access token (contract 14.55 to 14.58).
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { sign } from '../../server/sso/hmac.ts';
import { openApp, type SendOptions } from '../support/app/app.ts';
import {
  addOpenIdClient,
  exchange,
  getCode,
  type OpenIdClient,
  readUserinfo,
  tokensOf,
} from '../support/openid/client.ts';
import { addPerson, addSession } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
let client: OpenIdClient;
let other: OpenIdClient;
beforeAll(async () => {
  [client, other] = await Promise.all([addOpenIdClient(app), addOpenIdClient(app)]);
});

async function enter(given: Parameters<typeof addSession>[2] = {}) {
  const person = await addPerson(app);
  const { cookie, sessionId } = await addSession(app, person.id, given);
  const send = (path: string, options: SendOptions = {}) => app.send(path, { cookie, ...options });
  const getTokens = async (at = client) =>
    tokensOf(await exchange(app, at, await getCode({ send }, at, { scope: 'openid profile email groups' })));
  return { ...person, cookie, sessionId, send, getTokens };
}

const statusOf = async (token: string) => (await readUserinfo(app, token)).status;
const bearer = (token: string, scheme = 'Bearer') => ({ headers: { authorization: `${scheme} ${token}` } });

it('answers sub and the claims as they are now, to GET and POST (Contract 14.56)', async () => {
  const { id, getTokens } = await enter();
  const { access_token: token } = await getTokens();
  const { profile_updated_at: updatedAt } = await app.db
    .updateTable('users')
    .set({ name: 'A New Name' })
    .where('id', '=', id)
    .returning('profile_updated_at')
    .executeTakeFirstOrThrow();
  const post = { ...bearer(token, 'bearer'), form: { a: 'b' } };
  const answers = [
    await app.send('/oauth/userinfo', bearer(token)),
    await app.send('/oauth/userinfo', {
      ...post,
      headers: { ...post.headers, origin: 'https://evil.example' },
    }),
    await app.send('/oauth/userinfo', { ...bearer(token), method: 'POST' }),
  ];
  for (const { status, headers, text } of answers) {
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'application/json',
      'no-store',
    ]);
    expect(headers.get('access-control-allow-origin')).toBe(null);
    expect(headers.getSetCookie()).toEqual([]);
    expect(JSON.parse(text)).toMatchObject({
      sub: id,
      name: 'A New Name',
      updated_at: Math.floor(updatedAt.getTime() / 1_000),
      groups: ['customer'],
    });
  }
});

describe('a token counts in the header alone (Contract 14.56 and 14.57)', () => {
  it('without one the answer is Bearer alone', async () => {
    const { access_token: token } = await (await enter()).getTokens();
    const requests: [string, SendOptions][] = [
      ['/oauth/userinfo', {}],
      [`/oauth/userinfo?access_token=${token}`, {}],
      ['/oauth/userinfo', { form: { access_token: token } }],
      ['/oauth/userinfo', bearer(token, 'Basic')],
      ['/oauth/userinfo', { headers: { authorization: 'Bearer' } }],
      ['/oauth/userinfo', { cookie: (await enter()).cookie }],
    ];
    for (const [path, options] of requests) {
      const { status, headers } = await app.send(path, options);
      expect([status, headers.get('www-authenticate')], path).toEqual([401, 'Bearer']);
    }
  });

  it('a wrong one is invalid_token', async () => {
    const { send, getTokens } = await enter();
    const { access_token: token, id_token } = await getTokens();
    const handOff = await sign(
      app.config.clients.get('marketplace')?.secrets[0] ?? '',
      'identity events v1 marketplace',
    );
    const unused = await getCode({ send }, client);
    for (const wrong of [
      `${token}x`,
      token.toUpperCase(),
      id_token,
      handOff,
      client.secret,
      unused,
      'x'.repeat(900),
    ]) {
      const { status, headers, text } = await app.send('/oauth/userinfo', bearer(wrong));
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
      expect(JSON.parse(text).error).toBe('invalid_token');
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });
});

it('the token opens nothing else (Contract 14.55)', async () => {
  const { access_token: token } = await (await enter()).getTokens();
  for (const path of ['/sso/profile', '/sso/events', '/integrations/crm/contracts', '/trpc/profile.get'])
    expect((await app.send(path, bearer(token))).status, path).toBe(401);
});

describe('how long a token lives (Contract 14.55)', () => {
  it.each([
    ['11 hours and 59 minutes', '11 hours 59 minutes', 200],
    ['12 hours', '12 hours', 401],
  ])('%s', async (_, age, status) => {
    const { sessionId, getTokens } = await enter();
    const { access_token: token } = await getTokens();
    await sql`update oidc_grants set created_at = created_at - ${age}::interval, exchanged_at = exchanged_at - ${age}::interval
      where session_id = ${sessionId}`.execute(app.db);
    expect(await statusOf(token)).toBe(status);
  });

  it('no longer than the session, which a call does not keep alive (Contract 14.56)', async () => {
    const { sessionId, getTokens } = await enter();
    const { access_token: token } = await getTokens();
    const seenAt = async () =>
      (
        await app.db
          .selectFrom('sessions')
          .select('last_seen_at')
          .where('id', '=', sessionId)
          .executeTakeFirstOrThrow()
      ).last_seen_at;
    await sql`update sessions set last_seen_at = now() - interval '13 days' where id = ${sessionId}`.execute(
      app.db,
    );
    const before = await seenAt();
    expect(await statusOf(token)).toBe(200);
    expect(await seenAt()).toEqual(before);
    await sql`update sessions set last_seen_at = now() - interval '14 days 1 second' where id = ${sessionId}`.execute(
      app.db,
    );
    expect(await statusOf(token)).toBe(401);
    await sql`update sessions set last_seen_at = now(), created_at = now() - interval '30 days 1 second' where id = ${sessionId}`.execute(
      app.db,
    );
    expect(await statusOf(token)).toBe(401);
  });

  it('the newest five of a session at a client count, also of 16 logins at once', async () => {
    const { getTokens } = await enter();
    const elsewhere = (await getTokens(other)).access_token;
    const tokens: string[] = [];
    for (let n = 0; n < 6; n++) tokens.push((await getTokens()).access_token);
    expect(await Promise.all(tokens.map(statusOf))).toEqual([401, 200, 200, 200, 200, 200]);
    const atOnce = await Promise.all(Array.from({ length: 16 }, () => getTokens()));
    const statuses = await Promise.all(atOnce.map(({ access_token }) => statusOf(access_token)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(await Promise.all(tokens.map(statusOf))).toEqual(Array(6).fill(401));
    expect(await statusOf(elsewhere)).toBe(200);
  });
});

describe('what ends a token for good (Contract 14.58)', () => {
  const ends: Record<
    string,
    { end: (of: { id: string; sessionId: string }) => string; undo?: (of: { id: string }) => string }
  > = {
    'a suspension': {
      end: ({ id }) => `update users set suspended_at = now() where id = '${id}'`,
      undo: ({ id }) => `update users set suspended_at = null where id = '${id}'`,
    },
    'the end of the session': {
      end: ({ sessionId }) => `update sessions set ended_at = now() where id = '${sessionId}'`,
    },
    'a deleted session': { end: ({ sessionId }) => `delete from sessions where id = '${sessionId}'` },
  };

  it.each(Object.entries(ends))('%s', async (_, { end, undo }) => {
    const person = await enter();
    const { access_token: token } = await person.getTokens();
    await sql.raw(end(person)).execute(app.db);
    expect(await statusOf(token)).toBe(401);
    if (undo) await sql.raw(undo(person)).execute(app.db);
    expect(await statusOf(token)).toBe(401);
  });

  it('a log-out', async () => {
    const { send, getTokens } = await enter();
    const { access_token: token } = await getTokens();
    expect((await send('/logout', { form: {} })).status).toBe(303);
    expect(await statusOf(token)).toBe(401);
  });

  it('turning the row off, even if it is on again at once, or a grant was made meanwhile', async () => {
    const own = await addOpenIdClient(app);
    const { send, getTokens, sessionId } = await enter();
    const { access_token: token } = await getTokens(own);
    const code = await getCode({ send }, own);
    const set = (off: string) =>
      sql`update clients set off_at = ${sql.raw(off)} where name = ${own.name}`.execute(app.db);
    await set('now()');
    // An instance that does not know yet that the row is off makes a grant.
    const late = await getCode({ send }, own);
    const kept = async () =>
      (
        await sql`select g.id from oidc_grants g join clients c on c.id = g.client_id
        where g.session_id = ${sessionId} and c.name = ${own.name}`.execute(app.db)
      ).rows.length;
    expect(await kept()).toBe(1);
    await set('null');
    expect(await kept()).toBe(0);
    expect(await statusOf(token)).toBe(401);
    for (const each of [code, late]) expect((await exchange(app, own, each)).status).toBe(400);
  });
});

describe('what closes a token while it lasts (Contract 14.57 and 14.58)', () => {
  it.each([
    [
      'a role',
      `update clients set roles = '{admin}' where name = $name`,
      `update clients set roles = '{admin,customer}' where name = $name`,
    ],
    [
      'a factor',
      'update clients set needs_factor = true where name = $name',
      'update clients set needs_factor = false where name = $name',
    ],
    [
      'an address that is not proved',
      'update users set email_verified_at = null where id = $id',
      'update users set email_verified_at = now() where id = $id',
    ],
    [
      'a planned deletion',
      `update users set deletion_due_at = now() + interval '9 days' where id = $id`,
      'update users set deletion_due_at = null where id = $id',
    ],
  ])('%s', async (_, close, reopen) => {
    const own = await addOpenIdClient(app);
    const { id, getTokens } = await enter({ amr: ['pwd'] });
    const { access_token: token } = await getTokens(own);
    const run = (text: string) =>
      sql.raw(text.replace('$name', `'${own.name}'`).replace('$id', `'${id}'`)).execute(app.db);
    await run(close);
    await expect.poll(() => statusOf(token), { timeout: 15_000 }).toBe(401);
    await run(reopen);
    await expect.poll(() => statusOf(token), { timeout: 15_000 }).toBe(200);
  });
});
