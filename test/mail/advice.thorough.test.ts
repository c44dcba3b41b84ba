// The advice in each notice is true (contract 9.127 to 9.131). Each test causes a notice, reads it, and follows its advice.
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { kindsThat, type NoticeKind } from '../../db/tables/mail-kinds.ts';
import { lookAfterVatIds } from '../../server/billing/invoices/vat-ids-to-check.ts';
import { sendDueMails } from '../../server/mail/outbox.ts';
import { runCli } from '../support/app/cli.ts';
import { type Browser, openBrowser, textOf } from '../support/app/visitor.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import {
  type AddressChanges,
  newPassword,
  password,
  shareAddressChanges,
} from '../support/people/address-changes.ts';
import {
  addPasskey,
  createAuthenticator,
  fetchOptions,
  logInByPasskey,
  origin,
} from '../support/people/authenticator.ts';
import { addStaff } from '../support/people/staff.ts';
import { page as appPage, enterCode, setUp, showCode, wrongCode } from '../support/people/totp-app.ts';

/** Logs an administrator in. Returns them with a function by which they look at somebody. */
async function openStaff({ db, config, send }: AddressChanges['app']) {
  const staff = await addStaff({ db, config }, 'admin', { authTime: changes.clock.now });
  const get = async (id: string) => {
    const asked = encodeURIComponent(JSON.stringify({ json: { id } }));
    const { text } = await send(`/trpc/admin.people.get?input=${asked}`, { cookie: staff.cookie });
    return JSON.parse(text).result.data.json as { seen: Record<string, string> };
  };
  return { staff, get };
}

const changes = shareAddressChanges();
const open = () => openBrowser(changes.app.send);
const now = () => changes.clock.now.getTime();

/** Somebody with an account, and a thief who is logged in to it. */
type Person = {
  email: string;
  id: string;
  browser: Browser;
  thief: Browser;
  app?: { secret: string; codes: string[] };
};

async function addPerson(): Promise<Person> {
  const person = await changes.signUp();
  const thief = open();
  expect((await thief.login(person.email, password)).status).toBe(303);
  return { ...person, thief };
}

const addApp = async (person: Person, browser: Browser) => {
  person.app = await setUp(browser, now());
};

/** The thief enters an email address of their own for the account's invoices. */
async function takeInvoices({ id, thief }: Person): Promise<void> {
  const thiefs = `thief-${id}@evil.example.com`;
  const empty = { company: '', line1: '', line2: '', postcode: '', city: '', country: '', vatId: '' };
  const form = {
    intent: 'details',
    ...empty,
    invoiceEmail: thiefs,
    confirmPassword: password,
  };
  expect((await thief.send('/profile/billing', { form })).status).toBe(303);
  await sql`update billing_details set invoice_email_proved_at = now() where account_id = (
    select account_id from users where id = ${id})`.execute(changes.app.db);
  expect(await invoiceEmailOf(id)).toBe(thiefs);
}

const invoiceEmailOf = async (id: string) =>
  (
    await sql<{ email: string | null }>`select invoice_email as email from billing_details
      where account_id = (select account_id from users where id = ${id})`.execute(changes.app.db)
  ).rows[0]?.email;

/** Returns the words of the newest mail of `kind` to `email`, and the path of its link. */
async function readNotice(email: string, kind: string): Promise<{ text: string; path: string }> {
  // Commands use the machine's clock, so the test does, too.
  changes.clock.now = new Date(Math.max(now(), Date.now()));
  await sendDueMails(changes.other.backend.deps, undefined, new AbortController().signal);
  const text = await vi.waitFor(async () => {
    const { rows } = await sql<{ text: string | null }>`select kept_text as text from mails
      where recipient = ${email} and kind = ${kind} order by created_at desc, id desc limit 1`.execute(
      changes.app.db,
    );
    expect(rows[0]?.text, kind).toBeTypeOf('string');
    return rows[0]?.text ?? '';
  }, 10_000);
  // Reads the link of “This wasn’t me”. If there is none, reads the link of the only button.
  const link = /(?<=^This wasn’t me:\n)\S+$|^https?:\/\/\S+$(?![\s\S]*^This wasn’t me:)/m.exec(text)?.[0];
  return { text, path: link?.replace(/^https?:\/\/[^/]+/, '') ?? '' };
}

