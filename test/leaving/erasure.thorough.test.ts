// A person is erased when their planned deletion is due: everywhere, one time, and completely (docs/security/data.md, "To erase
// a person").
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { endsWithPerson } from '../../server/billing/customers/ends-with-person.ts';
import { eraseUser } from '../../server/identity/person/erase-user.ts';
import { sign } from '../../server/sso/hmac.ts';
import { openApp, type TestApp } from '../support/app/app.ts';
import { openBrowser } from '../support/app/visitor.ts';
import { setSettings } from '../support/billing/settings.ts';
import { buildSignup, freshWebhookId, type SignupBody, sendSignup } from '../support/crm/crm.ts';
import { digestRows, idOf, whileInsertsFail } from '../support/database/database.ts';
import { buildHandOff, openHandOff } from '../support/marketplace/marketplace.ts';
import { addPasskey } from '../support/people/authenticator.ts';
import { eventsOf, findText, listTables, makeDue, runErasure } from '../support/people/leaving.ts';
import { type MailServer, startMailServer, tokenIn } from '../support/people/mail-server.ts';
import { setUp } from '../support/people/totp-app.ts';

const password = 'seven quiet lanterns';
const from = '203.0.113.77';

let app: TestApp;
let mailServer: MailServer;
beforeAll(async () => {
  mailServer = await startMailServer();
  app = await openApp({ env: { SMTP_URL: mailServer.url, MAIL_FROM: 'identity@example.test' } });
});
afterAll(async () => {
  await app.close();
  await mailServer.close();
});

const active = {
  plan: 'starter',
  status: 'active',
  price: { currency: 'EUR', unit_amount: 2_900, interval: 'month' },
};

/** Adds a customer with a row in every table that can have one. */
async function settle(word: string) {
  const email = `${word}@example.test`;
  const headers = { 'user-agent': `Browser-of-${word}/1.0` };
  const signup = buildSignup(`crm_${word}`, {
    user: { email, name: `Name of ${word}` },
    account: { name: `Account of ${word}` },
    contract: active,
  });
  const webhookId = freshWebhookId();
  const first = await sendSignup(app, signup, { webhookId });
  expect(first.status).toBe(201);
  const { user, account, contract } = JSON.parse(first.text);
  const [welcome] = await mailServer.waitFor(email);
  const browser = openBrowser(app.send);
  const open = (path: string, form?: Record<string, string>) => browser.send(path, { form, headers, from });
  const set = await open(`/set-password?token=${tokenIn(welcome ?? {}, '/set-password')}`, {
    newPassword: password,
  });
  expect(set.status).toBe(303);
  // The first hand-off connects a marketplace account. The second is refused, because the user is suspended. The third leaves
  // the page open that asks whether to continue.
  const externalId = `external-of-${word}`;
  const marketplace = { id: externalId, email, name: `Marketplace name of ${word}` };
  const connected = await openHandOff(app, await buildHandOff(app, marketplace), {
    cookie: browser.cookie(),
    from,
    headers,
  });
  expect(connected.status).toBe(303);
  await sql`update users set suspended_at = now() where id = ${user.id}`.execute(app.db);
  expect((await app.send(await buildHandOff(app, marketplace), { from })).status).toBe(403);
  await sql`update users set suspended_at = null where id = ${user.id}`.execute(app.db);
  expect((await app.send(await buildHandOff(app, marketplace), { from })).status).toBe(303);
  await open('/login', { email, password: 'not this one' });
  expect((await open('/login', { email, password })).status).toBe(303);
  expect((await open('/sso/launch/marketplace')).status).toBe(303);
  await addPasskey(browser);
  await setUp(browser, Date.now());
  expect((await open('/forgot-password', { email })).status).toBe(303);
  await mailServer.waitFor(
    email,
    (await sql`select 1 from mails where recipient = ${email}`.execute(app.db)).rows.length,
  );
  await setSettings(app.db);
  await vi.waitFor(async () => expect(await invoicesOf(contract.id)).toHaveLength(1), 15_000);
  // The person once had another email address. Somebody has begun to sign up with the person's present one.
  await sql`insert into reserved_addresses (email, user_id, expires_at)
    values (${`former-${email}`}, ${user.id}, now() - interval '1 minute')`.execute(app.db);
  await sql`insert into mails (id, kind, recipient, details, created_at, next_attempt_at, sent_at)
    values (gen_random_uuid(), 'sign_up', ${email}, '{}', now(), now(), now())`.execute(app.db);
  await sql`insert into mail_tokens (token_hash, purpose, email, name, expires_at)
    values (sha256(${email}::bytea), 'sign_up', ${email}, ${`Name of ${word}`}, now() + interval '1 hour')`.execute(
    app.db,
  );
  // This person wanted to change to another email address. An administrator wanted to change to this person's present one.
  await sql`insert into pending_email_changes (user_id, email, requested_at, expires_at)
    select id, case id when ${user.id} then ${`next-${email}`} else ${email} end, now(), now() + interval '1 hour'
    from users where id = ${user.id} or email = 'admin@example.test'
    on conflict (user_id) do update set email = excluded.email`.execute(app.db);
  // Our support has offered a new email address to this person, and this person's present one to somebody else.
  await sql`insert into new_addresses (id, user_id, email, asked_at, expires_at)
    select gen_random_uuid(), id, case id when ${user.id} then ${`offered-${email}`} else ${email} end,
      now(), now() + interval '1 day'
    from users where id = ${user.id} or email = 'customer@example.test'
    on conflict (user_id) do update set email = excluded.email`.execute(app.db);
  // An invitation to the staff that was sent before the person had an account.
  await sql`insert into staff_invitations (id, email, role, sent_at, expires_at)
    values (gen_random_uuid(), ${email}, 'manager', now(), now() + interval '1 day')`.execute(app.db);
  const { rows } = await sql<{ id: string; sid: string }>`
    select session_id as id, sid from launches where user_id = ${user.id}`.execute(app.db);
  const [session] = rows;
  return { email, signup, webhookId, first, user, account, contract, externalId, marketplace, session };
}

