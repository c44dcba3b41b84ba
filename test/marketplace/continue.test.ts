// /continue: the page that asks before a hand-off starts a session (contract 6.38 to 6.46).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { nobodysHash } from '../../db/tables/users.ts';
import { type Answer, codeOf, locationOf, openApp } from '../support/app/app.ts';
import { openClient } from '../support/app/trpc.ts';
import { type Browser, cookieOf, logIn, openBrowser, submitProfile, textOf } from '../support/app/visitor.ts';
import { countRows } from '../support/database/database.ts';
import { buildHandOff, type HandOff, handOver } from '../support/marketplace/marketplace.ts';
import { listNotices } from '../support/people/kept-mail.ts';
import { shared } from '../support/run/shared.ts';

let now = new Date();
const app = shared(() => openApp({ now: () => now }));
const second = shared(() => app.startInstance());
beforeEach(() => {
  now = new Date();
});

const password = 'local demo password';

/** Opens a hand-off. Returns the path of the page that asks. */
async function openPage(browser: Browser, user: HandOff): Promise<string> {
  const answer = await browser.send(await buildHandOff(app, user, now));
  expect([answer.status, locationOf(answer).pathname]).toEqual([303, '/continue']);
  return answer.headers.get('location') ?? '';
}

const click = (browser: Browser, page: string) => browser.send(page, { form: {} });

async function expectGone(answer: Answer): Promise<void> {
  expect([answer.status, codeOf(answer)]).toEqual([404, 'not_found']);
}

describe('the page', () => {
  it('says whose account it is and who is logged in, and has nothing of the payload in its address', async () => {
    const browser = await logIn(app.send, 'customer@example.test');
    const page = await openPage(browser, { id: 'ask-1', name: 'Lena Lang' });
    expect(page).toMatch(/^\/continue\?id=[0-9a-f-]{36}$/);
    const text = textOf(await browser.send(page));
    for (const part of ['Lena Lang', 'ask-1@example.test', 'You are logged in as customer@example.test'])
      expect(text).toContain(part);
  });

  it('that cannot be made from what is kept is a fault of ours, and is logged', async () => {
    const browser = openBrowser(app.send);
    const page = await openPage(browser, { id: 'ask-broken' });
    await sql`update pending_hand_offs set profile = '{"email": 3}' where external_id = 'ask-broken'`.execute(
      app.db,
    );
    const { status, headers } = await browser.send(page);
    expect(status).toBe(500);
    expect(app.logged).toContainEqual(
      expect.objectContaining({
        level: 'error',
        fields: expect.objectContaining({ requestId: headers.get('x-request-id') }),
      }),
    );
  });

  it('is for the browser that it was made for, and for ten minutes', async () => {
    const browser = openBrowser(app.send);
    const page = await openPage(browser, { id: 'ask-2' });
    const stranger = openBrowser(app.send);
    for (const answer of [await stranger.send(page), await click(stranger, page)]) await expectGone(answer);
    expect((await click(browser, `${page}&id=x`)).status).not.toBe(303);
    const elsewhere = await browser.send(page, { form: {}, headers: { origin: 'https://evil.example' } });
    expect(elsewhere.status).toBe(403);
    now = new Date(now.getTime() + 600_000);
    await expectGone(await click(browser, page));
    now = new Date(now.getTime() - 1);
    expect((await click(browser, page)).status).toBe(303);
  });

  it('keeps two tabs apart, and pushes out the oldest of more than five', async () => {
    const browser = openBrowser(app.send);
    const pages: string[] = [];
    for (let tab = 0; tab < 6; tab++) pages.push(await openPage(browser, { id: `tab-${tab}` }));
    await expectGone(await browser.send(pages[0] ?? ''));
    for (const tab of [3, 1]) {
      expect((await click(browser, pages[tab] ?? '')).status).toBe(303);
      expect(await browser.whoAmI()).toBe(`tab-${tab}@example.test`);
    }
    const { rows } = await sql`select 1 from pending_hand_offs where external_id like 'tab-%'`.execute(
      app.db,
    );
    expect(rows).toHaveLength(3);
  });

  it('starts one session when it is confirmed 16 times at once on two instances', async () => {
    const browser = openBrowser(app.send);
    const page = await openPage(browser, { id: 'sixteen' });
    const cookie = browser.cookie();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) => (at % 2 ? app : second).send(page, { cookie, form: {} })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(15).fill(404)]);
    const { rows } = await sql`select 1 from sessions s join users u on u.id = s.user_id
      where u.email = 'sixteen@example.test'`.execute(app.db);
    expect(rows).toHaveLength(1);
  });
});

