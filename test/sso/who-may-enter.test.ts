// Who may enter a client, by their role at each launch (contract 13.50 to 13.53, and 4.29).
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type Answer, codeOf, locationOf, openApp, targetOf } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { scrape } from '../support/app/metrics.ts';
import { openClient } from '../support/app/trpc.ts';
import { logIn, textOf } from '../support/app/visitor.ts';
import { buildSignup, sendSignup } from '../support/crm/crm.ts';
import { addFactor, addPerson, addSession, addStaff, call, readData } from '../support/people/staff.ts';
import { payloadOf } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const secret = 'a-secret-of-the-shop-with-more-than-32-characters';
const env = {
  SSO_CLIENTS: 'shop,desk,vault',
  SSO_SHOP_TITLE: 'Zoë’s <Shop>',
  SSO_SHOP_ROLES: 'merchant, admin',
  SSO_SHOP_CALLBACK_URL: 'https://shop.localhost/sso/in?lang=de',
  SSO_SHOP_SECRET: secret,
  SSO_SHOP_LISTED: 'everybody,contract',
  SSO_DESK_ROLES: 'admin',
  SSO_VAULT_LISTED: 'everybody,contract',
  SSO_VAULT_ROLES: 'customer',
  SSO_VAULT_FACTOR: 'required',
};
const html = { accept: 'text/html' };
const app = shared(() => openApp({ env }));

const launch = (cookie: string, query = '', client = 'shop') =>
  app.send(`/sso/launch/${client}${query}`, { cookie, headers: html });
const errorOf = (answer: Answer) => locationOf(answer).searchParams.get('error');

describe('a launch', () => {
  it.each([
    ['customer@example.test', 'shop', 403],
    ['merchant@example.test', 'shop', 303],
    // Clients see this user as a merchant, although their only capability is not in force.
    ['new-merchant@example.test', 'shop', 303],
    ['manager@example.test', 'shop', 303],
    ['admin@example.test', 'shop', 303],
    ['merchant@example.test', 'desk', 403],
    ['manager@example.test', 'desk', 303],
    ['admin@example.test', 'desk', 303],
    ['customer@example.test', 'marketplace', 303],
  ])('of %s to %s is %s (contract 13.50)', async (email, client, status) => {
    const answer = await launch(await app.login(email), '?state=s', client);
    expect(answer.status).toBe(status);
    if (status === 303) expect(payloadOf(answer)).toMatchObject({ aud: client, state: 's' });
    else expect(answer.headers.get('location')).toBe(null);
  });

  it('by somebody who may not enter is a problem that names the client, or access_denied, and is recorded nowhere (contract 4.5 and 13.52)', async () => {
    const cookie = await app.login('customer@example.test');
    const answer = await app.send('/sso/launch/shop', { cookie });
    expect([answer.status, codeOf(answer)]).toEqual([403, 'client_not_allowed']);
    expect(JSON.parse(answer.text).detail).toContain('Zoë’s <Shop> is not open to your account.');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    const silent = locationOf(await launch(cookie, '?state=abc&prompt=none'));
    expect(silent.href).toBe('https://shop.localhost/sso/in?lang=de&error=access_denied&state=abc');
    const { rows } = await sql`select 1 from launches where client = 'shop' and session_id =
      (select id from sessions where user_id = (select id from users where email = 'customer@example.test')
        order by created_at desc limit 1)`.execute(app.db);
    expect(rows).toEqual([]);
    const head = await app.send('/sso/launch/shop', { cookie, method: 'HEAD' });
    expect(head.status).toBe(204);
  });

  it('looks at the role anew each time, and at nothing else of an earlier launch (contract 13.51)', async () => {
    const { id } = await addPerson(app);
    const { cookie } = await addSession(app, id);
    const setRole = (role: string) => sql`update users set role = ${role} where id = ${id}`.execute(app.db);
    expect((await launch(cookie)).status).toBe(403);
    await setRole('manager');
    expect(payloadOf(await launch(cookie))).toMatchObject({ profile: { role: 'admin' } });
    await setRole('user');
    expect((await launch(cookie)).status).toBe(403);
    expect(errorOf(await launch(cookie, '?prompt=none'))).toBe('access_denied');
    // The login here, the session at the client and the client's events all go on. The client is told of the new role.
    expect((await app.send('/sso/profile', { cookie })).status).toBe(200);
    const { rows } = await sql<{ type: string }>`
      select type from events where user_id = ${id} and client = 'shop' order by id`.execute(app.db);
    expect(rows.map(({ type }) => type)).not.toContain('session.ended');
    expect(rows.at(-1)).toEqual({ type: 'profile.updated' });
  });

  it('never sends a payload with a role that may not enter, while the role changes (contract 13.51)', async () => {
    const { id } = await addPerson(app);
    const { cookie } = await addSession(app, id);
    const answers = await Promise.all(
      Array.from({ length: 16 }, async (_, n) => {
        await sql`update users set role = ${n % 2 ? 'manager' : 'user'} where id = ${id}`.execute(app.db);
        return launch(cookie);
      }),
    );
    for (const answer of answers) {
      if (answer.status === 303) expect(payloadOf(answer).profile.role).toBe('admin');
      else expect(answer.status).toBe(403);
    }
  });
});

