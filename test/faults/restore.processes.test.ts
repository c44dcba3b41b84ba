// After a restore (docs/operate/backups.md), nothing is accepted that was used up, ended or changed between the backup and the
// restore.
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type Answer, codeOf, locationOf, openApp, type TestApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { type Browser, cookieOf, isLoggedIn, openBrowser } from '../support/app/visitor.ts';
import { buildSignup, pushSignup, sendSignup } from '../support/crm/crm.ts';
import { countRows } from '../support/database/database.ts';
import { backUpDatabase } from '../support/database/postgres.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { listNotices } from '../support/people/kept-mail.ts';
import { tokenIn } from '../support/people/mail-server.ts';
import { shared } from '../support/run/shared.ts';

const newPassword = 'quite another long password';

let lagMs = 0;
/** The secrets and messages that people and systems have when the database is restored. */
let old: Awaited<ReturnType<typeof collect>>;

const app = shared(() => openApp({ now: () => new Date(Date.now() + lagMs) }));
const other = shared(() => app.startInstance());
beforeAll(async () => {
  old = await collect();
});

const sixteen = (request: (send: TestApp['send']) => Promise<Answer>) =>
  Promise.all(Array.from({ length: 16 }, (_, at) => request((at % 2 ? app : other).send)));

const countStatuses = (answers: Answer[]) => answers.map(({ status }) => status).sort();

async function expectAllRefused(handOff: string): Promise<void> {
  for (const answer of await sixteen((send) => send(handOff)))
    expect([answer.status, codeOf(answer)]).toEqual([401, 'payload_expired']);
}

async function untilReady(): Promise<void> {
  for (const { send } of [app, other])
    await vi.waitFor(async () => expect((await send('/readyz')).status).toBe(200), 10_000);
}

/** The texts of the mails that were sent to this address with a link, newest first. */
async function listLetters(recipient: string) {
  const { rows } = await sql<{ text: string; subject: string; recipient: string }>`
    select kept_text as text, kept_subject as subject, recipient from mails
    where recipient = ${recipient} and kind = 'set_password' and kept_text is not null
    order by created_at desc`.execute(app.db);
  return rows;
}

/** Asks for a mail with which one sets a password. Returns the token in that mail. */
async function askForPassword(email: string): Promise<string> {
  const { length } = await listLetters(email);
  expect((await app.send('/forgot-password', { form: { email } })).status).toBeLessThan(400);
  return vi.waitFor(async () => {
    const [newest, ...others] = await listLetters(email);
    expect(others).toHaveLength(length);
    return tokenIn(newest ?? {}, '/set-password');
  }, 10_000);
}

const setPassword = (send: TestApp['send'], token: string) =>
  send(`/set-password?token=${token}`, { form: { token, newPassword } });

/**
 * Opens a hand-off in a browser, which asks whether to continue. Returns the browser, the path of the question, and the cookies
 * at that moment.
 */
async function openPending(id: string): Promise<{ browser: Browser; page: string; cookie: string }> {
  const browser = openBrowser(app.send);
  const { pathname, search } = locationOf(await browser.send(await buildHandOff(app, { id })));
  expect(pathname).toBe('/continue');
  return { browser, page: pathname + search, cookie: browser.cookie() };
}

/**
 * Makes a hand-off to a demo client, which has not received it yet. Returns it with the cookie of the browser that asked for
 * it.
 */
async function launchDemo(): Promise<{ url: string; attempt: string }> {
  const start = await app.send('/demo/crm_app/login');
  const cookie = await app.login('merchant@example.test');
  const launched = locationOf(await app.send(start.headers.get('location') ?? '', { cookie }));
  return { url: launched.pathname + launched.search, attempt: cookieOf(start) };
}

const invoiceNumber = async () =>
  (await sql<{ n: number }>`select last_number::int as n from invoice_numbers`.execute(app.db)).rows[0]?.n;

const readProfile = async (cookie: string) =>
  JSON.parse((await app.send('/sso/profile', { cookie })).text) as {
    name: string;
    profile_updated_at: string;
  };