/** Sets a password by mail, with the code of the person's app if the page asks for one. */
async function setPasswordByMail(person: Person): Promise<Browser> {
  const owner = open();
  expect(
    (await owner.send('/forgot-password', { form: { email: person.email }, from: changes.from() })).status,
  ).toBe(303);
  const { path } = await readNotice(person.email, 'set_password');
  const set = await owner.send(path, { form: { newPassword } });
  expect(set.status).toBe(303);
  if (set.headers.get('location')?.startsWith('/login/code')) {
    const { secret = '' } = person.app ?? {};
    expect((await enterCode(owner, showCode(secret, now() + 30_000))).status).toBe(303);
  }
  return owner;
}

const usualWords =
  '- Enter your email address, and we send you a link to set a new password.\n- The new password logs everyone else out.\n- Then check Security in your account.';

/** Follows the usual advice: the owner sets a new password, which logs out everyone else, and looks at Security. */
async function followUsual(person: Person, { text, path }: { text: string; path: string }): Promise<Browser> {
  expect([text.includes(usualWords), path]).toEqual([true, '/forgot-password']);
  expect((await open().send(path)).status).toBe(200);
  const owner = await setPasswordByMail(person);
  expect(await owner.whoAmI()).toBe(person.email);
  expect((await owner.send('/profile/security')).status).toBe(200);
  for (const other of [person.browser, person.thief]) expect(await other.whoAmI()).toBeUndefined();
  expect((await open().login(person.email, password)).status).toBe(401);
  return owner;
}

const comeByHandOff = async (browser: Browser, id: string, email: string) => {
  const asked = await browser.send(await buildHandOff(changes.app, { id, email }, changes.clock.now));
  return browser.send(asked.headers.get('location') ?? '', { form: {} });
};

/** What the thief does to cause each kind of notice. The thief stays logged in. */
const usual: Partial<Record<NoticeKind, (person: Person) => Promise<unknown>>> = {
  account_linked: async ({ email, thief }) => {
    expect((await comeByHandOff(thief, `linked-${email}`, email)).status).toBe(303);
  },
  authenticator_removed: async (person) => {
    await addApp(person, person.thief);
    await person.thief.send(appPage, { form: { intent: 'turn-off', sure: 'yes' } });
  },
  codes_guessed: async (person) => {
    await addApp(person, person.browser);
    await person.thief.login(person.email, password);
    const wrong = wrongCode(person.app?.secret ?? '', now());
    for (let n = 0; n < 12; n++) await enterCode(person.thief, wrong);
  },
  data_downloaded: ({ thief }) => thief.send('/profile/data.json'),
  deletion_canceled: async ({ thief }) => {
    await thief.send('/profile/delete', { form: { intent: 'delete' } });
    await thief.send('/profile/delete', { form: { intent: 'keep' } });
  },
  new_browser: () => Promise.resolve(),
  passkey_removed: async ({ id, thief }) => {
    await addPasskey(thief);
    const { rows } = await sql<{ id: string }>`select id from passkeys where user_id = ${id}`.execute(
      changes.app.db,
    );
    await thief.send('/profile/passkeys', { form: { intent: 'remove', id: rows[0]?.id ?? '' } });
  },
  password_changed: async ({ thief }) => {
    const form = { intent: 'password', currentPassword: password, newPassword: 'a thief has this one' };
    expect((await thief.send('/profile/security', { form })).status).toBe(303);
  },
  password_set: async ({ email, thief }) => {
    await thief.send('/forgot-password', { form: { email }, from: changes.from() });
    const { path } = await readNotice(email, 'set_password');
    await thief.send(path, { form: { newPassword: 'a thief has this one' } });
    await sql`delete from mails where recipient = ${email} and kind = 'set_password'`.execute(changes.app.db);
  },
  recovery_code_used: async (person) => {
    await addApp(person, person.browser);
    await person.thief.login(person.email, password);
    expect((await enterCode(person.thief, person.app?.codes[0] ?? '')).status).toBe(303);
  },
};

