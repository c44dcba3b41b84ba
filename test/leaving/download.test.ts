import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { readOwnRows, sections } from '../../db/own-data.ts';
import { expectRetryAfter, locationOf, openApp } from '../support/app/app.ts';
import { type Browser, logIn, textOf } from '../support/app/visitor.ts';
import { setSettings } from '../support/billing/settings.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { idOf } from '../support/database/database.ts';
import { buildHandOff, openHandOff } from '../support/marketplace/marketplace.ts';
import { addPasskey } from '../support/people/authenticator.ts';
import { listNotices } from '../support/people/kept-mail.ts';
import { eventsOf } from '../support/people/leaving.ts';
import { setUp } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const file = '/profile/data.json';
const page = '/profile/data';
const email = 'customer@example.test';
const password = 'local demo password';

let lagMs = 0;
const now = () => new Date(Date.now() + lagMs);
const app = shared(() => openApp({ now }));
beforeEach(() => sql`truncate rate_limits`.execute(app.db));

type Data = Record<string, Record<string, unknown>[]>;

async function download(browser: Browser): Promise<Data> {
  const answer = await browser.send(file);
  expect(answer.status).toBe(200);
  return JSON.parse(answer.text);
}

/** Tables about people that are in no download, and why. */
const leftOutTables: Record<string, string> = {
  erased_users: 'of nobody who could ask',
  person_words: 'the words of the profile, which is there, written another way',
  log_outs: 'what products were told of sessions and suspensions, which are there',
  people_to_index: 'seconds of a change, which is there',
  recovery_codes: 'secrets',
  pending_logins: 'ten minutes of a login under way',
  refused_forms: 'ten minutes of a form that was not taken',
  mail_tokens: 'secrets; the emails that they came in are there',
  pending_hand_offs:
    'ten minutes of a login under way; what comes of it is in connected_accounts and sessions',
};