/** Makes a backup, uses up what it holds, and restores it. */
async function collect() {
  const session = await app.login('customer@example.test');
  const token = await askForPassword('manager@example.test');
  const pending = await openPending('waits');
  // In this browser the user of the hand-off was the last to log in.
  const known = await openPending('known');
  await known.browser.send(known.page, { form: {} });
  known.browser.jar.delete('identity_session');
  // These mails wait for the mail server: two with links, and a notice.
  await sql`insert into mails (id, kind, user_id, recipient, created_at, next_attempt_at)
    select gen_random_uuid(), kind, id, email, now(), now() + interval '1 hour'
    from users, unnest(array['welcome', 'verify_email', 'password_set']) kind
    where email = 'admin@example.test'`.execute(app.db);
  await sql`update users set deletion_due_at = now() + interval '1 minute'
    where email = 'new-merchant@example.test'`.execute(app.db);
  const backup = await backUpDatabase(app.databaseUrl);
  await untilReady();

  const handOffs = {
    used: await buildHandOff(app, { id: 'used' }),
    usedToo: await buildHandOff(app, { id: 'used-too' }),
    unused: await buildHandOff(app, { id: 'unused' }),
  };
  for (const path of [handOffs.used, handOffs.usedToo]) expect((await app.send(path)).status).toBe(303);
  const edit = { cookie: session, json: { json: { name: 'Lost Name' } } };
  expect((await app.send('/trpc/profile.update', edit)).status).toBe(200);
  const lostProfile = await readProfile(session);
  expect(lostProfile.name).toBe('Lost Name');
  expect((await app.send('/logout', { method: 'POST', cookie: session })).status).toBe(303);
  expect((await setPassword(app.send, token)).status).toBe(303);
  expect((await pending.browser.send(pending.page, { form: {} })).status).toBe(303);
  const demo = await launchDemo();
  expect((await app.send(demo.url, { cookie: demo.attempt })).status).toBe(303);
  const lostSession = await app.login('customer@example.test');
  const signup = buildSignup('lost-signup');
  await pushSignup(app, signup);

  await backup.restore();
  await untilReady();
  return { session, lostSession, token, pending, known, handOffs, demo, lostProfile, signup };
}

it('a restored database knows nothing of what was used up or ended since: it takes the command', async () => {
  expect(await isLoggedIn(app.send, old.session)).toBe(true);
  expect((await app.send(`/set-password?token=${old.token}`)).status).toBe(200);
  expect((await app.send(old.pending.page, old.pending)).status).toBe(200);
  expect((await app.send(old.handOffs.usedToo)).status).toBe(303);
});

