// A new address for somebody who lost their mailbox: what ends the offer, what thieves can do, and every kind of factor.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { sweep } from '../../server/doors/jobs/sweep.ts';
import { describePendingNewAddress } from '../../server/identity/recovery/new-address.ts';
import { sendDueMails } from '../../server/mail/outbox.ts';
import { locationOf } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { dayMs, newPassword, password, shareAddressChanges } from '../support/people/address-changes.ts';
import { addPasskey, createAuthenticator, logInByPasskey } from '../support/people/authenticator.ts';
import { listNotices, readToken } from '../support/people/kept-mail.ts';
import { expectDead, offer, offerAfterMonth, offeredLink, offerTo } from '../support/people/new-addresses.ts';
import { answerWith, linkOf } from '../support/people/take-backs.ts';
import { setUp, showCode, wrongCode } from '../support/people/totp-app.ts';

const changes = shareAddressChanges();
const form = { newPassword };
const json = { accept: 'application/json' };
const now = () => changes.clock.now.getTime();
const open = () => openBrowser(changes.app.send);
const pending = (id: string) => describePendingNewAddress(changes.app.db, id, changes.clock.now);

const count = async (query: ReturnType<typeof sql>) => (await query.execute(changes.app.db)).rows.length;

const lose = () => offerAfterMonth(changes);

/** Opens a browser of a user whose email address was only typed at the marketplace. */
async function type() {
  const email = changes.newEmail();
  const browser = open();
  const person = { id: `typed-${email}`, email, emailVerified: false };
  const { pathname, search } = locationOf(await browser.send(await buildHandOff(changes.app, person)));
  if (pathname === '/continue') await browser.send(pathname + search, { form: {} });
  expect(await changes.holdersOf(email)).toEqual([]);
  return { email, browser, id: await browser.whoseId() };
}

