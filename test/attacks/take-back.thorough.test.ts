// Ways for an owner to lose an account for good, and for others to get into an account through a mailbox that its owner has
// left. Each succeeded in an earlier version if people did what our mails advised.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../support/app/app.ts';
import { type Browser, openBrowser, textOf } from '../support/app/visitor.ts';
import { dayMs, newPassword, password, shareAddressChanges } from '../support/people/address-changes.ts';
import {
  addPasskey,
  createAuthenticator,
  fetchOptions,
  logInByPasskey,
  origin,
} from '../support/people/authenticator.ts';
import { countLetters, readToken } from '../support/people/kept-mail.ts';
import { linkOf } from '../support/people/take-backs.ts';
import {
  page as appPage,
  enterCode,
  giveCode,
  setUp,
  showCode,
  startSetUp,
} from '../support/people/totp-app.ts';

const changes = shareAddressChanges();
const now = () => changes.clock.now.getTime();
const open = () => openBrowser(changes.app.send);

/** Arranges an owner who signed up a month ago, and a thief who knows the password and is logged in. */
async function rob() {
  const { email, id, browser: owners } = await changes.signUp();
  changes.passTime(30 * dayMs);
  await owners.login(email, password);
  const thief = open();
  await thief.login(email, password);
  return { email, id, owners, thief };
}

async function setPasswordByMail(email: string, browser: Browser) {
  await browser.send('/forgot-password', { form: { email }, from: changes.from() });
  const count = await countLetters(changes.app.db, email);
  const token = await readToken(changes.other, email, 'set_password', count);
  return browser.send(`/set-password?token=${token}`, { form: { newPassword } });
}

describe('a thief who knows the password', () => {
  it('cannot shut the owner out with an app and a passkey of theirs, not even after the owner set a password first', async () => {
    const { email, thief } = await rob();
    const passkey = await addPasskey(thief);
    await setUp(thief, now());
    const owner = open();
    // Mails of an earlier version advised the owner to set a new password by mail. The link in such a mail leads to a page that
    // asks for a code of the thief's app.
    const set = await setPasswordByMail(email, owner);
    expect(set.headers.get('location')).toMatch(/^\/login\/code/);
    const link = await linkOf(changes, email, 'authenticator_added');
    expect((await owner.send(link, { form: { newPassword: 'nine golden lanterns' } })).status).toBe(303);
    expect(await owner.whoAmI()).toBe(email);
    expect(await thief.whoAmI()).toBeUndefined();
    expect((await logInByPasskey(open(), passkey)).status).toBe(401);
    const again = open();
    expect((await again.login(email, 'nine golden lanterns')).headers.get('location')).toBe('/profile');
  });

  it('cannot hide the first change behind many, nor keep the address by changing it twice', async () => {
    const { email, thief, id } = await rob();
    const second = changes.newEmail();
    const link = await changes.change(thief, email, second);
    await changes.change(thief, second, changes.newEmail());
    await setUp(thief, now());
    for (let n = 0; n < 5; n++) await thief.send(appPage, { form: { intent: 'renew-codes', sure: 'yes' } });
    await thief.send('/profile/delete', { form: { intent: 'delete' } });
    changes.passTime(6.9 * dayMs);
    const owner = open();
    expect((await owner.send(link, { form: { newPassword } })).status).toBe(303);
    expect([await owner.whoAmI(), await changes.emailOf(id)]).toEqual([email, email]);
  });

  it('gains nothing by setting up their app in a session that the owner has ended', async () => {
    const { email, owners, thief } = await rob();
    const secret = await startSetUp(thief);
    const passkey = createAuthenticator().register(await fetchOptions(thief, 'add'), origin);
    const changed = { intent: 'password', currentPassword: password, newPassword };
    expect((await owners.send('/profile/security', { form: changed })).status).toBe(303);
    const late = [
      await giveCode(thief, showCode(secret, now())),
      await thief.send('/profile/passkeys/add', { form: { name: 'Key', passkey } }),
      await thief.send('/profile/delete', { form: { intent: 'delete' } }),
    ];
    for (const { headers } of late) expect(headers.get('location')).toMatch(/^\/login\?/);
    expect((await open().login(email, newPassword)).headers.get('location')).toBe('/profile');
  });

  it('cannot use the link of the owner without their mailbox, nor a link of their own against an earlier one', async () => {
    const { email, thief, id } = await rob();
    const theirs = changes.newEmail();
    const owners = await changes.change(thief, email, theirs);
    await addPasskey(thief);
    const later = await linkOf(changes, theirs, 'passkey_added');
    expect((await thief.send(later, { form: { newPassword: 'a thief has this one' } })).status).toBe(303);
    expect(await changes.emailOf(id)).toBe(theirs);
    const owner = open();
    expect((await owner.send(owners, { form: { newPassword } })).status).toBe(303);
    expect(await changes.emailOf(id)).toBe(email);
    expect((await thief.send(later, { form: { newPassword: 'a thief has this one' } })).status).toBe(404);
  });

  it('cannot freeze the account of an owner with a passkey by changing the address twice (contract 2.136)', async () => {
    const { email, id, owners, thief } = await rob();
    await addPasskey(owners);
    const second = changes.newEmail();
    const first = await changes.change(thief, email, second);
    const theirs = await changes.change(thief, second, changes.newEmail());
    expect((await thief.send(theirs)).text).not.toContain('value="freeze"');
    const form = { intent: 'freeze' };
    const refused = await thief.send(theirs, { form, headers: { accept: 'application/json' } });
    expect([refused.status, codeOf(refused)]).toEqual([403, 'not_allowed']);
    expect(await changes.eventsOf(id)).not.toContain('account.frozen');
    // The owner can freeze the account.
    expect((await open().send(first)).text).toContain('value="freeze"');
    expect((await open().send(first, { form })).status).toBe(303);
  });

  it('has no link to an address that came after the change that is undone, whatever replaced it (contract 2.137 and 2.176)', async () => {
    const { email, id, thief } = await rob();
    const second = changes.newEmail();
    const first = await changes.change(thief, email, second);
    await addPasskey(thief);
    const theirs = await linkOf(changes, second, 'passkey_added');
    // Changes the email address as an import from the marketplace does: the old address is not reserved.
    await sql`update users set email = ${changes.newEmail()} where id = ${id}`.execute(changes.app.db);
    expect((await open().send(first, { form: { newPassword } })).status).toBe(303);
    const { rows } =
      await sql`select from take_back_changes where user_id = ${id} and email <> ${email}`.execute(
        changes.app.db,
      );
    expect(rows).toEqual([]);
    expect(textOf(await thief.send(theirs))).toContain('taken back');
  });
});