describe('after database:restored (contract 9.110)', () => {
  beforeAll(async () => {
    const outcome = await runCli(app.databaseUrl, ['database:restored', '--last-invoice', '41']);
    expect(outcome).toMatchObject({ code: 0, err: '' });
    expect(outcome.out).toMatch(
      /^In the database \w+ at this machine:\d+ nothing from before now can be used: [1-9]\d* sessions ended, 3 emails with links withdrawn, and the keys that sign ID tokens revoked\. The next invoice is number 42\. People erased since the backup are back: erase them again with user:delete --now, .*\n$/,
    );
  });

  it('no hand-off from before is accepted, used or not, and none of 16 at once (contract 9.111)', async () => {
    await expectAllRefused(old.handOffs.used);
    await expectAllRefused(old.handOffs.unused);
    // This hand-off is dated by a clock that is 25 seconds fast. A clock may be up to 30 seconds fast.
    const { rows } = await sql<{ at: Date }>`select at from restores`.execute(app.db);
    const issuedAt = new Date((rows[0]?.at.getTime() ?? 0) + 25_000);
    await expectAllRefused(await buildHandOff(app, { id: 'fast-clock' }, issuedAt));
    const { text } = await app.send(old.handOffs.used);
    expect(JSON.parse(text).detail).toContain('before we restored our service');
    const reasons = app.logged.filter(({ message }) => message === 'hand-off refused');
    expect(reasons.at(-1)?.fields).toMatchObject({ code: 'payload_expired', reason: 'iat before restore' });
  });

  // Contract 9.111.
  it('nobody is logged in', async () => {
    for (const cookie of [old.session, old.lostSession])
      expect(await isLoggedIn(other.send, cookie)).toBe(false);
    expect(await isLoggedIn(other.send, await app.login('customer@example.test'))).toBe(true);
  });

  it('no link in a mail from before works, and none that waited is sent (contract 9.111)', async () => {
    expect((await app.send(`/set-password?token=${old.token}`)).status).toBe(404);
    expect(countStatuses(await sixteen((send) => setPassword(send, old.token)))).toEqual(Array(16).fill(404));
    const { rows } = await sql<{ kind: string }>`select kind from mails
      where recipient = 'admin@example.test' and sent_at is null`.execute(app.db);
    expect(rows.map(({ kind }) => kind)).toEqual(['password_set']);
  });

  it('no click on /continue from before starts a session (contract 9.111)', async () => {
    const { page, cookie } = old.pending;
    const answers = await sixteen((send) => send(page, { cookie, form: {} }));
    expect(countStatuses(answers)).toEqual(Array(16).fill(404));
  });

  it('no demo client accepts a hand-off from before', async () => {
    const { url, attempt: cookie } = old.demo;
    const answers = await sixteen((send) => send(url, { cookie }));
    expect(countStatuses(answers)).toEqual(Array(16).fill(401));
    for (const { text } of answers) expect(text).toContain('<code>expired</code>');
  });

  it('every profile counts as changed, so that clients drop what they were handed and is lost (contract 9.111)', async () => {
    const profile = await readProfile(await app.login('customer@example.test'));
    expect(profile.name).not.toBe('Lost Name');
    expect(profile.profile_updated_at > old.lostProfile.profile_updated_at).toBe(true);
  });

  it('the numbers of invoices that somebody has are not given again', async () => {
    expect(await invoiceNumber()).toBe(41);
    // The next number never gets lower. It does not change if the command gets no number.
    const restored = (...args: string[]) => runCli(app.databaseUrl, ['database:restored', ...args]);
    const lower = await restored('--last-invoice', '7');
    expect([lower.code, lower.out]).toEqual([0, expect.stringContaining('\n7 changed nothing, because 41 ')]);
    const none = await restored();
    expect([none.code, none.out]).toEqual([
      0,
      expect.stringContaining('\nNo --last-invoice was given for the numbers that go on with 42: '),
    ]);
    expect(await invoiceNumber()).toBe(41);
  });

  it('nobody is erased soon, because they may have changed their mind, and they are told (contract 9.113)', async () => {
    const { rows } = await sql<{
      days: number;
    }>`select round(extract(epoch from deletion_due_at - now()) / 86400)::int as days
      from users where email = 'new-merchant@example.test'`.execute(app.db);
    expect(rows).toEqual([{ days: 14 }]);
    expect(await listNotices(app.db, 'new-merchant@example.test')).toContain('deletion_requested');
  });

  it('leaves an audit event', async () => {
    const { rows } = await sql<{ details: unknown }>`select details from audit_events
      where type = 'database.restored' order by id limit 1`.execute(app.db);
    expect(rows[0]?.details).toMatchObject({ by: 'cli', lastInvoice: 41, mails: 3, pendingHandOffs: 2 });
  });

  describe('what is new works, once', () => {
    // Hand-offs may come from a clock that is 30 seconds fast, so the test moves its own clock on by 31 seconds.
    beforeAll(() => {
      lagMs = 31_000;
    });
    const issuedAt = () => new Date(Date.now() + lagMs);

    it('a hand-off, and in a browser that was known it asks (contract 9.111)', async () => {
      const path = await buildHandOff(app, { id: 'known' }, issuedAt());
      const { browser } = old.known;
      const answers = await sixteen((send) => send(path, { cookie: browser.cookie() }));
      expect(countStatuses(answers)).toEqual([303, ...Array(15).fill(409)]);
      const accepted = answers.find(({ status }) => status === 303) as Answer;
      expect(locationOf(accepted).pathname).toBe('/continue');
    });

    it('a hand-off to a demo client', async () => {
      const { url, attempt: cookie } = await launchDemo();
      const answers = await sixteen((send) => send(url, { cookie }));
      expect(countStatuses(answers)).toEqual([303, ...Array(15).fill(409)]);
    });

    it('a link in a mail', async () => {
      const token = await askForPassword('manager@example.test');
      expect(token).not.toBe(old.token);
      const answers = await sixteen((send) => setPassword(send, token));
      expect(countStatuses(answers)).toEqual([303, ...Array(15).fill(404)]);
    });

    it('a signup that was acknowledged and lost, sent again (contract 9.114)', async () => {
      const answers = await sixteen((send) =>
        sendSignup({ send, config: app.config }, old.signup, { at: issuedAt() }),
      );
      expect(countStatuses(answers)).toEqual([...Array(15).fill(200), 201]);
      expect(await countRows(app.db, 'service_contracts')).toBe(1);
    });
  });
});
