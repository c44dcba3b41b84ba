import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { nobodysHash } from '../../db/tables/users.ts';
import { codeOf, locationOf, openApp } from '../support/app/app.ts';
import { run } from '../support/app/process.ts';
import { cookieOf, openBrowser } from '../support/app/visitor.ts';
import { countRows } from '../support/database/database.ts';
import { buildHandOff, handOver, openHandOff } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const profileOf = async (cookie: string) => JSON.parse((await app.send('/sso/profile', { cookie })).text);
const countOf = (table: string) => countRows(app.db, table);
const lastEvent = async (type: string) =>
  (
    await sql<{ reason: string }>`
      select reason from audit_events where type = ${type} order by at desc, id desc limit 1`.execute(app.db)
  ).rows[0];
const lastAccepted = async () => (await lastEvent('hand_off.accepted'))?.reason;

describe('an unknown id', () => {
  it('with an unknown address creates user and account, and logs in (contract 1.7)', async () => {
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
    expect(await lastAccepted()).toBe('created');
  });

  it('with an unverified address creates a user whose address is not verified here', async () => {
    const cookie = cookieOf(await handOver(app, { id: 'new-2', emailVerified: false }));
    expect(locationOf(await app.send('/sso/launch/crm_app', { cookie })).pathname).toBe('/verify-email');
  });

  it('with the address of a user who never had a password is linked to that user, who keeps their id (contract 6.17)', async () => {
    await sql`update users set password_hash = null where email = 'customer@example.test'`.execute(app.db);
    const answer = await handOver(app, { id: 'link-1', email: 'customer@example.test', name: 'Casey C.' });
    const profile = await profileOf(cookieOf(answer));
    expect(profile).toMatchObject({ id: '01900000-0000-7000-8000-000000000003', name: 'Casey C.' });
    expect(await lastAccepted()).toBe('linked');
  });

  it.each([
    ['had a password once', sql`password_hash = ${nobodysHash}`],
    ['has a passkey', sql`has_passkey = true`],
  ])('with the address of a user who %s is not linked (contract 6.17 and 6.18)', async (what, change) => {
    const id = what.replaceAll(' ', '-');
    await handOver(app, { id });
    await sql`delete from external_links where external_id = ${id}`.execute(app.db);
    await sql`update users set ${change} where email = ${`${id}@example.test`}`.execute(app.db);
    const browser = openBrowser(app.send);
    const { pathname, search } = locationOf(await browser.send(await buildHandOff(app, { id })));
    expect(pathname).toBe('/continue');
    expect((await browser.send(pathname + search)).text).toContain('Log in to connect');
    const { rows } = await sql`select from external_links where external_id = ${id}`.execute(app.db);
    expect(rows).toEqual([]);
  });

  it('with such an address that the marketplace has not verified gets a user of their own', async () => {
    await handOver(app, { id: 'victim-1' });
    await sql`delete from external_links where external_id = 'victim-1'`.execute(app.db);
    const thief = { id: 'thief-1', email: 'victim-1@example.test', emailVerified: false };
    const cookie = cookieOf(await handOver(app, thief));
    expect(locationOf(await app.send('/sso/launch/crm_app', { cookie })).pathname).toBe('/verify-email');
    const { rows } = await sql`select holds_email from users where email = ${thief.email}
      order by created_at`.execute(app.db);
    expect(rows).toEqual([{ holds_email: true }, { holds_email: false }]);
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
    expect((await lastEvent('hand_off.refused'))?.reason).toContain(code);
  });
});

describe('a known id', () => {
  const at = (day: number) => new Date(Date.UTC(2026, 1, day));

  it('is updated by newer payloads only, but logged in by every one (contract 6.30)', async () => {
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

  it('keeps what was edited here (contract 6.29)', async () => {
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

  it('gets its new address, unless somebody else has that one (contract 6.34)', async () => {
    await handOver(app, { id: 'known-3', profileUpdatedAt: at(1) });
    await handOver(app, { id: 'taken' });
    const free = await handOver(app, { id: 'known-3', email: 'moved@example.test', profileUpdatedAt: at(2) });
    expect((await profileOf(cookieOf(free))).email).toBe('moved@example.test');
    const taken = { id: 'known-3', email: 'taken@example.test', name: 'Renamed', profileUpdatedAt: at(3) };
    const answer = await handOver(app, taken);
    expect(await profileOf(cookieOf(answer))).toMatchObject({ email: 'moved@example.test', name: 'Renamed' });
    expect(await lastEvent('hand_off.email_skipped')).toEqual({ reason: 'email_in_use' });
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

// Contract 6.23 to 6.28.
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

it('uses nothing up for HEAD and prefetch (contract 6.52)', async () => {
  const path = await buildHandOff(app, { id: 'ahead' });
  expect((await app.send(path, { method: 'HEAD' })).status).toBe(204);
  expect((await app.send(path, { headers: { 'sec-purpose': 'prefetch' } })).status).toBe(204);
  expect((await app.send(path)).status).toBe(303);
  expect(codeOf(await app.send(path))).toBe('nonce_replayed');
});

it('accepts the URL that the command line prints (contract 6.47)', async () => {
  const args = [
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
  const cli = run('node', [...args, ...more]);
  expect(await cli.exited, cli.output()).toBe(0);
  const answer = await openHandOff(app, cli.output().trim());
  expect(answer.headers.get('location')).toBe('/profile?x');
  expect(await profileOf(cookieOf(answer))).toMatchObject({
    name: 'Cleo Line',
    role: 'merchant',
    account: { capabilities: ['sell_products', 'sell_services'] },
  });
});
