// Since when and until when browsers are established (contract 2.21 and 2.22). A factor records whether it was added in an
// established browser.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/app/cli.ts';
import { type Browser, openBrowser, textOf } from '../support/app/visitor.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { dayMs, newPassword, password, shareAddressChanges } from '../support/people/address-changes.ts';
import { addPasskey, createAuthenticator, fetchOptions, origin } from '../support/people/authenticator.ts';
import { countLetters, readToken } from '../support/people/kept-mail.ts';
import {
  page as appPage,
  enterCode,
  setUp,
  setUpPage,
  showCode,
  startSetUp,
} from '../support/people/totp-app.ts';

const week = 7 * dayMs;
const changes = shareAddressChanges();

const open = () => openBrowser(changes.app.send);

async function logIn(browser: Browser, email: string, typed = password): Promise<Browser> {
  const answer = await browser.send('/login', { form: { email, password: typed }, from: changes.from() });
  expect(answer.status).toBe(303);
  return browser;
}

async function isEstablished(browser: Browser): Promise<boolean> {
  const text = textOf(await browser.send('/profile/email'));
  const [yes, no] = ['with your account for at least a week', 'with your account for less than a week'].map(
    (words) => text.includes(words),
  );
  expect(yes).not.toBe(no);
  return yes ?? false;
}

/** Moves the stored times of a user's browsers into the past. */
const age = (id: string, ms: number) =>
  sql`update devices set known_since = known_since - ${`${ms} ms`}::interval,
    first_credential_at = first_credential_at - ${`${ms} ms`}::interval where user_id = ${id}`.execute(
    changes.app.db,
  );

async function passwordLink(email: string): Promise<string> {
  await changes.app.send('/forgot-password', { form: { email }, from: changes.from() });
  const count = await countLetters(changes.app.db, email);
  return `/set-password?token=${await readToken(changes.other, email, 'set_password', count)}`;
}

async function setByMail(browser: Browser, email: string): Promise<void> {
  expect((await browser.send(await passwordLink(email), { form: { newPassword } })).status).toBe(303);
}

async function arriveByPasskey(browser: Browser, path: string, more: Record<string, string> = {}) {
  const phone = createAuthenticator();
  const token = path.split('token=')[1] ?? '';
  const passkey = phone.register(await fetchOptions(browser, 'arrive', token), origin);
  expect((await browser.send(path, { form: { ...more, passkey } })).status).toBe(303);
  return phone;
}

async function fromEstablished(
  table: 'passkeys' | 'authenticators',
  id: string,
): Promise<boolean | undefined> {
  const { rows } = await sql<{ was: boolean }>`
    select from_established_browser as was from ${sql.table(table)} where user_id = ${id}`.execute(
    changes.app.db,
  );
  expect(rows).toHaveLength(1);
  return rows[0]?.was;
}

describe('the browser in which an account got its first credential is established at once', () => {
  it('by a password at the sign-up', async () => {
    const { browser, email } = await changes.signUp();
    expect(await isEstablished(browser)).toBe(true);
    expect(await isEstablished(await logIn(browser, email))).toBe(true);
    expect(await isEstablished(await logIn(open(), email))).toBe(false);
  });

  it('by a passkey at the sign-up', async () => {
    const browser = open();
    const email = changes.newEmail();
    await browser.send('/signup', { form: { name: 'Cora', email }, from: changes.from() });
    const token = await readToken(changes.other, email, 'sign_up');
    await arriveByPasskey(browser, `/signup/confirm?token=${token}`, { name: 'Cora' });
    expect(await isEstablished(browser)).toBe(true);
    expect(await fromEstablished('passkeys', await browser.whoseId())).toBe(true);
  });

  it.each(['password', 'passkey'])('by a %s of somebody whom the CRM has signed up', async (kind) => {
    const id = `crm_first_${kind}`;
    await pushSignup(changes.app, buildSignup(id));
    const token = await readToken(changes.other, `${id}@example.test`, 'set_password');
    const browser = open();
    const path = `/set-password?token=${token}`;
    if (kind === 'passkey') await arriveByPasskey(browser, path);
    else expect((await browser.send(path, { form: { newPassword } })).status).toBe(303);
    expect(await isEstablished(browser)).toBe(true);
    if (kind === 'passkey') expect(await fromEstablished('passkeys', await browser.whoseId())).toBe(true);
  });

  it('also where hand-offs logged them in there and elsewhere before', async () => {
    const [email, browser, elsewhere] = [changes.newEmail(), open(), open()];
    for (const each of [browser, elsewhere]) {
      const handOff = await buildHandOff(changes.app, { id: email, email }, changes.clock.now);
      await each.send((await each.send(handOff)).headers.get('location') ?? '', { form: {} });
    }
    await setByMail(browser, email);
    expect(await isEstablished(browser)).toBe(true);
    expect(await isEstablished(await logIn(elsewhere, email, newPassword))).toBe(false);
  });

  it('but not by a password after an operator has removed the only credential', async () => {
    const { email, id } = await changes.signUp();
    await sql`update users set password_hash = null where id = ${id}`.execute(changes.app.db);
    const browser = open();
    await setByMail(browser, email);
    expect(await isEstablished(browser)).toBe(false);
    await sql`update users set password_hash = null where id = ${id}`.execute(changes.app.db);
    const phone = open();
    await arriveByPasskey(phone, await passwordLink(email));
    expect(await isEstablished(phone)).toBe(false);
    expect(await fromEstablished('passkeys', id)).toBe(false);
  });
});