/** Columns of the other tables that are in no download, and why. */
const leftOutColumns: Record<string, string> = {
  'invoices.reminded': 'which mails were sent',
  'audit_events.id': 'of no meaning',
  'audit_events.user_id': 'the same everywhere',
  'changes.account_id': 'in the members',
  'changes.began_at': 'the start of the transaction; when it was changed is there',
  'changes.by_user': 'the same everywhere, or somebody else',
  'changes.cause': 'what operators look for',
  'changes.erased_at': 'of nobody who could ask',
  'changes.id': 'of no meaning',
  'changes.request_id': 'what operators look for; of their own requests it is in activity',
  'changes.role': 'who looks after the database',
  'changes.user_id': 'the same everywhere',
  'audit_events.actor_id': 'of the staff',
  'audit_events.why': 'what staff write down for each other',
  'changes.actor_id': 'of the staff',
  'changes.why': 'what staff write down for each other',
  'accounts.sources_known': 'whether it was worked out who decided the rights from before',
  'external_links.said_at': 'when the profile was applied is there',
  'authenticators.last_step': 'of the last code; when it was used is there',
  'authenticators.sealed_secret': 'a secret',
  'authenticators.user_id': 'the same everywhere',
  'devices.token_hash': 'a secret',
  'devices.user_id': 'the same everywhere',
  'client_users.user_id': 'the same everywhere',
  'events.contract_id': 'of events about contracts, which are there',
  'events.id': 'the order of appending',
  'events.made_in': 'of no meaning',
  'events.numbered_at': 'when a client could read it',
  'events.seq': 'where a client finds it',
  'events.user_id': 'the same everywhere',
  'external_links.user_id': 'the same everywhere',
  'launches.user_id': 'the same everywhere',
  'mails.attempts': 'how sending went',
  'mails.details': 'what the text of the email is made of',
  'mails.id': 'of no meaning',
  'mails.kept_html': 'local mode only; holds links, which are secrets',
  'mails.kept_subject': 'local mode only',
  'mails.kept_text': 'local mode only; holds links, which are secrets',
  'mails.last_error': 'how sending went',
  'mails.next_attempt_at': 'how sending went',
  'mails.user_id': 'the same everywhere',
  'staff_invitations.id': 'of no use to anybody',
  'staff_invitations.invited_by': 'of the staff',
  'staff_invitations.taken_by': 'the same everywhere',
  'new_addresses.guesses': 'bounds the guesses of others',
  'new_addresses.id': 'of no use to anybody',
  'new_addresses.removes_factors_by': 'an id; once factors are removed, activity says so',
  'new_addresses.user_id': 'the same everywhere',
  'passkeys.credential_id': 'what the authenticator knows it by',
  'passkeys.id': 'of no meaning',
  'passkeys.public_key': 'of no meaning to people',
  'passkeys.user_id': 'the same everywhere',
  'pending_email_changes.user_id': 'the same everywhere',
  'staff_notes.author_id': 'of the staff',
  'staff_notes.id': 'of no meaning',
  'staff_notes.user_id': 'the same everywhere',
  'reserved_addresses.number': 'the order of changes',
  'reserved_addresses.user_id': 'the same everywhere',
  'allocations.id': 'of no meaning',
  'billing_details.account_id': 'the same everywhere',
  'billing_details.vat_id_ask_at': 'of no meaning to people',
  'vat_checks.account_id': 'the same everywhere',
  'vat_checks.asked_by': 'the seller',
  'vat_checks.id': 'of no meaning',
  'documents.category': 'in the facts',
  'documents.country': 'in the facts',
  'documents.currency': 'in the facts',
  'documents.first_day': 'in the facts',
  'documents.invoice': 'in the facts, by its number',
  'documents.issued_on': 'in the facts',
  'documents.last_day': 'in the facts',
  'documents.net': 'in the facts',
  'documents.prefix': 'in the number',
  'documents.rate': 'in the facts',
  'documents.settings_version': 'in the facts',
  'documents.tax': 'in the facts',
  'documents.total': 'in the facts',
  'documents.year': 'in the number',
  'mails.key': 'what it is about, for us',
  'payments.kind': 'all are payments; what went back is in the allocations',
  'payments.of': 'of refunds',
  'payments.recorded_by': 'the bookkeeper',
  'payments.unallocated': 'of the whole payment, which may be for others, too',
  'service_contracts.account_id': 'the same everywhere',
  'service_contracts.arrival_number': 'of the list that the CRM reads',
  'service_contracts.credit_from': 'what billing still has to do',
  'service_contracts.chosen_cancels_at': 'when it ends is there',
  'service_contracts.reported_cancels_at': 'when it ends is there',
  'service_contracts.erased_account_id': 'of nobody who could ask',
  'service_contracts.erased_user_id': 'of nobody who could ask',
  'service_contracts.user_id': 'the same everywhere',
  'sessions.token_hash': 'a secret',
  'sessions.user_id': 'the same everywhere',
  'take_back_changes.guesses': 'bounds the guesses of others',
  'take_back_changes.id': 'of no use to anybody',
  'take_back_changes.user_id': 'the same everywhere',
  'users.password_hash': 'a secret',
};