describe('an address for somebody', () => {
  it('puts marketplace links to sleep, ends other links in mails, and forgets other browsers', async () => {
    const { id, email, browser, link } = await lose();
    await sql`insert into external_links (provider, external_id, user_id)
      values ('marketplace', ${`lost-${id}`}, ${id})`.execute(changes.app.db);
    await browser.send('/forgot-password', { form: { email }, from: changes.from() });
    const reset = await readToken(changes.other, email, 'set_password', 2);
    expect((await open().send(link, { form })).status).toBe(303);
    expect((await changes.app.send(`/set-password?token=${reset}`, { form })).status).toBe(404);
    expect(
      await count(sql`select from external_links where user_id = ${id} and sleeping_since is not null`),
    ).toBe(1);
    expect(await count(sql`select from devices where user_id = ${id} and forgotten_at is null`)).toBe(1);
    const visitor = open();
    await visitor.send(await buildHandOff(changes.app, { id: `lost-${id}`, email }));
    expect(await visitor.whoAmI()).toBeUndefined();
  });

  it('is for nobody on our staff, nor suspended or frozen, and says so also after the mail was sent', async () => {
    const person = await lose();
    const { id } = person;
    for (const change of [
      sql`role = 'manager'`,
      sql`role = 'admin'`,
      sql`role = 'user', suspended_at = now()`,
      sql`frozen_at = now()`,
    ]) {
      await sql`update users set ${change} where id = ${id}`.execute(changes.app.db);
      await expect(offer(changes, id, changes.newEmail())).rejects.toMatchObject({
        code: 'not_allowed',
        status: 403,
      });
      await expectDead(changes, person, form);
    }
    await sql`update users set suspended_at = null, frozen_at = null where id = ${id}`.execute(
      changes.app.db,
    );
    await offer(changes, id, changes.newEmail());
  });

  it.each(['no address', 'a@b', 'a b@example.com', 'a@127.0.0.1', 'x'.repeat(300), 'a@localhost.'])(
    'is refused if nobody can get it: %s',
    async (typed) => {
      const { id } = await changes.signUp();
      await expect(offer(changes, id, typed)).rejects.toMatchObject({
        code: 'validation_failed',
        errors: [{ pointer: '/email' }],
      });
      expect(await pending(id)).toBeUndefined();
    },
  );

  it('ends where a newer one is offered, to the same address, too', async () => {
    const first = await lose();
    await offer(changes, first.id, first.fresh);
    const second = {
      link: await offeredLink(changes, first.fresh, 'new_address'),
      stopLink: await offeredLink(changes, first.email, 'stop_new_address'),
    };
    expect(second.link).not.toBe(first.link);
    await expectDead(changes, first, form);
    expect(textOf(await changes.app.send(first.link))).toContain('There is a newer link');
    const third = await offerTo(changes, first);
    await expectDead(changes, second, form);
    expect((await changes.app.send(third.link, { form })).status).toBe(303);
  });

  it('ends after 24 hours, also where its mail was sent late, and is swept', async () => {
    const late = await changes.signUp();
    const lateEmail = changes.newEmail();
    const person = await lose();
    await offer(changes, late.id, lateEmail);
    changes.passTime(dayMs - 1_000);
    expect((await changes.app.send(person.link)).status).toBe(200);
    const lateLink = await offeredLink(changes, lateEmail, 'new_address');
    changes.passTime(1_000);
    await expectDead(changes, person, form);
    expect(textOf(await changes.app.send(person.link))).toContain('This link has expired');
    expect((await changes.app.send(lateLink, { form })).status).toBe(404);
    expect(await pending(person.id)).toBeUndefined();
    await sql`update new_addresses set expires_at = now() where user_id = ${person.id}`.execute(
      changes.app.db,
    );
    await sweep({ db: changes.app.db });
    expect(await count(sql`select from new_addresses where user_id = ${person.id}`)).toBe(0);
  });

  it('is not mailed once it has ended', async () => {
    const { id, email } = await changes.signUp();
    const fresh = changes.newEmail();
    await offer(changes, id, fresh);
    await sql`update users set role = 'manager' where id = ${id}`.execute(changes.app.db);
    await sendDueMails(changes.other.backend.deps, undefined, new AbortController().signal);
    await expect
      .poll(() => count(sql`select from mails where user_id = ${id} and kind like '%new_address'`))
      .toBe(0);
    expect(
      await count(sql`select from mail_tokens where email in (${email}, ${fresh})
      and purpose like '%new_address'`),
    ).toBe(0);
  });

  it('goes to somebody else if they prove it first: 409, and nothing changes (contract 11.60)', async () => {
    const { id, email, fresh, link } = await lose();
    await changes.signUp(fresh);
    expect(textOf(await changes.app.send(link))).toContain('You already have an account');
    expect((await changes.app.send(link, { form, headers: json })).status).toBe(409);
    expect(await changes.emailOf(id)).toBe(email);
    expect(await (await logIn(changes.app.send, email, password)).whoAmI()).toBe(email);
  });

  it('has rules for its password like any other, and uses nothing up', async () => {
    const { fresh, link } = await lose();
    for (const bad of ['short', 'passwordpassword', fresh]) {
      const refused = await changes.app.send(link, { form: { newPassword: bad }, headers: json });
      expect([refused.status, refused.headers.get('referrer-policy')]).toEqual([422, 'no-referrer']);
    }
    expect((await changes.app.send(link, { form })).status).toBe(303);
  });

  it('may be one that somebody else has typed or was offered, too', async () => {
    const [one, other] = [await changes.signUp(), await changes.signUp()];
    const fresh = changes.newEmail();
    await changes.ask((await changes.signUp()).browser, fresh);
    await offer(changes, one.id, fresh);
    const link = await offeredLink(changes, fresh, 'new_address');
    await offer(changes, other.id, fresh);
    expect((await changes.app.send(link, { form })).status).toBe(303);
    expect(await changes.holdersOf(fresh)).toEqual([one.id]);
  });

  it('is not told to an address that was merely typed, which is not reserved either', async () => {
    const { email, browser, id: userId } = await type();
    const fresh = changes.newEmail();
    await offer(changes, userId, fresh);
    const link = await offeredLink(changes, fresh, 'new_address');
    expect(await count(sql`select from mails where recipient = ${email}`)).toBe(0);
    const owner = open();
    expect((await owner.send(link, { form })).status).toBe(303);
    expect(await owner.whoAmI()).toBe(fresh);
    expect(await browser.whoAmI()).toBeUndefined();
    expect(await count(sql`select from mails where recipient = ${email}`)).toBe(0);
    expect(await count(sql`select from reserved_addresses where email = ${email}`)).toBe(0);
    expect((await changes.signUp(email)).id).not.toBe(userId);
  });

  it('is the first credential of somebody from the CRM, whose browser is a new one all the same', async () => {
    const { id } = await changes.signUp();
    await sql`update users set password_hash = null where id = ${id}`.execute(changes.app.db);
    await sql`delete from devices where user_id = ${id}`.execute(changes.app.db);
    const fresh = changes.newEmail();
    await offer(changes, id, fresh);
    const browser = open();
    await browser.send(await offeredLink(changes, fresh, 'new_address'), { form });
    await addPasskey(browser);
    const { rows } = await sql`select from_established_browser as established from passkeys
      where user_id = ${id}`.execute(changes.app.db);
    expect(rows).toEqual([{ established: false }]);
  });
});