describe('any other browser is established', () => {
  it('seven days after the first credential in it, not a second before, however often they log in', async () => {
    const { email, id } = await changes.signUp();
    const browser = await logIn(open(), email);
    await age(id, week - 1_000);
    await logIn(browser, email);
    expect(await isEstablished(browser)).toBe(false);
    await age(id, 1_000);
    expect(await isEstablished(browser)).toBe(true);
    await age(id, 1_000);
    await logIn(browser, email);
    expect(await isEstablished(browser)).toBe(true);
  });

  it('for the user who gave it there only', async () => {
    const [first, second] = [await changes.signUp(), await changes.signUp()];
    const browser = await logIn(open(), first.email);
    await age(first.id, week);
    expect(await isEstablished(await logIn(browser, second.email))).toBe(false);
    expect(await isEstablished(await logIn(browser, first.email))).toBe(true);
  });

  it('not by a hand-off, but from the first credential given after one', async () => {
    const { email, id } = await changes.signUp();
    const provider = { provider: 'marketplace', external_id: email, user_id: id };
    const linked = changes.app.db.insertInto('external_links');
    await linked.values({ ...provider, applied_profile_updated_at: changes.clock.now }).execute();
    const browser = open();
    const handOff = await buildHandOff(changes.app, { id: email, email }, changes.clock.now);
    await browser.send((await browser.send(handOff)).headers.get('location') ?? '', { form: {} });
    await age(id, week);
    expect(await isEstablished(browser)).toBe(false);
    const asked = { form: { email: changes.newEmail(), confirmPassword: password }, from: changes.from() };
    expect((await browser.send('/profile/email', asked)).status).toBe(303);
    await age(id, week - 1_000);
    expect(await isEstablished(browser)).toBe(false);
    await age(id, 1_000);
    expect(await isEstablished(browser)).toBe(true);
  });

  it('by its device cookie alone (contract 9.23)', async () => {
    const { browser } = await changes.signUp();
    const device = [...browser.jar.keys()].find((name) => name.endsWith('identity_device')) ?? '';
    browser.jar.set(device, 'A'.repeat(43));
    expect(await isEstablished(browser)).toBe(false);
    browser.jar.delete(device);
    expect(await isEstablished(browser)).toBe(false);
  });
});

/**
 * Each function sets or changes the password in a browser where its user is logged in. Returns the password that is valid after
 * that.
 */
const ways: Record<string, (browser: Browser, email: string) => Promise<unknown>> = {
  'a change on /profile/security': async (browser) => {
    const form = { intent: 'password', currentPassword: password, newPassword };
    const answer = await browser.send('/profile/security', { form });
    expect(answer.headers.get('location')).toBe('/profile/security?saved=password');
  },
  'a change by a program': async (browser) => {
    const given = { currentPassword: password, newPassword };
    const done = await browser.send('/trpc/profile.changePassword', { json: { json: given } });
    expect(done.status).toBe(200);
  },
  'a password set by mail': setByMail,
  'a password set by mail where nobody is logged in': async (browser, email) => {
    await browser.send('/logout', { form: {} });
    await setByMail(browser, email);
  },
};