describe('a download (contract 2.90)', () => {
  it('has every table that keeps something about a user, or there is a reason', async () => {
    const { rows } = await sql<{ name: string }>`
      select distinct table_name as name from information_schema.columns
      where table_schema = 'public' and column_name ~ '(^|_)user_id$'
      union select conrelid::regclass::text from pg_constraint
      where contype = 'f' and confrelid in ('users'::regclass, 'accounts'::regclass)
      union select unnest(array['users', 'accounts', 'invoices', 'erased_users', 'documents', 'payments', 'allocations',
        'contract_charges', 'vat_checks'])`.execute(app.db);
    expect(rows.length).toBeGreaterThan(10);
    const covered = new Set([...sections.map(({ table }) => table), ...Object.keys(leftOutTables)]);
    expect(rows.map(({ name }) => name).sort()).toEqual([...covered].sort());
  });

  it('has every column of these tables, or there is a reason', async () => {
    const tables = sections.map(({ table }) => table);
    const { rows } = await sql<{ name: string }>`select table_name || '.' || column_name as name
      from information_schema.columns where table_schema = 'public' and table_name = any(${tables})`.execute(
      app.db,
    );
    const covered = sections.flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`));
    const all = new Set([...covered, ...Object.keys(leftOutColumns)]);
    expect(rows.map(({ name }) => name).sort()).toEqual([...all].sort());
  });

  it('is a file with what is kept about its owner, without secrets (contract 7.252)', async () => {
    const contract = {
      plan: 'kept',
      status: 'active',
      price: { currency: 'EUR', unit_amount: 4_200, interval: 'month' },
      charges: [{ id: 'setup', title: 'Setup', unit_amount: 100, when: 'next' as const }],
    };
    for (const [id, address] of [
      ['crm_mine', email] as const,
      ['crm_theirs', 'merchant@example.test'] as const,
    ])
      await pushSignup(app, buildSignup(id, { user: { email: address, name: 'x' }, contract }));
    await sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount,
        status, issued_at, due_at)
      select case signup_id when 'crm_mine' then 901 else 902 end, id, 'kept', now() - interval '1 year', now(), 'EUR',
        4200, 'open', now(), now() from service_contracts`.execute(app.db);
    await sql`insert into billing_details (account_id, company)
      select account_id, 'Mine' from users where email = ${email}`.execute(app.db);
    await sql`insert into payments (id, kind, currency, amount, paid_at, method, reference, recorded_at, recorded_by,
        unallocated)
      select 'pay-' || number, 'payment', 'EUR', 4200, now(), 'transfer', 'Thanks ' || number, now(), 'reported', 0
      from invoices`.execute(app.db);
    await sql`insert into allocations (payment, invoice, amount, recorded_at)
      select 'pay-' || number, number, 4200, now() from invoices`.execute(app.db);
    await setSettings(app.db);
    await sql`insert into documents (number, kind, invoice, prefix, year, settings_version, issued_on, first_day,
        last_day, currency, net, tax, total, category, rate, issued_at, facts)
      select 'INV-2026-0' || number, 'invoice', number, 'INV-', 2026, 1, now(), now(), now(), 'EUR', 4200, 0, 4200, 'O',
        0, now(), '{}' from invoices`.execute(app.db);
    const browser = await logIn(app.send, email);
    await openHandOff(app, await buildHandOff(app, { id: 'mine', email }), { cookie: browser.cookie() });
    await browser.send('/sso/launch/network_site');
    await browser.send('/forgot-password', { form: { email } });
    await addPasskey(browser);
    await setUp(browser, Date.now());
    await sql`insert into reserved_addresses (email, user_id, expires_at)
      select 'former@example.test', id, now() + interval '1 day' from users where email = ${email}`.execute(
      app.db,
    );
    await sql`insert into staff_invitations (id, email, role, sent_at, expires_at, taken_by)
      select gen_random_uuid(), email, 'manager', now(), now() + interval '1 day', id from users
      where email = ${email}`.execute(app.db);
    await sql`insert into new_addresses (id, user_id, email, asked_at, expires_at)
      select gen_random_uuid(), id, 'offered@example.test', now(), now() + interval '1 day' from users
      where email = ${email}`.execute(app.db);
    await sql`insert into vat_checks (id, account_id, vat_id, asked_by, asked_at, is_valid)
      select gen_random_uuid(), account_id, 'FR83404833048', 'DE136695976', now(), true from users where email = ${email}`.execute(
      app.db,
    );
    await sql`insert into staff_notes (id, user_id, author_id, text, at)
      select gen_random_uuid(), id, id, 'Mine', now() from users where email = ${email}`.execute(app.db);
    expect((await browser.send('/profile/email', { form: { email: 'next@example.test' } })).status).toBe(303);
    const answer = await browser.send(file);
    await sql`delete from authenticators`.execute(app.db);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': 'attachment; filename="your-data.json"',
      'cache-control': 'no-store',
    });
    const data: Data = JSON.parse(answer.text);
    expect(Object.keys(data)).toEqual(['service', 'written_at', ...sections.map(({ name }) => name)]);
    for (const { name } of sections) expect(data[name]?.length, name).toBeGreaterThan(0);
    expect(data.profile).toMatchObject([{ email, role: 'user', deletion_due_at: null }]);
    expect(data.account).toHaveLength(1);
    expect(data.billing_details).toMatchObject([{ company: 'Mine' }]);
    expect(data.documents).toMatchObject([{ number: 'INV-2026-0901' }]);
    expect(data.payments).toMatchObject([{ id: 'pay-901', reference: 'Thanks 901' }]);
    expect(data.allocations).toMatchObject([{ payment: 'pay-901', invoice: '901', amount: 4_200 }]);
    expect(data.connected_accounts).toMatchObject([{ provider: 'marketplace', external_id: 'mine' }]);
    expect(data.contracts).toMatchObject([{ signup_id: 'crm_mine', price_unit_amount: 4_200 }]);
    expect(data.invoices?.map(({ number }) => number)).toContain(901);
    expect(data.invoices?.map(({ number }) => number)).not.toContain(902);
    expect(data.pending_address).toMatchObject([{ email: 'next@example.test' }]);
    expect(data.new_address).toMatchObject([{ email: 'offered@example.test' }]);
    expect(data.products_opened).toMatchObject([{ client: 'network_site' }]);
    expect(data.emails?.map(({ kind }) => kind)).toContain('set_password');
    expect(data.activity?.map(({ type }) => type)).toContain('login.succeeded');

    const { rows } = await sql<{ secret: string }>`
      select password_hash as secret from users where password_hash is not null
      union select encode(token_hash, 'hex') from sessions union select encode(token_hash, 'hex') from devices
      union select encode(token_hash, 'hex') from mail_tokens`.execute(app.db);
    expect(rows.length).toBeGreaterThan(2);
    for (const { secret } of rows) expect(answer.text).not.toContain(secret);
    for (const value of browser.jar.values()) expect(answer.text).not.toContain(value);
    expect(answer.text).not.toContain('merchant@example.test');
  });

  it('has a payment with as much as it pays of the account, and none that was put there by mistake', async () => {
    await sql`insert into payments (id, kind, of, currency, amount, paid_at, reference, recorded_at, recorded_by, unallocated)
      values ('pay-both', 'payment', null, 'EUR', 500, now(), 'For two', now(), 'reported', 0),
        ('pay-wrong', 'payment', null, 'EUR', 700, now(), 'Of somebody else', now(), 'reported', 0),
        ('pay-back', 'refund', 'pay-wrong', 'EUR', 700, now(), null, now(), 'reported', 0)`.execute(app.db);
    await sql`insert into allocations (payment, invoice, amount, recorded_at)
      values ('pay-both', 901, 120, now()), ('pay-both', 902, 380, now()), ('pay-both', 901, 30, now()),
        ('pay-wrong', 901, 700, now()), ('pay-wrong', 901, -700, now()), ('pay-wrong', 902, 700, now())`.execute(
      app.db,
    );
    const { payments = [] } = await download(await logIn(app.send, email));
    expect(payments.map(({ id, amount, reference }) => [id, amount, reference])).toEqual([
      ['pay-901', 4_200, 'Thanks 901'],
      ['pay-both', 150, 'For two'],
    ]);
  });

  it('tells the owner by mail, and leaves an audit event', async () => {
    expect((await eventsOf(app.db, await idOf(app.db, email))).map(({ type }) => type)).toContain(
      'data.downloaded',
    );
    expect(await listNotices(app.db, email)).toContain('data_downloaded');
  });

  it('has each row once, however many there are, a few hundred at a time', async () => {
    const browser = await logIn(app.send, 'merchant@example.test');
    await sql`insert into audit_events (id, at, type, user_id)
      select gen_random_uuid(), timestamptz '2026-01-01 00:00:00.000001Z' + (n / 300) * interval '1 microsecond',
        'many.' || n, id from users, generate_series(1, 1000) n where email = 'merchant@example.test'`.execute(
      app.db,
    );
    const { activity = [] } = await download(browser);
    const many = activity.map(({ type }) => String(type)).filter((type) => type.startsWith('many.'));
    expect(many).toHaveLength(1_000);
    expect(new Set(many).size).toBe(1_000);
    const ats = activity.map(({ at }) => String(at));
    expect(ats).toEqual([...ats].sort());
    const [section] = sections.filter(({ name }) => name === 'activity');
    const id = await idOf(app.db, 'merchant@example.test');
    const page = section && (await readOwnRows(app.db, section, id, { limit: 7 }));
    expect(page).toHaveLength(7);
  });

  it('is read only as fast as it is taken, and ends where the browser goes', async () => {
    const cookie = (await logIn(app.send, 'merchant@example.test')).cookie();
    const request = new Request(app.config.baseUrl + file, { headers: { cookie } });
    const response = await app.fetch(request, { address: '192.0.2.1' });
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toContain('"service"');
    await reader?.cancel();
    // A download that is read slowly, or not at all, holds no connection. A job may hold a connection for a moment, so the test
    // looks until none is held.
    const listHeld = async () =>
      (
        await sql`select 1 from pg_stat_activity
          where datname = current_database() and state like 'idle in transaction%'`.execute(app.db)
      ).rows;
    await expect.poll(listHeld).toEqual([]);
  });

  it('breaks off if the database fails, so that nobody takes half a file for the whole', async () => {
    const cookie = (await logIn(app.send, 'merchant@example.test')).cookie();
    await sql`alter table launches rename to launches_away`.execute(app.db);
    try {
      await expect(app.send(file, { cookie })).rejects.toThrow();
    } finally {
      await sql`alter table launches_away rename to launches`.execute(app.db);
    }
    const lost = app.logged.filter(({ message }) => message === 'download broken off');
    expect(lost).toHaveLength(1);
    expect(lost[0]?.level).toBe('error');
    expect(lost[0]?.fields.requestId).toBeTruthy();
  });

  it('shows no contract before the address is proved', async () => {
    await sql`insert into service_contracts (id, user_id, account_id, signup_id, plan, status, occurred_at)
      select gen_random_uuid(), id, account_id, 'crm_unproved', 'secret', 'canceled', now()
      from users where email = 'unverified@example.test'`.execute(app.db);
    const data = await download(await logIn(app.send, 'unverified@example.test'));
    expect(data.profile).toMatchObject([{ email: 'unverified@example.test' }]);
    expect(data).not.toHaveProperty('contracts');
    expect(data).not.toHaveProperty('invoices');
  });

  it('is limited to five an hour (contract 2.91)', async () => {
    const browser = await logIn(app.send, 'new-merchant@example.test');
    const answers = await Promise.all(Array.from({ length: 16 }, () => browser.send(file)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(11);
    if (refused[0]) expectRetryAfter(refused[0], 3_600);
  });
});

