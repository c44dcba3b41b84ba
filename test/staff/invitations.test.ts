// Invitations to the staff (contract 12.210 to 12.225), used as intended, and attacked.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { deferMail } from '../../db/tables/mails.ts';
import { sendDueMails } from '../../server/mail/outbox.ts';
import { type Answer, expectRetryAfter, openApp, type TestApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { runCli } from '../support/app/cli.ts';
import { sendPatiently } from '../support/app/patience.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { addPasskey } from '../support/people/authenticator.ts';
import { readToken } from '../support/people/kept-mail.ts';
import { tokenIn } from '../support/people/mail-server.ts';
import {
  addLink,
  addPerson,
  addStaff,
  call,
  formsOf,
  type Person,
  readData,
  readOutcome,
  why,
} from '../support/people/staff.ts';
import { giveCode, readCodes, setUp, showCode, startSetUp } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const newPassword = 'seven quiet lanterns';
const clock = { now: new Date() };
const now = () => clock.now;
const app = shared(() => openApp({ now, env: { IDENTITY_ADMIN_SECOND_FACTOR: 'required' } }));
const closed = shared(() => app.startInstance({ env: { IDENTITY_SIGN_UP: 'closed' } }));
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl, now }));

type Staff = Person & { cookie: string };
let [sender, colleague] = [] as unknown as [Staff, Staff];
beforeEach(async () => {
  clock.now = new Date();
  await sql`update users set role = 'user' where role <> 'user'`.execute(app.db);
  await sql`delete from staff_invitations`.execute(app.db);
  await sql`truncate rate_limits`.execute(app.db);
  [sender, colleague] = [await addStaff(app), await addStaff(app)];
});

let serial = 0;
const newEmail = () => `invited-${serial++}-${Date.now()}@example.test`;

const send = (email: string, { cookie }: { cookie: string } = sender, role = 'manager') =>
  call(app, 'invitations.send', cookie, { email, role, why });

/** The path of the link in the newest of `count` mails. */
const linkTo = async (email: string, count = 1) =>
  `/invitation?token=${await readToken(other, email, 'invitation', count)}`;

async function invite(email: string, by: Staff = sender, role = 'manager'): Promise<string> {
  expect(readOutcome(await send(email, by, role))).toBe('200');
  return linkTo(email);
}

const take = (link: string, browser: Pick<Browser, 'send'> = openBrowser(app.send), name = 'Ina Invited') =>
  browser.send(link, { form: { name, newPassword } });

async function takeNew(link: string, from: TestApp['send'] = app.send): Promise<Browser> {
  const browser = openBrowser(from);
  const taken = await take(link, browser);
  expect([taken.status, taken.headers.get('location')]).toEqual([
    303,
    '/profile/authenticator?next=%2Fadmin',
  ]);
  return browser;
}

const roleOf = async (email: string) =>
  (await sql<{ role: string }>`select role from users where email = ${email} and holds_email`.execute(app.db))
    .rows[0]?.role;

const idOf = async (email: string) =>
  (await sql<{ id: string }>`select id from users where email = ${email}`.execute(app.db)).rows[0]?.id ?? '';

type Listed = { id: string; email: string; role: string; takenBy: string | null; seen: string };
const list = async ({ cookie }: { cookie: string } = sender): Promise<Listed[]> =>
  readData(await call(app, 'invitations.list', cookie, {}, true)).invitations;

const withdraw = async (email: string, { cookie }: { cookie: string } = sender) => {
  const found = (await list()).find((each) => each.email === email);
  return call(app, 'invitations.withdraw', cookie, { id: found?.id ?? '', seen: found?.seen ?? '', why });
};

const warningsOf = async (kind: string) =>
  (
    await sql<{ to: string; details: object }>`select user_id as "to", details - 'at' as details
      from mails where kind = ${kind} order by user_id`.execute(app.db)
  ).rows;
const eventsOf = async (type: string) =>
  (
    await sql<{ userId: string; actorId: string; reason: string; details: object }>`
      select user_id as "userId", actor_id as "actorId", reason, details from audit_events
      where type = ${type} order by at desc, id desc limit 1`.execute(app.db)
  ).rows[0];

