import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, locationOf, openApp, type TestApp } from '../support/app.ts';
import { countRows } from '../support/database.ts';
import { buildHandOff, handOver } from '../support/marketplace.ts';
import { run } from '../support/process.ts';
import { cookieOf } from '../support/visitor.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openApp();
});
afterAll(() => app.close());

const profileOf = async (cookie: string) => JSON.parse((await app.send('/sso/profile', { cookie })).text);
const countOf = (table: string) => countRows(app.db, table);
const lastEvent = async () =>
  (
    await sql<{ type: string; reason: string }>`
      select type, reason from audit_events order by id desc limit 1`.execute(app.db)
  ).rows[0];

describe('an unknown id', () => {
  it('with an unknown address creates user and account, and logs in', async () => {
    const answer = await handOver(app, {
      id: 'new-1',
      name: 'Lena Lang',
      accountName: 'Lang & Sons',
      email: 'Lena@Example.test',
    });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/profile');
    const profile = await profileOf(cookieOf(answer));
    expect(profile).toMatchObject({ email: 'lena@example.test', name: 'Lena Lang', role: 'customer' });
    expect((await app.send('/profile', { cookie: cookieOf(answer) })).text).toContain('Lang &amp; Sons');
    expect(await lastEvent()).toEqual({ type: 'hand_off.accepted', reason: 'created' });
  });

  it('with an unverified address creates a user whose address is not verified here', async () => {
    const cookie = cookieOf(await handOver(app, { id: 'new-2', emailVerified: false }));
    expect(locationOf(await app.send('/sso/launch/crm_app', { cookie })).pathname).toBe('/verify-email');
  });

  it('with the address of a user without a password is linked to that user, who keeps their id', async () => {
    await sql`update users set password_hash = null where email = 'customer@example.test'`.execute(app.db);
    const answer = await handOver(app, { id: 'link-1', email: 'customer@example.test', name: 'Casey C.' });
    const profile = await profileOf(cookieOf(answer));
    expect(profile).toMatchObject({ id: '01900000-0000-7000-8000-000000000003', name: 'Casey C.' });
    expect(await lastEvent()).toEqual({ type: 'hand_off.accepted', reason: 'linked' });
  });

  it('with such an address is refused with 403 if the marketplace has not verified it', async () => {
    await handOver(app, { id: 'victim-1' });
    await sql`delete from external_links where external_id = 'victim-1'`.execute(app.db);
    const answer = await handOver(app, {
      id: 'thief-1',
      email: 'victim-1@example.test',
      emailVerified: false,
    });
    expect([answer.status, codeOf(answer)]).toEqual([403, 'email_unverified']);
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  it('with the address of a user who has another link is refused with 409', async () => {
    await handOver(app, { id: 'one', email: 'shared@example.test' });
    const answer = await handOver(app, { id: 'two', email: 'shared@example.test' });
    expect([answer.status, codeOf(answer)]).toEqual([409, 'email_in_use']);
  });

  it.each([
    ['admin@example.test', 403, 'admin_not_allowed'],
    ['manager@example.test', 403, 'admin_not_allowed'],
    ['suspended@example.test', 403, 'account_suspended'],
  ])('with the address %s is refused with %i %s', async (email, status, code) => {
    const sessions = await countOf('sessions');
    const answer = await handOver(app, { id: `x-${email}`, email, role: 'admin' });
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(await countOf('sessions')).toBe(sessions);
    expect((await lastEvent())?.type).toBe('hand_off.refused');
  });
});

describe('an unknown id with the address of a user who has a password', () => {
  it('is linked after the right password in the same browser, and only then', async () => {
    const answer = await handOver(app, {
      id: 'proof-1',
      email: 'merchant@example.test',
      role: 'merchant',
      returnTo: '/profile?from=market',
    });
    expect(locationOf(answer).pathname).toBe('/login');
    const pending = cookieOf(answer);
    expect(pending).toMatch(/^identity_pending_hand_off=/);
    expect((await app.send('/sso/profile', { cookie: pending })).status).toBe(401);
    const login = answer.headers.get('location') ?? '';
    const page = await app.send(login, { cookie: pending });
    expect(page.text).toContain('already has a password here');
    const links = await countOf('external_links');

    const form = { email: 'merchant@example.test', password: 'local demo password' };
    const wrong = await app.send(login, { cookie: pending, form: { ...form, password: 'wrong' } });
    expect(wrong.status).toBe(401);
    const somebodyElse = await app.send(login, {
      cookie: pending,
      form: { ...form, email: 'new-merchant@example.test' },
    });
    expect(somebodyElse.status).toBe(303);
    const otherBrowser = await app.send(login, { form });
    expect(otherBrowser.status).toBe(303);
    expect(await countOf('external_links')).toBe(links);

    const right = await app.send(login, { cookie: pending, form });
    expect(right.headers.get('location')).toBe('/profile?from=market');
    expect(await countOf('external_links')).toBe(links + 1);
    expect(await lastEvent()).toEqual({ type: 'hand_off.accepted', reason: 'linked_by_password' });
    const later = await handOver(app, { id: 'proof-1', email: 'merchant@example.test' });
    expect((await profileOf(cookieOf(later))).email).toBe('merchant@example.test');
  });

  it('is not linked after ten minutes', async () => {
    const answer = await handOver(app, { id: 'proof-2', email: 'unverified@example.test' });
    await sql`update pending_hand_offs set expires_at = now() - interval '1 second'`.execute(app.db);
    const links = await countOf('external_links');
    const form = { email: 'unverified@example.test', password: 'local demo password' };
    await app.send('/login', { cookie: cookieOf(answer), form });
    expect(await countOf('external_links')).toBe(links);
  });
});

describe('a known id', () => {
  const at = (day: number) => new Date(Date.UTC(2026, 1, day));

  it('is updated by newer payloads only, but logged in by every one', async () => {
    const id = 'known-1';
    await handOver(app, { id, name: 'First', profileUpdatedAt: at(10) });
    for (const [day, name, expected] of [
      [12, 'Newer', 'Newer'],
      [12, 'Equal', 'Newer'],
      [11, 'Older', 'Newer'],
      [13, 'Newest', 'Newest'],
    ] as const) {
      const answer = await handOver(app, { id, name, profileUpdatedAt: at(day) });
      expect((await profileOf(cookieOf(answer))).name).toBe(expected);
    }
  });

  it('keeps what was edited here', async () => {
    const id = 'known-2';
    const cookie = cookieOf(await handOver(app, { id, profileUpdatedAt: at(1) }));
    await app.send('/profile', {
      cookie,
      form: { intent: 'names', name: 'Edited here', accountName: 'Also edited' },
    });
    const later = {
      id,
      name: 'From there',
      accountName: 'From there',
      role: 'merchant',
      profileUpdatedAt: at(2),
    };
    const answer = await handOver(app, later);
    expect(await profileOf(cookieOf(answer))).toMatchObject({ name: 'Edited here', role: 'merchant' });
    expect((await app.send('/profile', { cookie: cookieOf(answer) })).text).toContain('Also edited');
  });

  it('gets its new address, unless somebody else has that one', async () => {
    await handOver(app, { id: 'known-3', profileUpdatedAt: at(1) });
    await handOver(app, { id: 'taken' });
    const free = await handOver(app, { id: 'known-3', email: 'moved@example.test', profileUpdatedAt: at(2) });
    expect((await profileOf(cookieOf(free))).email).toBe('moved@example.test');
    const taken = { id: 'known-3', email: 'taken@example.test', name: 'Renamed', profileUpdatedAt: at(3) };
    const answer = await handOver(app, taken);
    expect(await profileOf(cookieOf(answer))).toMatchObject({ email: 'moved@example.test', name: 'Renamed' });
    expect(await lastEvent()).toEqual({ type: 'hand_off.email_skipped', reason: 'email_in_use' });
  });

  it('is not logged in once its user is suspended or an administrator', async () => {
    for (const [change, code] of [
      [sql`suspended_at = now()`, 'account_suspended'],
      [sql`suspended_at = null, role = 'manager'`, 'admin_not_allowed'],
    ] as const) {
      await handOver(app, { id: 'fallen' });
      await sql`update users set ${change} where email = 'fallen@example.test'`.execute(app.db);
      const answer = await handOver(app, { id: 'fallen', profileUpdatedAt: at(20) });
      expect([answer.status, codeOf(answer)]).toEqual([403, code]);
    }
  });
});

it.each([
  ['customer', [], 'customer', []],
  ['merchant', [], 'merchant', ['manage_storefront']],
  [
    'merchant',
    ['sell_services', 'unheard_of', 'manage_storefront'],
    'merchant',
    ['manage_storefront', 'sell_services'],
  ],
  ['customer', ['sell_products'], 'merchant', ['sell_products']],
  ['admin', [], 'customer', []],
])('turns the role %s with %j into %s with %j', async (role, capabilities, expectedRole, expected) => {
  const id = `role-${role}-${capabilities.length}`;
  const profile = await profileOf(cookieOf(await handOver(app, { id, role, capabilities })));
  expect(profile).toMatchObject({ role: expectedRole, account: { capabilities: expected } });
});

describe('a browser that is logged in already', () => {
  it('is asked before it is switched to another user, and switched only by a click', async () => {
    const cookie = await app.login('new-merchant@example.test');
    const path = await buildHandOff(app, { id: 'switch-1', name: 'Sven Switch', returnTo: '/profile?x=1' });
    const answer = await app.send(path, { cookie });
    expect(locationOf(answer).pathname).toBe('/switch');
    const page = await app.send(answer.headers.get('location') ?? '', { cookie });
    expect(page.text).toContain('Sven Switch');
    expect((await profileOf(cookie)).email).toBe('new-merchant@example.test');

    const form = Object.fromEntries(new URL(path, app.config.baseUrl).searchParams);
    const foreign = await app.send('/sso/marketplace/callback', {
      cookie,
      form,
      headers: { origin: 'https://evil.example' },
    });
    expect(foreign.status).toBe(403);
    const switched = await app.send('/sso/marketplace/callback', { cookie, form });
    expect(switched.headers.get('location')).toBe('/profile?x=1');
    expect((await profileOf(cookieOf(switched))).name).toBe('Sven Switch');
    expect((await app.send('/sso/profile', { cookie })).status).toBe(401);
  });

  it('is not asked about a hand-off that is refused, and asking uses nothing up', async () => {
    const cookie = await app.login('new-merchant@example.test');
    const boss = await handOver(app, { id: 'switch-boss', email: 'admin@example.test' }, { cookie });
    expect([boss.status, codeOf(boss)]).toEqual([403, 'admin_not_allowed']);
    const path = await buildHandOff(app, { id: 'switch-2' });
    const before = [await countOf('users'), await countOf('nonces'), await countOf('sessions')];
    for (const _ask of [1, 2]) expect(locationOf(await app.send(path, { cookie })).pathname).toBe('/switch');
    expect([await countOf('users'), await countOf('nonces'), await countOf('sessions')]).toEqual(before);
    expect((await app.send(path)).status).toBe(303);
    expect(codeOf(await app.send(path, { cookie }))).toBe('nonce_replayed');
  });

  it('goes straight on if the hand-off is about the same user', async () => {
    const cookie = cookieOf(await handOver(app, { id: 'same-1' }));
    expect(locationOf(await handOver(app, { id: 'same-1' }, { cookie })).pathname).toBe('/profile');
  });
});

it('uses nothing up for HEAD and prefetch', async () => {
  const path = await buildHandOff(app, { id: 'ahead' });
  expect((await app.send(path, { method: 'HEAD' })).status).toBe(204);
  expect((await app.send(path, { headers: { 'sec-purpose': 'prefetch' } })).status).toBe(204);
  expect((await app.send(path)).status).toBe(303);
  expect(codeOf(await app.send(path))).toBe('nonce_replayed');
});

it('accepts the URL that the command line prints', async () => {
  const words = [
    'build/service/cli.js',
    'marketplace:link',
    '--email',
    'cli@example.test',
    '--id',
    'cli-1',
    '--name',
    'Cleo Line',
  ];
  const more = [
    '--role',
    'merchant',
    '--capabilities',
    'sell_services,sell_products',
    '--account',
    'Line & Co.',
    '--return-to',
    '/profile?x',
  ];
  const cli = run('node', [...words, ...more]);
  expect(await cli.exited, cli.output()).toBe(0);
  const answer = await app.send(cli.output().trim());
  expect(answer.headers.get('location')).toBe('/profile?x');
  expect(await profileOf(cookieOf(answer))).toMatchObject({
    name: 'Cleo Line',
    role: 'merchant',
    account: { capabilities: ['sell_products', 'sell_services'] },
  });
});