describe('what ends both links for good', () => {
  type Person = Awaited<ReturnType<typeof lose>>;
  const cases: Record<string, (person: Person) => Promise<unknown>> = {
    'a password set by mail': async ({ browser, email }) => {
      await browser.send('/forgot-password', { form: { email }, from: changes.from() });
      const token = await readToken(changes.other, email, 'set_password', 2);
      expect((await browser.send(`/set-password?token=${token}`, { form })).status).toBe(303);
    },
    'a new password': async ({ email }) => {
      const owner = await logIn(changes.app.send, email, password);
      const change = { intent: 'password', currentPassword: password, newPassword };
      expect((await owner.send('/profile/security', { form: change })).status).toBe(303);
    },
    'another change of the address': async ({ email }) =>
      changes.change(await logIn(changes.app.send, email, password), email, changes.newEmail()),
    'a take-back': async ({ email }) => {
      await addPasskey(await logIn(changes.app.send, email, password));
      const takeBack = await linkOf(changes, email, 'passkey_added');
      expect((await open().send(takeBack, { form })).status).toBe(303);
    },
    'a suspension, also one that has ended': async ({ email }) => {
      for (const command of ['user:suspend', 'user:resume'])
        expect((await runCli(changes.app.databaseUrl, [command, email])).code).toBe(0);
    },
    'a freeze that has ended': async ({ id }) => {
      for (const at of [sql`now()`, sql`null`])
        await sql`update users set frozen_at = ${at}, suspended_at = ${at} where id = ${id}`.execute(
          changes.app.db,
        );
    },
    'another role, also one that has ended': async ({ id }) => {
      for (const role of ['manager', 'user'])
        await sql`update users set role = ${role} where id = ${id}`.execute(changes.app.db);
    },
    'a deletion that was asked for, also one that was canceled': async ({ email }) => {
      const owner = await logIn(changes.app.send, email, password);
      for (const intent of ['delete', 'keep'])
        expect((await owner.send('/profile/delete', { form: { intent } })).status).toBe(303);
    },
    'an erasure': async ({ email }) =>
      expect((await runCli(changes.app.databaseUrl, ['user:delete', email, '--now', '--yes'])).code).toBe(0),
    'a restore of the database': async () =>
      expect((await runCli(changes.app.databaseUrl, ['database:restored'])).code).toBe(0),
  };

  // This test comes first, because a later test restores the database, and hand-offs from before a restore are refused.
  it('a proof of the typed address: the reader of that mailbox was not told', async () => {
    const { id } = await type();
    const fresh = changes.newEmail();
    await offer(changes, id, fresh);
    const link = await offeredLink(changes, fresh, 'new_address');
    await sql`update users set holds_email = true where id = ${id}`.execute(changes.app.db);
    expect((await changes.app.send(link, { form })).status).toBe(404);
  });

  it.each(Object.entries(cases))('%s', async (_, happen) => {
    const person = await lose();
    await happen(person);
    await expectDead(changes, person, form);
    expect(await pending(person.id)).toBeUndefined();
    expect(await count(sql`select from new_addresses where user_id = ${person.id}`)).toBe(0);
    expect(await changes.holdersOf(person.fresh)).toEqual([]);
  });

  it('but not a deletion that was planned before: it stays planned, and its owner can cancel it', async () => {
    const { id, email, browser } = await changes.signUp();
    expect((await browser.send('/profile/delete', { form: { intent: 'delete' } })).status).toBe(303);
    const { link } = await offerTo(changes, { id, email });
    const owner = open();
    expect((await owner.send(link, { form })).status).toBe(303);
    expect(await count(sql`select from users where id = ${id} and deletion_due_at is not null`)).toBe(1);
    expect((await owner.send('/profile/delete', { form: { intent: 'keep' } })).status).toBe(303);
    expect(await count(sql`select from users where id = ${id} and deletion_due_at is null`)).toBe(1);
  });

  it('is in the file of what is kept while it waits, and an erasure takes offers to others along', async () => {
    const { email, browser, fresh, ...one } = await lose();
    const other = await lose();
    await browser.login(email, password);
    const { text } = await browser.send('/profile/data.json');
    expect(JSON.parse(text).new_address).toMatchObject([{ email: fresh }]);
    // The test gives the offer the address that the other person has.
    await offer(changes, one.id, other.email.replace('@', '-later@'));
    await sql`update new_addresses set email = ${other.email} where user_id = ${one.id}`.execute(
      changes.app.db,
    );
    expect((await runCli(changes.app.databaseUrl, ['user:delete', other.email, '--now', '--yes'])).code).toBe(
      0,
    );
    expect(await count(sql`select from new_addresses where email = ${other.email}`)).toBe(0);
  });
});

