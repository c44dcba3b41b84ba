// While a user can have a changed address back, nobody else can get it, in any way in which people get addresses.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type Answer, locationOf } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { type Browser, fieldOf, openBrowser } from '../support/app/visitor.ts';
import { buildSignup, sendSignup } from '../support/crm/crm.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { dayMs, newPassword, password, shareAddressChanges } from '../support/people/address-changes.ts';
import { listNotices, readToken } from '../support/people/kept-mail.ts';
import { linkOf } from '../support/people/take-backs.ts';

const changes = shareAddressChanges();

describe('an address that was changed within seven days (contract 2.35 and 2.36)', () => {
  it('cannot be used to sign up: no mail is sent, and a link from before finds it taken (contract 2.16)', async () => {
    const { browser } = await changes.signUp();
    const asked = changes.newEmail();
    await changes.app.send('/signup', { form: { name: 'Early', email: asked }, from: changes.from() });
    const early = `/signup/confirm?token=${await readToken(changes.other, asked, 'sign_up')}`;
    await changes.ask(browser, asked);
    const link = `/profile/email/confirm?token=${await readToken(changes.other, asked, 'change_email', 2)}`;
    expect((await changes.click(browser, link)).status).toBe(303);
    await changes.change(browser, asked, changes.newEmail());
    const page = await changes.app.send(early, { form: { name: 'Early', newPassword } });
    expect([page.status, await changes.holdersOf(asked)]).toEqual([409, []]);
    const before = await changes.countMails(asked);
    expect(
      (await changes.app.send('/signup', { form: { name: 'Late', email: asked }, from: changes.from() }))
        .status,
    ).toBe(303);
    expect(await changes.countMails(asked)).toBe(before);
  });

  it('cannot be changed to, not even by the person who had it: the link is for that (contract 2.31)', async () => {
    const { browser, email, id, present } = await changes.leave();
    const stranger = await changes.signUp();
    const before = await changes.countMails(email);
    expect((await changes.ask(stranger.browser, email)).status).toBe(303);
    const own = await changes.ask(browser, email);
    expect([own.status, fieldOf(own, 'email').isInvalid]).toEqual([422, true]);
    expect(await changes.countMails(email)).toBe(before);
    expect(await changes.emailOf(id)).toBe(present);
  });

  it('logs nobody in', async () => {
    const { email } = await changes.leave();
    expect(
      (await changes.app.send('/login', { form: { email, password }, from: changes.from() })).status,
    ).toBe(401);
  });

  it('is sent the mail that takes the account back again when a new password is asked for (contract 2.135)', async () => {
    const { email, id, link } = await changes.leave();
    const { answer, mails } = await forget(email);
    const unknown = await forget(changes.newEmail());
    expect(answer).toEqual(unknown.answer);
    expect([mails, unknown.mails]).toEqual([['email_changed'], []]);
    const again = await linkOf(changes, email, 'email_changed');
    expect(again).not.toBe(link);
    // An hour before both periods end.
    changes.passTime(7 * dayMs - 60 * 60_000);
    expect((await changes.app.send(again)).status).toBe(200);
    expect((await changes.undo(again)).status).toBe(303);
    expect([await changes.emailOf(id), (await changes.undo(link)).status]).toEqual([email, 404]);
    const { rows } = await sql<{ reason: string }>`select reason from audit_events
      where user_id = ${id} and type = 'password_link.requested'`.execute(changes.app.db);
    expect(rows).toEqual([{ reason: 'reserved' }]);
  });

  it('gets that mail within the limits of mails, but for a browser of the owner (contract 2.135)', async () => {
    const { email, browser } = await changes.leave();
    const from = changes.from();
    const asked = await Promise.all(Array.from({ length: 16 }, () => forget(email, { from })));
    // The sign-up used the first of five mails an hour. Strangers cannot use up the extra mail beyond these five.
    expect(asked.map(({ answer }) => answer[0]).sort()).toEqual([
      ...Array(5).fill(303),
      ...Array(11).fill(429),
    ]);
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from mails where recipient = ${email} and kind = 'email_changed'`.execute(
      changes.app.db,
    );
    expect(rows).toEqual([{ count: 6 }]);
    expect((await forget(email, { from, browser })).answer[0]).toBe(303);
  });

  it('gets no such mail for a suspended user, nor once the account was taken back or the time is over', async () => {
    const { email, id, link, present } = await changes.leave();
    await sql`update users set suspended_at = now() where id = ${id}`.execute(changes.app.db);
    expect((await forget(email)).mails).toEqual([]);
    await sql`update users set suspended_at = null where id = ${id}`.execute(changes.app.db);
    expect((await forget(email)).mails).toEqual(['email_changed']);
    expect((await changes.undo(link)).status).toBe(303);
    // Nobody has the user's former address.
    expect((await forget(present)).mails).toEqual([]);
    const other = await changes.leave();
    changes.passTime(7 * dayMs + 1_000);
    expect((await forget(other.email)).mails).toEqual([]);
  });

  /** Asks for a new password. Returns what the answer says, and which mails the address got for it. */
  async function forget(
    email: string,
    { from = changes.from(), browser }: { from?: string; browser?: Browser } = {},
  ) {
    const before = await changes.countMails(email);
    const { send } = browser ?? openBrowser(changes.app.send);
    const answer = await send('/forgot-password', { form: { email }, from });
    const page = await changes.app.send(answer.headers.get('location') ?? '/forgot-password');
    const { rows } = await sql<{ kind: string }>`select kind from mails where recipient = ${email}
      order by created_at, id offset ${before}`.execute(changes.app.db);
    return {
      answer: [answer.status, answer.headers.get('location'), page.status],
      mails: rows.map(({ kind }) => kind),
    };
  }

  it('is still that user’s for the CRM: the contract goes to them, and no second user is made', async () => {
    const { email, id, present } = await changes.leave();
    const signup = buildSignup(`reserved-${id}`, { user: { email, name: 'Cora' } }, changes.clock.now);
    const answer = await sendSignup(changes.app, signup, { at: changes.clock.now });
    expect([answer.status, JSON.parse(answer.text).user]).toEqual([201, { id, created: false }]);
    expect(await changes.holdersOf(email)).toEqual([]);
    expect(await listNotices(changes.app.db, present)).toContain('contract_added');
    expect(await listNotices(changes.app.db, email)).not.toContain('contract_added');
  });

  it('is still that user’s for the marketplace: nobody is logged in or linked before their own login', async () => {
    const { email, id } = await changes.leave();
    const stranger = openBrowser(changes.app.send);
    const answer = await stranger.send(
      await buildHandOff(changes.app, { id: `reserved-${id}`, email }, changes.clock.now),
    );
    expect(locationOf(answer).pathname).toBe('/continue');
    await stranger.send(answer.headers.get('location') ?? '', { form: {} });
    expect(await stranger.whoAmI()).toBeUndefined();
    const { rows } = await sql`select from external_links where external_id = ${`reserved-${id}`}`.execute(
      changes.app.db,
    );
    expect([rows, await changes.holdersOf(email)]).toEqual([[], []]);
    await sql`update users set password_hash = null where id = ${id}`.execute(changes.app.db);
    const url = await buildHandOff(changes.app, { id: `reserved-2-${id}`, email }, changes.clock.now);
    const again = await stranger.send(url);
    expect(locationOf(again).pathname).toBe('/continue');
    await stranger.send(again.headers.get('location') ?? '', { form: {} });
    expect(await stranger.whoAmI()).toBeUndefined();
    const links = await sql`select from external_links where user_id = ${id}`.execute(changes.app.db);
    expect(links.rows).toEqual([]);
  });

  it('does not become that of a marketplace user, new or known, nor of one who asks to prove it by mail', async () => {
    const { email, id } = await changes.leave();
    const known = { id: `known-${id}`, email: changes.newEmail() };
    await changes.app.send(await buildHandOff(changes.app, known, changes.clock.now));
    const profileUpdatedAt = new Date(changes.clock.now.getTime() - 1_000);
    await changes.app.send(
      await buildHandOff(changes.app, { ...known, email, profileUpdatedAt }, changes.clock.now),
    );
    const typed = openBrowser(changes.app.send);
    const handOff = await buildHandOff(
      changes.app,
      { id: `typed-${id}`, email, emailVerified: false },
      changes.clock.now,
    );
    await typed.send((await typed.send(handOff)).headers.get('location') ?? '', { form: {} });
    expect(await typed.whoAmI()).toBe(email);
    // The address gets no mail with a link that would prove it.
    const before = await changes.countMails(email);
    expect((await typed.send('/verify-email', { form: {}, from: changes.from() })).status).toBe(303);
    expect(await changes.countMails(email)).toBe(before);
    expect(await changes.holdersOf(email)).toEqual([]);
  });

  it('is refused by the command line', async () => {
    const { email } = await changes.leave();
    const outcome = await runCli(
      changes.app.databaseUrl,
      ['user:create', '--email', email, '--name', 'X'],
      newPassword,
    );
    expect(outcome.code).toBe(1);
    expect(outcome.err).toContain('already exists');
  });

  it('is refused by the database itself, whatever the code does', async () => {
    const { email } = await changes.leave();
    const take = sql`update users set email = ${email} where email = 'admin@example.test'`.execute(
      changes.app.db,
    );
    await expect(take).rejects.toMatchObject({ code: '23505', constraint: 'users_email_not_reserved' });
  });

  it('is free after the seven days', async () => {
    const { email, id } = await changes.leave();
    changes.passTime(7 * dayMs + 1_000);
    const signup = buildSignup(`free-${id}`, { user: { email, name: 'Next' } }, changes.clock.now);
    const answer: Answer = await sendSignup(changes.app, signup, { at: changes.clock.now });
    expect(JSON.parse(answer.text).user.created).toBe(true);
    expect(await changes.holdersOf(email)).not.toContain(id);
    expect(await changes.holdersOf(email)).toHaveLength(1);
  });
});