/** Returns what the page of the link says. */
async function fateOf(link: string): Promise<string> {
  const page = await app.send(link, { headers: { accept: 'text/html' } });
  return `${page.status} ${/<h1[^>]*>([^<]*)</.exec(page.text)?.[1] ?? ''} ${textOf(page)}`;
}

describe('an invitation', () => {
  it('makes a member of the staff, once password and app are set (contract 12.210, 12.213 to 12.216, 12.219, 12.223 to 12.225)', async () => {
    const email = newEmail();
    await sql`delete from mails`.execute(app.db);
    const path = '/admin/invitations';
    const people = await app.send('/admin/people', { cookie: sender.cookie });
    expect(people.text).toMatch(/<a [^>]*href="\/admin\/invitations">\s*Invite to the staff/);
    const page = await app.send(path, { cookie: sender.cookie });
    const form = { ...formsOf(page).get('invite'), email, role: 'admin', why };
    const sent = await app.send(path, { cookie: sender.cookie, form });
    expect([sent.status, sent.headers.get('location')]).toEqual([303, `${path}?saved=invite`]);
    const [invitation] = await list();
    expect(invitation).toMatchObject({ email, role: 'admin', takenBy: null });
    const { id = '' } = invitation ?? {};
    const all = [sender, colleague].map((each) => each.id);
    const byAdmin = { by: sender.id, role: 'admin' };
    expect(await warningsOf('invitation_sent')).toEqual(
      all.map((to) => ({ to, details: { ...byAdmin, invitation: id } })),
    );
    expect(await eventsOf('staff.invite')).toMatchObject({
      ...{ userId: null, actorId: sender.id },
      details: { invitation: id, role: 'admin' },
    });

    const link = await linkTo(email);
    const { rows: mails } = await sql<{ text: string }>`select kept_text as text from mails
      where kind = 'invitation'`.execute(app.db);
    expect(mails[0]?.text).toContain('has invited you to be an administrator.');
    expect(mails[0]?.text).not.toContain(sender.email);
    for (const method of ['GET', 'HEAD', 'GET']) expect((await app.send(link, { method })).status).toBe(200);
    const first = await app.send(link);
    expect(textOf(first)).toContain(`To be an administrator, as ${email}`);
    expect(first.text).not.toContain(sender.email);
    expect(first.headers.get('referrer-policy')).toBe('no-referrer');

    const browser = await takeNew(link);
    const user = await idOf(email);
    expect(await roleOf(email)).toBe('user');
    expect(await eventsOf('user.created')).toMatchObject({
      ...{ userId: user, reason: 'invitation' },
      details: { invitation: id },
    });
    expect(await warningsOf('invitation_taken')).toEqual(
      all.map((to) => ({ to, details: { by: user, who: user, role: 'admin' } })),
    );
    const listed = textOf(await app.send(path, { cookie: sender.cookie }));
    expect(listed).toContain(`${email} Second factor missing Administrator, invited by Test Person`);
    expect((await browser.send('/admin')).status).toBe(404);
    const factor = await browser.send('/profile/authenticator?next=%2Fadmin');
    expect(textOf(factor)).toContain('You are invited to be an administrator, which needs a second factor.');

    const elsewhere = await logIn(app.send, email, newPassword);
    const { codes } = await setUp(browser, clock.now.getTime());
    expect(codes).toHaveLength(10);
    expect(await roleOf(email)).toBe('admin');
    // The session that gave the code goes on, and is that of staff. The other session has ended.
    expect((await browser.send('/admin/people')).status).toBe(200);
    expect(await elsewhere.whoAmI()).toBeUndefined();
    expect(await warningsOf('role_granted')).toEqual(
      all.map((to) => ({ to, details: { ...byAdmin, who: user, was: 'user' } })),
    );
    expect(await eventsOf('role.taken')).toMatchObject({
      ...{ userId: user, actorId: null },
      details: { invitation: id, role: 'admin' },
    });
    expect(await list()).toEqual([]);
    expect(JSON.stringify((await sql`select * from audit_events`.execute(app.db)).rows)).not.toContain(email);
    const activity = textOf(await browser.send('/profile/activity'));
    expect(activity).toContain('Accepted an invitation to the staff');
    expect(activity).toContain('Got a staff role with an invitation');
    await sendDueMails(other.backend.deps, undefined, new AbortController().signal);
    const readTexts = async () =>
      (
        await sql<{ text: string }>`select kept_text as text from mails
          where kind in ('invitation_sent', 'invitation_taken', 'role_granted') and user_id = ${sender.id}
          order by created_at, id`.execute(app.db)
      ).rows.map(({ text }) => text);
    // An instance may be sending the mails already.
    await expect
      .poll(readTexts, { timeout: 10_000 })
      .toEqual([
        expect.stringContaining('has been invited to be an administrator'),
        expect.stringContaining(`${email} has created an account with an invitation to be an administrator.`),
        expect.stringContaining(`${email} is now an administrator. Before, the role was customer.`),
      ]);
  });

  it('gives the role with a passkey, which must be given before anything of staff (contract 12.4 and 12.216)', async () => {
    const email = newEmail();
    const browser = await takeNew(await invite(email));
    await logIn(app.send, email, newPassword);
    await addPasskey(browser);
    expect(await roleOf(email)).toBe('manager');
    const { rows } =
      await sql`select from sessions where user_id = ${await idOf(email)} and ended_at is null`.execute(
        app.db,
      );
    expect(rows).toHaveLength(1);
    const { status, headers } = await browser.send('/admin/people');
    expect([status, headers.get('location')?.split('?')[0]]).toEqual([303, '/profile/authenticator']);
  });

  it('works where nobody can sign up, and in local mode without a required factor', async () => {
    const email = newEmail();
    const browser = await takeNew(await invite(email), closed.send);
    await setUp(browser, clock.now.getTime());
    expect(await roleOf(email)).toBe('manager');
  });

  it('is sent, listed and withdrawn by command (contract 12.37, 12.47, 12.221 and 12.222)', async () => {
    const email = newEmail();
    const run = async (...args: string[]) => {
      const { code, out, err } = await runCli(app.databaseUrl, args);
      return { code, out: out.trim(), err: err.trim() };
    };
    expect(await run('user:invite', email, '--role', 'admin')).toMatchObject({ code: 2 });
    expect(await run('user:invite', email, '--role', 'user', '--why', why)).toMatchObject({ code: 2 });
    expect(await run('user:invite', 'nobody', '--role', 'admin', '--why', why)).toMatchObject({ code: 2 });
    expect(await run('user:invite', sender.email, '--role', 'admin', '--why', why)).toMatchObject({
      code: 1,
      err: expect.stringContaining('Somebody has this address already'),
    });
    const sent = await run('user:invite', email, '--role', 'admin', '--why', why, '--json');
    const [invitation] = await list();
    expect(JSON.parse(sent.out)).toEqual({
      ...{ done: true, intent: 'invite', id: email },
      ...{ invitation: invitation?.id, role: 'admin' },
    });
    const { out } = await run('invitations', '--json');
    expect(JSON.parse(out)).toMatchObject({ id: invitation?.id, email, role: 'admin', invitedBy: null });
    expect((await run('invitations')).out).toMatch(new RegExp(`^\\S+ {2}${email} {2}admin {2}\\S+ {2}sent$`));
    const withdrawn = await run('invitation:withdraw', invitation?.id ?? '', '--why', why);
    expect(withdrawn).toEqual({ code: 0, out: 'The invitation is withdrawn.', err: '' });
    const again = await run('invitation:withdraw', invitation?.id ?? '', '--why', why);
    expect(again).toMatchObject({ code: 1, err: 'No invitation with this id is open.' });
    expect(await run('invitations')).toMatchObject({ out: 'No invitation is open.' });
  });
});

