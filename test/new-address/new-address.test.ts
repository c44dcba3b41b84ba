// A new address for somebody who lost their mailbox: the two links, on the pages that their readers open (contract 12.70 to
// 12.84).
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { describePendingNewAddress } from '../../server/identity/recovery/new-address.ts';
import { locationOf } from '../support/app/app.ts';
import { logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { dayMs, newPassword, password, shareAddressChanges } from '../support/people/address-changes.ts';
import { listNotices } from '../support/people/kept-mail.ts';
import {
  expectDead,
  offer,
  offerAfterMonth,
  offeredLink,
  offerTo,
  readOfferMail,
} from '../support/people/new-addresses.ts';
import { linkOf } from '../support/people/take-backs.ts';
import { setUp, showCode, wrongCode } from '../support/people/totp-app.ts';

const changes = shareAddressChanges();
const form = { newPassword };
const now = () => changes.clock.now.getTime();
const open = () => openBrowser(changes.app.send);
const pending = (id: string) => describePendingNewAddress(changes.app.db, id, changes.clock.now);

const count = async (query: ReturnType<typeof sql>) => (await query.execute(changes.app.db)).rows.length;

const lose = () => offerAfterMonth(changes);

it('an address is theirs, with a new password, once the link is used, in any browser, and nothing changes before (contract 11.60)', async () => {
  const { id, email, fresh, link, stopLink } = await lose();
  const earlier = await logIn(changes.app.send, email, password);
  expect(await pending(id)).toEqual({
    email: fresh,
    askedAt: changes.clock.now,
    expiresAt: new Date(now() + dayMs),
    removesFactors: false,
  });
  const browser = open();
  const page = await browser.send(link);
  expect([page.status, page.headers.get('referrer-policy')]).toEqual([200, 'no-referrer']);
  // The mail may have gone to a stranger, so neither the mail nor the page names the person.
  for (const text of [page.text, (await readOfferMail(changes, fresh, 'new_address')).text])
    expect(text).not.toMatch(new RegExp(`${email}|Cora`));
  expect(textOf(page)).toContain(fresh);
  expect(await earlier.whoAmI()).toBe(email);
  expect(await changes.emailOf(id)).toBe(email);

  const done = await browser.send(link, { form });
  expect([done.status, done.headers.get('location')]).toEqual([303, '/profile?saved=email-changed']);
  expect(await browser.whoAmI()).toBe(fresh);
  expect(await earlier.whoAmI()).toBeUndefined();
  expect(await (await logIn(changes.app.send, fresh, newPassword)).whoAmI()).toBe(fresh);
  expect((await open().login(fresh, password)).status).toBe(401);
  expect((await open().login(email, newPassword)).status).toBe(401);
  expect(await changes.holdersOf(email)).toEqual([]);
  expect(
    await count(sql`select from users where id = ${id} and holds_email and email_verified_at is not null`),
  ).toBe(1);
  expect(await listNotices(changes.app.db, fresh)).toContain('password_set');
  expect(await pending(id)).toBeUndefined();
  await expectDead(changes, { link, stopLink }, form);
  expect(textOf(await changes.app.send(link))).toContain('You have already used this link');
  expect(textOf(await changes.app.send(stopLink))).toContain('Use the link in our newer email');
  expect(textOf(await browser.send('/profile/activity'))).toContain(
    'The email address was changed and a new password set, with the link in an email that our support team sent',
  );
});

it('an address can be offered to somebody who has lost the phone, too, in one act (contract 12.85)', async () => {
  const { id, email, browser } = await changes.signUp();
  await setUp(browser, now());
  const fresh = changes.newEmail();
  await offer(changes, id, fresh, { removeFactors: 'yes' });
  // A reader of the old mailbox must not get in without the app, so the app stays until the link is used.
  expect(await browser.whoAmI()).toBe(email);
  const found =
    await sql`select from users u join authenticators t on t.user_id = u.id where u.id = ${id}`.execute(
      changes.app.db,
    );
  expect(found.rows).toHaveLength(1);
  const owner = open();
  const link = await offeredLink(changes, fresh, 'new_address');
  expect(textOf(await owner.send(link))).toContain('recovery codes and passkeys will be removed');
  expect((await owner.send(link, { form })).status).toBe(303);
  expect(await owner.whoAmI()).toBe(fresh);
  expect(await browser.whoAmI()).toBeUndefined();
  expect((await (await logIn(changes.app.send, fresh, newPassword)).send('/profile')).status).toBe(200);
});

it('an offer without the tick keeps the factors, also if it replaces one with it, as 1.0.0 does (contract 12.85)', async () => {
  const { id, browser } = await changes.signUp();
  await setUp(browser, now());
  const fresh = changes.newEmail();
  await offer(changes, id, fresh, { removeFactors: 'yes' });
  // Writes the offer as version 1.0.0 does, which does not know the column `removes_factors`.
  await sql`update new_addresses set id = gen_random_uuid() where user_id = ${id}`.execute(changes.app.db);
  expect(await pending(id)).toMatchObject({ removesFactors: false });
  await offer(changes, id, fresh, { removeFactors: 'yes' });
  expect(await pending(id)).toMatchObject({ removesFactors: true });
  await offer(changes, id, fresh);
  const link = await offeredLink(changes, fresh, 'new_address');
  expect(textOf(await open().send(link))).not.toContain('will be removed');
  expect((await open().send(link, { form })).status).toBe(422);
});

it('the old address is reserved, and with a link that takes the account back (contract 11.60)', async () => {
  const { id, email, fresh, link } = await lose();
  expect((await open().send(link, { form })).status).toBe(303);
  expect((await changes.ask((await changes.signUp()).browser, email)).status).toBe(303);
  const { rows } = await sql<{ user_id: string; days: number }>`select user_id,
    round(extract(epoch from expires_at - ${changes.clock.now}) / 86400)::int as days
    from reserved_addresses where email = ${email}`.execute(changes.app.db);
  expect(rows).toEqual([{ user_id: id, days: 7 }]);
  const takeBack = await linkOf(changes, email, 'email_changed');
  const owner = open();
  expect(locationOf(await owner.send(takeBack, { form })).search).toBe('?saved=taken-back');
  expect(await owner.whoAmI()).toBe(email);
  expect(await changes.holdersOf(fresh)).toEqual([]);
});

it('the old address is told first, in the lane of mails that people wait for, beyond every limit', async () => {
  const { id, email } = await changes.signUp();
  const fresh = changes.newEmail();
  for (let time = 0; time < 30; time++) await offer(changes, id, fresh);
  const { rows } = await sql<{ kind: string; recipient: string; is_awaited: boolean }>`
    select kind, recipient, details ? 'until' as is_awaited from mails
    where user_id = ${id} and kind like '%new_address' and sent_at is null order by id`.execute(
    changes.app.db,
  );
  expect(rows).toEqual([
    { kind: 'stop_new_address', recipient: email, is_awaited: true },
    { kind: 'new_address', recipient: fresh, is_awaited: true },
  ]);
  const { subject, text } = await readOfferMail(changes, email, 'stop_new_address');
  expect(subject).toMatch(/^Someone asked us to change your email address/);
  expect(text).not.toContain(fresh);
});

it('an address is refused where somebody holds it, or can have it back, and written as we write it', async () => {
  const { id, email } = await changes.signUp();
  const { email: held } = await changes.signUp();
  const { email: reserved, present } = await changes.leave();
  for (const taken of [held, held.toUpperCase(), reserved, present, email])
    await expect(offer(changes, id, taken)).rejects.toMatchObject({ code: 'email_in_use', status: 409 });
  const fresh = changes.newEmail();
  await offer(changes, id, fresh.toUpperCase());
  expect(await pending(id)).toMatchObject({ email: fresh });
});

it('the link to the old address stops the change by one click, once, and opening it does not (contract 11.61)', async () => {
  const { id, email, link, stopLink } = await lose();
  const page = await changes.app.send(stopLink);
  expect([page.status, page.headers.get('referrer-policy')]).toEqual([200, 'no-referrer']);
  expect((await changes.app.send(link)).status).toBe(200);
  const done = await changes.app.send(stopLink, { form: {} });
  expect([done.status, done.headers.get('location')]).toEqual([303, '/stop-new-address?saved=stopped']);
  const stopped = await changes.app.send('/stop-new-address?saved=stopped');
  expect([stopped.status, textOf(stopped)]).toEqual([200, expect.stringContaining('Your account keeps')]);
  await expectDead(changes, { link, stopLink }, form);
  expect(textOf(await changes.app.send(link))).toContain('has stopped the change');
  expect(textOf(await changes.app.send(stopLink))).toContain('You have already used this link');
  expect(await changes.emailOf(id)).toBe(email);
  expect(await pending(id)).toBeUndefined();
  expect(await changes.eventsOf(id)).toContain('email.new_address_stopped');
  const owner = await logIn(changes.app.send, email, password);
  expect(textOf(await owner.send('/profile/activity'))).toContain(
    'A change of the email address by our support team was stopped',
  );
});

// Contract 11.60.
it('an app is asked for: its code, and the session has it', async () => {
  const person = await changes.signUp();
  const { secret } = await setUp(person.browser, now());
  changes.passTime(30 * dayMs);
  const { fresh, link } = await offerTo(changes, person);
  const browser = open();
  expect(textOf(await browser.send(link))).toContain('Code from your authenticator app');
  for (const code of [undefined, '', ' – ', wrongCode(secret, now())]) {
    const refused = await browser.send(link, { form: { ...form, ...(code !== undefined && { code }) } });
    expect(refused.status).toBe(422);
  }
  // The first code is from a phone whose clock is wrong, the second from a keyboard of another script (contract 9.247 and
  // 9.248).
  const late = showCode(secret, now() - 90_000);
  const refused = await browser.send(link, { form: { ...form, code: late } });
  expect([refused.status, textOf(refused)]).toEqual([
    422,
    expect.stringContaining('the clock on your phone'),
  ]);
  const code = showCode(secret, now()).replace(/\d/g, (digit) => String.fromCodePoint(0x6f0 + Number(digit)));
  expect((await browser.send(link, { form: { ...form, code: `\u200f${code}` } })).status).toBe(303);
  expect(await browser.whoAmI()).toBe(fresh);
  const { rows } = await sql`select amr from sessions where ended_at is null
    and user_id = (select id from users where email = ${fresh})`.execute(changes.app.db);
  expect(rows).toEqual([{ amr: ['pwd', 'otp', 'mfa'] }]);
  // The person keeps their authenticator app, and a login asks for a code of the app.
  expect(locationOf(await open().login(fresh, newPassword)).pathname).toBe('/login/code');
});

it('neither link is of any use for another page', async () => {
  const { link, stopLink } = await lose();
  const swapped = {
    link: link.replace('/new-address', '/stop-new-address'),
    stopLink: stopLink.replace('/stop-new-address', '/new-address'),
  };
  expect((await changes.app.send(swapped.link, { form: {} })).status).toBe(404);
  expect((await changes.app.send(swapped.stopLink, { form })).status).toBe(404);
  for (const path of ['/take-back', '/set-password'])
    expect((await changes.app.send(`${path}?${link.split('?')[1]}`, { form })).status).toBe(404);
  expect((await changes.app.send(link, { form })).status).toBe(303);
});