const invoicesOf = async (contractId: string) =>
  (
    await sql<{ number: string; status: string; buyer_name: string; buyer_email: string }>`
      select number, status, buyer_name, buyer_email from invoices where contract_id = ${contractId}`.execute(
      app.db,
    )
  ).rows;

describe('somebody who is erased', () => {
  let person: Awaited<ReturnType<typeof settle>>;
  let tablesBefore: string[];
  beforeAll(async () => {
    person = await settle('zoe');
    const found = await findText(app.db, person.user.id);
    tablesBefore = [...new Set(found.map((column) => column.split('.')[0] ?? ''))];
    // The database has each text that the erasure must remove.
    for (const text of ['Name of zoe', person.externalId, from, 'Browser-of-zoe', person.session?.sid ?? '-'])
      expect(await findText(app.db, text), text).not.toEqual([]);
    await makeDue(app.db, person.email);
    const logged = await runErasure(app.db);
    // This line is needed after a restore of the database, so the service logs it at any LOG_LEVEL.
    expect(logged.map(({ message, fields, isKept }) => [message, fields.userId, isKept])).toEqual([
      ['user erased', person.user.id, true],
    ]);
    await vi.waitFor(async () => {
      const { rows } = await sql`select 1 from mails where recipient = ${person.email}
        union all select 1 from people_to_index where user_id = ${person.user.id}`.execute(app.db);
      expect(rows).toEqual([]);
    }, 15_000);
  });

  const mailsTo = (email: string) =>
    mailServer.received.filter(({ envelope }) => envelope.to.includes(email));

  it('had rows in every table that keeps some about people', () => {
    expect(tablesBefore).toEqual(
      expect.arrayContaining([
        ...[
          'authenticators',
          'new_addresses',
          'passkeys',
          'pending_email_changes',
          'recovery_codes',
          'reserved_addresses',
        ],
        ...['audit_events', 'changes', 'client_users', 'devices', 'events', 'external_links'],
        ...['launches', 'mail_tokens', 'mails'],
        ...['pending_hand_offs', 'service_contracts', 'sessions', 'users', 'webhook_requests'],
      ]),
    );
  });

  it.each([
    ['the name', () => 'Name of zoe', []],
    ['the name of the account', () => 'Account of zoe', ['documents.facts', 'invoices.buyer_name']],
    ['the email address', () => person.email, ['documents.facts', 'invoices.buyer_email']],
    ['the id at the marketplace', () => person.externalId, []],
    ['the name at the marketplace', () => 'Marketplace name of zoe', []],
    ['the network address', () => from, []],
    ['the browser', () => 'Browser-of-zoe', []],
    ['the session', () => person.session?.id ?? '-', []],
    ['the login at a client', () => person.session?.sid ?? '-', ['events.body']],
    [
      'the id',
      () => person.user.id,
      [
        'audit_events.user_id',
        'changes.by_user',
        'changes.members',
        'changes.row_id',
        'changes.user_id',
        'erased_users.id',
        'events.user_id',
        'service_contracts.erased_user_id',
        'webhook_requests.answer',
      ],
    ],
    [
      'the id of the account',
      () => person.account.id,
      [
        'changes.account_id',
        'changes.members',
        'changes.row_id',
        'documents.facts',
        'service_contracts.erased_account_id',
        'webhook_requests.answer',
      ],
    ],
  ] as [string, () => string, string[]][])(
    'is in no table by %s, but for what has to stay',
    async (_, text, stays) => {
      expect(await findText(app.db, text())).toEqual(stays);
    },
  );

  it('is told so by a last mail, which is not kept (contract 2.87)', () => {
    const last = mailsTo(person.email).at(-1);
    expect(last?.subject).toBe('Your account has been deleted – Identity');
    expect(last?.text).not.toContain('zoe');
  });

  it('leaves what happened, without who it was (contract 2.84)', async () => {
    const events = await eventsOf(app.db, person.user.id);
    const types = events.map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining(['signup.accepted', 'password.set', 'login.succeeded', 'user.erased']),
    );
    expect(events.filter(({ address }) => address !== null)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'user.erased', details: { by: 'request' } });
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from audit_events
      where type = 'hand_off.refused' and address is null and details = '{}'`.execute(app.db);
    expect(rows[0]?.n).toBe(1);
  });

  it('leaves a canceled contract that their signup is answered with, and no new user (contract 2.83 and 7.25)', async () => {
    const canceled = { plan: 'other', status: 'canceled' };
    for (const contract of [person.signup.contract, canceled]) {
      const occurred_at = new Date().toISOString();
      const again = await sendSignup(app, { ...person.signup, occurred_at, contract });
      expect(again.status).toBe(200);
      expect(JSON.parse(again.text)).toEqual({
        signup_id: 'crm_zoe',
        applied: false,
        reason: 'ended',
        user: { id: person.user.id, created: false },
        account: { id: person.account.id, created: false },
        contract: { ...person.contract, status: 'canceled', created: false },
      });
    }
    expect(await idOf(app.db, person.email)).toBe('');
    const replayed = await sendSignup(app, JSON.stringify(person.signup), { webhookId: person.webhookId });
    expect([replayed.status, replayed.text]).toEqual([201, person.first.text]);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
  });

  it('is in the list of contracts that the CRM reads, by the id alone', async () => {
    const secret = app.config.clients.get('crm_app')?.secrets[0] ?? '';
    const authorization = `Bearer ${await sign(secret, 'identity events v1 crm_app')}`;
    const { text } = await app.send('/integrations/crm/contracts', { headers: { authorization } });
    expect(JSON.parse(text).contracts).toContainEqual(
      expect.objectContaining({ signup_id: 'crm_zoe', user_id: person.user.id, status: 'canceled' }),
    );
  });

  it('leaves invoices with whom they were made out to, which can still be paid (contract 2.84)', async () => {
    const [invoice] = await invoicesOf(person.contract.id);
    expect(invoice).toMatchObject({
      status: 'open',
      buyer_name: 'Account of zoe',
      buyer_email: 'zoe@example.test',
    });
  });

  it('is unknown to a hand-off from the marketplace, which makes somebody new (contract 2.88)', async () => {
    const answer = await app.send(
      await buildHandOff(app, { ...person.marketplace, email: 'later@example.test' }),
    );
    expect(answer.status).toBe(303);
    const id = await idOf(app.db, 'later@example.test');
    expect(id).not.toBe('');
    expect(id).not.toBe(person.user.id);
  });

  it('may come back under the same address as somebody else, but never under the same id (contract 2.88 and 3.6)', async () => {
    const answer = await sendSignup(app, { ...person.signup, signup_id: 'crm_zoe_again' } as SignupBody);
    expect(answer.status).toBe(201);
    const { user } = JSON.parse(answer.text);
    expect(user.created).toBe(true);
    expect(user.id).not.toBe(person.user.id);
    await expect(
      sql`insert into users (id, account_id, email, holds_email, name)
        select ${person.user.id}, account_id, 'x@example.test', true, 'x' from users limit 1`.execute(app.db),
    ).rejects.toMatchObject({ code: '23505', constraint: 'users_id_never_reused' });
  });
});

it('erases each person who is due exactly once, if 16 run at once', async () => {
  const { user } = JSON.parse((await sendSignup(app, buildSignup('crm_once', { contract: active }))).text);
  await makeDue(app.db, 'crm_once@example.test');
  const runs = await Promise.allSettled(Array.from({ length: 16 }, () => runErasure(app.db)));
  expect(runs.filter(({ status }) => status === 'rejected')).toEqual([]);
  const events = await eventsOf(app.db, user.id);
  expect(events.filter(({ type }) => type === 'user.erased')).toHaveLength(1);
  const told = () =>
    mailServer.received.filter(
      ({ envelope, subject }) =>
        envelope.to.includes('crm_once@example.test') &&
        subject === 'Your account has been deleted – Identity',
    );
  await vi.waitFor(() => expect(told()).toHaveLength(1), 15_000);
});

it('erases nobody early, nobody who is suspended, and nobody who has changed their mind', async () => {
  const ids: string[] = [];
  for (const word of ['early', 'held', 'stays', 'moved']) {
    const { text } = await sendSignup(app, buildSignup(`crm_${word}`));
    ids.push(JSON.parse(text).user.id);
  }
  const [early, held, stays, moved] = ids;
  await sql`update users set deletion_due_at = now() + interval '1 minute' where id = ${early}`.execute(
    app.db,
  );
  await sql`update users set deletion_due_at = now() - interval '1 day', suspended_at = now()
    where id = ${held}`.execute(app.db);
  // This person can still get an earlier email address back.
  await sql`update users set deletion_due_at = now() - interval '1 day' where id = ${moved}`.execute(app.db);
  await sql`insert into reserved_addresses (email, user_id, expires_at)
    values ('moved-from@example.test', ${moved}, now() + interval '1 minute')`.execute(app.db);
  expect(await runErasure(app.db, () => new Date(Date.now() + 30 * 86_400_000))).toEqual([]);
  // The deletion is canceled after the job found it due and before it locked the user.
  await makeDue(app.db, 'crm_stays@example.test');
  await app.db.transaction().execute(async (trx) => {
    await sql`update users set deletion_due_at = null where id = ${stays}`.execute(trx);
    expect(
      await eraseUser(trx, { now: () => new Date(), endsWithPerson }, stays ?? '', {
        by: 'request',
        onlyDue: true,
      }),
    ).toBeUndefined();
  });
  const { rows } = await sql`select id from users where id = any(${ids}::uuid[])`.execute(app.db);
  expect(rows).toHaveLength(4);
  await sql`delete from reserved_addresses`.execute(app.db);
  await sql`update users set deletion_due_at = null`.execute(app.db);
});

it.each(
  ['erased_users', 'audit_events', 'mails'].flatMap((table) =>
    [false, true].map((atCommit) => [table, atCommit] as const),
  ),
)(
  'is all or nothing: a fault in %s (at the commit: %s) leaves everything as it was, and the next run erases',
  async (table, atCommit) => {
    const signupId = `crm_fault_${table}_${atCommit}`;
    const { user } = JSON.parse((await sendSignup(app, buildSignup(signupId, { contract: active }))).text);
    await mailServer.waitFor(`${signupId.toLowerCase()}@example.test`);
    await vi.waitFor(async () => {
      const { rows } = await sql`select 1 from service_contracts where next_period_starts_at <= now()
        union all select 1 from waiting_periods
        union all select 1 from documents_to_make
        -- A mail with an invoice waits for days until the address is proved.
        union all select 1 from mails where sent_at is null and next_attempt_at < now() + interval '1 hour'
        union all select 1 from events where seq is null`.execute(app.db);
      expect(rows).toEqual([]);
    }, 15_000);
    await makeDue(app.db, `${signupId.toLowerCase()}@example.test`);
    // Jobs may change these tables in the meantime: they nudge clients, and index people for searches.
    const others = ['event_deliveries', 'people_to_index', 'person_words'];
    const tables = (await listTables(app.db)).filter((name) => !others.includes(name));
    const before = await digestRows(app.db, tables);
    const body = `if new::text like '%account_deleted%' or new::text like '%user.erased%' or tg_table_name = 'erased_users'
      then raise exception 'no'; end if`;
    await whileInsertsFail(app.db, table, { body, atCommit }, async () => {
      await expect(runErasure(app.db)).rejects.toThrow('no');
    });
    expect(await digestRows(app.db, tables)).toBe(before);
    await runErasure(app.db);
    expect((await eventsOf(app.db, user.id)).at(-1)?.type).toBe('user.erased');
  },
);

it('erases however many events there are', async () => {
  const { user } = JSON.parse((await sendSignup(app, buildSignup('crm_many'))).text);
  await sql`insert into audit_events (id, type, user_id, address, details)
    select gen_random_uuid(), 'login.refused', ${user.id}, '192.0.2.' || n % 256, '{"id": "many", "by": "cli"}'
    from generate_series(1, 12000) n`.execute(app.db);
  await makeDue(app.db, 'crm_many@example.test');
  await runErasure(app.db);
  const { rows } = await sql`select distinct address, details from audit_events
    where user_id = ${user.id} and type = 'login.refused'`.execute(app.db);
  expect(rows).toEqual([{ address: null, details: { by: 'cli' } }]);
});

it('erases events about a marketplace id that they had once, and leaves those of others', async () => {
  const { user } = JSON.parse((await sendSignup(app, buildSignup('crm_former'))).text);
  await sql`insert into audit_events (id, type, user_id, address, details) values
    (gen_random_uuid(), 'link.removed', ${user.id}, '192.0.2.7', '{"id": "long-ago"}'),
    (gen_random_uuid(), 'hand_off.refused', null, '192.0.2.7', '{"id": "long-ago"}'),
    (gen_random_uuid(), 'hand_off.refused', null, '192.0.2.8', '{"id": "another"}')`.execute(app.db);
  await makeDue(app.db, 'crm_former@example.test');
  await runErasure(app.db);
  expect(await findText(app.db, '192.0.2.7')).toEqual([]);
  expect(await findText(app.db, 'long-ago')).toEqual([]);
  const { rows } = await sql`select address, details from audit_events where address = '192.0.2.8'`.execute(
    app.db,
  );
  expect(rows).toEqual([{ address: '192.0.2.8', details: { id: 'another' } }]);
});

it('a signup that finds them just before they are erased makes somebody new', async () => {
  const first = buildSignup('crm_meanwhile');
  const { user } = JSON.parse((await sendSignup(app, first)).text);
  const signup = buildSignup('crm_meanwhile_2', { user: first.user });
  const answering = await inTransaction(app.db, { by: 'service' }, async (trx) => {
    await eraseUser(trx, { now: () => new Date(), endsWithPerson }, user.id, {
      by: 'request',
      onlyDue: false,
    });
    const sent = sendSignup(app, signup);
    await vi.waitFor(async () => {
      const { rows } = await sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database()`.execute(trx);
      expect(rows.length).toBeGreaterThan(0);
    }, 2_000);
    return { sent };
  });
  const answer = await answering.sent;
  expect(answer.status).toBe(201);
  expect(JSON.parse(answer.text).user).toMatchObject({ created: true });
  expect(JSON.parse(answer.text).user.id).not.toBe(user.id);
});

