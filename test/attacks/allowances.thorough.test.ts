// Each change that a user can make has an allowance, or a reason to need none. The test collects the changes by itself: from
// the router, the routes, and the lists of audit events and mails.
import { readdirSync, readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { auditEventTypes } from '../../db/tables/audit-event-types.ts';
import { mailKinds } from '../../db/tables/mail-kinds.ts';
import { appRouter } from '../../server/doors/trpc/router.ts';
import { type AllowanceName, allowances } from '../../server/identity/ground/allowances.ts';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import { type Answer, expectRetryAfter, openApp } from '../support/app/app.ts';
import { type Browser, fieldOf, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { setSettings } from '../support/billing/settings.ts';
import { pathOfRoute } from '../support/faults/text-inputs.ts';
import {
  createAuthenticator,
  fetchOptions,
  logInByPasskey,
  origin,
} from '../support/people/authenticator.ts';
import { rights } from '../support/people/staff.ts';
import { setUpPage, showCode, startSetUp } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const password = 'seven quiet lanterns';

const clock = Date.now();
let hash: string;
const app = shared(() => openApp({ now: () => new Date(clock) }));
beforeAll(async () => {
  hash = await hashPassword(password);
  await sql`create function refuse_count() returns trigger language plpgsql as 'begin return null; end'`.execute(
    app.db,
  );
});

let serial = 0;
const next = () => ++serial;
const from = () => `10.${next() >> 8}.${serial & 255}.1`;

type User = { id: string; email: string; browser: Browser };

async function addUser(): Promise<User> {
  const email = `spender-${next()}@example.test`;
  const { rows } = await sql<{ id: string }>`
    with account as (insert into accounts (id, name) values (gen_random_uuid(), 'Spenders') returning id)
    insert into users (id, account_id, email, holds_email, name, email_verified_at, password_hash)
    select gen_random_uuid(), id, ${email}, true, 'Sam Spender', now(), ${hash} from account returning id`.execute(
    app.db,
  );
  const browser = await logIn(app.send, email, password);
  return { id: rows[0]?.id ?? '', email, browser };
}

/** Counts the rows that changes add and that no user can remove. */
async function countTraces(): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number>>`select
    (select count(*)::int from audit_events) as audit,
    (select count(*)::int from changes) as history,
    (select count(*)::int from events) as events,
    (select count(*)::int from mails) as mails`.execute(app.db);
  return rows[0] ?? {};
}

async function withAllUsedUp<T>(work: () => Promise<T>): Promise<T> {
  await sql`create trigger used_up before insert or update on rate_limits for each row
    when (new.key like 'allowance-%') execute function refuse_count()`.execute(app.db);
  try {
    return await work();
  } finally {
    await sql`drop trigger used_up on rate_limits`.execute(app.db);
  }
}

const form = ({ browser }: User, path: string, fields: Record<string, string>) =>
  browser.send(path, { form: fields, from: from() });
const call = ({ browser }: User, name: string, input?: unknown) =>
  browser.send(`/trpc/${name}`, { json: input === undefined ? {} : { json: input } });
const confirmed = { confirmPassword: password };
const letTimePass = (user: User) =>
  sql`update sessions set auth_time = auth_time - interval '11 minutes' where user_id = ${user.id}`.execute(
    app.db,
  );
/** Logs the user into a second browser, whose session can then be ended. */
async function openSecond({ email }: User): Promise<void> {
  expect((await openBrowser(app.send).login(email, password)).status).toBe(303);
}
const idOfOther = async (user: User) =>
  (
    await sql<{ id: string }>`select id from sessions where user_id = ${user.id} and ended_at is null
      order by created_at desc limit 1`.execute(app.db)
  ).rows[0]?.id ?? '';

async function link(user: User): Promise<string> {
  const id = `spender-${next()}`;
  await sql`insert into external_links (provider, external_id, user_id, applied_profile_updated_at)
    values ('marketplace', ${id}, ${user.id}, now())`.execute(app.db);
  return id;
}
async function addPasskey(user: User): Promise<Answer> {
  const passkey = createAuthenticator().register(await fetchOptions(user.browser, 'add'), origin);
  return form(user, '/profile/passkeys/add', { name: 'Key', passkey });
}
const passkeyOf = async (user: User) =>
  (await sql<{ id: string }>`select id from passkeys where user_id = ${user.id} limit 1`.execute(app.db))
    .rows[0]?.id ?? '';
async function addApp(user: User): Promise<Answer> {
  const secret = await startSetUp(user.browser);
  return form(user, setUpPage, { code: showCode(secret, clock) });
}

type Counted = {
  counts: AllowanceName;
  prepare?: (user: User) => Promise<unknown>;
  make: (user: User) => Promise<Answer>;
};
type Free = { free: true; prepare?: (user: User) => Promise<unknown>; make: (user: User) => Promise<Answer> };
/** Says what limits a change that has no allowance. */
type Bounded = string;

const security = '/profile/security';
const names = () => ({ name: `Name ${next()}`, accountName: `Account ${serial}` });
const newPassword = { currentPassword: password, newPassword: 'eight louder lanterns' };
const billing = '/profile/billing';
const details = () => ({ company: `Company ${next()}` });
/** Adds a contract that the user may cancel. Without a seller, nobody could cancel it, so this sets one first. */
async function addContract({ id }: User): Promise<string> {
  if ((await sql`select from billing_settings`.execute(app.db)).rows.length === 0) await setSettings(app.db);
  const { rows } = await sql<{ id: string }>`
    insert into service_contracts (id, user_id, account_id, signup_id, plan, status, occurred_at, trial_ends_at)
    select gen_random_uuid(), id, account_id, gen_random_uuid()::text, 'starter', 'trialing', now(), now() + interval '9 days'
    from users
    where id = ${id} returning id`.execute(app.db);
  return rows[0]?.id ?? '';
}
const addCanceled = async (user: User) =>
  sql`update service_contracts set cancels_at = now() + interval '5 days' where id = ${await addContract(user)}`.execute(
    app.db,
  );
const nameInvoiceEmail = ({ id }: User) =>
  sql`insert into billing_details (account_id, invoice_email) select account_id, 'named@books.example.com' from users
    where id = ${id} on conflict (account_id) do update
    set invoice_email = excluded.invoice_email, edited_here = '{}'`.execute(app.db);
const invoiceEmailForm = (user: User, intent: string) =>
  form(user, billing, { intent, invoiceEmail: 'named@books.example.com' });
const contractOf = async ({ id }: User) =>
  (await sql<{ id: string }>`select id from service_contracts where user_id = ${id} limit 1`.execute(app.db))
    .rows[0]?.id ?? '';

const newAddress = () => ({ email: `new-${next()}@example.test` });

const byStaff = 'a credential and a reason for each, and whom they may look at';

const looks = [
  'people.find',
  'people.get',
  'people.wouldGet',
  'audit.list',
  'files.list',
  'mails.list',
  'invitations.list',
  'clients.list',
];
const booksLooks = [
  'overview.get',
  'billing.settings',
  'billing.contracts',
  'billing.invoices',
  'billing.summary',
  'billing.preview',
];

const doors: Record<string, Counted | Free | Bounded> = {
  ...Object.fromEntries(
    Object.keys(rights)
      .filter((name) => ![...looks, ...booksLooks].includes(name))
      .map((name) => [`trpc admin.${name}`, byStaff]),
  ),
  'POST /admin/people/:id/:tab?': byStaff,
  'POST /admin/invoices/:number': byStaff,
  'POST /admin/billing/import':
    'changes nothing by itself; each line that is accepted is recorded by an administrator',
  'POST /admin/billing/unallocated': byStaff,
  'POST /admin/clients': 'staff.set_client, of an administrator',
  'POST /admin/clients/:client': 'staff.set_client, of an administrator',
  'POST /oauth/authorize':
    'changes nothing; it leads to the same as GET, which gives a session 60 codes a minute',
  'POST /oauth/logout': 'changes nothing; it leads to the same as GET, which ends one session',
  'POST /oauth/token': 'reads no cookie; one token for each code',
  'POST /oauth/userinfo': 'reads no cookie, and changes nothing',
  'POST /admin/mails': byStaff,
  'POST /admin/invitations': 'staff.invite, of an administrator',
  'POST /admin/files': 'changes nothing; the file that it leads to is one of five an hour',
  'POST /admin/billing/settings set': 'billing.set, of an administrator',
  'POST /admin/billing/settings stop': byStaff,
  'trpc profile.update': { counts: 'profile.updated', make: (user) => call(user, 'profile.update', names()) },
  'trpc profile.changePassword': {
    counts: 'password.changed',
    make: (user) => call(user, 'profile.changePassword', newPassword),
  },
  'trpc email.requestVerification': 'mails',
  'trpc email.requestPassword': 'mails',
  'trpc email.verify': 'links of mails',
  'trpc email.requestChange': {
    counts: 'email.change_requested',
    make: (user) => call(user, 'email.requestChange', newAddress()),
  },
  'trpc email.cancelChange': {
    free: true,
    prepare: (user) => call(user, 'email.requestChange', newAddress()),
    make: (user) => call(user, 'email.cancelChange'),
  },
  'trpc email.confirmChange': 'links of mails',
  'trpc billing.update': {
    counts: 'billing.updated',
    make: (user) => call(user, 'billing.update', details()),
  },
  'trpc contracts.cancel': {
    counts: 'contract.cancel_asked',
    prepare: addContract,
    make: async (user) => call(user, 'contracts.cancel', { contract: await contractOf(user) }),
  },
  'trpc contracts.keep': {
    free: true,
    prepare: addCanceled,
    make: async (user) => call(user, 'contracts.keep', { contract: await contractOf(user) }),
  },
  'trpc links.remove': {
    free: true,
    prepare: link,
    make: async (user) =>
      call(user, 'links.remove', {
        provider: 'marketplace',
        externalId: `spender-${serial}`,
        currentPassword: password,
      }),
  },
  'trpc sessions.end': {
    free: true,
    prepare: openSecond,
    make: async (user) => call(user, 'sessions.end', { id: await idOfOther(user) }),
  },
  'trpc sessions.endOthers': {
    free: true,
    prepare: openSecond,
    make: (user) => call(user, 'sessions.endOthers', {}),
  },

  'POST /login': {
    counts: 'login-new-browser',
    make: ({ email }) => openBrowser(app.send).login(email, password),
  },
  'POST /login/code': 'logins, and guesses of a code',
  'POST /logout': { free: true, make: (user) => form(user, '/logout', {}) },
  'POST /continue': 'the marketplace, whose signature counts once',
  'POST /forgot-password': 'mails',
  'POST /set-password': 'links of mails',
  'POST /signup': 'mails',
  'POST /signup/confirm': 'links of mails',
  'POST /invitation': 'links of mails',
  'POST /verify-email': 'mails',
  'POST /verify-email/confirm': 'links of mails',
  'POST /take-back': 'links of mails',
  'POST /new-address': 'links of mails',
  'POST /stop-new-address': 'links of mails',
  'POST /invoice-email/confirm': 'links of mails',
  'POST /passkeys/options': 'nothing is kept',
  'POST /profile names': {
    counts: 'profile.updated',
    make: (user) => form(user, '/profile', { intent: 'names', ...names() }),
  },
  'POST /profile time-zone': {
    counts: 'profile.updated',
    make: (user) => form(user, '/profile', { intent: 'time-zone', timeZone: `Etc/GMT+${1 + (next() % 12)}` }),
  },
  'POST /profile cancel-email': {
    free: true,
    prepare: (user) => call(user, 'email.requestChange', newAddress()),
    make: (user) => form(user, '/profile', { intent: 'cancel-email' }),
  },
  'POST /profile/billing details': {
    counts: 'billing.updated',
    make: (user) => form(user, billing, { intent: 'details', ...details() }),
  },
  'POST /profile/billing mail-invoice-email': 'mails',
  'POST /profile/billing own-invoice-email': {
    counts: 'billing.updated',
    prepare: nameInvoiceEmail,
    make: (user) => invoiceEmailForm(user, 'own-invoice-email'),
  },
  'POST /profile/billing keep-invoice-email': {
    counts: 'billing.updated',
    prepare: nameInvoiceEmail,
    make: (user) => invoiceEmailForm(user, 'keep-invoice-email'),
  },
  'POST /profile/billing cancel': {
    counts: 'contract.cancel_asked',
    prepare: addContract,
    make: async (user) => form(user, billing, { intent: 'cancel', contract: await contractOf(user) }),
  },
  'POST /profile/billing keep-contract': {
    free: true,
    prepare: addCanceled,
    make: async (user) => form(user, billing, { intent: 'keep-contract', contract: await contractOf(user) }),
  },
  'POST /profile/security password': {
    counts: 'password.changed',
    make: (user) => form(user, security, { intent: 'password', ...newPassword }),
  },
  'POST /profile/security mail-password': 'mails',
  'POST /profile/security end-session': {
    free: true,
    prepare: openSecond,
    make: async (user) => form(user, security, { intent: 'end-session', id: await idOfOther(user) }),
  },
  'POST /profile/security end-others': {
    free: true,
    prepare: openSecond,
    make: (user) => form(user, security, { intent: 'end-others' }),
  },
  'POST /profile/security remove-link': {
    free: true,
    prepare: link,
    make: (user) =>
      form(user, security, {
        intent: 'remove-link',
        provider: 'marketplace',
        externalId: `spender-${serial}`,
        currentPassword: password,
      }),
  },
  'POST /profile/email': {
    counts: 'email.change_requested',
    make: (user) => form(user, '/profile/email', newAddress()),
  },
  'POST /profile/email/confirm': 'links of mails',
  'POST /profile/passkeys add': {
    counts: 'login.confirmed',
    prepare: letTimePass,
    make: (user) => form(user, '/profile/passkeys', { intent: 'add', ...confirmed }),
  },
  'POST /profile/passkeys rename': 'nothing is kept but the name',
  'POST /profile/passkeys remove': {
    free: true,
    prepare: addPasskey,
    make: async (user) => form(user, '/profile/passkeys', { intent: 'remove', id: await passkeyOf(user) }),
  },
  'POST /profile/passkeys/add': { counts: 'passkey.added', make: addPasskey },
  'POST /profile/authenticator go-on': 'nothing is kept',
  'POST /profile/authenticator set-up': 'nothing is kept',
  'POST /profile/authenticator renew-codes': {
    counts: 'recovery_codes.made',
    prepare: addApp,
    make: (user) => form(user, '/profile/authenticator', { intent: 'renew-codes', sure: 'yes' }),
  },
  'POST /profile/authenticator turn-off': {
    free: true,
    prepare: addApp,
    make: (user) => form(user, '/profile/authenticator', { intent: 'turn-off', sure: 'yes' }),
  },
  'POST /profile/authenticator/set-up': { counts: 'authenticator.added', make: addApp },
  'POST /profile/passkeys/offer add': {
    counts: 'passkey.added',
    make: async (user) => {
      const passkey = createAuthenticator().register(await fetchOptions(user.browser, 'add'), origin);
      return form(user, '/profile/passkeys/offer', { intent: 'add', passkey });
    },
  },
  'POST /profile/passkeys/offer later': 'nothing is kept',
  'POST /profile/passkeys/offer never': 'nothing is kept but that it was said, once',
  'POST /profile/data': {
    counts: 'login.confirmed',
    prepare: letTimePass,
    make: (user) => form(user, '/profile/data', confirmed),
  },
  'GET /profile/data.json': {
    counts: 'data.downloaded',
    make: ({ browser }) => browser.send('/profile/data.json'),
  },
  'POST /profile/delete delete': {
    counts: 'user.deletion_requested',
    make: (user) => form(user, '/profile/delete', { intent: 'delete' }),
  },
  'POST /profile/delete keep': {
    free: true,
    prepare: (user) => form(user, '/profile/delete', { intent: 'delete' }),
    make: (user) => form(user, '/profile/delete', { intent: 'keep' }),
  },

  // No user makes these requests.
  'POST /integrations/crm/signups': 'the CRM, whose signature counts',
  'POST /integrations/payments': 'a payment provider, whose signature counts',
  'POST /demo/:client': 'local mode only',
  'POST /demo/:client/events': 'local mode only',
  'POST /demo/legacy-marketplace': 'local mode only',
};

/** Lists every procedure that changes something, and every form of every route. A form is named by its `intent` if it has one. */
function listDoors(): string[] {
  const { procedures } = appRouter._def as unknown as {
    procedures: Record<string, { _def: { type: string } }>;
  };
  const mutations = Object.entries(procedures)
    .filter(([, { _def }]) => _def.type === 'mutation')
    .map(([name]) => `trpc ${name}`);
  const routes = readdirSync('app/routes').flatMap((file) => {
    const source = readFileSync(`app/routes/${file}`, 'utf8');
    if (!/^export (async function|const) action\b/m.test(source)) return [];
    const path = pathOfRoute(file);
    const action = source.slice(source.search(/^export (async function|const) action\b/m));
    const intents = [
      ...action.matchAll(/\bintent [!=]== '([\w-]+)'|\bcase '([\w-]+)':|^\s+'?([\w-]+)'?: \(procedures/gm),
    ].map(([, ...found]) => found.find(Boolean));
    return intents.length === 0
      ? [`POST ${path}`]
      : [...new Set(intents)].map((intent) => `POST ${path} ${intent}`);
  });
  // The tRPC route is left out, because its procedures are listed one by one.
  return [...mutations, ...routes.filter((door) => door !== 'POST /trpc/:')];
}

describe('every change by a user', () => {
  it('has an allowance, or says what bounds it, whichever door it has (contract 11.6, 11.8, 11.14, 11.15, 11.16, 11.37, 11.64 and 11.75)', () => {
    // Downloading one's data counts as a change, too, but it is a GET, so listDoors does not find it.
    expect(Object.keys(doors).sort()).toEqual([...listDoors(), 'GET /profile/data.json'].sort());
  });

  it('counts towards an allowance that exists, and each allowance is used', () => {
    const used = Object.values(doors).flatMap((door) =>
      typeof door === 'object' && 'counts' in door ? [door.counts] : [],
    );
    const ofLogins = ['login-known-browser', 'login-own-browser', 'login-passkey'];
    // The allowances for mails about staff are tested in staff.test.ts.
    const elsewhere = [
      ...ofLogins,
      'invoice-email-of-signup',
      'staff.searched',
      'staff.send_mail',
      'staff.note',
      'staff.invite',
      'staff.set_client',
      'billing.set',
    ];
    expect([...new Set([...used, ...elsewhere])].sort()).toEqual(Object.keys(allowances).sort());
  });

  it('has an allowance if all that it leaves is a mail', () => {
    const senders: Record<string, string> = {
      welcome: 'signup.accepted',
      contract_added: 'signup.accepted',
      credit_note_issued: 'credit_note.issued',
      invoice_issued: 'invoice.issued',
      invoice_reminder_1: 'invoice.issued',
      invoice_reminder_2: 'invoice.issued',
      payment_received: 'payment.recorded',
      trial_ends: 'signup.accepted',
      set_password: 'password_link.requested',
      prove_address: 'email.verification_requested',
      verify_email: 'email.verification_requested',
      sign_up: 'password_link.requested',
      account_exists: 'email.change_requested',
      invitation: 'staff.invite',
      invitation_sent: 'staff.invite',
      invitation_taken: 'user.created',
      change_email: 'email.change_requested',
      new_address: 'staff.change_email',
      stop_new_address: 'staff.change_email',
      email_changed: 'email.changed',
      account_deleted: 'user.erased',
      account_frozen: 'account.frozen',
      account_thawed: 'account.thawed',
      account_linked: 'hand_off.confirmed',
      account_resumed: 'user.resumed',
      account_suspended: 'user.suspended',
      authenticator_added: 'authenticator.added',
      authenticator_removed: 'authenticator.removed',
      codes_guessed: 'login.refused',
      data_downloaded: 'data.downloaded',
      billing_details_changed: 'staff.edit_billing_details',
      invoice_email_changed: 'billing.updated',
      deletion_canceled: 'user.deletion_canceled',
      deletion_requested: 'user.deletion_requested',
      email_change_undone: 'account.taken_back',
      email_proved: 'email.verified',
      email_replaced: 'hand_off.accepted',
      factors_removed: 'factors.removed',
      link_removed: 'link.removed',
      new_browser: 'login.succeeded',
      passkey_added: 'passkey.added',
      passkey_removed: 'passkey.removed',
      password_changed: 'password.changed',
      password_set: 'password.set',
      recovery_code_used: 'login.succeeded',
      recovery_codes_made: 'recovery_codes.made',
      rights_decided: 'capability.decided',
      role_changed: 'staff.change_role',
      person_frozen: 'staff.freeze',
      role_granted: 'staff.change_role',
      sessions_ended: 'staff.end_sessions',
      staff_limited: 'staff.limited',
      invoice_email: 'billing.invoice_email_asked',
      contract_cancel_asked: 'contract.cancel_asked',
      contract_kept: 'contract.kept',
      no_seller: 'signup.accepted',
      bank_details_changed: 'billing.set',
      billing_texts_changed: 'billing.set',
      client_changed: 'staff.set_client',
      // The job sends one such mail a day, for any number of customers who gave a VAT id.
      vat_ids_to_check: 'billing.updated',
    };
    expect(Object.keys(senders).sort()).toEqual([...mailKinds].sort());
    expect(Object.values(senders).filter((event) => !(event in auditEventTypes))).toEqual([]);
  });
});

const counted = Object.entries(doors).filter(
  (door): door is [string, Counted] => typeof door[1] === 'object' && 'counts' in door[1],
);
const free = Object.entries(doors).filter(
  (door): door is [string, Free] => typeof door[1] === 'object' && 'free' in door[1],
);

describe('a change whose allowance is used up (contract 9.52)', () => {
  it.each(counted)('is 429 with Retry-After and leaves nothing: %s', async (_, { prepare, make }) => {
    const user = await addUser();
    await prepare?.(user);
    const before = await countTraces();
    const refused = await withAllUsedUp(() => make(user));
    expect(refused.status).toBe(429);
    expectRetryAfter(refused, 24 * 60 * 60);
    expect(await countTraces()).toEqual(before);
    expect((await make(user)).status).toBeLessThan(400);
    expect(await countTraces()).not.toEqual(before);
  });
});

describe('what ends access, removes what was added or keeps things as they were (contract 9.67)', () => {
  it.each(free)('goes on when every allowance is used up: %s', async (_, { prepare, make }) => {
    const user = await addUser();
    await prepare?.(user);
    const before = await countTraces();
    expect((await withAllUsedUp(() => make(user))).status).toBeLessThan(400);
    expect(await countTraces()).not.toEqual(before);
  });
});

/** Sets the stored numbers so that the allowance can be used `left` more times. */
const leave = (name: AllowanceName, left: number) =>
  sql`update rate_limits set points = ${allowances[name].times - left} where key like ${`allowance-${name}:%`}`.execute(
    app.db,
  );

const many = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: 16 }, make));