/** What causes each kind of notice whose link takes the account back. */
const takeBack: Partial<Record<NoticeKind, (person: Person) => Promise<unknown>>> = {
  passkey_added: ({ thief }) => addPasskey(thief),
  authenticator_added: ({ thief }) => setUp(thief, now()),
  recovery_codes_made: async ({ thief }) => {
    await setUp(thief, now());
    await thief.send(appPage, { form: { intent: 'renew-codes', sure: 'yes' } });
  },
  deletion_requested: ({ thief }) => thief.send('/profile/delete', { form: { intent: 'delete' } }),
  email_changed: ({ email, thief }) => changes.change(thief, email, changes.newEmail()),
};

/** Kinds of notices with advice of their own, tested below. */
const others: NoticeKind[] = [
  'account_deleted',
  'account_frozen',
  'account_thawed',
  'contract_added',
  'email_change_undone',
  'email_proved',
  'email_replaced',
  'factors_removed',
  'account_resumed',
  'account_suspended',
  'invitation_sent',
  'invitation_taken',
  'link_removed',
  'no_seller',
  'person_frozen',
  'billing_details_changed',
  'invoice_email_changed',
  'rights_decided',
  'role_changed',
  'role_granted',
  'sessions_ended',
  'staff_limited',
  'bank_details_changed',
  'billing_texts_changed',
  'client_changed',
  'vat_ids_to_check',
];

