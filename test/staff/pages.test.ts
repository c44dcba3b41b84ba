// The pages on which staff help other people (contract section 12): who sees what, each form, and each refusal.
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Answer, locationOf, openApp, openProductionApp } from '../support/app/app.ts';
import { type Browser, logIn, textOf } from '../support/app/visitor.ts';
import { idOf } from '../support/database/database.ts';
import { addPasskey } from '../support/people/authenticator.ts';
import { addPerson, call, formsOf, openTabs, readData } from '../support/people/staff.ts';
import { enterCode, setUp, showCode } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

let lagMs = 0;
const app = shared(() => openApp({ now: () => new Date(Date.now() + lagMs) }));
beforeEach(() => sql`delete from rate_limits`.execute(app.db));

const html = { accept: 'text/html' };
const admin = 'admin@example.test';
const manager = 'manager@example.test';
const customer = 'customer@example.test';
const merchant = 'merchant@example.test';

const open = (browser: Pick<Browser, 'send'>, path: string) => browser.send(path, { headers: html });
const pathTo = async (email: string, of = app) => `/admin/people/${await idOf(of.db, email)}`;

const openAll = (browser: Browser, path: string) => openTabs((each) => open(browser, each), path);

/** Sends a form of that page as a browser does, and follows the answer. */
async function send(browser: Browser, path: string, fields: Record<string, string>): Promise<Answer> {
  const answer = await browser.send(path, { form: fields, headers: html });
  if (answer.status !== 303) return answer;
  const { pathname, search } = locationOf(answer);
  return open(browser, pathname + search);
}

const why = 'They called, and we know them.';

describe('who sees them', () => {
  it('managers are led from /admin to the search, administrators see the overview, and all find the way on their menu', async () => {
    for (const email of [admin, manager]) {
      const browser = await logIn(app.send, email);
      const first = await open(browser, '/admin');
      if (email === manager) expect(first.headers.get('location')).toBe('/admin/people');
      else expect([first.status, first.text.includes('<h1>Overview')]).toEqual([200, true]);
      for (const path of ['/admin/people', '/admin/audit', await pathTo(customer)]) {
        const answer = await open(browser, path);
        expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
        expect(textOf(answer)).toContain(
          'You are here without a second factor, which only local mode allows.',
        );
        expect(answer.text).not.toMatch(/<script[^>]*>(?!<\/script>)/);
      }
      expect((await open(browser, '/profile')).text).toContain('href="/admin"');
    }
    const other = await logIn(app.send, customer);
    expect((await open(other, '/profile')).text).not.toContain('/admin');
  });

  it('staff whose credential is over 12 hours old log in again, and come back', async () => {
    const browser = await logIn(app.send, manager);
    const path = await pathTo(customer);
    await sql`update sessions set auth_time = auth_time - interval '13 hours' where user_id = ${await browser.whoseId()}`.execute(
      app.db,
    );
    const next = `/login?next=${encodeURIComponent(path)}`;
    const led = (await open(browser, path)).headers.get('location') ?? '';
    expect(led.startsWith(next)).toBe(true);
    // The page asks for a login, although somebody is logged in.
    expect((await open(browser, led)).status).toBe(200);
    const sent = await browser.send(path, { form: { intent: 'suspend' }, headers: html });
    expect(sent.headers.get('location')).toContain(next);
    const back = await browser.login(manager, undefined, led);
    expect(back.headers.get('location')).toBe(path);
    expect((await open(browser, path)).status).toBe(200);
  });
});