describe('before the click', () => {
  const changes: [string, (email: string) => Promise<unknown>, number][] = [
    [
      'a suspension',
      (email) => sql`update users set suspended_at = now() where email = ${email}`.execute(app.db),
      404,
    ],
    [
      'a removed link',
      (email) =>
        sql`delete from external_links where external_id = split_part(${email}, '@', 1)`.execute(app.db),
      404,
    ],
    [
      'a link that sleeps',
      (email) =>
        sql`update external_links set sleeping_since = now() where external_id = split_part(${email}, '@', 1)`.execute(
          app.db,
        ),
      404,
    ],
    [
      'a new role',
      (email) => sql`update users set role = 'manager' where email = ${email}`.execute(app.db),
      403,
    ],
  ];
  it.each(changes)('%s makes it start nothing', async (what, change, status) => {
    const browser = openBrowser(app.send);
    const id = what.replaceAll(' ', '-');
    const page = await openPage(browser, { id });
    await change(`${id}@example.test`);
    const answer = await click(browser, page);
    expect([answer.status, await browser.whoAmI()]).toEqual([status, undefined]);
  });
});

describe('the same hand-off again (contract 6.51, 6.84 and 6.85)', () => {
  it('leads its browser, and its user in any browser, to where it led before, and changes nothing', async () => {
    const browser = openBrowser(app.send);
    const url = await buildHandOff(app, { id: 'reload', returnTo: '/profile?x=1' }, now);
    const first = await browser.send(url);
    const look = () =>
      Promise.all(['pending_hand_offs', 'sessions', 'audit_events'].map((t) => countRows(app.db, t)));
    const before = await look();
    const again = await Promise.all(Array.from({ length: 16 }, () => browser.send(url)));
    for (const answer of again) expect(answer.headers.get('location')).toBe(first.headers.get('location'));
    expect(await look()).toEqual(before);

    await click(browser, first.headers.get('location') ?? '');
    const after = await look();
    expect((await browser.send(url)).headers.get('location')).toBe('/profile?x=1');
    expect(await look()).toEqual(after);
    // In another browser, the hand-off counts as used until its user is logged in there.
    const other = openBrowser(app.send);
    expect(codeOf(await other.send(url))).toBe('nonce_replayed');
    await click(other, await openPage(other, { id: 'reload' }));
    const elsewhere = await look();
    expect((await other.send(url)).headers.get('location')).toBe('/profile?x=1');
    await sql`update external_links set sleeping_since = now() where external_id = 'reload'`.execute(app.db);
    expect(codeOf(await other.send(url))).toBe('nonce_replayed');
    await sql`update external_links set sleeping_since = null where external_id = 'reload'`.execute(app.db);
    expect(await look()).toEqual(elsewhere);
    // In the first browser, it counts as used once somebody else is logged in.
    await browser.login('customer@example.test');
    expect(codeOf(await browser.send(url))).toBe('nonce_replayed');
  });
});

describe('a browser where that user was the last to log in (contract 9.23)', () => {
  it('is logged in at once, and asked again after somebody else has used it', async () => {
    const browser = openBrowser(app.send);
    await click(browser, await openPage(browser, { id: 'last' }));
    await browser.send('/logout', { form: {} });
    const straight = await browser.send(await buildHandOff(app, { id: 'last' }, now));
    expect([straight.headers.get('location'), await browser.whoAmI()]).toEqual([
      '/profile',
      'last@example.test',
    ]);
    await browser.login('customer@example.test');
    await browser.send('/logout', { form: {} });
    await openPage(browser, { id: 'last' });
    expect(await browser.whoAmI()).toBeUndefined();
  });

  it('is asked again once that user has set a password in another one', async () => {
    const browser = await logIn(app.send, 'new-merchant@example.test');
    await browser.send('/logout', { form: {} });
    const cookie = await app.login('new-merchant@example.test');
    await submitProfile(app.send, cookie, {
      intent: 'password',
      currentPassword: password,
      newPassword: 'another quite long one',
    });
    const { rows } =
      await sql`select forgotten_at is null as known from devices d join users u on u.id = d.user_id
      where u.email = 'new-merchant@example.test' order by 1`.execute(app.db);
    expect(rows).toEqual([{ known: false }, { known: false }, { known: true }].slice(-rows.length));
    expect(rows.length).toBeGreaterThan(1);
  });
});