describe('somebody who reads a mailbox that its owner has left', () => {
  it.each(['a passkey', 'an app'])('does not remove %s of the owner, and does not get in', async (kind) => {
    const { email, id, owners } = await rob();
    const passkey = kind === 'a passkey' ? await addPasskey(owners) : undefined;
    const secret = passkey ? '' : (await setUp(owners, now())).secret;
    const present = changes.newEmail();
    const link = await changes.change(owners, email, present);
    const reader = open();
    const given: Record<string, string>[] = [
      { newPassword },
      { newPassword, code: '000000' },
      { newPassword, code: '', passkey: '' },
      { newPassword, passkey: '{}' },
    ];
    for (const form of given) expect((await reader.send(link, { form })).status).toBe(422);
    expect(await reader.whoAmI()).toBeUndefined();
    expect([await changes.emailOf(id), await owners.whoAmI()]).toEqual([present, present]);
    const owner = open();
    if (passkey) expect((await logInByPasskey(owner, passkey)).status).toBe(303);
    else {
      await owner.login(present, password);
      await enterCode(owner, showCode(secret, now() + 30_000));
    }
    expect(await owner.whoAmI()).toBe(present);
  });

  it('adds no factor of theirs that would count as the owner’s', async () => {
    const { email, owners } = await rob();
    const passkey = await addPasskey(owners);
    const link = await changes.change(owners, email, changes.newEmail());
    // This passkey belongs to another user.
    const other = await changes.signUp();
    const theirs = await addPasskey(other.browser);
    const token = link.split('=')[1] ?? '';
    const given = theirs.answer(await fetchOptions(other.browser, 'take-back', token), origin);
    expect((await other.browser.send(link, { form: { newPassword, passkey: given } })).status).toBe(422);
    // The owner's passkey is refused if it answers the challenge of a login.
    const login = passkey.answer(await fetchOptions(other.browser, 'login'), origin);
    expect((await other.browser.send(link, { form: { newPassword, passkey: login } })).status).toBe(422);
  });
});
