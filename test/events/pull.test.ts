// GET /sso/events (contract 10.14 to 10.24): what a client may ask for, and with which number it has to begin again.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { sweep } from '../../server/doors/jobs/sweep.ts';
import { codeOf, openApp } from '../support/app/app.ts';
import { addPerson, askForEvents, pull, readOn, tokenOf } from '../support/events/events.ts';
import { shared } from '../support/run/shared.ts';

const secrets = ['the-first-secret-of-the-marketplace', 'the-second-secret-of-the-marketplace'];
const shop = 'the-secret-of-the-shop-in-these-tests';

const env = {
  SSO_MARKETPLACE_SECRET: secrets.join(','),
  SSO_CLIENTS: 'shop',
  SSO_SHOP_CALLBACK_URL: 'http://localhost:4000/callback',
  SSO_SHOP_SECRET: shop,
};
const app = shared(() => openApp({ env }));
beforeEach(async () => {
  // One `truncate` of all these tables could deadlock with the service's jobs, so the tables are emptied one by one.
  for (const table of ['events', 'event_sequences', 'event_deliveries'])
    await sql`truncate ${sql.table(table)}`.execute(app.db);
});

/** Appends `count` events for a client, about one person. */
async function appendEvents(count: number, client = 'marketplace'): Promise<void> {
  const { id } = await addPerson(app.db);
  await sql`insert into events (client, type, user_id, body)
    select ${client}, 'session.ended', ${id}, jsonb_build_object('sid', 'sid-' || n)
    from generate_series(1, ${count}::int) n`.execute(app.db);
}

const seqs = async (query: string) => (await pull(app, 'marketplace', query)).events.map(({ seq }) => seq);