it('a trial of theirs that is over is expired for good, and not canceled', async () => {
  const signup = buildSignup('crm_over', { occurred_at: '2026-01-01T00:00:00.000Z' });
  const { contract } = JSON.parse((await sendSignup(app, signup)).text);
  await makeDue(app.db, signup.user.email);
  await sql`update service_contracts set trial_ends_at = now() where id = ${contract.id}`.execute(app.db);
  await runErasure(app.db);
  const { rows } = await sql`
    select status, user_id from service_contracts where id = ${contract.id}`.execute(app.db);
  expect(rows).toEqual([{ status: 'expired', user_id: null }]);
});

it('an account that others belong to stays with them, and so do its contracts', async () => {
  const made = JSON.parse((await sendSignup(app, buildSignup('crm_shared', { contract: active }))).text);
  await sql`update users set account_id = ${made.account.id} where email = 'new-merchant@example.test'`.execute(
    app.db,
  );
  await makeDue(app.db, 'crm_shared@example.test');
  await runErasure(app.db);
  const { rows } = await sql`select status, account_id, user_id, erased_user_id from service_contracts
    where id = ${made.contract.id}`.execute(app.db);
  expect(rows).toEqual([
    { status: 'active', account_id: made.account.id, user_id: null, erased_user_id: made.user.id },
  ]);
});