describe('an address', () => {
  it('that an account has, or can have back, is refused with a link to the person (contract 12.211)', async () => {
    const person = await addPerson(app);
    const path = '/admin/invitations';
    expect(readOutcome(await send(person.email.toUpperCase()))).toBe('409 email_in_use');
    expect(readOutcome(await send('nobody'))).toBe('422 validation_failed');
    expect(readOutcome(await send(newEmail(), sender, 'user'))).toBe('422 validation_failed');
    const browser = openBrowser(app.send, sender.cookie);
    const page = await browser.send(path);
    browser.jar.set('identity_browser', 'B'.repeat(43));
    const form = { ...formsOf(page).get('invite'), email: person.email, role: 'admin', why };
    const headers = { accept: 'text/html' };
    const refused = await browser.send(path, { form, headers });
    const shown = await browser.send(refused.headers.get('location') ?? '', { headers });
    expect(shown.status).toBe(409);
    expect(textOf(shown)).toContain('Somebody has this address already');
    expect(shown.text).toContain(`href="/admin/people/${person.id}"`);
    const earlier = newEmail();
    await sql`insert into reserved_addresses (email, user_id, expires_at)
      values (${earlier}, ${person.id}, now() + interval '1 day')`.execute(app.db);
    expect(readOutcome(await send(earlier))).toBe('409 email_in_use');
    expect(await list()).toEqual([]);
  });

  it('that gets an account between mail and link keeps it as it is (contract 12.214)', async () => {
    const email = newEmail();
    const link = await invite(email, sender, 'admin');
    await app.send('/signup', { form: { name: 'Sam', email } });
    const token = await readToken(other, email, 'sign_up', 2);
    const owner = openBrowser(app.send);
    expect(
      (await owner.send(`/signup/confirm?token=${token}`, { form: { name: 'Sam', newPassword } })).status,
    ).toBe(303);
    expect(await fateOf(link)).toContain('200 You already have an account');
    const taken = await take(link);
    expect([taken.status, textOf(taken)]).toEqual([
      409,
      expect.stringContaining('You already have an account'),
    ]);
    await setUp(owner, clock.now.getTime());
    expect(await roleOf(email)).toBe('user');
  });

  it('that is invited again has one link that works, the newest (contract 12.212)', async () => {
    const email = newEmail();
    const first = await invite(email, sender, 'admin');
    expect(readOutcome(await send(email, colleague))).toBe('200');
    const second = await linkTo(email, 2);
    expect(await fateOf(first)).toMatch(/^404 There is a newer link .*You were invited again/);
    expect((await take(first)).status).toBe(404);
    expect(await list()).toHaveLength(1);
    await setUp(await takeNew(second), clock.now.getTime());
    expect(await roleOf(email)).toBe('manager');
  });
});