describe('the search (contract 11.46)', () => {
  it('lists the people it finds, opens one that it finds alone, and says so if it finds nobody (contract 12.62)', async () => {
    const browser = await logIn(app.send, manager);
    const found = await open(browser, '/admin/people?q=');
    expect([...found.text.matchAll(/data-user-id="([^"]+)"/g)].map(([, id]) => id)).toContain(
      await idOf(app.db, customer),
    );
    expect(found.text).not.toContain('data-more');
    const only = await browser.send(`/admin/people?q=${customer}`);
    expect([only.status, only.headers.get('location')]).toEqual([303, await pathTo(customer)]);
    // The words of this email address are in new-merchant@example.test, too.
    const whole = await browser.send(`/admin/people?q=${merchant.toUpperCase()}`);
    expect(whole.headers.get('location')).toBe(await pathTo(merchant));
    expect(textOf(await open(browser, '/admin/people?q=nobody-has-this'))).toContain('Nobody found');
  });

  it('says that there are more than fifty', async () => {
    await sql`insert into accounts (id, name, created_at)
      select ('0190f5a0-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, 'Many', now() from generate_series(1, 60) n`.execute(
      app.db,
    );
    await sql`insert into users (id, account_id, email, holds_email, name, profile_updated_at, created_at)
      select ('0190f5a0-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, ('0190f5a0-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid,
        'many-' || n || '@example.test', true, 'Many', now(), now() from generate_series(1, 60) n`.execute(
      app.db,
    );
    const cookies = await logIn(app.send, manager);
    // These people can be found within five seconds.
    const page = await vi.waitFor(async () => {
      const page = await open(cookies, '/admin/people?q=many');
      expect([...page.text.matchAll(/data-user-id/g)]).toHaveLength(50);
      return page;
    }, 10_000);
    expect(textOf(page)).toContain('There are more: type more.');
    expect(page.text).toContain('data-more');
  });
});

