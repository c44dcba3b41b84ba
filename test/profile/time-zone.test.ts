// The time zone that a person chooses (contract 2.169 to 2.172, 9.377, 9.424): what it accepts, what shows it, who never gets it.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { timeZones } from '../../server/basics/time-zones.ts';
import { locationOf, openApp } from '../support/app/app.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { idOf } from '../support/database/database.ts';
import { readOn } from '../support/events/events.ts';
import { addOpenIdClient, decodeJwt, logInTo, readUserinfo } from '../support/openid/client.ts';
import { addStaff, openTabs } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';
let lagMs = 0;
const app = shared(() => openApp({ now: () => new Date(Date.now() + lagMs) }));
const html = { accept: 'text/html' };

beforeEach(async () => {
  lagMs = 0;
  await set(null);
  await sql`update users set deletion_due_at = null`.execute(app.db);
  await sql`truncate rate_limits`.execute(app.db);
});

const set = (timeZone: string | null) =>
  sql`update users set time_zone = ${timeZone} where email = ${email}`.execute(app.db);

const saved = async () =>
  (await sql<{ time_zone: string }>`select time_zone from users where email = ${email}`.execute(app.db))
    .rows[0]?.time_zone;

const choose = ({ send }: Pick<Browser, 'send'>, timeZone: string) =>
  send('/profile', { form: { intent: 'time-zone', timeZone }, headers: html });

const selected = (page: string) => /<option value="([^"]*)" selected/.exec(page)?.[1];

const words = (zone: string, at: Date) =>
  new Intl.DateTimeFormat('en-GB', {
    ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
    timeZone: zone,
    timeZoneName: 'short',
  }).format(at);