describe('an invitation attacked', () => {
  it('is taken once, however often it is sent, and 16 at once take one', async () => {
    const email = newEmail();
    const link = await invite(email);
    const answers = await sendPatiently(Array.from({ length: 16 }, () => () => take(link)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect(statuses.filter((status) => status !== 303).every((status) => [404, 409].includes(status))).toBe(
      true,
    );
    expect(await fateOf(link)).toContain('404 You have already used this link');
    expect((await take(link)).status).toBe(404);
    const { rows } = await sql`select from users where email = ${email}`.execute(app.db);
    expect(rows).toHaveLength(1);
    const inside = answers.find(({ status }) => status === 303) as Answer;
    const browser = openBrowser(app.send);
    for (const line of inside.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      browser.jar.set(name, value);
    }
    // 16 requests at the same time set up one app. The role is given only one time.
    await sql`delete from mails where kind = 'role_granted'`.execute(app.db);
    const code = showCode(await startSetUp(browser), clock.now.getTime());
    const set = await sendPatiently(Array.from({ length: 16 }, () => () => giveCode(browser, code)));
    expect(set.filter((answer) => readCodes(answer).length === 10)).toHaveLength(1);
    expect(await roleOf(email)).toBe('manager');
    expect(await warningsOf('role_granted')).toHaveLength(2);
    const { rows: given } = await sql`select from audit_events where type = 'role.taken'
      and user_id = ${await idOf(email)}`.execute(app.db);
    expect(given).toHaveLength(1);
  });

  it.each(['invitedAt', 'time'])('is told of by a mail of an earlier version, with its %s', async (name) => {
    const details = { [name]: '2026-01-02T03:04:00.000Z', by: 'command', role: 'admin' };
    const recipient = newEmail();
    await inTransaction(app.db, { by: 'service' }, async (trx) => {
      deferMail(trx, { kind: 'invitation_sent', userId: sender.id, recipient, details, now: clock.now });
    });
    const readText = async () => {
      await sendDueMails(other.backend.deps, undefined, new AbortController().signal);
      const { rows } = await sql<{ text: string | null }>`select kept_text as text from mails
        where recipient = ${recipient}`.execute(app.db);
      return rows[0]?.text;
    };
    await expect.poll(readText, { timeout: 10_000 }).toContain('2 January 2026 at 03:04 UTC');
  });

  it('sent 16 times at once to one address has one link that works', async () => {
    const email = newEmail();
    const sent = await sendPatiently(Array.from({ length: 16 }, () => () => send(email)));
    expect(new Set(sent.map(readOutcome))).toEqual(new Set(['200']));
    expect(await list()).toHaveLength(1);
    await sendDueMails(other.backend.deps, undefined, new AbortController().signal);
    const { rows } = await sql<{ text: string }>`select kept_text as text from mails
      where kind = 'invitation' and recipient = ${email} and kept_text is not null`.execute(app.db);
    const links = rows.map(({ text }) => `/invitation?token=${tokenIn({ text }, '/invitation')}`);
    const fates = await Promise.all(links.map(async (link) => (await app.send(link)).status));
    expect(fates.filter((status) => status === 200)).toHaveLength(1);
  });

  it('taken or replaced while others do, gives no more than one account and one role', async () => {
    const email = newEmail();
    const link = await invite(email);
    const answers = await sendPatiently(
      Array.from({ length: 16 }, (_, at) => () => (at % 2 === 0 ? take(link) : send(email))),
    );
    const took = answers.filter(({ status }, at) => at % 2 === 0 && status === 303);
    const outcomes = answers.filter((_, at) => at % 2 === 1).map(readOutcome);
    expect(took.length).toBeLessThanOrEqual(1);
    expect(outcomes.every((outcome) => ['200', '409 email_in_use'].includes(outcome))).toBe(true);
    const [open, ...more] = await list();
    expect(more).toEqual([]);
    expect(open?.takenBy).toBe(took.length === 1 ? await idOf(email) : null);
  });

  it.each([
    ['has lost the role', sql`role = 'manager'`],
    ['is suspended', sql`suspended_at = now()`],
    ['is frozen', sql`suspended_at = now(), frozen_at = now()`],
    ['is leaving', sql`deletion_due_at = now() + interval '9 days'`],
  ])(
    'gives nothing once the sender %s, before or after the link is used (contract 12.218)',
    async (_, change) => {
      const [unused, used, kept] = [newEmail(), newEmail(), newEmail()];
      const link = await invite(unused, sender, 'admin');
      const browser = await takeNew(await invite(used, sender, 'admin'));
      await invite(kept, colleague);
      await sql`update users set ${change} where id = ${sender.id}`.execute(app.db);
      // The sender gets their role back and is not suspended any more, but the invitation does not come back.
      await sql`update users set role = 'admin', suspended_at = null, frozen_at = null, deletion_due_at = null
      where id = ${sender.id}`.execute(app.db);
      expect(await fateOf(link)).toMatch(/^404 .*The invitation has ended/);
      expect((await take(link)).status).toBe(404);
      await setUp(browser, clock.now.getTime());
      expect(await roleOf(used)).toBe('user');
      expect((await list(colleague)).map(({ email }) => email)).toEqual([kept]);
    },
  );

  it('stays if only the password of the sender changes', async () => {
    const email = newEmail();
    const link = await invite(email);
    await sql`update users set password_hash = 'another' where id = ${sender.id}`.execute(app.db);
    await setUp(await takeNew(link), clock.now.getTime());
    expect(await roleOf(email)).toBe('manager');
  });

  it('gives nothing to a reader of the mailbox who did not use the link (contract 12.217)', async () => {
    const email = newEmail();
    const browser = await takeNew(await invite(email, sender, 'admin'));
    await app.send('/forgot-password', { form: { email } });
    const token = await readToken(other, email, 'set_password', 2);
    const reader = openBrowser(app.send);
    const set = await reader.send(`/set-password?token=${token}`, {
      form: { newPassword: 'eight louder lanterns' },
    });
    expect(set.status).toBe(303);
    await setUp(reader, clock.now.getTime());
    expect(await roleOf(email)).toBe('user');
    expect(await browser.whoAmI()).toBeUndefined();
    expect(await list()).toEqual([]);
  });

  it('gives the reader of the mailbox nothing later, without the factor (contract 2.22)', async () => {
    const email = newEmail();
    await setUp(await takeNew(await invite(email, sender, 'admin')), clock.now.getTime());
    // The mail about the app has a link that takes the account back. The page of this link asks for a code from the app.
    await sendDueMails(other.backend.deps, undefined, new AbortController().signal);
    const { rows } = await sql<{ text: string }>`select kept_text as text from mails
      where recipient = ${email} and kind = 'authenticator_added'`.execute(app.db);
    const [link = ''] = /\/take-back\?token=\S+/.exec(rows[0]?.text ?? '') ?? [];
    const reader = openBrowser(app.send);
    const refused = await reader.send(link, { form: { newPassword: 'eight louder lanterns' } });
    expect([refused.status, textOf(refused)]).toEqual([
      422,
      expect.stringMatching(/code from your authenticator app/),
    ]);
    expect(await reader.whoAmI()).toBeUndefined();
  });

  it('gives no role after 24 hours, even if the link was used in time (contract 12.212 and 12.215)', async () => {
    const [unused, used] = [newEmail(), newEmail()];
    const link = await invite(unused);
    const browser = await takeNew(await invite(used));
    clock.now = new Date(clock.now.getTime() + 24 * 60 * 60 * 1_000);
    expect(await fateOf(link)).toMatch(/^404 This link has expired .*works for 24 hours/);
    expect((await take(link)).status).toBe(404);
    expect(await list(await addStaff(app, 'admin', { authTime: clock.now }))).toEqual([]);
    await browser.login(used, newPassword);
    await setUp(browser, clock.now.getTime());
    expect(await roleOf(used)).toBe('user');
  });

  it('gives nothing once it is withdrawn, before or after the link is used (contract 12.222)', async () => {
    const [unused, used] = [newEmail(), newEmail()];
    const link = await invite(unused);
    const browser = await takeNew(await invite(used));
    for (const email of [unused, used])
      expect(readData(await withdraw(email, colleague))).toEqual({ done: true });
    expect(await eventsOf('staff.withdraw_invitation')).toMatchObject({ actorId: colleague.id });
    expect(await fateOf(link)).toMatch(/^404 This link no longer works .*The invitation was withdrawn/);
    expect((await take(link)).status).toBe(404);
    await setUp(browser, clock.now.getTime());
    expect(await roleOf(used)).toBe('user');
    // The email address can be invited again.
    expect(readOutcome(await send(unused))).toBe('200');
    await takeNew(await linkTo(unused, 2));
  });

  it('that is withdrawn before its mail leaves sends none', async () => {
    const email = newEmail();
    await send(email);
    await withdraw(email);
    const { rows } = await sql`select from mails where recipient = ${email} and sent_at is null`.execute(
      app.db,
    );
    expect(rows).toEqual([]);
  });

  it('gives no role to somebody whom the marketplace lets in, or who changed meanwhile', async () => {
    const [linked, moved, demoted] = [newEmail(), newEmail(), newEmail()];
    const browsers = [];
    for (const email of [linked, moved, demoted]) browsers.push(await takeNew(await invite(email)));
    await addLink(app.db, { id: await idOf(linked) }, null);
    const away = newEmail();
    await sql`update users set email = ${away} where email = ${moved}`.execute(app.db);
    await sql`update users set role = 'manager' where email = ${demoted}`.execute(app.db);
    await sql`update users set role = 'user' where email = ${demoted}`.execute(app.db);
    for (const browser of browsers) await setUp(browser, clock.now.getTime());
    expect([await roleOf(linked), await roleOf(away), await roleOf(demoted)]).toEqual([
      'user',
      'user',
      'user',
    ]);
  });

  it('is for administrators alone (contract 12.210)', async () => {
    const manager = await addStaff(app, 'manager');
    await send(newEmail());
    expect(readOutcome(await send(newEmail(), manager))).toBe('404 not_found');
    expect(readOutcome(await call(app, 'invitations.list', manager.cookie, {}, true))).toBe('404 not_found');
    expect(readOutcome(await withdraw((await list())[0]?.email ?? '', manager))).toBe('404 not_found');
    expect((await app.send('/admin/invitations', { cookie: manager.cookie })).status).toBe(404);
    const form = { intent: 'invite', email: newEmail(), role: 'admin', why, seen: 'x' };
    expect((await app.send('/admin/invitations', { cookie: manager.cookie, form })).status).toBe(404);
    const people = await app.send('/admin/people', { cookie: manager.cookie });
    expect(people.text).not.toContain('/admin/invitations');
    expect(await list()).toHaveLength(1);
  });

  it('is in no audit of a manager, also by command (contract 12.36 and 12.210)', async () => {
    const [manager, email] = [await addStaff(app, 'manager'), newEmail()];
    await runCli(app.databaseUrl, ['user:invite', email, '--role', 'admin', '--why', 'secret words']);
    clock.now = new Date();
    await takeNew(await linkTo(email));
    const [invitation] = await list();
    await runCli(app.databaseUrl, ['invitation:withdraw', invitation?.id ?? '', '--why', 'secret words']);
    const read = async ({ cookie }: Pick<Staff, 'cookie'>, kind?: string): Promise<{ type: string }[]> =>
      readData(await call(app, 'audit.list', cookie, kind ? { kind } : {}, true)).events;
    for (const kind of ['staff.invite', 'staff.withdraw_invitation']) {
      expect((await read(sender, kind))[0]).toMatchObject({ type: kind, why: 'secret words' });
      expect(await read(manager, kind)).toEqual([]);
    }
    const id = await idOf(email);
    const person = readData(await call(app, 'people.get', manager.cookie, { id }, true));
    const created = [...(await read(manager, 'user.created')), ...person.activity];
    expect(created.length).toBeGreaterThan(1);
    expect(JSON.stringify([created, await read(manager)])).not.toMatch(
      new RegExp(`secret words|${invitation?.id}`),
    );
    expect(JSON.stringify(await read(sender, 'user.created'))).toContain(invitation?.id);
  });

  it('can be sent 20 times a day by each administrator, even 24 at once (contract 12.220)', async () => {
    const sent = await sendPatiently(Array.from({ length: 24 }, () => () => send(newEmail())));
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(20);
    const refused = await send(newEmail());
    expect(readOutcome(refused)).toBe('429 rate_limited');
    expectRetryAfter(refused, 24 * 60 * 60);
    expect(readOutcome(await send(newEmail(), colleague))).toBe('200');
    expect(await list()).toHaveLength(21);
  });

  it('ends with the sender, the invited person, and a restore of the database (contract 12.218)', async () => {
    const [one, two, three] = [newEmail(), newEmail(), newEmail()];
    await takeNew(await invite(one));
    await invite(two, colleague);
    const { code } = await runCli(app.databaseUrl, ['user:delete', one, '--now', '--yes']);
    expect(code).toBe(0);
    expect((await list()).map(({ email }) => email)).toEqual([two]);
    await runCli(app.databaseUrl, ['user:delete', colleague.email, '--now', '--yes']);
    expect(await list()).toEqual([]);
    const link = await invite(three);
    const restored = await runCli(app.databaseUrl, ['database:restored', '--yes']);
    expect(restored).toMatchObject({ code: 0 });
    expect(await fateOf(link)).toMatch(/^404 This link no longer works/);
    const { rows } = await sql`select from staff_invitations`.execute(app.db);
    expect(rows).toEqual([]);
  });
});
