// People and programs that may not change a client in the database, or act as that client (contract 13.7, 13.13, 13.23 to
// 13.28).
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { insertRestore } from '../../db/tables/restores.ts';
import { sign } from '../../server/sso/hmac.ts';
import { codeOf, locationOf, openApp } from '../support/app/app.ts';
import { production } from '../support/app/settings.ts';
import {
  addPerson,
  addSession,
  addStaff,
  call,
  digestAll,
  readData,
  readOutcome,
  why,
} from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(() => openApp({ env: production }));
const second = shared(() => app.startInstance());
const callback = 'https://shop.example.test/cb';

let admin: Awaited<ReturnType<typeof addStaff>>;
/** There are sixteen administrators, because the acts of a single one would wait for each other. */
let admins: (typeof admin)[];
beforeAll(async () => {
  admins = await Promise.all(Array.from({ length: 16 }, () => addStaff(app)));
  [admin] = admins as [typeof admin];
});

const act = (name: string, input: Record<string, string>, cookie = admin.cookie, at = app as typeof second) =>
  call(at, `clients.${name}`, cookie, input);
let serial = 0;
async function add(client = `shop_${++serial}`): Promise<{ client: string; secret: string }> {
  const answer = await act('add', { client, callback, why });
  expect(readOutcome(answer), answer.text).toBe('200');
  return { client, secret: readData(answer).secret };
}
const findRow = async (client: string) =>
  readData(await call(app, 'clients.list', admin.cookie, undefined, true)).find(
    ({ name }: { name: string }) => name === client,
  ).row;
const asked = async (client: string) => ({ client, why, seen: (await findRow(client)).seen as string });

/** Lets 16 administrators do one act each at the same time, at two instances. Returns the outcomes. */
const sixteen = async (choose: (n: number) => [name: string, input: Record<string, string>]) =>
  (
    await Promise.all(
      admins.map(({ cookie }, n) => {
        const [name, input] = choose(n);
        return act(name, input, cookie, n % 2 ? second : app);
      }),
    )
  )
    .map(readOutcome)
    .sort();
const oneOf16 = (refusal: string) => ['200', ...Array(15).fill(refusal)];

it.each<[who: string, outcome: string, arrange: () => Promise<{ cookie: string }>]>([
  [
    'an administrator’s session whose credential is old',
    '401 login_required',
    () => addSession(app, admin.id, { authTime: new Date(Date.now() - 11 * 60_000) }),
  ],
  [
    'an administrator’s session that a hand-off started',
    '401 login_required',
    () => addSession(app, admin.id, { authTime: null }),
  ],
  ['a manager’s session', '404 not_found', () => addStaff(app, 'manager')],
  ['a customer’s session', '404 not_found', async () => addSession(app, (await addPerson(app)).id)],
])('%s does no act, and learns nothing (contract 13.28)', async (_, outcome, arrange) => {
  const { client } = await add();
  const given = await asked(client);
  const { cookie } = await arrange();
  const before = await digestAll(app.db);
  const inputs: [name: string, input: Record<string, string>][] = [
    ['add', { client: 'stolen', callback, why }],
    ['set', { ...given, callback: 'https://thief.example.test/' }],
    ['endSecret', { ...given, which: 'first' }],
    ...['rotate', 'turnOff', 'turnOn', 'confirm', 'testWebhook'].map(
      (name): [string, Record<string, string>] => [name, given],
    ),
  ];
  for (const [name, input] of inputs) {
    const answer = await act(name, input, cookie);
    expect([name, readOutcome(answer)]).toEqual([name, outcome]);
    expect(answer.text).not.toMatch(/idsec_|shop\.example/);
  }
  expect(await digestAll(app.db)).toEqual(before);
});