describe('allowances', () => {
  it.each<[string, Counted]>(
    counted.filter(([name]) =>
      [
        'trpc profile.update',
        'POST /profile names',
        'trpc email.requestChange',
        'POST /profile/authenticator renew-codes',
        'GET /profile/data.json',
        'POST /login',
      ].includes(name),
    ),
  )('are exact, even when 16 come at once: %s', async (_, { counts, prepare, make }) => {
    await sql`truncate rate_limits`.execute(app.db);
    const user = await addUser();
    await prepare?.(user);
    await make(user);
    await leave(counts, 3);
    const answers = await many(() => make(user));
    const letIn = answers.filter(({ status }) => status < 400);
    expect([letIn.length, answers.filter(({ status }) => status === 429).length]).toEqual([3, 13]);
  });

  it('are sixty edits of a profile an hour, by the page and by programs together, and the form keeps what was typed', async () => {
    const user = await addUser();
    for (let n = 0; n < 30; n++) {
      expect((await call(user, 'profile.update', names())).status).toBe(200);
      expect((await form(user, '/profile', { intent: 'names', ...names() })).status).toBe(303);
    }
    const typed = { name: 'What I typed', accountName: 'An account' };
    const refused = await form(user, '/profile', { intent: 'names', ...typed });
    expect(refused.status).toBe(429);
    expectRetryAfter(refused, 60 * 60);
    expect(textOf(refused)).toContain('There have been too many attempts in a short time.');
    expect(fieldOf(refused, 'name').value).toBe(typed.name);
    // An edit that changes nothing does not use up the allowance.
    const present = JSON.parse((await user.browser.send('/sso/profile')).text);
    expect((await call(user, 'profile.update', { name: present.name })).status).toBe(200);
    // The limit applies to this user only.
    expect((await call(await addUser(), 'profile.update', names())).status).toBe(200);
    await sql`update rate_limits set expire = 1 where key like 'allowance-profile.updated:%'`.execute(app.db);
    expect((await form(user, '/profile', { intent: 'names', ...typed })).status).toBe(303);
  });

  it('count no edit that changes nothing, or that is refused (contract 9.29 and 9.52)', async () => {
    const user = await addUser();
    await sql`truncate rate_limits`.execute(app.db);
    const same = { name: 'Sam Spender', accountName: 'Spenders' };
    expect((await call(user, 'profile.update', same)).status).toBe(200);
    expect((await call(user, 'profile.update', { ...names(), profile_updated_at: 'old' })).status).toBe(409);
    expect((await call(user, 'profile.update', { name: '' })).status).toBe(422);
    expect((await sql`select from rate_limits`.execute(app.db)).rows).toEqual([]);
  });

  it('are five requests for a deletion a day, however often it is canceled in between', async () => {
    const user = await addUser();
    const ask = () => form(user, '/profile/delete', { intent: 'delete' });
    const keep = () => form(user, '/profile/delete', { intent: 'keep' });
    for (let n = 0; n < 5; n++) {
      expect((await ask()).headers.get('location')).toBe('/profile/delete');
      // A second request changes nothing.
      expect((await ask()).status).toBe(303);
      expect((await keep()).status).toBe(303);
    }
    const refused = await ask();
    expect(refused.status).toBe(429);
    expectRetryAfter(refused, 24 * 60 * 60);
    expect(textOf(refused)).toContain('There have been too many attempts in a short time.');
    expect(textOf(refused)).toContain('Are you sure?');
  });

  it('refuse a passkey, an app, new codes and a change of address before a credential is asked for, or made', async () => {
    const user = await addUser();
    await call(user, 'email.requestChange', newAddress());
    await addPasskey(user);
    await addApp(user);
    await form(user, '/profile/authenticator', { intent: 'renew-codes', sure: 'yes' });
    for (const name of [
      'passkey.added',
      'authenticator.added',
      'recovery_codes.made',
      'email.change_requested',
    ] as const)
      await leave(name, 0);
    await letTimePass(user);
    const asked = [
      await form(user, '/profile/passkeys', { intent: 'add' }),
      await form(user, '/passkeys/options', { purpose: 'add' }),
      await form(user, '/profile/passkeys/add', { name: 'Key', passkey: '{}' }),
      await form(user, '/profile/authenticator', { intent: 'set-up' }),
      await form(user, '/profile/authenticator', { intent: 'renew-codes', sure: 'yes' }),
      await form(user, '/profile/email', newAddress()),
    ];
    expect(asked.map(({ status }) => status)).toEqual(Array(6).fill(429));
    for (const answer of asked) expectRetryAfter(answer, 60 * 60);
  });

  it('of credentials given again are those of one session: another one of the same user has its own (contract 9.58)', async () => {
    const thief = await addUser();
    const owner = { ...thief, browser: openBrowser(app.send) };
    await owner.browser.login(owner.email, password);
    await letTimePass(thief);
    expect((await form(thief, '/profile/passkeys', { intent: 'add', ...confirmed })).status).toBe(303);
    await leave('login.confirmed', 0);
    await letTimePass(thief);
    expect((await form(thief, '/profile/passkeys', { intent: 'add', ...confirmed })).status).toBe(429);
    expect((await form(owner, '/profile/passkeys', { intent: 'add', ...confirmed })).status).toBe(303);
  });

  it('of logins are those of a browser that its user has had for a week: a thief cannot use them up (contract 9.62)', async () => {
    await sql`truncate rate_limits`.execute(app.db);
    const { id, email, browser } = await addUser();
    const age = (time: string) =>
      sql`update devices set known_since = known_since - ${time}::interval where user_id = ${id}`.execute(
        app.db,
      );
    await age('1 minute');
    const second = await logIn(app.send, email, password);
    const thief = openBrowser(app.send);
    await age('6 days 23 hours');
    await thief.login(email, password);
    for (const each of [browser, second, thief]) expect((await each.login(email, password)).status).toBe(303);
    await leave('login-new-browser', 0);
    await leave('login-known-browser', 0);
    for (const each of [browser, second, thief, openBrowser(app.send)])
      expect((await each.login(email, password)).status).toBe(429);
    await age('1 hour');
    expect((await thief.login(email, password)).status).toBe(429);
    expect((await browser.login(email, password)).status).toBe(303);
    await leave('login-own-browser', 3);
    for (const status of [303, 303, 303, 429])
      expect((await browser.login(email, password)).status).toBe(status);
    // Each browser has an allowance of its own.
    expect((await second.login(email, password)).status).toBe(303);
  });

  it('of changes of the password are those of such a browser, too, also once a thief has made it forgotten (contract 9.63)', async () => {
    const { id, email, browser } = await addUser();
    await sql`update devices set known_since = known_since - interval '7 days' where user_id = ${id}`.execute(
      app.db,
    );
    const thief = await logIn(app.send, email, password);
    const change = (each: Browser, currentPassword: string, typed: string) =>
      each.send(security, { form: { intent: 'password', currentPassword, newPassword: typed } });
    for (let round = 0; round < 5; round++) {
      expect((await change(thief, password, 'thief has a password')).status).toBe(303);
      expect((await change(thief, 'thief has a password', password)).status).toBe(303);
    }
    expect((await change(thief, password, 'thief has a password')).status).toBe(429);
    // The owner's second browser is not established either, and shares its allowance with the thief's browser.
    const other = await logIn(app.send, email, password);
    expect((await change(other, password, 'eight louder lanterns')).status).toBe(429);
    expect((await browser.login(email, password)).status).toBe(303);
    // The thief has made the service forget this browser, so it is not established.
    await form({ id, email, browser }, '/profile/passkeys', { intent: 'add' });
    expect((await browser.send('/profile/passkeys/add')).text).toContain('For the next 7 days');
    for (let n = 0; n < 5; n++) {
      expect((await change(browser, password, 'eight louder lanterns')).status).toBe(303);
      expect((await change(browser, 'eight louder lanterns', password)).status).toBe(303);
    }
    expect((await change(browser, password, 'eight louder lanterns')).status).toBe(429);
  });

  it('of logins with a password end with it, and those of a passkey are others (contract 9.62)', async () => {
    const { email, browser } = await addUser();
    const authenticator = createAuthenticator();
    const passkey = authenticator.register(await fetchOptions(browser, 'add'), origin);
    await browser.send('/profile/passkeys/add', { form: { name: 'Key', passkey } });
    await browser.login(email, password);
    for (const name of ['login-new-browser', 'login-known-browser'] as const) await leave(name, 0);
    expect((await openBrowser(app.send).login(email, password)).status).toBe(429);
    expect((await browser.login(email, password)).status).toBe(429);
    const other = openBrowser(app.send);
    expect((await logInByPasskey(other, authenticator)).status).toBe(303);
    await leave('login-passkey', 0);
    expect((await logInByPasskey(other, authenticator)).status).toBe(429);
    const renewed = await hashPassword(password);
    await sql`update users set password_hash = ${renewed} where email = ${email}`.execute(app.db);
    expect((await openBrowser(app.send).login(email, password)).status).toBe(303);
  });

  it('are those of the contract (contract 7.235, 7.260, 9.53, 9.54, 9.55, 9.58, 12.220 and 13.33)', () => {
    const said = Object.entries(allowances).map(
      ([name, { times, seconds }]) => `${name} ${times} in ${seconds / 3600} h`,
    );
    expect(said.sort()).toEqual([
      'authenticator.added 10 in 1 h',
      'billing.set 60 in 1 h',
      'billing.updated 30 in 1 h',
      'contract.cancel_asked 10 in 24 h',
      'data.downloaded 5 in 1 h',
      'email.change_requested 10 in 1 h',
      'invoice-email-of-signup 2 in 24 h',
      'login-known-browser 300 in 1 h',
      'login-new-browser 100 in 1 h',
      'login-own-browser 60 in 1 h',
      'login-passkey 300 in 1 h',
      'login.confirmed 30 in 1 h',
      'passkey.added 30 in 1 h',
      'password.changed 10 in 1 h',
      'profile.updated 60 in 1 h',
      'recovery_codes.made 10 in 1 h',
      'staff.invite 20 in 24 h',
      'staff.note 60 in 1 h',
      'staff.searched 600 in 1 h',
      'staff.send_mail 5 in 1 h',
      'staff.set_client 300 in 1 h',
      'user.deletion_requested 5 in 24 h',
    ]);
  });
});