describe('forgetting', () => {
  it.each(Object.keys(ways))(
    '%s forgets the other browsers, and leaves that one as old as it was',
    async (way) => {
      const { browser: first, email, id } = await changes.signUp();
      const [own, other] = [await logIn(open(), email), await logIn(open(), email)];
      await age(id, week);
      for (const each of [first, own, other]) expect(await isEstablished(each)).toBe(true);
      await ways[way]?.(own, email);
      expect(await isEstablished(own)).toBe(true);
      for (const each of [first, other])
        expect(await isEstablished(await logIn(each, email, newPassword))).toBe(false);
      expect(await isEstablished(await logIn(own, email, newPassword))).toBe(true);
      await age(id, week);
      for (const each of [first, other]) expect(await isEstablished(each)).toBe(true);
    },
  );

  it.each(Object.keys(ways))('%s makes its browser no older', async (way) => {
    const { email, id } = await changes.signUp();
    const browser = await logIn(open(), email);
    await age(id, week - 1_000);
    await ways[way]?.(browser, email);
    expect(await isEstablished(browser)).toBe(false);
    await age(id, 1_000);
    expect(await isEstablished(browser)).toBe(true);
  });

  it('a password set by mail in a browser never seen makes it as new as a login would', async () => {
    const { browser: first, email, id } = await changes.signUp();
    const browser = open();
    await setByMail(browser, email);
    expect(await isEstablished(browser)).toBe(false);
    await age(id, week - 1_000);
    expect(await isEstablished(browser)).toBe(false);
    await age(id, 1_000);
    expect(await isEstablished(browser)).toBe(true);
    expect(await isEstablished(await logIn(first, email, newPassword))).toBe(false);
  });

  it('a password set by mail leaves its browser as old as it was where a code is asked for, too', async () => {
    const { browser, email, id } = await changes.signUp();
    const { secret } = await setUp(browser, changes.clock.now.getTime());
    const other = await logIn(open(), email);
    await enterCode(other, showCode(secret, changes.clock.now.getTime() + 30_000));
    await age(id, week);
    changes.passTime(60_000);
    for (const each of [browser, other]) expect(await isEstablished(each)).toBe(true);
    await setByMail(browser, email);
    await enterCode(browser, showCode(secret, changes.clock.now.getTime()));
    expect(await isEstablished(browser)).toBe(true);
    await logIn(other, email, newPassword);
    await enterCode(other, showCode(secret, changes.clock.now.getTime() + 30_000));
    expect(await isEstablished(other)).toBe(false);
  });

  it('setting up an app forgets the other browsers', async () => {
    const { browser: first, email, id } = await changes.signUp();
    const browser = await logIn(open(), email);
    await age(id, week);
    const { codes } = await setUp(browser, changes.clock.now.getTime());
    expect(await isEstablished(browser)).toBe(true);
    await logIn(first, email);
    await enterCode(first, codes[0] ?? '');
    expect(await isEstablished(first)).toBe(false);
  });

  it('of 16 browsers that change the password at once, the one that did stays', async () => {
    const { browser, email, id } = await changes.signUp();
    const others = await Promise.all(Array.from({ length: 15 }, () => logIn(open(), email)));
    await age(id, week);
    const all = [browser, ...others];
    const chosen = all.map((_, n) => `quite another lantern ${n}`);
    const statuses = await Promise.all(
      all.map(async (each, n) => {
        const given = { currentPassword: password, newPassword: chosen[n] };
        const sent = { json: { json: given }, from: changes.from() };
        return (await each.send('/trpc/profile.changePassword', sent)).status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    const winner = statuses.indexOf(200);
    for (const [n, each] of all.entries()) {
      if (n !== winner) await logIn(each, email, chosen[winner]);
      expect(await isEstablished(each)).toBe(n === winner);
    }
  });

  it('a browser that the version before has forgotten and seen again begins anew', async () => {
    const { browser, id } = await changes.signUp();
    await sql`update devices set forgotten_at = ${changes.clock.now} where user_id = ${id}`.execute(
      changes.app.db,
    );
    expect(await isEstablished(browser)).toBe(false);
    const since = new Date(changes.clock.now.getTime() + 1);
    await sql`update devices set known_since = ${since}, forgotten_at = null where user_id = ${id}`.execute(
      changes.app.db,
    );
    expect(await isEstablished(browser)).toBe(false);
    await age(id, week + 1);
    expect(await isEstablished(browser)).toBe(true);
  });

  it('a right password counts afresh after a new one, in the browser that stays known, too', async () => {
    const { browser, email } = await changes.signUp();
    const guess = async (typed: string) =>
      (await browser.send('/login', { form: { email, password: typed }, from: changes.from() })).status;
    for (let n = 0; n < 10; n++) expect(await guess('wrong')).toBe(401);
    expect(await guess(password)).toBe(429);
    await setByMail(browser, email);
    expect(await guess(newPassword)).toBe(303);
  });
});

describe('a factor keeps whether its browser was established', () => {
  it.each([true, false])('when it was added: %s', async (was) => {
    const { browser: first, email, id } = await changes.signUp();
    const browser = was ? first : await logIn(open(), email);
    await addPasskey(browser);
    await setUp(browser, changes.clock.now.getTime());
    await age(id, week);
    expect(await isEstablished(browser)).toBe(true);
    for (const table of ['passkeys', 'authenticators'] as const)
      expect(await fromEstablished(table, id)).toBe(was);
    const { passkeys, authenticator_apps } = JSON.parse((await browser.send('/profile/data.json')).text);
    expect([...passkeys, ...authenticator_apps]).toMatchObject(
      Array(2).fill({ from_established_browser: was }),
    );
  });

  it('and where that is not known, as of one that the version before adds, it was', async () => {
    const { email, id } = await changes.signUp();
    await addPasskey(await logIn(open(), email));
    expect(await fromEstablished('passkeys', id)).toBe(false);
    const { rows } = await sql`
      insert into passkeys (id, user_id, credential_id, public_key, counter, transports, backed_up, name, created_at)
      select gen_random_uuid(), user_id, 'before', public_key, counter, transports, backed_up, name, created_at
      from passkeys where user_id = ${id} returning from_established_browser as was`.execute(changes.app.db);
    expect(rows).toEqual([{ was: true }]);
  });
});

describe('the pages that add a factor', () => {
  const words = 'You have used this browser with your account for less than a week. For the next 7 days,';
  const show = async (browser: Browser) => {
    const answers = [await browser.send('/profile/passkeys/add'), await browser.send(appPage)];
    await startSetUp(browser);
    answers.push(await browser.send(setUpPage), await browser.send('/profile/passkeys/offer'));
    await setUp(browser, changes.clock.now.getTime());
    return [...answers, await browser.send(appPage)].map(textOf);
  };

  it('say in a new browser that it can be removed again, and to which address the link goes', async () => {
    const { email } = await changes.signUp();
    const pages = await show(await logIn(open(), email));
    for (const [n, what] of ['this passkey', 'the app', 'the app', 'this passkey', 'new codes'].entries())
      expect(pages[n]).toContain(
        `${words} ${what} can be removed with a link that we will email to ${email}`,
      );
  });

  it('say nothing of it in an established one', async () => {
    const { browser } = await changes.signUp();
    for (const text of await show(browser)) expect(text).not.toContain('can be removed again');
  });

  it('say nothing of it to administrators and managers, whose factors stay', async () => {
    const { id, email } = await changes.signUp();
    await sql`update users set role = 'manager' where id = ${id}`.execute(changes.app.db);
    for (const text of await show(await logIn(open(), email)))
      expect(text).not.toContain('can be removed again');
  });
});

describe('after a restore of the database', () => {
  it('no browser is established for seven days, not even that of a first credential', async () => {
    const { browser: before, email, id } = await changes.signUp();
    expect((await runCli(changes.app.databaseUrl, ['database:restored'])).code).toBe(0);
    expect(await isEstablished(await logIn(before, email))).toBe(false);
    const after = await changes.signUp();
    expect(await isEstablished(after.browser)).toBe(false);
    await addPasskey(after.browser);
    expect(await fromEstablished('passkeys', after.id)).toBe(false);
    const move = (ms: number) =>
      sql`update restores set at = ${new Date(changes.clock.now.getTime() - ms)}`.execute(changes.app.db);
    await move(week - 1_000);
    expect(await isEstablished(after.browser)).toBe(false);
    await move(week);
    expect(await isEstablished(after.browser)).toBe(true);
    expect(await isEstablished(before)).toBe(false);
    await age(id, week);
    expect(await isEstablished(before)).toBe(true);
    await sql`delete from restores`.execute(changes.app.db);
  });
});