describe('a person', () => {
  it('has for a manager the forms of a manager, and no network address', async () => {
    await app.send('/login', { form: { email: merchant, password: 'wrong' }, from: '198.51.100.7' });
    const path = await pathTo(merchant);
    const browser = await logIn(app.send, manager);
    // A refused login is recorded after it was answered.
    await expect.poll(async () => textOf(await open(browser, path))).toContain('The password was wrong');
    const ofManager = await openAll(browser, path);
    const ofAdmin = await openAll(await logIn(app.send, admin), path);
    const [few, all] = [formsOf(ofManager), formsOf(ofAdmin)];
    expect([...few.keys()].filter((form) => /role|deletion|keep|email$|freeze|thaw|link/.test(form))).toEqual(
      [],
    );
    expect([...all.keys()]).toEqual(
      expect.arrayContaining(['change-role', 'plan-deletion', 'change-email no']),
    );
    expect(few.has('suspend')).toBe(true);
    expect(few.has('resume')).toBe(false);
    expect(ofManager.text).not.toContain('198.51.100.7');
    expect(textOf(ofAdmin)).toContain('198.51.100.7');
    expect(ofAdmin.text).toMatch(/<pre data-would-get="marketplace">/);
  });

  it('says each reason why they cannot log in, and why a product would get nothing (contract 12.32)', async () => {
    const browser = await logIn(app.send, manager);
    const suspended = await openAll(browser, await pathTo('suspended@example.test'));
    expect(suspended.text).toContain('data-obstacle="suspended"');
    expect(textOf(suspended)).toContain('Nothing. The account is suspended.');
    expect([...formsOf(suspended).keys()]).toContain('resume');
    const unproved = await open(browser, await pathTo('unverified@example.test'));
    expect(unproved.text).toContain('data-obstacle="address_unproved"');
    expect([...formsOf(unproved).keys()]).toContain('send-mail prove-email');
  });

  it('has on each form what to ask before, so that staff know who calls (contract 12.201)', async () => {
    for (const by of [manager, admin]) {
      const { text } = await openAll(await logIn(app.send, by), await pathTo(merchant));
      const forms = [...text.matchAll(/<form [^>]*data-intent="([^"]+)"[^>]*>(.*?)<\/form>/gs)];
      expect(forms.length).toBeGreaterThan(5);
      expect(
        forms.filter(([, , inside = '']) => !inside.includes('data-ask')).map(([, intent]) => intent),
      ).toEqual([]);
    }
  });

  it('takes how staff know the caller as the reason, or as its beginning (contract 12.255, 12.286 and 12.287)', async () => {
    const [browser, { id }] = [await logIn(app.send, admin), await addPerson(app)];
    const path = `/admin/people/${id}`;
    const form = formsOf(await open(browser, path)).get('change-email no') ?? {};
    const { text } = await open(browser, path);
    const [, known = ''] = /name="known" value="([^"]+)"/.exec(text) ?? [];
    const ask = (more: object, n: number) =>
      send(browser, path, { ...form, email: `known-${n}-${id}@example.com`, ...more });
    const nothing = await ask({ why: ' ' }, 0);
    expect([nothing.status, textOf(nothing).includes('Say why in 3 to 500 characters.')]).toEqual([
      422,
      true,
    ]);
    for (const unknown of ['Heard what only the contract says', ' ', known.slice(0, -1)]) {
      const refused = await ask({ known: unknown, why: 'ticket 4711' }, 0);
      expect([refused.status, textOf(refused).includes('Choose one.')]).toEqual([422, true]);
    }
    const long = await ask({ known, why: 'x'.repeat(500) }, 0);
    expect(long.status).toBe(422);
    expect(long.text).toMatch(
      /checked=""[^>]* value="Called back[^"]*"|value="Called back[^"]*"[^>]* checked=""/,
    );
    for (const [n, chosen] of [
      { known, why: '' },
      { known, why: 'ticket 4711' },
      { why: 'ticket 4712' },
      { known: '', why: 'ticket 4713' },
    ].entries()) {
      const { seen = '' } = formsOf(await open(browser, path)).get('change-email no') ?? {};
      expect((await ask({ ...chosen, seen }, n)).status).toBe(200);
    }
    const { rows } = await sql<{ why: string }>`select why from audit_events
      where user_id = ${id} and type = 'staff.change_email' order by at, id`.execute(app.db);
    expect(rows.map(({ why: said }) => said)).toEqual([
      ...[known, `${known}: ticket 4711`, 'ticket 4712', 'ticket 4713'],
    ]);
    // Some acts need no check of who asks for them. Their form asks only for a reason.
    const [, ofSuspend = ''] = /data-intent="suspend"(.*?)<\/form>/s.exec(text) ?? [];
    expect([ofSuspend.includes('name="known"'), ofSuspend.includes('name="why"')]).toEqual([false, true]);
  });

  it('who is staff shows a manager name, address and role, and no form', async () => {
    const page = await openAll(await logIn(app.send, manager), await pathTo(admin));
    expect(textOf(page)).toContain('Only administrators see more');
    expect(formsOf(page).size).toBe(0);
    expect(page.text).not.toContain('data-would-get');
  });

  it('who is oneself has facts and no form', async () => {
    const page = await openAll(await logIn(app.send, admin), await pathTo(admin));
    expect(textOf(page)).toContain('This is you.');
    expect(page.text).toContain('data-would-get');
    expect(formsOf(page).size).toBe(0);
  });

  it('who is not there is 404, also to a form', async () => {
    const browser = await logIn(app.send, admin);
    for (const id of ['0190f5a0-0000-7000-8000-ffffffffffff', 'x', '%00', 'x'.repeat(500)]) {
      expect((await open(browser, `/admin/people/${id}`)).status, id).toBe(404);
      const form = { intent: 'suspend', why, seen: 'x' };
      const sent = await browser.send(`/admin/people/${id}`, { form, headers: html });
      expect(sent.status, id).toBe(404);
    }
  });
});