describe('a factor that is left', () => {
  /** Arranges somebody who lost their mailbox. By default they have an app and no passkey. */
  async function protect({ passkey: hasPasskey = false, app: hasApp = true } = {}) {
    const person = await changes.signUp();
    const passkey = hasPasskey ? await addPasskey(person.browser) : createAuthenticator();
    const { secret, codes } = hasApp ? await setUp(person.browser, now()) : { secret: '', codes: [] };
    changes.passTime(30 * dayMs);
    return { ...person, passkey, secret, codes, ...(await offerTo(changes, person)) };
  }

  it('of the app may be given as a recovery code, which is told, and the others stay', async () => {
    const { id, codes, fresh, link } = await protect();
    expect((await changes.app.send(link, { form: { ...form, code: codes[0] ?? '' } })).status).toBe(303);
    expect(await listNotices(changes.app.db, fresh)).toContain('recovery_code_used');
    expect(await count(sql`select from recovery_codes where user_id = ${id}`)).toBe(9);
  });

  it('that is a passkey is asked for, and no other counts (contract 11.60)', async () => {
    const { id, passkey, fresh, link } = await protect({ passkey: true, app: false });
    const browser = open();
    expect((await browser.send(link, { form })).status).toBe(422);
    const another = createAuthenticator();
    const wrong = await answerWith(browser, link, another, {}, 'new-address');
    expect((await browser.send(link, { form: { ...form, passkey: wrong } })).status).toBe(422);
    const stranger = open();
    const elsewhere = await answerWith(stranger, link, passkey, {}, 'new-address');
    expect((await browser.send(link, { form: { ...form, passkey: elsewhere } })).status).toBe(422);
    const right = await answerWith(browser, link, passkey, {}, 'new-address');
    expect((await browser.send(link, { form: { ...form, passkey: right } })).status).toBe(303);
    expect(await browser.whoAmI()).toBe(fresh);
    expect(await count(sql`select from passkeys where user_id = ${id}`)).toBe(1);
    expect((await logInByPasskey(open(), passkey)).status).toBe(303);
  });

  it('gives options for a passkey only with a link that works (contract 11.4)', async () => {
    const { link, stopLink } = await protect({ passkey: true });
    const ask = (token: string) =>
      changes.app.send('/passkeys/options', { form: { purpose: 'new-address', token } });
    expect((await ask(link.split('=')[1] ?? '')).status).toBe(200);
    expect((await ask(stopLink.split('=')[1] ?? '')).status).toBe(404);
    expect((await ask('A'.repeat(43))).status).toBe(404);
  });

  it('is whatever there is when the link is used, wherever it was added since', async () => {
    const { id, email, link, ...person } = await lose();
    const thief = await logIn(changes.app.send, email, password);
    await setUp(thief, now());
    expect((await changes.app.send(link, { form, headers: json })).status).toBe(422);
    expect((await changes.app.send(person.stopLink)).status).toBe(200);
    await sql`delete from authenticators where user_id = ${id}`.execute(changes.app.db);
    expect((await changes.app.send(link, { form })).status).toBe(303);
  });

  it('can be guessed ten times an hour and thirty in all, the owner is told once a day, and a new offer counts afresh (contract 12.79)', async () => {
    const { id, email, secret, link } = await protect();
    const guess = async (code = wrongCode(secret, now())) =>
      (await changes.app.send(link, { form: { ...form, code }, headers: json })).status;
    const told = async () =>
      (await listNotices(changes.app.db, email)).filter((kind) => kind === 'codes_guessed').length;
    for (let n = 0; n < 9; n++) expect(await guess()).toBe(422);
    expect(await told()).toBe(0);
    expect(await guess()).toBe(422);
    expect(await told()).toBe(1);
    expect(await guess()).toBe(429);
    expect((await changes.eventsOf(id)).filter((type) => type === 'email.new_address_refused')).toHaveLength(
      10,
    );
    for (let hour = 0; hour < 2; hour++) {
      await sql`truncate rate_limits`.execute(changes.app.db);
      for (let n = 0; n < 10; n++) expect(await guess()).toBe(422);
    }
    expect(await told()).toBe(1);
    await sql`truncate rate_limits`.execute(changes.app.db);
    const refused = await changes.app.send(link, {
      form: { ...form, code: showCode(secret, now()) },
      headers: json,
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '86400']);
    const next = await offerTo(changes, { id, email });
    const code = showCode(secret, now());
    expect((await changes.app.send(next.link, { form: { ...form, code } })).status).toBe(303);
  });
});