describe('the page of client_not_allowed (contract 13.53)', () => {
  it('names the client, offers another account, which goes on to the client, and the way back', async () => {
    const browser = await logIn(app.send, 'customer@example.test');
    const page = await browser.send('/sso/launch/shop?state=s1&return_to=%2Fa%3Fb', { headers: html });
    expect(page.status).toBe(403);
    expect(page.text).toContain('<h1>You cannot open this product</h1>');
    expect(textOf(page)).toContain('Zoë’s <Shop> is not open to your account.');
    const [actions = ''] = /<div class="actions">.*?<\/div>/s.exec(page.text) ?? [];
    const links = [...actions.matchAll(/href="([^"]*)"/g)].map(([, href = '']) =>
      href.replaceAll('&amp;', '&'),
    );
    const next = encodeURIComponent('/sso/launch/shop?state=s1&return_to=%2Fa%3Fb');
    expect(links).toEqual([`/login?prompt=login&next=${next}`, 'https://shop.localhost/']);
    expect(page.text).toContain('Log in with another account');
    expect((await browser.send(links[0] ?? '')).status).toBe(200);
    const other = await browser.login('merchant@example.test', undefined, links[0]);
    const { pathname, search } = targetOf(other);
    expect(payloadOf(await browser.send(pathname + search))).toMatchObject({
      state: 's1',
      return_to: '/a?b',
    });
  });

  it('is explained at /problems', async () => {
    expect(textOf(await app.send('/problems/client_not_allowed'))).toContain('not open to your account');
  });
});

describe('what is checked first (contract 4.29)', () => {
  /** Adds somebody without a factor who may enter the vault, changes them by `set`, and returns what stops them. */
  async function stopOf(set: string) {
    const { id } = await addPerson(app);
    const { cookie } = await addSession(app, id, { amr: ['pwd'] });
    if (set) await sql`update users set ${sql.raw(set)} where id = ${id}`.execute(app.db);
    const shown = await launch(cookie, '', 'vault');
    return [
      shown.headers.get('location')?.split('?')[0] ?? shown.status,
      errorOf(await launch(cookie, '?prompt=none', 'vault')),
    ];
  }
  const leaving = `deletion_due_at = now() + interval '9 days'`;
  const unproved = 'email_verified_at = null';
  const suspended = 'suspended_at = now()';

  it.each([
    ['suspension', `role = 'admin', ${unproved}, ${leaving}, ${suspended}`, ['/login', 'access_denied']],
    [
      'planned deletion',
      `role = 'admin', ${unproved}, ${leaving}`,
      ['/profile/delete', 'interaction_required'],
    ],
    ['proved address', `role = 'admin', ${unproved}`, ['/verify-email', 'interaction_required']],
    ['role', `role = 'admin'`, [403, 'access_denied']],
    ['second factor', '', ['/profile/authenticator', 'interaction_required']],
  ])('%s', async (_, set, expected) => {
    expect(await stopOf(set)).toEqual(expected);
  });

  it('is the role also for staff who must set up a second factor', async () => {
    const strict = await app.startInstance({ env: { ...env, IDENTITY_ADMIN_SECOND_FACTOR: 'required' } });
    const { id } = await addPerson(app, { role: 'manager' });
    const { cookie } = await addSession(app, id, { amr: ['pwd'] });
    expect((await strict.send('/sso/launch/vault', { cookie })).status).toBe(403);
    expect(locationOf(await strict.send('/sso/launch/desk', { cookie })).pathname).toBe(
      '/profile/authenticator',
    );
  });
});