describe('without a password within ten minutes (contract 2.91)', () => {
  // Contract 11.41.
  it('nothing is downloaded, and the page asks for it', async () => {
    const browser = await logIn(app.send, email);
    const asked = await browser.send(page, { form: {} });
    expect([asked.status, locationOf(asked).pathname]).toEqual([303, file]);
    lagMs += 11 * 60_000;
    expect(locationOf(await browser.send(file)).pathname).toBe(page);
    const again = await browser.send(page, { form: {} });
    expect([again.status, textOf(again)]).toEqual([401, expect.stringContaining('Confirm it’s you')]);
    const right = await browser.send(page, { form: { confirmPassword: password } });
    expect([right.status, right.headers.get('location')]).toEqual([303, `${page}?saved=download`]);
    // If the browser comes from the page that asked for the password, this page starts the download.
    const start = (referer?: string) =>
      browser.send(`${page}?saved=download`, { headers: referer === undefined ? {} : { referer } });
    for (const led of [page, `${page}?refused=1`]) {
      const starting = await start(`${app.config.baseUrl}${led}`);
      expect(starting.headers.get('refresh')).toBe(`0; url=${file}`);
      expect(textOf(starting)).toContain('Your download has started');
    }
    // If the browser comes from another link, our login or the address bar, this page starts nothing.
    const others = [
      `${app.config.baseUrl}/login?next=${page}`,
      `https://evil.example${page}`,
      `${app.config.baseUrl}${page}x`,
    ];
    for (const led of [undefined, '', ...others]) {
      const plain = await start(led);
      expect([plain.status, plain.headers.get('refresh')]).toEqual([200, null]);
      expect(textOf(plain)).not.toContain('Your download has started');
    }
    expect((await browser.send(file)).status).toBe(200);
  });

  it('nothing is downloaded without a login, by a link elsewhere, or ahead of a click', async () => {
    expect(locationOf(await app.send(file)).pathname).toBe(page);
    expect(locationOf(await app.send(page, { headers: { accept: 'text/html' } })).pathname).toBe('/login');
    expect(locationOf(await app.send(page, { form: {} })).pathname).toBe('/login');
    const browser = await logIn(app.send, email);
    for (const site of ['cross-site', 'same-site'])
      expect(locationOf(await browser.send(file, { headers: { 'sec-fetch-site': site } })).pathname).toBe(
        page,
      );
    for (const options of [{ method: 'HEAD' }, { headers: { 'sec-purpose': 'prefetch' } }])
      expect((await browser.send(file, options)).status).toBe(204);
    for (const site of ['same-origin', 'none'])
      expect((await browser.send(file, { headers: { 'sec-fetch-site': site } })).status).toBe(200);
  });
});