describe('each form (contract 11.9, 11.47, 11.83 and 12.22)', () => {
  /** The forms are in an order in which each makes sense for its person. */
  const inOrder: [form: string, email: string, typed: Record<string, string>, says: string][] = [
    ['send-mail set-password', customer, {}, 'The mail is on its way.'],
    ['send-mail prove-email', 'unverified@example.test', {}, 'The mail is on its way.'],
    ['suspend', customer, {}, 'The account is suspended.'],
    ['resume', customer, {}, 'The suspension has ended.'],
    ['freeze', customer, {}, 'The account is frozen.'],
    ['thaw', customer, { keep: customer }, 'The account is neither frozen nor suspended'],
    ['end-sessions', merchant, {}, 'They are logged out everywhere.'],
    ['remove-factors', merchant, {}, 'Passkeys, app and recovery codes are gone.'],
    ['change-role', customer, { role: 'manager' }, 'The role has changed.'],
    ['change-role', customer, { role: 'user' }, 'The role has changed.'],
    ['plan-deletion', customer, {}, 'The account will be deleted in 14 days'],
    ['keep', customer, {}, 'The account stays.'],
    ['remove-link m-1', merchant, {}, 'The marketplace account is not connected any more.'],
    [
      'thaw',
      'suspended@example.test',
      { keep: 'suspended@example.test' },
      'The account is neither frozen nor suspended',
    ],
  ];
  let browser: Browser;
  beforeAll(async () => {
    await addPasskey(await logIn(app.send, merchant));
    const id = await idOf(app.db, merchant);
    await sql`insert into external_links (provider, external_id, user_id, created_at)
      values ('marketplace', 'm-1', ${id}, now())`.execute(app.db);
    await sql`update users set frozen_at = suspended_at where email = 'suspended@example.test'`.execute(
      app.db,
    );
    browser = await logIn(app.send, admin);
  });

  it.each(inOrder)('%s of %s', async (name, email, typed, says) => {
    const path = await pathTo(email);
    const form = formsOf(await openAll(browser, path)).get(name);
    expect(form, name).toBeDefined();
    // Contract 12.19.
    expect(form?.seen).toMatch(/^[0-9a-f]{64}$/);
    const answer = await browser.send(path, { form: { ...form, ...typed, why }, headers: html });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${path}?saved=${form?.intent}`]);
    expect(textOf(await open(browser, `${path}?saved=${form?.intent}`))).toContain(says);
    const { rows } = await sql<{ why: string }>`select why from audit_events
      where type = ${`staff.${form?.intent?.replaceAll('-', '_')}`} and user_id = ${await idOf(app.db, email)}`.execute(
      app.db,
    );
    expect(rows.at(-1)?.why).toBe(why);
  });

  it('that finds nothing to do says what is (contract 12.20)', async () => {
    const path = await pathTo(customer);
    const form = formsOf(await open(browser, path)).get('change-role');
    const answer = await send(browser, path, { ...form, role: 'user', why });
    expect(textOf(answer)).toContain('The role has changed.');
  });
});

describe('a refused form', () => {
  let browser: Browser;
  beforeEach(async () => {
    browser = await logIn(app.send, admin);
  });

  it('says what is wrong at its field, and holds what was typed', async () => {
    const path = await pathTo(customer);
    const form = formsOf(await open(browser, path)).get('suspend');
    const answer = await send(browser, path, { ...form, why: 'x"' });
    expect(answer.status).toBe(422);
    expect(textOf(answer)).toContain('Say why in 3 to 500 characters.');
    expect(answer.text).toContain('value="x&quot;"');
    expect(answer.text).toMatch(
      /<details class="disclosure" open="">(?:(?!<\/details>).)*Suspend the account/s,
    );
    const thawed = await send(browser, path, { intent: 'change-role', role: 'king', why, seen: 'x' });
    expect([thawed.status, textOf(thawed).includes('Choose one.')]).toEqual([422, true]);
  });

  it('says that it has changed meanwhile, and shows what is decided now (contract 12.19)', async () => {
    const path = `${await pathTo(merchant)}/rights`;
    const form = formsOf(await open(browser, path)).get('decide');
    const answerOf = (of: typeof form, right: string) => send(browser, path, { ...of, [right]: 'no', why });
    expect((await answerOf(form, 'sell_media_inventory')).status).toBe(200);
    const answer = await answerOf(form, 'sell_products');
    expect(answer.status).toBe(409);
    expect(textOf(answer)).toContain('This has changed since you opened the page');
    for (const [right, now] of [
      ['sell_media_inventory', 'no'],
      ['sell_products', 'yes'],
    ])
      expect(answer.text).toMatch(
        new RegExp(`<input(?=[^>]* name="${right}")(?=[^>]* checked="")[^>]* value="${now}"`),
      );
    const anew = formsOf(answer).get('decide');
    expect(anew?.seen).not.toBe(form?.seen);
    expect((await answerOf(anew, 'sell_products')).status).toBe(200);
  });

  it('says so above, if the page does not have the form any more', async () => {
    const path = await pathTo(customer);
    const form = formsOf(await open(browser, path)).get('suspend');
    expect((await send(browser, path, { ...form, why })).status).toBe(200);
    // A second press sends the same form once more. This form has another reason.
    const answer = await send(browser, path, { ...form, why: `${why} Again.` });
    expect([answer.status, textOf(answer).includes('so nothing was done')]).toEqual([409, true]);
    const resume = formsOf(answer).get('resume');
    expect((await send(browser, path, { ...resume, why })).status).toBe(200);
  });

  it('for something that the role may not do is 403 before any credential is asked for', async () => {
    const ofManager = await logIn(app.send, manager);
    lagMs += 11 * 60_000;
    for (const [email, intent] of [
      [customer, 'plan-deletion'],
      [admin, 'suspend'],
      [manager, 'suspend'],
    ] as const) {
      const answer = await send(ofManager, await pathTo(email), { intent, why, seen: 'x' });
      expect([answer.status, textOf(answer).includes('Your role may not do this')], email).toEqual([
        403,
        true,
      ]);
    }
  });

  it('of resuming somebody frozen is 403 (contract 12.28)', async () => {
    const path = await pathTo('suspended@example.test');
    const before = formsOf(await open(browser, path)).get('suspend');
    await sql`update users set suspended_at = now(), frozen_at = now() where email = 'suspended@example.test'`.execute(
      app.db,
    );
    const { seen = '' } = formsOf(await open(browser, path)).get('thaw') ?? before ?? {};
    expect(seen).not.toBe('');
    const { text } = await browser.send(
      `/trpc/admin.people.get?input=${encodeURIComponent(JSON.stringify({ json: { id: path.split('/').at(-1) } }))}`,
    );
    const form = { intent: 'resume', why, seen: JSON.parse(text).result.data.json.seen.resume };
    const answer = await send(browser, path, form);
    expect([
      answer.status,
      textOf(answer).includes('Nobody can log in until we know who the owner is'),
    ]).toEqual([403, true]);
  });

  it('of the last administrator is 409', async () => {
    // `other` has lost its proved email address and cannot log in, so it acts on the last administrator who can.
    const email = 'new-merchant@example.test';
    await sql`update users set role = 'admin' where email = ${email}`.execute(app.db);
    const other = await logIn(app.send, email);
    await sql`update users set email_verified_at = null where email = ${email}`.execute(app.db);
    const path = await pathTo(admin);
    for (const intent of ['suspend', 'plan-deletion']) {
      const answer = await send(other, path, { ...formsOf(await open(other, path)).get(intent), why });
      expect([answer.status, textOf(answer).includes('Make someone else an administrator first.')]).toEqual([
        409,
        true,
      ]);
    }
    await sql`update users set role = 'user', email_verified_at = now() where email = ${email}`.execute(
      app.db,
    );
  });

  it('with an intent that is none is 400 (contract 11.9)', async () => {
    const answer = await browser.send(await pathTo(customer), { form: { intent: 'x', why }, headers: html });
    expect(answer.status).toBe(400);
  });

  it('after five mails within an hour is 429, and says for how long', async () => {
    const path = await pathTo(customer);
    let sent = 0;
    const mail = async () => {
      const form = formsOf(await open(browser, path)).get('send-mail set-password');
      // Each form has a reason of its own, because the same form within a minute is a second press.
      return send(browser, path, { ...form, why: `${why} ${++sent}` });
    };
    await sql`delete from rate_limits`.execute(app.db);
    while (sent < 5) expect((await mail()).status).toBe(200);
    const answer = await mail();
    expect([answer.status, answer.headers.has('retry-after')]).toEqual([429, true]);
    expect(textOf(answer)).toMatch(/Try again in (60|5\d) minutes/);
  });
});

describe('a change of somebody whose credential is over ten minutes old (contract 12.17)', () => {
  const reasons = ['They called.', 'ü'.repeat(500), '漢'.repeat(500)];

  it.each(reasons)('asks for it, and then is made: %.12s', async (reason) => {
    const browser = await logIn(app.send, manager);
    lagMs += 11 * 60_000;
    const path = await pathTo(customer);
    const form = formsOf(await open(browser, path)).get('send-mail set-password') ?? {};
    const asked = await send(browser, path, { ...form, why: reason });
    expect(asked.status).toBe(401);
    expect(textOf(asked)).toMatch(/Enter your password to send the link \(\S+@\S+\)\./);
    expect(asked.text).toContain(`name="why" value="${reason}"`);
    const wrong = await send(browser, path, { ...form, why: reason, confirmPassword: 'wrong' });
    expect([wrong.status, textOf(wrong).includes('The password is incorrect')]).toEqual([401, true]);
    const confirmPassword = 'local demo password';
    const done = await browser.send(path, { form: { ...form, why: reason, confirmPassword }, headers: html });
    expect(done.headers.get('location')).toBe(`${path}?saved=send-mail`);
  });
});

describe.each([
  ['required', 'Administrators and managers need a second factor.'],
  ['optional', 'You need a second factor to help other people.'],
])('in production, where a second factor is %s to log in', (setting, says) => {
  const real = shared(() => openProductionApp({ IDENTITY_ADMIN_SECOND_FACTOR: setting }));

  it('staff without one set it up first, and come back', async () => {
    const browser = await logIn(real.send, manager);
    const path = await pathTo(customer, real);
    const led = locationOf(await open(browser, path));
    expect([led.pathname, led.searchParams.get('next')]).toEqual(['/profile/authenticator', path]);
    const page = await open(browser, led.pathname + led.search);
    expect(textOf(page)).toContain(says);
    const { secret, codes } = await setUp(browser, Date.now());
    const person = await open(browser, path);
    expect(person.status).toBe(200);
    expect(person.text).not.toContain('without a second factor');

    // Staff who have an app but came in without it must log in again.
    await sql`update sessions set amr = '{pwd}' where user_id = ${await idOf(real.db, manager)}`.execute(
      real.db,
    );
    const again = locationOf(await open(browser, path));
    expect([again.pathname, again.searchParams.get('prompt')]).toEqual(['/login', 'login']);
    const waits = await browser.login(manager, undefined, again.pathname + again.search);
    expect(locationOf(waits).pathname).toBe('/login/code');
    const code = showCode(secret, Date.now() + 30_000);
    const { pathname, search } = locationOf(waits);
    expect((await enterCode(browser, code, pathname + search)).headers.get('location')).toBe(path);
    expect((await open(browser, path)).status).toBe(200);

    // A change asks for password and code on one page, because a password alone is no credential of staff (contract 12.7).
    await sql`update sessions set auth_time = auth_time - interval '11 minutes'`.execute(real.db);
    const form = formsOf(await open(browser, path)).get('suspend') ?? {};
    const asked = await send(browser, path, { ...form, why });
    expect([asked.status, textOf(asked)]).toEqual([
      401,
      expect.stringContaining('Enter your password and a code to suspend the account'),
    ]);
    const confirmPassword = 'local demo password';
    for (const confirmCode of [undefined, '000000']) {
      const given = { ...form, why, confirmPassword, ...(confirmCode && { confirmCode }) };
      expect((await send(browser, path, given)).status).toBe(401);
    }
    expect((await open(browser, path)).text).not.toContain('data-obstacle="suspended"');
    const confirmCode = codes[0] ?? '';
    const done = await browser.send(path, {
      form: { ...form, why, confirmPassword, confirmCode },
      headers: html,
    });
    expect(done.headers.get('location')).toBe(`${path}?saved=suspend`);
    expect((await open(browser, path)).text).toContain('data-obstacle="suspended"');
  });
});

describe('the audit', () => {
  const eventsOf = ({ text }: Answer) => [...text.matchAll(/data-event="([^"]+)"/g)].map(([, type]) => type);

  it('is read by kind, person and staff, in pages of fifty (contract 11.23 and 12.36)', async () => {
    const browser = await logIn(app.send, admin);
    const id = await idOf(app.db, customer);
    const own = await idOf(app.db, admin);
    await open(browser, await pathTo(customer));
    const kinds = eventsOf(await open(browser, '/admin/audit?kind=staff.looked'));
    expect(new Set(kinds)).toEqual(new Set(['staff.looked']));
    const about = await open(browser, `/admin/audit?person=${id}`);
    expect(eventsOf(about).length).toBeGreaterThan(2);
    expect(textOf(about)).toContain('About Casey Customer');
    const by = await open(browser, `/admin/audit?staff=${own}&kind=staff.suspend`);
    expect(textOf(by)).toContain(`By Ada Admin , of the staff`);
    expect(textOf(by)).toContain(`Why: ${why}`);
    expect(eventsOf(await open(browser, '/admin/audit?person=nobody'))).toEqual([]);

    const first = await open(browser, '/admin/audit?looks=yes');
    expect(eventsOf(first)).toHaveLength(50);
    const [, older = ''] = /href="(\/admin\/audit\?looks=yes&amp;before=[^"]+)"/.exec(first.text) ?? [];
    const second = await open(browser, older.replace('&amp;', '&'));
    expect(eventsOf(second).length).toBeGreaterThan(0);
    expect(textOf(second)).toContain('Back to newest');
  });

  it('shows a manager nothing of staff, and no network address (contract 12.36)', async () => {
    await app.send('/login', { form: { email: admin, password: 'wrong' }, from: '198.51.100.8' });
    await app.send('/login', { form: { email: customer, password: 'wrong' }, from: '198.51.100.9' });
    const [id, ofStaff] = [await idOf(app.db, customer), await idOf(app.db, admin)];
    const [few, all] = [await logIn(app.send, manager), await logIn(app.send, admin)];
    const read = async (browser: Browser) => (await open(browser, '/admin/audit?kind=login.refused')).text;
    // A refused login is recorded after it was answered.
    await expect.poll(() => read(all)).toContain('198.51.100.9');
    expect(await read(all)).toContain(ofStaff);
    const text = await read(few);
    expect(text).toContain(id);
    expect(text).not.toContain(ofStaff);
    expect(text).not.toMatch(/198\.51\.100/);

    const browser = {
      ...html,
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/150.0.0.0 Safari/537.36',
    };
    // Only the first time that staff view a person in an hour is recorded.
    await sql`delete from audit_events where type = 'staff.looked'`.execute(app.db);
    for (const path of ['/admin/people?q=casey', await pathTo(customer)])
      await all.send(path, { headers: browser });
    const list = async ({ cookie }: Browser, input: object) =>
      readData(await call(app, 'audit.list', cookie(), input, true)).events;
    expect((await list(all, { kind: 'staff.searched' })).length).toBeGreaterThan(0);
    expect(await list(few, { kind: 'staff.searched' })).toEqual([]);
    const looks = { kind: 'staff.looked', person: id };
    expect((await list(all, looks))[0].device).toBe('Chrome on Linux');
    const [look] = await list(few, looks);
    expect(look).toMatchObject({ device: null, place: null });
  });
});