it('the secret of one client opens nothing of another (contract 13.2)', async () => {
  const [one, other] = [await add(), await add()];
  const read = async (secret: string, name: string) =>
    app.send('/sso/events', {
      headers: { authorization: `Bearer ${await sign(secret, `identity events v1 ${name}`)}` },
    });
  expect((await read(one.secret, one.client)).status).toBe(200);
  for (const name of [other.client, 'marketplace', 'crm_app']) {
    const answer = await read(one.secret, name);
    expect([answer.status, codeOf(answer)]).toEqual([401, 'invalid_token']);
  }
  const token = await sign(one.secret, `identity events v1 ${one.client}`);
  const contracts = await app.send('/integrations/crm/contracts', {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(contracts.status).toBe(401);
  const { cookie } = await addSession(app, (await addPerson(app)).id);
  const { searchParams } = locationOf(await app.send(`/sso/launch/${other.client}`, { cookie }));
  const payload = searchParams.get('payload') ?? '';
  expect(searchParams.get('signature')).toBe(await sign(other.secret, payload));
  expect(searchParams.get('signature')).not.toBe(await sign(one.secret, payload));
});

it.each([
  ...['shop/../admin', '../admin', 'shop%2f', 'shöp', 'ѕhop', 'ｓhop', 'shop\u200b', 'shop\n', ' shop', ''],
  ...['__proto__', 'shop-1', 'shop.1', '1shop', 'SHOP', 'website', 'crm', 'identity', 'none', 'new', 'all'],
  ...['marketplace', 'network_site', 'crm_app'],
])('no client is named %j, and nothing is launched by that name (contract 13.7)', async (client) => {
  const answer = await act('add', { client, callback, why });
  expect(readOutcome(answer)).toBe('422 validation_failed');
  if (/^(marketplace|network_site|crm_app)$/.test(client)) return;
  const { cookie } = await addSession(app, admin.id);
  const launched = await app.send(`/sso/launch/${encodeURIComponent(client)}`, { cookie });
  expect(launched.headers.get('location') ?? '').not.toContain('payload=');
  expect([308, 400, 404]).toContain(launched.status);
});

it('a client may be named as a member of every object (contract 13.7)', async () => {
  const { client, secret } = await add('constructor');
  const { cookie } = await addSession(app, (await addPerson(app)).id);
  const { searchParams } = locationOf(await app.send(`/sso/launch/${client}`, { cookie }));
  expect(searchParams.get('signature')).toBe(await sign(secret, searchParams.get('payload') ?? ''));
  expect((await app.send('/sso/launch/valueOf', { cookie })).status).toBe(404);
  for (const path of ['/admin/clients', `/admin/audit?client=${client}`]) {
    const page = await app.send(path, { cookie: admin.cookie, headers: { accept: 'text/html' } });
    expect([path, page.status]).toEqual([path, 200]);
    expect(page.text).toContain('onstructor');
  }
  const products = await app.send('/profile/products', { cookie, headers: { accept: 'text/html' } });
  expect(products.text).toContain('Constructor');
});

it.each(['callback', 'loginUrl', 'eventsUrl'])(
  'no %s is set that leads elsewhere than to a site on https (contract 13.13)',
  async (field) => {
    const { client } = await add();
    const given = await asked(client);
    for (const url of [
      ...['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'http://shop.example.test/'],
      ...[
        'HTTPS://shop.example.test/',
        '//shop.example.test/',
        'https:shop.example.test/',
        'https://127.0.0.1/',
      ],
      ...[
        'https://[::1]/',
        'https://shop.example.test\\@thief.example.test/',
        'https://a@thief.example.test/',
      ],
      ...[
        'https://shop.example.test/\nSet-Cookie:a=b',
        'https://thief.example.test/#',
        'https://*.example.test/',
      ],
    ]) {
      const outcome = readOutcome(await act('set', { ...given, [field]: url }));
      expect([url, outcome]).toEqual([url, '422 validation_failed']);
    }
    expect((await asked(client)).seen).toBe(given.seen);
  },
);

describe('of 16 at once', () => {
  it('only one of many different acts counts, because each was decided by the same page (contract 12.19)', async () => {
    const { client } = await add();
    await act('rotate', await asked(client));
    const given = await asked(client);
    const acts: [string, Record<string, string>][] = [
      ['set', { title: 'Other' }],
      ['endSecret', { which: 'first' }],
      ['endSecret', { which: 'second' }],
      ['turnOff', {}],
    ];
    const outcomes = await sixteen((n) => {
      const [name, more] = acts[Math.floor(n / 2) % acts.length] as (typeof acts)[number];
      return [name, { ...given, ...more }];
    });
    expect(outcomes).toEqual(oneOf16('409 edited_meanwhile'));
    const { rows } = await sql`select 1 from audit_events where details->>'client' = ${client}`.execute(
      app.db,
    );
    expect(rows).toHaveLength(3);
  });

  it('one ends a secret, turns off, turns on and confirms (contract 13.11 and 13.24)', async () => {
    const { client } = await add();
    await act('rotate', await asked(client));
    for (const [name, more] of [
      ['endSecret', { which: 'first' }],
      ['turnOff', {}],
      ['turnOn', {}],
      ['set', { callback: 'https://other.example.test/' }],
    ] as const) {
      const given = { ...(await asked(client)), ...more };
      const outcomes = await sixteen(() => [name, given]);
      expect([name, ...outcomes]).toEqual([name, ...oneOf16('409 edited_meanwhile')]);
    }
    await inTransaction(app.db, { by: 'operator', cause: 'test' }, insertRestore);
    const given = await asked(client);
    const outcomes = await sixteen(() => ['confirm', given]);
    expect(outcomes).toEqual(oneOf16('409 edited_meanwhile'));
    expect((await findRow(client)).state).toBe('on');
  });

  it('one adds a client, and one rotates it (contract 13.8 and 13.23)', async () => {
    const client = `shop_${++serial}`;
    const input = { client, callback, why };
    expect(await sixteen(() => ['add', input])).toEqual(oneOf16('409 edited_meanwhile'));
    const given = await asked(client);
    expect(await sixteen(() => ['rotate', given])).toEqual(oneOf16('409 edited_meanwhile'));
    expect((await findRow(client)).secrets).toHaveLength(2);
  });

  it('one becomes the two hundredth client (contract 13.1)', async () => {
    const { issuer } = app.config;
    await sql`insert into clients (id, issuer, name, title, callback_url, listed, roles, restores, created_at, changed_at)
      select gen_random_uuid(), ${issuer}, 'full_' || n, 'Full', ${callback}, '{everybody}', '{admin}', 0, now(), now()
      from generate_series(1, 199 - (select count(*)::int from clients where issuer = ${issuer})) n`.execute(
      app.db,
    );
    const outcomes = await sixteen((n) => ['add', { client: `last_${n}`, callback, why }]);
    expect(outcomes).toEqual(oneOf16('422 validation_failed'));
    const { rows } = await sql`select 1 from clients where issuer = ${issuer}`.execute(app.db);
    expect(rows).toHaveLength(200);
  });
});