describe('a pull', () => {
  it('answers with nothing where nothing was ever appended', async () => {
    const { status, headers, text } = await askForEvents(app, 'marketplace');
    expect([status, text]).toEqual([200, '{"events":[],"latest":0}']);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('has 100 events behind `after` unless asked, and 1000 at most', async () => {
    await appendEvents(1_500);
    const first = await pull(app, 'marketplace');
    expect(first.events.map(({ seq }) => seq)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
    expect(first.latest).toBeGreaterThan(100);
    expect(await seqs('?after=0&limit=1')).toEqual([1]);
    expect(await seqs('?after=100&limit=1000&wait=0&unknown=1')).toHaveLength(1_000);
    expect((await readOn(app, 'marketplace')).map(({ sid }) => sid)).toEqual(
      Array.from({ length: 1_500 }, (_, n) => `sid-${n + 1}`),
    );
    expect(await seqs('?after=1498')).toEqual([1_499, 1_500]);
    expect(await seqs('?after=1500')).toEqual([]);
  });

  it('names the client in the log, and nothing of the events', async () => {
    await appendEvents(1);
    const before = app.logged.length;
    await pull(app, 'marketplace', '?after=0');
    const line = app.logged.findLast(({ message }) => message === 'request');
    const told = { route: '/sso/events', path: '/sso/events', status: 200, client: 'marketplace' };
    expect(line?.fields).toMatchObject(told);
    expect(JSON.stringify(app.logged.slice(before))).not.toContain('sid-1');
  });

  it.each([
    ...[
      'after=-1',
      'after=',
      'after=x',
      'after=1.5',
      'after=01',
      'after=+1',
      'after=1e3',
      'after=9007199254740992',
    ],
    ...['after=0&after=0', 'limit=0', 'limit=1001', 'limit=', 'limit=-1', 'limit=0100', 'limit=1&limit=2'],
    ...['wait=26', 'wait=-1', 'wait=', 'wait=0.5', 'wait=1&wait=1'],
  ])('refuses ?%s', async (query) => {
    const { status, text } = await askForEvents(app, 'marketplace', `?${query}`);
    expect([status, JSON.parse(text).code]).toEqual([400, 'invalid_request']);
    expect(JSON.parse(text).errors).toMatchObject([{ pointer: `/${query.split('=')[0]}` }]);
  });

  it('refuses another method', async () => {
    const headers = { authorization: `Bearer ${tokenOf(secrets[0] ?? '', 'marketplace')}` };
    const answer = await app.send('/sso/events', { method: 'POST', headers });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('is noted: how far the client has come, and not back', async () => {
    await appendEvents(5);
    for (const after of [0, 4, 2]) await pull(app, 'marketplace', `?after=${after}`);
    await askForEvents(app, 'marketplace', '?after=99');
    const { rows } = await sql`select client, acknowledged::int from event_deliveries`.execute(app.db);
    expect(rows).toEqual([{ client: 'marketplace', acknowledged: 4 }]);
  });
});

describe('the token alone names the client:', () => {
  const ask = (authorization: string) => app.send('/sso/events', { headers: { authorization } });

  it.each(secrets)('either secret of a rotation makes it: %s', async (secret) => {
    await appendEvents(1);
    await appendEvents(2, 'shop');
    const answer = await ask(`bearer ${tokenOf(secret, 'marketplace')}`);
    expect(JSON.parse(answer.text).events).toHaveLength(1);
    expect(JSON.parse((await ask(`Bearer ${tokenOf(shop, 'shop')}`)).text).events).toHaveLength(2);
  });

  const right = tokenOf(secrets[0] ?? '', 'marketplace');
  it.each([
    ['missing', ''],
    ['only its scheme', 'Bearer '],
    ['without its scheme', right],
    ['in another scheme', `Basic ${right}`],
    ['in capitals', `Bearer ${right.toUpperCase()}`],
    ['cut short', `Bearer ${right.slice(1)}`],
    ['one of two', `Bearer ${right}, Bearer ${right}`],
    ['the secret itself', `Bearer ${secrets[0]}`],
    ['of a client with the secret of another', `Bearer ${tokenOf(shop, 'marketplace')}`],
    ['of nobody', `Bearer ${tokenOf(shop, 'nobody')}`],
  ])('no pull is answered if it is %s', async (_, authorization) => {
    await appendEvents(1);
    const answer = await ask(authorization);
    expect([answer.status, codeOf(answer)]).toEqual([401, 'invalid_token']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    // The token is checked before anything else.
    const odd = await app.send('/sso/events?after=x', { headers: { authorization } });
    expect(codeOf(odd)).toBe('invalid_token');
  });

  it('a person who is logged in gets nothing, not even an administrator', async () => {
    const answer = await app.send('/sso/events', { cookie: await app.login('admin@example.test') });
    expect(codeOf(answer)).toBe('invalid_token');
  });
});

describe('410 `events_gone` says where to go on', () => {
  async function expectGone(query: string, oldest: number) {
    const { status, headers, text } = await askForEvents(app, 'marketplace', query);
    expect([status, JSON.parse(text)]).toEqual([
      410,
      expect.objectContaining({ code: 'events_gone', oldest }),
    ]);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(headers.get('cache-control')).toBe('no-store');
    // A pull that begins with the event `oldest` works.
    expect((await askForEvents(app, 'marketplace', `?after=${oldest - 1}`)).status).toBe(200);
  }

  it('if `after` is beyond the latest, even if a later event gets that number', async () => {
    await expectGone('?after=1', 1);
    // While the test holds this lock, the job cannot give the events their numbers.
    await app.db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('events for marketplace', 0))`.execute(trx);
      await appendEvents(3);
      const { status, text } = await askForEvents(app, 'marketplace', '?after=2');
      expect([status, JSON.parse(text).oldest]).toEqual([410, 1]);
    });
    expect(await seqs('?after=0')).toEqual([1, 2, 3]);
    expect(await seqs('?after=2')).toEqual([3]);
    await expectGone('?after=4', 1);
    await expectGone('?after=9007199254740991&wait=25', 1);
  });

  it('if it is too old', async () => {
    await appendEvents(10);
    await pull(app, 'marketplace');
    await sql`update events set numbered_at = numbered_at - interval '91 days' where seq <= 6`.execute(
      app.db,
    );
    await sweep(app);
    for (const after of [0, 1, 5]) await expectGone(`?after=${after}`, 7);
    expect(await seqs('?after=6')).toEqual([7, 8, 9, 10]);
  });

  it('if none is kept: with the next number', async () => {
    await appendEvents(3);
    await pull(app, 'marketplace');
    await sql`update events set numbered_at = numbered_at - interval '91 days'`.execute(app.db);
    await sweep(app);
    for (const after of [0, 1, 2]) await expectGone(`?after=${after}`, 4);
    expect(await pull(app, 'marketplace', '?after=3')).toEqual({ events: [], latest: 3 });
    await appendEvents(1);
    expect(await seqs('?after=3')).toEqual([4]);
  });

  it('on a page for people, too', async () => {
    const headers = {
      accept: 'text/html',
      authorization: `Bearer ${tokenOf(secrets[0] ?? '', 'marketplace')}`,
    };
    const { status, text } = await app.send('/sso/events?after=1', { headers });
    expect(status).toBe(410);
    expect(text).toContain('These events are no longer kept');
  });
});

describe('what is kept of a client', () => {
  it('is always a run without a hole, however the clock goes and whichever instance sweeps', async () => {
    for (let n = 0; n < 3; n++) {
      await appendEvents(700);
      await pull(app, 'marketplace', '?after=0&limit=1000');
      await readOn(app, 'marketplace');
      // This acts as if the database's clock had been set back.
      await sql`update events set numbered_at = numbered_at + interval '1 hour' where seq is not null`.execute(
        app.db,
      );
    }
    const { rows: steps } = await sql<{ is_back: boolean }>`
      select bool_or(numbered_at < last) as is_back
      from (select numbered_at, lag(numbered_at) over (order by seq) as last from events) e`.execute(app.db);
    expect(steps).toEqual([{ is_back: false }]);
    await sql`update events set numbered_at = numbered_at - interval '91 days' where seq <= 1550`.execute(
      app.db,
    );
    let isOver = false;
    const watch = async () => {
      while (!isOver) {
        const { rows } = await sql<{ hole: boolean }>`
          select coalesce(max(seq) - min(seq) + 1 <> count(*), false) as hole from events`.execute(app.db);
        expect(rows).toEqual([{ hole: false }]);
      }
    };
    const watching = watch();
    await Promise.all(Array.from({ length: 4 }, () => sweep(app)));
    await sweep(app);
    isOver = true;
    await watching;
    expect(await readOn(app, 'marketplace', 1_550)).toHaveLength(550);
  });

  it('is left alone while somebody is at the oldest, and goes the next time', async () => {
    await appendEvents(5);
    await pull(app, 'marketplace');
    await sql`update events set numbered_at = numbered_at - interval '91 days' where seq <= 3`.execute(
      app.db,
    );
    await app.db.transaction().execute(async (trx) => {
      await sql`select from events where seq = 2 for update`.execute(trx);
      await sweep(app);
    });
    expect(await seqs('?after=0')).toEqual([1, 2, 3, 4, 5]);
    await sweep(app);
    expect(await seqs('?after=3')).toEqual([4, 5]);
  });
});