describe('staff see why nothing is sent (contract 13.61 and 13.143)', () => {
  const unlimited = { shop: 'not_let_in', desk: 'not_let_in' };

  it.each([
    ['', { ...unlimited, vault: 'no_factor_for_client' }],
    [`role = 'admin'`, { vault: 'not_let_in' }],
    ['email_verified_at = null', { shop: 'unproved', marketplace: 'unproved', vault: 'unproved' }],
    ['suspended_at = now()', { shop: 'suspended', marketplace: 'suspended', vault: 'suspended' }],
  ])('of a person with %j', async (set, expected) => {
    const { cookie } = await addStaff(app);
    const { id, email } = await addPerson(app);
    if (set) await sql`update users set ${sql.raw(set)} where id = ${id}`.execute(app.db);
    const gets = readData(await call(app, 'people.wouldGet', cookie, { id }, true)) as {
      client: string;
      stop?: { why: string; rule: string };
      payload?: object;
    }[];
    for (const [client, why] of Object.entries(expected))
      expect([client, gets.find((get) => get.client === client)?.stop?.why]).toEqual([client, why]);
    for (const { stop, payload } of gets) expect([!stop, !payload].filter(Boolean)).toHaveLength(1);
    const shown = await runCli(app.databaseUrl, ['user:show', email, '--json'], '', 'test', env);
    expect(JSON.parse(shown.out).wouldGet).toEqual(gets);
  });

  it('on the page, in words, with the rule; a factor that the person has stops nothing', async () => {
    const { cookie } = await addStaff(app);
    const person = await addPerson(app);
    const page = () => app.send(`/admin/people/${person.id}/products`, { cookie, headers: html });
    const before = textOf(await page());
    expect(before).toContain('This product is not open to their role. (contract 13.52)');
    expect(before).toContain('This product needs a second factor, and they have none. (contract 13.55)');
    await addFactor(app.db, person);
    expect(textOf(await page())).not.toContain('contract 13.55');
  });
});

it('the list of products hides nothing, and promises nothing (contract 13.60)', async () => {
  const listed = async (cookie: string) =>
    Object.fromEntries(
      (await openClient(app.send, cookie).products.list.query()).map(({ name, mayEnter, needsFactor }) => [
        name,
        [mayEnter, needsFactor],
      ]),
    );
  const cookie = await app.login('customer@example.test');
  const expected = {
    marketplace: [true, false],
    shop: [false, false],
    desk: [false, false],
    vault: [true, true],
  };
  expect(await listed(cookie)).toMatchObject(expected);
  const page = await app.send('/profile/products', { cookie });
  const opened = [...page.text.matchAll(/<a href="([^"]+)" class="button quiet">Open/g)].map(
    ([, href]) => href,
  );
  expect(opened).toEqual(['/sso/launch/marketplace', '/sso/launch/network_site', '/sso/launch/vault']);
  expect(textOf(page).match(/Not open to your account/g)).toHaveLength(2);
  expect(textOf(page).match(/Asks you to set up a second factor first/g)).toHaveLength(1);
  const { id } = await addPerson(app);
  await addFactor(app.db, { id });
  expect(await listed((await addSession(app, id)).cookie)).toMatchObject({ vault: [true, false] });
});

it('metrics count who was not let in, and who has no factor yet (contract 13.62)', async () => {
  const cookie = await app.login('customer@example.test');
  const read = async () => {
    const { valueFor } = await scrape(app);
    const count = (client: string, outcome: string) =>
      valueFor('identity_launches_total', { client, outcome }) ?? 0;
    return [
      count('shop', 'client_not_allowed'),
      count('shop', 'access_denied'),
      count('vault', 'second_factor'),
      count('vault', 'interaction_required'),
      valueFor('identity_refusals_total', { code: 'client_not_allowed', client: 'shop' }) ?? 0,
    ];
  };
  const before = await read();
  for (const client of ['shop', 'vault']) {
    await launch(cookie, '', client);
    await launch(cookie, '?prompt=none', client);
  }
  const after = await read();
  expect(after.map((count, at) => count - (before[at] ?? 0))).toEqual([1, 1, 1, 1, 1]);
});

it('a mail about a new contract names no product that would refuse its reader (contract 13.64)', async () => {
  expect((await sendSignup(app, buildSignup('entering'))).status).toBe(201);
  const find = sql<{ text: string | null }>`
    select kept_text as text from mails where recipient = 'entering@example.test' and kind = 'welcome'`;
  await expect.poll(async () => (await find.execute(app.db)).rows[0]?.text, { timeout: 10_000 }).toBeTruthy();
  expect((await find.execute(app.db)).rows[0]?.text).toContain('Products: CRM app, Vault\n');
});