it('does not tell from where somebody else tried to log in, or asked for a mail (contract 2.90)', async () => {
  await sql`truncate rate_limits`.execute(app.db);
  const stranger = '203.0.113.200';
  const guess = { form: { email, password: 'a guess' }, from: stranger };
  expect((await app.send('/login', guess)).status).toBe(401);
  // The event is written a moment after the answer, so the test waits for it.
  const find = () => sql`select 1 from audit_events where address = ${stranger}`.execute(app.db);
  await expect.poll(async () => (await find()).rows.length).toBe(1);
  expect((await app.send('/forgot-password', { form: { email }, from: stranger })).status).toBe(303);
  await expect.poll(async () => (await find()).rows.length).toBe(2);
  await sql`insert into audit_events (id, type, user_id, address)
    select gen_random_uuid(), 'login.code_asked', id, ${stranger} from users where email = ${email}`.execute(
    app.db,
  );
  const { activity = [] } = await download(await logIn(app.send, email));
  const of = (type: string) => activity.filter((event) => event.type === type);
  for (const type of ['login.refused', 'login.code_asked', 'password_link.requested']) {
    expect(of(type).length, type).toBeGreaterThan(0);
    for (const { address } of of(type)) expect(address).toBeNull();
  }
  for (const { address } of of('login.succeeded')) expect(address).toBe('192.0.2.1');
  expect(JSON.stringify(activity)).not.toContain(stranger);
});

it('does not tell whether somebody else has an address, by the mails about a change to it', async () => {
  const browser = await logIn(app.send, email);
  for (const address of ['nobody-has-this@example.test', 'merchant@example.test'])
    expect((await browser.send('/profile/email', { form: { email: address } })).status).toBe(303);
  const { emails = [] } = await download(browser);
  expect(emails.map(({ kind }) => kind)).not.toContain('change_email');
  expect(JSON.stringify(emails)).not.toMatch(/nobody-has-this|merchant@/);
});