describe('a time zone (contract 2.169 and 11.146)', () => {
  it.each([
    ['Europe/Berlin', 'Europe/Berlin'],
    ['europe/berlin', 'Europe/Berlin'],
    ['Asia/Calcutta', 'Asia/Kolkata'],
    ['Asia/Kolkata', 'Asia/Kolkata'],
    ['Europe/Kyiv', 'Europe/Kyiv'],
    ['US/Eastern', 'America/New_York'],
    ['America/Argentina/ComodRivadavia', expect.stringContaining('America/')],
    ['Etc/GMT+5', 'Etc/GMT+5'],
    ['Etc/UTC', 'UTC'],
    ['UTC', 'UTC'],
  ])('%s is chosen as %s, and the page shows it as chosen', async (given, name) => {
    const browser = await logIn(app.send, email);
    const answer = await choose(browser, given);
    expect([answer.status, locationOf(answer).search]).toEqual([303, '?saved=time-zone']);
    expect(await saved()).toEqual(name);
    const page = await browser.send('/profile?saved=time-zone');
    expect(textOf(page)).toContain('Saved.');
    expect(selected(page.text)).toEqual(name);
    expect(page.text).toContain(`data-time-zone="${await saved()}"`);
    await choose(browser, '');
    expect(await saved()).toBe(null);
    expect(selected((await browser.send('/profile')).text)).toBe('');
  });

  it.each([
    ...['Nowhere/Land', '+01:00', 'CET', 'EST5EDT', 'SystemV/EST5', 'Europe/Berlin ', ' ', 'null'],
    ...['Europe/Berlin\u0000', '<b>', `Europe/${'x'.repeat(58)}`],
  ])('%j is refused, and the page says so', async (timeZone) => {
    const browser = await logIn(app.send, email);
    const refused = locationOf(await choose(browser, timeZone));
    expect(refused.searchParams.has('refused')).toBe(true);
    const page = await browser.send(refused.pathname + refused.search, { headers: html });
    expect(page.status).toBe(422);
    expect(textOf(page)).toContain('Choose a time zone from the list.');
    const client = openClient(app.send, browser.cookie());
    expect(await refusalOf(client.profile.update.mutate({ timeZone }))).toMatchObject({
      httpStatus: 422,
      errors: [{ pointer: '/timeZone' }],
    });
    expect(await saved()).toBe(null);
  });

  it('is one of a list that has no name twice, and each name of the list is accepted as it is', async () => {
    expect(timeZones.length).toBeGreaterThan(400);
    expect(new Set(timeZones).size).toBe(timeZones.length);
    const client = openClient(app.send, await app.login(email));
    for (const timeZone of ['UTC', 'Asia/Kolkata', 'Europe/Kyiv', 'Pacific/Chatham', 'America/Nuuk']) {
      expect(timeZones).toContain(timeZone);
      await client.profile.update.mutate({ timeZone });
      expect(await client.profile.get.query()).toMatchObject({ timeZone });
    }
    const { text } = await app.send('/profile', { cookie: await app.login(email) });
    expect(text.match(/<option /g)).toHaveLength(timeZones.length + 1);
  });

  it('that this runtime does not know is shown as UTC, and kept until another one is chosen', async () => {
    await set('Mars/Olympus_Mons');
    const browser = await logIn(app.send, email);
    const page = await browser.send('/profile/security');
    expect(page.text).toMatch(/\d\d:\d\d UTC<\/time>/);
    expect(page.text).not.toContain('data-time-zone');
    expect(selected((await browser.send('/profile')).text)).toBe('Mars/Olympus_Mons');
  });

  it('is refused by the database if it is empty or longer than 64 characters', async () => {
    for (const timeZone of ['', 'x'.repeat(65)])
      await expect(set(timeZone)).rejects.toMatchObject({ constraint: 'users_time_zone_length' });
    await set('x'.repeat(64));
  });

  it('is chosen once if 16 forms choose it at the same time: one change, one line of activity', async () => {
    const browser = await logIn(app.send, email);
    const cookie = browser.cookie();
    const answers = await Promise.all(
      Array.from({ length: 16 }, () =>
        choose({ send: (path, options) => app.send(path, { ...options, cookie }) }, 'Asia/Tokyo'),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
    const { rows } = await sql`select from changes where subject = 'user'
      and members -> 'time_zone' ->> 'to' = 'Asia/Tokyo'`.execute(app.db);
    expect(rows).toHaveLength(1);
  });
});

it('goes to no client, and changes nothing that clients hear of (contract 2.170)', async () => {
  const browser = await logIn(app.send, email);
  await browser.send('/sso/launch/network_site');
  const openid = await addOpenIdClient(app);
  const before = JSON.parse((await browser.send('/sso/profile')).text);
  const eventsBefore = await readOn(app, 'network_site');
  expect(eventsBefore.length).toBeGreaterThan(0);

  await choose(browser, 'Asia/Tokyo');
  expect(await saved()).toBe('Asia/Tokyo');
  expect(JSON.parse((await browser.send('/sso/profile')).text)).toEqual(before);
  expect(await readOn(app, 'network_site')).toEqual(eventsBefore);
  await openClient(app.send, browser.cookie()).profile.update.mutate({ name: 'Told To All' });
  await vi.waitFor(async () =>
    expect(await readOn(app, 'network_site')).toHaveLength(eventsBefore.length + 1),
  );
  const { tokens } = await logInTo(app, openid, { browser, parameters: { scope: 'openid profile email' } });
  const launch = (await browser.send('/sso/launch/network_site')).headers.get('location') ?? '';
  const payload = Buffer.from(new URL(launch).searchParams.get('payload') ?? '', 'base64url').toString();
  expect(payload).toContain('Told To All');
  const given = [
    payload,
    JSON.stringify(await readOn(app, 'network_site')),
    JSON.stringify(decodeJwt(tokens.id_token).payload),
    (await readUserinfo(app, tokens.access_token)).text,
    (await app.send('/.well-known/openid-configuration')).text,
  ];
  for (const text of given) expect(text).not.toMatch(/Tokyo|zone/i);
});

it('is in the activity, the history and the download, where times stay RFC 3339 (contract 2.172)', async () => {
  const browser = await logIn(app.send, email);
  await choose(browser, 'Asia/Tokyo');
  await choose(browser, 'Europe/Berlin');
  const client = openClient(app.send, browser.cookie());
  expect((await client.activity.list.query()).events[0]).toMatchObject({
    what: 'Changed the time zone',
    by: 'By you',
    changes: [{ what: 'Time zone', from: 'Asia/Tokyo', to: 'Europe/Berlin' }],
  });
  const data = JSON.parse((await browser.send('/profile/data.json')).text);
  expect(data.profile).toMatchObject([{ time_zone: 'Europe/Berlin' }]);
  expect(data.changes.at(-1)).toMatchObject({
    members: { time_zone: { from: 'Asia/Tokyo', to: 'Europe/Berlin' } },
  });
  expect(data.written_at).toMatch(/T[\d:.]+Z$/);
  for (const { at } of data.activity) expect(at).toMatch(/T[\d:.]+[+-]\d\d:\d\d$/);
});

describe('times are in the reader’s zone', () => {
  it('on pages, also in sentences, and in the activity (contract 9.424)', async () => {
    await set('Asia/Tokyo');
    const browser = await logIn(app.send, email);
    await browser.send('/profile/delete', { form: { intent: 'delete' } });
    const dueAt = new Date(String(await readDueAt()));
    const texts = {
      profile: textOf(await browser.send('/profile')),
      activity: textOf(await browser.send('/profile/activity')),
    };
    expect(texts.profile).toContain(`will be deleted on ${words('Asia/Tokyo', dueAt)} . Until then`);
    expect(texts.activity).toMatch(/Deletion planned for: \d+ \w+ \d{4} at \d\d:\d\d GMT\+9/);
    expect(texts.activity).not.toMatch(/\d\d:\d\d UTC/);
  });

  it('on the pages of staff, in the zone of the member of staff (contract 9.424)', async () => {
    await set('Asia/Tokyo');
    await logIn(app.send, email);
    const { id, cookie } = await addStaff(app, 'admin');
    await sql`update users set time_zone = 'America/New_York' where id = ${id}`.execute(app.db);
    await sql`update users set deletion_due_at = now() + interval '9 days' where email = ${email}`.execute(
      app.db,
    );
    const open = (path: string) => app.send(path, { cookie });
    const page = await openTabs(open, `/admin/people/${await idOf(app.db, email)}`);
    const times = [...page.text.matchAll(/<time dateTime="([^"]+T[^"]+)">([^<]+)</gi)];
    expect(times.length).toBeGreaterThan(0);
    for (const [, at = '', text] of times) expect(text).toBe(words('America/New_York', new Date(at)));
    expect(textOf(page)).toMatch(/Deletion planned for: \d+ \w+ \d{4} at \d\d:\d\d GMT-5/);
  });

  it('but the days of documents and contracts stay the seller’s (contract 9.425)', async () => {
    const contract = {
      plan: 'dated',
      status: 'active',
      price: { currency: 'EUR', unit_amount: 4_200, interval: 'month' },
    };
    await pushSignup(app, buildSignup('crm_dated', { user: { email, name: 'x' }, contract }));
    await sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount,
        status, issued_at, due_at)
      select 901, id, 'dated', '2026-11-01T12:00Z', '2026-12-01T12:00Z', 'EUR', 4200, 'open', '2026-11-01T12:00Z',
        '2026-11-15T12:00Z' from service_contracts where signup_id = 'crm_dated'`.execute(app.db);
    const browser = await logIn(app.send, email);
    const days = async () => (await browser.send('/profile/billing')).text.match(/<time .*?<\/time>/g);
    const before = await days();
    expect(before?.join()).toContain('15 November 2026');
    await set('Pacific/Kiritimati');
    expect(await days()).toEqual(before);
  });

  it('in UTC if nobody is logged in, or no zone is chosen', async () => {
    const page = await (await logIn(app.send, email)).send('/profile/security');
    expect(page.text).not.toContain('data-time-zone');
    expect(page.text).toMatch(/\d\d:\d\d UTC<\/time>/);
  });

  it('in mails to the address that the person holds, and in UTC in mails to any other (contract 9.377)', async () => {
    await set('Asia/Tokyo');
    await sql`delete from mails`.execute(app.db);
    const browser = await logIn(app.send, email);
    await browser.send('/profile/data.json');
    const text = await readMail('data_downloaded');
    expect(text).toMatch(/^When: \d+ \w+ \d{4} at \d\d:\d\d GMT\+9$/m);
    // A mailbox that the person has left may be somebody else's by now.
    await sql`insert into mails (id, kind, user_id, recipient, details, created_at, next_attempt_at)
      select gen_random_uuid(), 'email_changed', id, 'left-behind@example.test',
        '{"at": "2026-07-01T12:00:00.000Z"}', now(), now() from users where email = ${email}`.execute(app.db);
    expect(await readMail('email_changed')).toMatch(/^When: 1 July 2026 at 12:00 UTC$/m);
  });

  it.each([
    ['2026-07-01T22:30:00.000Z', '2 July 2026 at 00:30 CEST'],
    ['2026-12-01T22:30:00.000Z', '1 December 2026 at 23:30 CET'],
  ])('in summer and winter: a mail about %s says %s', async (at, said) => {
    await set('Europe/Berlin');
    await sql`delete from mails`.execute(app.db);
    await sql`insert into mails (id, kind, user_id, recipient, details, created_at, next_attempt_at)
      select gen_random_uuid(), 'password_changed', id, email, ${JSON.stringify({ at })}, now(), now()
      from users where email = ${email}`.execute(app.db);
    expect(await readMail('password_changed')).toContain(`When: ${said}\n`);
  });
});

describe('the offer of the browser’s zone (contract 2.171)', () => {
  const offers = async ({ send }: Browser) => (await send('/profile')).text.includes('data-time-zone-offer');

  it('is on the profile, hidden until a script shows it, soon after a login, until a zone is chosen', async () => {
    const browser = await logIn(app.send, email);
    expect((await browser.send('/profile')).text).toMatch(
      /<form method="post" data-time-zone-offer="true" hidden/,
    );
    lagMs = 11 * 60_000;
    expect(await offers(browser)).toBe(false);
    const again = await logIn(app.send, email);
    expect(await offers(again)).toBe(true);
    expect(await saved()).toBe(null);
    await choose(again, 'Europe/Berlin');
    expect(await offers(again)).toBe(false);
  });

  it('adds no step to a launch', async () => {
    const browser = openBrowser(app.send);
    const login = await browser.login(email, undefined, '/login?next=/sso/launch/network_site');
    expect(locationOf(login).pathname).toBe('/go');
    const launch = await browser.send('/sso/launch/network_site');
    expect([launch.status, locationOf(launch).searchParams.has('payload')]).toEqual([303, true]);
  });
});

const readDueAt = async () =>
  (
    await sql<{ deletion_due_at: Date }>`select deletion_due_at from users where email = ${email}`.execute(
      app.db,
    )
  ).rows[0]?.deletion_due_at;

const readMail = (kind: string): Promise<string> =>
  vi.waitFor(
    async () => {
      const { rows } = await sql<{ text: string }>`select kept_text as text from mails
        where kind = ${kind} and kept_text is not null`.execute(app.db);
      expect(rows).toHaveLength(1);
      return rows[0]?.text ?? '';
    },
    { timeout: 10_000 },
  );