describe('the advice of a notice is true', () => {
  it('for each kind that there is', () => {
    const read = [...Object.keys(usual), ...Object.keys(takeBack), ...others];
    expect(read.sort()).toEqual(kindsThat(({ is }) => is === 'notice' || is === 'warning').sort());
  });

  it.each(Object.entries(usual))(
    '%s: a new password logs out everyone else, and lets in',
    async (kind, make) => {
      const person = await addPerson();
      await make(person);
      const owner = await followUsual(person, await readNotice(person.email, kind));
      if (kind !== 'account_linked') return;
      // The new marketplace link logs nobody in until the owner has logged in.
      const elsewhere = open();
      await comeByHandOff(elsewhere, `linked-${person.email}`, person.email);
      expect(await elsewhere.whoAmI()).toBeUndefined();
      expect(textOf(await owner.send('/profile/security'))).toContain('Marketplace');
    },
  );

  it.each(Object.entries(takeBack))(
    '%s: the link takes the account back, once, in any browser (contract 7.263)',
    async (kind, make) => {
      const person = await addPerson();
      const { email, id, browser, thief } = person;
      await takeInvoices(person);
      await make(person);
      const { text, path } = await readNotice(email, kind);
      expect(text).toMatch(
        /you are done\.\n\nThis wasn’t me:\n.*\n\n- You take your account back with a new password\. /,
      );
      expect(path).toMatch(/^\/take-back\?token=/);
      const until = /until (\d+ \w+ \d{4} at \d\d:\d\d) UTC/.exec(text)?.[1]?.replace(' at', '');
      expect(Math.round((Date.parse(`${until} UTC`) - now()) / 86_400_000)).toBe(7);
      const owner = open();
      expect((await owner.send(path, { form: { newPassword } })).status).toBe(303);
      expect(await owner.whoAmI()).toBe(email);
      for (const other of [browser, thief]) expect(await other.whoAmI()).toBeUndefined();
      const { rows } =
        await sql`select from users where id = ${id} and email = ${email} and deletion_due_at is null
        and not has_passkey and not has_authenticator`.execute(changes.app.db);
      expect(rows).toHaveLength(1);
      expect((await open().send(path, { form: { newPassword } })).status).toBe(404);
      expect(await invoiceEmailOf(id)).toBeNull();
    },
  );

  it('passkey_added of somebody’s first credential: a new password does not remove it, Security does', async () => {
    const id = 'crm_advice';
    await pushSignup(changes.app, buildSignup(id));
    const email = `${id}@example.test`;
    const { path } = await readNotice(email, 'welcome');
    const browser = open();
    const phone = createAuthenticator();
    const token = new URL(path, origin).searchParams.get('token') ?? '';
    const passkey = phone.register(await fetchOptions(browser, 'arrive', token), origin);
    expect((await browser.send(path, { form: { passkey } })).status).toBe(303);
    const notices = await Promise.all(
      ['passkey_added', 'email_proved'].map((kind) => readNotice(email, kind)),
    );
    expect(notices[0]?.text).toContain(
      '- Then go to Security, then Passkeys, to remove the passkey: a new password does not remove it.',
    );
    const owner = await followUsual(
      { email, id, browser, thief: open() },
      notices[1] ?? { text: '', path: '' },
    );
    expect((await logInByPasskey(open(), phone)).status).toBe(303);
    const { rows } = await sql<{ id: string }>`select p.id from passkeys p join users u on u.id = user_id
      where u.email = ${email}`.execute(changes.app.db);
    const removed = await owner.send('/profile/passkeys', {
      form: { intent: 'remove', id: rows[0]?.id ?? '' },
    });
    expect(removed.status).toBe(303);
    expect((await logInByPasskey(open(), phone)).status).toBe(401);
  });

  it('account_frozen and account_thawed: nobody logs in before support has ended it, and the owner after (contract 7.263)', async () => {
    const person = await addPerson();
    const { email, browser } = person;
    await takeInvoices(person);
    await addApp(person, browser);
    const { path } = await readNotice(email, 'authenticator_added');
    expect((await open().send(path, { form: { intent: 'freeze' } })).status).toBe(303);
    const frozen = await readNotice(email, 'account_frozen');
    expect(frozen.text).toContain('Nobody can log in until our support team has checked who the owner is.');
    expect(frozen.text).toContain('To get your account back, contact the people who run this service.');
    expect((await open().login(email, password)).status).toBe(403);
    await runCli(changes.app.databaseUrl, ['user:thaw', email, '--keep', email, '--why', 'A call']);
    const thawed = await readNotice(email, 'account_thawed');
    expect(thawed.text).toContain('you can log in again.');
    expect(await invoiceEmailOf(person.id)).toBeNull();
    const owner = open();
    await owner.login(email, password, thawed.path);
    await enterCode(owner, showCode(person.app?.secret ?? '', now() + 30_000));
    expect(await owner.whoAmI()).toBe(email);
  });

  it('factors_removed: the password is of no use, the next mail sets one, and a second factor can be set up again', async () => {
    const person = await addPerson();
    await addApp(person, person.browser);
    expect((await runCli(changes.app.databaseUrl, ['user:remove-factors', person.email])).code).toBe(0);
    const { text } = await readNotice(person.email, 'factors_removed');
    expect(text).toContain('Your password no longer works.');
    expect(text).toContain('Set a new password with the link in the other email that we have just sent.');
    expect(await person.browser.whoAmI()).toBeUndefined();
    const again = open();
    await again.login(person.email, password);
    expect(await again.whoAmI()).toBeUndefined();
    const { path } = await readNotice(person.email, 'set_password');
    expect((await again.send(path, { form: { newPassword } })).status).toBe(303);
    expect(await again.whoAmI()).toBe(person.email);
    await setUp(again, now());
  });

  it('email_change_undone: the account has the address of before, and this one is free', async () => {
    const { email, id, thief } = await addPerson();
    const taken = changes.newEmail();
    const link = await changes.change(thief, email, taken);
    expect((await open().send(link, { form: { newPassword } })).status).toBe(303);
    const { text } = await readNotice(taken, 'email_change_undone');
    expect(text).toContain('The account has its previous address again:');
    expect(text).toContain('This email address no longer belongs to the account.');
    expect(await changes.emailOf(id)).toBe(email);
    expect(await changes.holdersOf(taken)).toEqual([]);
  });

  it('email_replaced: the marketplace can change it back', async () => {
    const [id, before, after] = [changes.newEmail(), changes.newEmail(), changes.newEmail()];
    const at = (minutes: number) => new Date(now() - 3_600_000 + minutes * 60_000);
    const say = async (email: string, minutes: number) => {
      const user = { id, email, profileUpdatedAt: at(minutes) };
      const browser = open();
      const asked = await browser.send(await buildHandOff(changes.app, user, changes.clock.now));
      await browser.send(asked.headers.get('location') ?? '', { form: {} });
    };
    await say(before, 1);
    await say(after, 2);
    const { text } = await readNotice(before, 'email_replaced');
    expect(text).toContain('If you did not, change it back at the marketplace.');
    await say(before, 3);
    expect([(await changes.holdersOf(before)).length, await changes.holdersOf(after)]).toEqual([1, []]);
  });

  it('account_deleted: the address can be used for a new account', async () => {
    const { email } = await addPerson();
    expect((await runCli(changes.app.databaseUrl, ['user:delete', email, '--now', '--yes'])).code).toBe(0);
    await changes.app.send('/signup', { form: { name: 'Next', email }, from: changes.from() });
    expect((await readNotice(email, 'sign_up')).path).toMatch(/^\/signup\/confirm\?token=/);
  });

  it('contract_added: it is under Billing', async () => {
    const { email, browser } = await addPerson();
    await setSettings(changes.app.db);
    const user = { email, name: 'Cora Change' };
    await pushSignup(changes.app, buildSignup('advice_contract', { user }));
    const { text, path } = await readNotice(email, 'contract_added');
    expect([text.includes('You can see it under Billing.'), path]).toEqual([true, '/profile/billing']);
    expect(text).toMatch(/^Plan: Starter$/m);
    expect(textOf(await browser.send(path))).toContain('Service contracts');
  });

  it('contract_cancel_asked and contract_kept: it is under Billing, where each undoes the other', async () => {
    const { email, browser } = await addPerson();
    await setSettings(changes.app.db);
    const user = { email, name: 'Cora Change' };
    const contract = {
      plan: 'starter',
      status: 'active',
      price: { currency: 'EUR', unit_amount: 1, interval: 'month' },
    };
    const occurred_at = changes.clock.now.toISOString();
    const signup = buildSignup('advice_cancel', { user, contract, occurred_at });
    const { contract: made } = await pushSignup(changes.app, signup, { at: changes.clock.now });
    for (const [intent, kind] of [
      ['cancel', 'contract_cancel_asked'],
      ['keep-contract', 'contract_kept'],
    ] as const) {
      const form = { intent, contract: made.id, confirmPassword: password };
      expect((await browser.send('/profile/billing', { form })).status).toBe(303);
      const { text, path } = await readNotice(email, kind);
      expect(path).toBe('/forgot-password');
      const billing = new URL(/(?<=^Go to Billing:\n)\S+$/m.exec(text)?.[0] ?? '').pathname;
      const other = intent === 'cancel' ? 'Keep the contract' : 'Cancel the contract';
      expect(textOf(await browser.send(billing))).toContain(other);
    }
  });

  it('deletion_requested without such a link: logged in, one click keeps the account', async () => {
    const { email, browser } = await addPerson();
    await browser.send('/profile/delete', { form: { intent: 'delete' } });
    expect((await readNotice(email, 'deletion_requested')).text).toContain(
      'Until then you cannot open our products.',
    );
    expect((await browser.send('/profile/delete', { form: { intent: 'keep' } })).status).toBe(303);
  });

  it('deletion_requested and deletion_canceled by staff: say that our support team did it (contract 12.289)', async () => {
    const { email } = await addPerson();
    for (const [command, kind, words] of [
      ['user:delete', 'deletion_requested', 'because our support team was asked to delete it.'],
      ['user:keep', 'deletion_canceled', 'Our support team has canceled the deletion'],
    ] as const) {
      const { code } = await runCli(changes.app.databaseUrl, [command, email, '--why', 'Asked on the phone']);
      expect(code).toBe(0);
      expect((await readNotice(email, kind)).text).toContain(words);
    }
  });

  it('invoice_email_changed: a new password logs out everyone else, and removes the address', async () => {
    const person = await addPerson();
    await takeInvoices(person);
    const { text, path } = await readNotice(person.email, 'invoice_email_changed');
    expect(text).not.toContain('evil.example');
    // The mail says what was true when it was written (contract 9.375).
    expect(text).toContain(
      'Someone with access to your account has entered another email address for invoices.',
    );
    expect(text).toContain(
      '- It also removes an address for invoices that was added in the last 30 days, or that came with an order and was never approved.\n- Then check Security and Billing in your account.',
    );
    expect(path).toBe('/forgot-password');
    const owner = await setPasswordByMail(person);
    expect(await person.thief.whoAmI()).toBeUndefined();
    expect(await invoiceEmailOf(person.id)).toBeNull();
    expect(textOf(await owner.send('/profile/billing'))).not.toContain('evil.example');
    expect(textOf(await owner.send('/profile/activity'))).toContain('The address for invoices was removed');
  });

  it('of support: they say what was done, and the way on works', async () => {
    const person = await addPerson();
    const { email, id, browser } = person;
    const command = async (...args: string[]) =>
      expect(await runCli(changes.app.databaseUrl, [...args, '--why', 'They called'])).toMatchObject({
        code: 0,
      });
    const logIn = async () => {
      const again = open();
      await again.login(email, password);
      return again.whoAmI();
    };

    await command('user:end-sessions', email);
    const ended = await readNotice(email, 'sessions_ended');
    expect(ended.text).toContain('Our support team has logged your account out in all browsers.');
    expect([await browser.whoAmI(), await logIn(), ended.path]).toEqual([undefined, email, '/login']);

    await command('account:verify', email);
    const decided = await readNotice(email, 'rights_decided');
    expect(decided.text).toContain(
      'has verified your account. It was not verified before. Your profile shows',
    );
    expect(decided.path).toBe('/profile');

    await command('billing-details:edit', email, '--company', 'Blumen GmbH');
    const details = await readNotice(email, 'billing_details_changed');
    expect(details.text).toContain('You can see and change them under Billing.');
    expect(details.text).not.toContain('Blumen');
    expect(details.path).toBe('/profile/billing');

    await command('user:suspend', email);
    const suspended = await readNotice(email, 'account_suspended');
    expect(suspended.text).toContain('You cannot log in while it is suspended.');
    expect(await logIn()).toBeUndefined();
    await command('user:resume', email);
    expect((await readNotice(email, 'account_resumed')).text).toContain('You can log in again.');
    expect(await logIn()).toBe(email);

    await command('user:role', email, 'manager');
    const role = await readNotice(email, 'role_changed');
    expect(role.text).toContain('from customer to manager. All browsers have been logged out.');
    expect([await logIn(), role.path]).toEqual([email, '/login']);
    await command('user:role', email, 'user');

    const { staff, get } = await openStaff(changes.app);
    const linked = open();
    await linked.login(email, password);
    await comeByHandOff(linked, `linked-${email}`, email);
    const { seen } = await get(id);
    const answer = await changes.app.send('/trpc/admin.people.removeLink', {
      cookie: staff.cookie,
      json: { json: { id, why: 'They called', seen: seen['remove-link'], externalId: `linked-${email}` } },
    });
    expect(answer.status).toBe(200);
    const removed = await readNotice(email, 'link_removed');
    expect([removed.text.includes('You can no longer log in from there.'), removed.path]).toEqual([
      true,
      '/profile/security',
    ]);
  });

  it('staff_limited: an administrator finds in the audit what was looked at', async () => {
    const { staff } = await openStaff(changes.app);
    const other = await openStaff(changes.app);
    await sql`insert into audit_events (id, type, user_id, actor_id)
      select gen_random_uuid(), 'staff.looked', gen_random_uuid(), ${staff.id} from generate_series(1, 300)`.execute(
      changes.app.db,
    );
    const { id } = await changes.signUp();
    const asked = encodeURIComponent(JSON.stringify({ json: { id } }));
    const looked = await changes.app.send(`/trpc/admin.people.get?input=${asked}`, { cookie: staff.cookie });
    expect(looked.status).toBe(429);
    const { text, path } = await readNotice(other.staff.email, 'staff_limited');
    expect(text).toContain(staff.email);
    expect(path).toBe('/admin/audit');
    expect((await changes.app.send(path, { cookie: other.staff.cookie })).status).toBe(200);
  });

  it('person_frozen: another administrator sees who was frozen by whom, and ends it', async () => {
    const { staff } = await openStaff(changes.app);
    const other = await openStaff(changes.app);
    const { id, email } = await changes.signUp();
    const act = async (
      { staff: { cookie }, get }: typeof other,
      name: 'freeze' | 'thaw',
      more: object = {},
    ) => {
      const { seen } = await get(id);
      const json = { json: { id, why: 'For a test', seen: seen[name], ...more } };
      return changes.app.send(`/trpc/admin.people.${name}`, { cookie, json });
    };
    expect((await act({ staff, get: other.get }, 'freeze')).status).toBe(200);
    const { text, path } = await readNotice(other.staff.email, 'person_frozen');
    expect(text).toContain(`The account of ${email} has been frozen.`);
    expect(text).toContain(`Done by: ${staff.email}`);
    expect((await changes.app.send(path, { cookie: other.staff.cookie })).status).toBe(200);
    expect((await act(other, 'thaw', { keep: email })).status).toBe(200);
  });

  it('role_granted: another administrator sees who has which role by whom, and takes it away', async () => {
    const { staff } = await openStaff(changes.app);
    const other = await openStaff(changes.app);
    const { id, email } = await changes.signUp();
    const setRole = async ({ staff: { cookie }, get }: typeof other, role: string) => {
      const { seen } = await get(id);
      const json = { json: { id, why: 'For a test', seen: seen['change-role'], role } };
      return changes.app.send('/trpc/admin.people.setRole', { cookie, json });
    };
    expect((await setRole({ staff, get: other.get }, 'admin')).status).toBe(200);
    const { text, path } = await readNotice(other.staff.email, 'role_granted');
    expect(text).toContain(`${email} is now an administrator. Before, the role was customer.`);
    expect(text).toContain(`Done by: ${staff.email}`);
    expect(text).not.toContain('For a test');
    expect((await changes.app.send(path, { cookie: other.staff.cookie })).status).toBe(200);
    expect((await setRole(other, 'user')).status).toBe(200);
  });

  it('billing_texts_changed: an administrator sees which texts, and puts them back', async () => {
    const { staff } = await openStaff(changes.app);
    const other = await openStaff(changes.app);
    await setSettings(changes.app.db);
    const set = async (cookie: string, settings: unknown) => {
      const asked = await changes.app.send('/trpc/admin.billing.settings', { cookie });
      const { seen } = JSON.parse(asked.text).result.data.json;
      const json = { json: { why: 'For a test', seen, settings } };
      return (await changes.app.send('/trpc/admin.billing.setSettings', { cookie, json })).status;
    };
    const payment = { ...germanSettings.payment, text: 'Pay by pigeon.' };
    expect(await set(staff.cookie, { ...germanSettings, payment })).toBe(200);
    const { text, path } = await readNotice(other.staff.email, 'billing_texts_changed');
    expect(text).toContain('Texts on your invoices have been changed: the payment instructions.');
    expect(text).toContain(`Done by: ${staff.email}`);
    expect(text).not.toMatch(/pigeon|For a test/);
    expect((await changes.app.send(path, { cookie: other.staff.cookie })).status).toBe(200);
    expect(await set(other.staff.cookie, germanSettings)).toBe(200);
  });

  it('client_changed: an administrator sees the client on the page, and turns it off (contract 13.29)', async () => {
    const { staff } = await openStaff(changes.app);
    const other = await openStaff(changes.app);
    const call = async (cookie: string, name: string, more: object) =>
      changes.app.send(`/trpc/admin.clients.${name}`, {
        cookie,
        json: { json: { why: 'For a test', client: 'advised', ...more } },
      });
    const added = await call(staff.cookie, 'add', {
      callback: 'http://localhost:4000/typed',
      title: 'Typed',
    });
    expect(added.status).toBe(200);
    const { text, path } = await readNotice(other.staff.email, 'client_changed');
    expect(text).toContain('The client advised was added.');
    expect(text).toContain(`Done by: ${staff.email}`);
    expect(text).not.toMatch(/typed|Typed|For a test|idsec_/);
    const page = await changes.app.send(path, { cookie: other.staff.cookie });
    expect([page.status, page.text.includes('data-client="advised"')]).toEqual([200, true]);
    const listed = JSON.parse(
      (await changes.app.send('/trpc/admin.clients.list', { cookie: staff.cookie })).text,
    );
    const { row } = listed.result.data.json.find(({ name }: { name: string }) => name === 'advised');
    expect((await call(other.staff.cookie, 'turnOff', { seen: row.seen })).status).toBe(200);
  });

  it('vat_ids_to_check: an administrator sees which (contract 9.380)', async () => {
    const { staff } = await openStaff(changes.app);
    await setSettings(changes.app.db);
    const vatId = 'FR83404833048';
    await pushSignup(
      changes.app,
      buildSignup('vat-id', {
        account: { name: 'Fleurs', billing: { address: { country: 'FR' }, vat_id: vatId } },
        user: { email: 'vat-id@example.test', name: 'Zoë' },
      }),
    );
    await lookAfterVatIds(changes.other.backend.deps);
    const { text, path } = await readNotice(staff.email, 'vat_ids_to_check');
    expect(text).toContain('an invoice waits for it, 14 days at most');
    expect([text.includes(vatId), path]).toEqual([false, '/admin/billing#vat-ids']);
    expect((await changes.app.send('/admin/billing', { cookie: staff.cookie })).text).toContain(vatId);
  });

  it('bank_details_changed: an administrator sees the change on the page, and stops it before it counts', async () => {
    const { staff } = await openStaff(changes.app);
    const other = await openStaff(changes.app);
    await setSettings(changes.app.db);
    const call = async (cookie: string, name: string, more: object) => {
      const asked = await changes.app.send('/trpc/admin.billing.settings', { cookie });
      const { seen } = JSON.parse(asked.text).result.data.json;
      return changes.app.send(`/trpc/admin.billing.${name}`, {
        cookie,
        json: { json: { why: 'For a test', seen, ...more } },
      });
    };
    const seller = { ...germanSettings.seller, iban: 'FR7630006000011234567890189' };
    const set = await call(staff.cookie, 'setSettings', { settings: { ...germanSettings, seller } });
    expect(set.status).toBe(200);
    const { text, path } = await readNotice(other.staff.email, 'bank_details_changed');
    expect(text).not.toMatch(/FR76|DE89|For a test/);
    const { pending } = JSON.parse(set.text).result.data.json;
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
    expect(text).toContain(
      `The old details stay in use until ${day.format(new Date(pending.countsFrom))} at `,
    );
    const page = await changes.app.send(path, {
      cookie: other.staff.cookie,
      headers: { accept: 'text/html' },
    });
    expect([page.status, textOf(page).replaceAll(' ', '').includes('FR7630006000011234567890189')]).toEqual([
      200,
      true,
    ]);
    expect((await call(other.staff.cookie, 'stopSettings', {})).status).toBe(200);
  });
});