describe('the owner', () => {
  it('is told by mail when an account is linked or their address replaced, and sees and removes links (contract 6.33 and 6.50)', async () => {
    const email = 'linked@example.test';
    await handOver(app, { id: 'm-linked', email });
    await sql`delete from external_links where external_id = 'm-linked'`.execute(app.db);
    const cookie = cookieOf(await handOver(app, { id: 'm-linked-2', email }));
    expect(await listNotices(app.db, email)).toContain('account_linked');

    const form = {
      intent: 'remove-link',
      provider: 'marketplace',
      externalId: 'm-linked-2',
      currentPassword: password,
    };
    expect(textOf(await app.send('/profile/security', { cookie }))).toContain(
      'set a password or add a passkey',
    );
    expect((await app.send('/profile/security', { cookie, form })).status).toBe(422);
    await sql`update users set password_hash = (select password_hash from users where email = 'merchant@example.test')
      where email = ${email}`.execute(app.db);
    expect(
      (await app.send('/profile/security', { cookie, form: { ...form, currentPassword: 'wrong' } })).status,
    ).toBe(422);
    expect(textOf(await submitProfile(app.send, cookie, form))).toContain('no longer connected');
    expect(await openClient(app.send, cookie).links.list.query()).toEqual([]);
    await handOver(app, { id: 'm-not-theirs' });
    const foreign = { ...form, externalId: 'm-not-theirs' };
    expect((await app.send('/profile/security', { cookie, form: foreign })).status).toBe(404);

    await handOver(app, { id: 'moves', profileUpdatedAt: new Date('2026-01-01') });
    await handOver(app, {
      id: 'moves',
      email: 'moved@example.test',
      profileUpdatedAt: new Date('2026-01-02'),
    });
    expect(await listNotices(app.db, 'moves@example.test')).toEqual(['email_replaced']);
  });

  it.each([
    ['has-a-password', sql`password_hash = 'x'`],
    ['had-a-password-once', sql`password_hash = ${nobodysHash}`],
    ['has-a-passkey', sql`has_passkey = true`],
  ])('who %s keeps their address, whatever a payload says (contract 6.32)', async (id, change) => {
    const at = (day: number) => new Date(Date.UTC(2026, 0, day));
    const email = `${id}@example.test`;
    await handOver(app, { id, profileUpdatedAt: at(1) });
    await sql`update users set ${change} where email = ${email}`.execute(app.db);
    const cookie = cookieOf(await handOver(app, { id, email: 'evil@example.test', profileUpdatedAt: at(2) }));
    expect(JSON.parse((await app.send('/sso/profile', { cookie })).text).email).toBe(email);
  });

  it('removes a link while 16 hand-offs arrive, and none of them gets in afterwards', async () => {
    const email = 'race@example.test';
    const cookie = cookieOf(await handOver(app, { id: 'race', email }));
    await sql`update users set password_hash = (select password_hash from users where email = 'merchant@example.test')
      where email = ${email}`.execute(app.db);
    const urls = await Promise.all(
      Array.from({ length: 16 }, () => buildHandOff(app, { id: 'race', email }, now)),
    );
    const browsers = urls.map(() => openBrowser(app.send));
    const form = {
      intent: 'remove-link',
      provider: 'marketplace',
      externalId: 'race',
      currentPassword: password,
    };
    const [removed, ...opened] = await Promise.all([
      app.send('/profile/security', { cookie, form }),
      ...urls.map((url, at) => browsers[at]?.send(url)),
    ]);
    expect(removed?.status).toBe(303);
    for (const [at, answer] of opened.entries()) {
      expect(locationOf(answer as Answer).pathname).toBe('/continue');
      const browser = browsers[at] as Browser;
      await click(browser, answer?.headers.get('location') ?? '');
      expect(await browser.whoAmI()).toBeUndefined();
    }
    expect(await openClient(app.send, cookie).links.list.query()).toEqual([]);
  });
});
