// Which people are found, by what, and when (contract 12.50 to 12.61). test/bench/people.ts measures what a search costs.
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { AppError } from '../../server/basics/errors.ts';
import { creditInvoice } from '../../server/billing/payments/credit.ts';
import { findPeople } from '../../server/staff/find-people.ts';
import { openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { openBrowser } from '../support/app/visitor.ts';
import { addInvoice } from '../support/billing/money.ts';
import { setSettings } from '../support/billing/settings.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { openOtherRole } from '../support/database/database-role.ts';
import { handOver } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const now = () => new Date();

type Filters = Omit<Parameters<typeof findPeople>[1], 'q'>;

const find = (q: string, filters: Filters = {}) => findPeople({ db: app.db, now }, { q, ...filters });

const emailsBy = async (q: string, filters?: Filters) =>
  (await find(q, filters)).people.map(({ email }) => email);

/** Waits until `q` finds these people, for as long as contract 12.53 allows and a busy machine needs. */
const expectFound = (q: string, emails: string[], filters?: Filters) =>
  vi.waitFor(async () => expect(await emailsBy(q, filters)).toEqual(emails), 5_000);

let serial = 0;

async function addPerson(
  values: { name?: string; account?: string; email?: string; holdsEmail?: boolean } = {},
): Promise<{ id: string; email: string }> {
  const { name = 'Somebody', account = 'Their account', holdsEmail = true } = values;
  const email = values.email ?? `by-sql-${serial++}@example.test`;
  const { rows } = await sql<{ id: string }>`
    with account as (insert into accounts (id, name) values (gen_random_uuid(), ${account}) returning id)
    insert into users (id, account_id, email, holds_email, name, email_verified_at)
      select gen_random_uuid(), id, ${email}, ${holdsEmail}, ${name}, ${holdsEmail ? new Date() : null} from account
    returning id`.execute(app.db);
  return { id: rows[0]?.id ?? '', email };
}

describe('within five seconds somebody is found', () => {
  it('who has signed up, by each way of writing their name', async () => {
    const browser = openBrowser(app.send);
    const email = 'zora.quill@example.test';
    await browser.send('/signup', { form: { name: 'Zôra Quîll-Straße', email } });
    const { rows } = await vi.waitFor(async () => {
      const mails = await sql<{ text: string }>`
        select kept_text as text from mails where recipient = ${email} and kept_text is not null`.execute(
        app.db,
      );
      expect(mails.rows).toHaveLength(1);
      return mails;
    }, 5_000);
    const [, token] = /\/signup\/confirm\?token=([\w-]+)/.exec(rows[0]?.text ?? '') ?? [];
    const form = { name: 'Zôra Quîll-Straße', newPassword: 'a password for Zora, long enough' };
    expect((await browser.send(`/signup/confirm?token=${token}`, { form })).status).toBe(303);
    for (const q of ['zora', 'ZORA QUILL', 'strasse quill zora', 'qu STRASS', email, 'zora.quill@', ' Zóra '])
      await expectFound(q, [email]);
    expect(await emailsBy('ora')).toEqual([]);
    expect(await emailsBy('zora quillig')).toEqual([]);
  });

  it('who was handed over', async () => {
    expect((await handOver(app, { id: 'handed-1', name: 'Handwerk Nobel' })).status).toBe(303);
    await expectFound('handwerk nob', ['handed-1@example.test']);
  });

  it('who came from the CRM, also by the name of their account', async () => {
    const signup = buildSignup('Sales77', { account: { name: 'Kontor Möwenstein' } });
    await pushSignup(app, signup);
    await expectFound('mowenst', [signup.user.email]);
    await expectFound('kontor sales77', [signup.user.email]);
  });

  it('who has changed their name, and no longer by the old one', async () => {
    const cookie = await app.login('new-merchant@example.test');
    for (const [name, before] of [
      ['Erstens', 'Zweitens'],
      ['Zweitens', 'Erstens'],
    ] as const) {
      const json = { json: { name: `Renata ${name}` } };
      expect((await app.send('/trpc/profile.update', { cookie, json })).status).toBe(200);
      await expectFound(`${name} renata`, ['new-merchant@example.test']);
      expect(await emailsBy(before)).toEqual([]);
    }
  });

  it('whom SQL has added or changed, by a role that knows nothing of words', async () => {
    const { db, close } = await openOtherRole(app.db, app.databaseUrl);
    try {
      await sql`revoke all on people_to_index, person_words from public`.execute(app.db);
      const { id, email } = await addPerson({ name: 'Sequela Before', account: 'Firma Vorher' });
      await expectFound('sequela bef', [email]);
      await sql`update users set name = 'Sequela After' where id = ${id}`.execute(db);
      await expectFound('sequela aft', [email]);
      await sql`update accounts set name = 'Firma Nachher' where id = (select account_id from users where id = ${id})`.execute(
        db,
      );
      await expectFound('sequela nachh', [email]);
      expect(await emailsBy('sequela vorher')).toEqual([]);
    } finally {
      await close();
    }
  });
});

it('nothing of the words is left of somebody who is erased', async () => {
  const { id, email } = await addPerson({ name: 'Gonzago Erased' });
  await expectFound('gonzago', [email]);
  expect(await runCli(app.databaseUrl, ['user:delete', email, '--now', '--yes'])).toMatchObject({ code: 0 });
  expect(await emailsBy('gonzago')).toEqual([]);
  expect((await sql`select from person_words where user_id = ${id}`.execute(app.db)).rows).toEqual([]);
});

describe('at once, without waiting for words, somebody is found by', () => {
  // The person is added in the transaction of the search, so that no job comes in between.
  const keys: [what: string, keyOf: (id: string) => string][] = [
    ['a whole address, in any case', (id) => `${id.slice(0, 8).toUpperCase()}@Example.Test`],
    ['an address that they can have back (contract 12.55)', (id) => `Was-${id.slice(0, 8)}@example.test`],
    ['their id', (id) => id],
    ['their id in capitals', (id) => id.toUpperCase()],
    ['the id at the marketplace', (id) => `market/${id}`],
    ['the id of a signup', (id) => `Signup ${id}`],
    ['the number of an invoice', (id) => String(Number.parseInt(id.slice(0, 8), 16) + 1)],
  ];

  it('not by an address that they can no longer have back', async () => {
    const { id } = await addPerson();
    await sql`insert into reserved_addresses (email, user_id, expires_at)
      values (${`over-${id}@example.test`}, ${id}, now() - interval '1 second')`.execute(app.db);
    expect(await emailsBy(`over-${id}@example.test`)).toEqual([]);
  });

  it.each(keys.flatMap(([what, keyOf]) => [true, false].map((isHeld) => [what, isHeld, keyOf] as const)))(
    '%s (held: %s)',
    async (_, isHeld, keyOf) => {
      const id = crypto.randomUUID();
      const email = `${id.slice(0, 8)}@example.test`;
      const number = Number.parseInt(id.slice(0, 8), 16) + 1;
      await sql`
        with account as (insert into accounts (id, name) values (gen_random_uuid(), 'At once') returning id),
        person as (insert into users (id, account_id, email, holds_email, name)
          select ${id}, id, ${email}, ${isHeld}, 'At Once' from account returning id, account_id),
        earlier as (insert into reserved_addresses (email, user_id, expires_at)
          select ${`was-${email}`}, id, now() + interval '1 day' from person),
        link as (insert into external_links (provider, external_id, user_id)
          select 'marketplace', ${`market/${id}`}, id from person),
        contract as (insert into service_contracts (id, user_id, account_id, signup_id, plan, status, occurred_at)
          select gen_random_uuid(), id, account_id, ${`Signup ${id}`}, 'starter', 'active', now() from person returning id)
        insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount, status,
            issued_at, due_at)
          select ${number}, id, 'starter', now(), now() + interval '1 month', 'EUR', 1, 'open', now(), now()
          from contract`.execute(app.db);
      const [first] = (await find(keyOf(id))).people;
      expect(first).toEqual({
        id,
        email,
        name: 'At Once',
        account: 'At once',
        role: 'user',
        state: 'unproved',
      });
      expect((await find(keyOf(id), { state: 'unproved', role: 'user' })).people[0]?.id).toBe(id);
      expect((await find(keyOf(id), { state: 'frozen' })).people).toEqual([]);
      expect((await find(keyOf(id), { role: 'admin' })).people).toEqual([]);
      expect((await find(keyOf(id).slice(0, -1))).people.filter((each) => each.id === id)).toEqual(
        // A part of an email address is found only by words, and a job may have written the words by now.
        keyOf(id).includes('@') ? expect.anything() : [],
      );
    },
  );
});

it('the number of a document names the person, in any case, and the id of its invoice nobody', async () => {
  await setSettings(app.db);
  const number = await addInvoice(app.db);
  const creditNote = await inTransaction(app.db, { by: 'operator' }, (trx) =>
    creditInvoice(trx, number, undefined, { now: new Date(), recordedBy: 'operator' }),
  );
  for (const text of [number, number.toLowerCase(), creditNote ?? ''])
    expect((await find(text)).people[0]?.email, text).toBe('customer@example.test');
  const { rows } = await sql<{ id: string }>`
    select number as id from invoices where document = ${number}`.execute(app.db);
  expect((await emailsBy(rows[0]?.id ?? '')).includes('customer@example.test')).toBe(false);
});

describe('a filter', () => {
  it('by role finds the people with that role, also with words', async () => {
    await expectFound('', ['admin@example.test'], { role: 'admin' });
    await expectFound('manag', ['manager@example.test'], { role: 'manager' });
    expect(await emailsBy('manag', { role: 'admin' })).toEqual([]);
  });

  it('by state finds the people in that state, and each shows the first state that applies', async () => {
    const people: { id: string; email: string }[] = [];
    for (const set of [
      'suspended_at = now()',
      'suspended_at = now(), frozen_at = now()',
      'email_verified_at = null',
      'deletion_due_at = now() + interval $$1 day$$',
      'suspended_at = now(), frozen_at = now(), email_verified_at = null, deletion_due_at = now() + interval $$1 day$$',
      'email_verified_at = null, deletion_due_at = now() + interval $$1 day$$',
      'name = name',
    ]) {
      const { id, email } = await addPerson({ name: 'Filterine' });
      await sql`update users set ${sql.raw(set)} where id = ${id}`.execute(app.db);
      people.push({ id, email });
    }
    await sql`update accounts set capabilities = '{sell_products}' where id in (
      select account_id from users where id in (${people[0]?.id}, ${people[6]?.id}))`.execute(app.db);
    await sql`update accounts set verified_at = now() where id = (select account_id from users where id = ${people[0]?.id})`.execute(
      app.db,
    );
    const expected = {
      suspended: [0],
      frozen: [1, 4],
      unproved: [2, 4, 5],
      leaving: [3, 4, 5],
      waiting: [6],
    };
    for (const [state, places] of Object.entries(expected)) {
      const emails = places.map((place) => people[place]?.email ?? '').sort();
      for (const q of ['', 'filterine'])
        await vi.waitFor(async () => {
          const found = await emailsBy(q, { state: state as Filters['state'] });
          expect(found.filter((email) => people.some((each) => each.email === email)).sort()).toEqual(emails);
        }, 5_000);
    }
    const states = new Map((await find('filterine')).people.map(({ id, state }) => [id, state]));
    expect(people.map(({ id }) => states.get(id))).toEqual([
      ...['suspended', 'frozen', 'unproved', 'leaving', 'frozen', 'leaving', 'active'],
    ]);
  });

  it('that is empty is none, and any other is refused', async () => {
    expect(await emailsBy('admin@example.test', { role: '', state: '' })).toEqual(['admin@example.test']);
    await expect(find('', { role: 'owner' })).rejects.toMatchObject({
      status: 422,
      errors: [{ pointer: '/role' }],
    });
    await expect(find('', { state: 'active' })).rejects.toMatchObject({ errors: [{ pointer: '/state' }] });
  });

  it('shows nobody who is no longer in it, although the words say so yet', async () => {
    const { id, email } = await addPerson({ name: 'Staleman' });
    await sql`update users set suspended_at = now() where id = ${id}`.execute(app.db);
    await expectFound('staleman', [email], { state: 'suspended' });
    await app.db.transaction().execute(async (trx) => {
      // While this lock is held, the job waits.
      await sql`select pg_advisory_xact_lock(hashtextextended('people to index', 0))`.execute(trx);
      await sql`update users set suspended_at = null where id = ${id}`.execute(app.db);
      for (const q of ['', 'staleman'])
        expect(await emailsBy(q, { state: 'suspended' })).not.toContain(email);
    });
  });
});

it('lists the newest fifty if nothing is asked, and says that there are more (contract 12.56)', async () => {
  await sql`
    with account as (insert into accounts (id, name) values (gen_random_uuid(), 'Many') returning id)
    insert into users (id, account_id, email, holds_email, name)
      select ('ffffffff-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, id, 'many-' || n || '@example.test', true,
        'Plural Many' || n from account, generate_series(1, 51) n`.execute(app.db);
  const newest = Array.from({ length: 50 }, (_, n) => `many-${51 - n}@example.test`);
  for (const q of ['', '  \n']) {
    expect(await emailsBy(q)).toEqual(newest);
    expect((await find(q)).more).toBe(true);
  }
  for (const [q, filters] of [
    ['', { state: 'unproved' }],
    ['plural', {}],
    ['plural', { role: 'user' }],
  ] as const) {
    await expectFound(q, newest, filters);
    expect((await find(q, filters)).more).toBe(true);
  }
  await sql`delete from users where email = 'many-51@example.test'`.execute(app.db);
  expect(await find('plural')).toMatchObject({ more: false, people: { length: 50 } });
  await sql`delete from users where id >= 'ffffffff-0000-7000-8000-000000000000'`.execute(app.db);
});

describe('a text', () => {
  beforeAll(async () => {
    const { email } = await addPerson({ name: 'Hostilia O’Hara', email: 'hostilia@example.test' });
    await expectFound('hostilia', [email]);
  });

  const isHostilia = ['hostilia@example.test'];
  it.each<[string, string[]]>([
    ["host' | 'x", []],
    ["'hostilia':* | 'admin':*", []],
    ['hostilia & !hara', isHostilia],
    ['hostilia <-> hara', isHostilia],
    ['hostilia:*Z', []],
    ['host\\ilia', []],
    ['!hostilia', isHostilia],
    ['hostilia\0', isHostilia],
    ['\0', []],
    ["'", []],
    ['%', []],
    ['_ostilia', []],
    ['=waiting', []],
    ['=unproved', []],
    ['=admin', ['admin@example.test']],
    ['\u202ehostilia\u202c', isHostilia],
    [`hostilia${'\u0301'.repeat(192)}`, isHostilia],
    ['\u0301'.repeat(200), []],
    ['👩🏽‍💻', []],
    ['hostilia 👩🏽‍💻', isHostilia],
    ['\ud800', []],
    ['ﷺ'.repeat(200), []],
    [`${'hostilia '.repeat(22)}`, isHostilia],
    ['a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9', []],
    ['00000000-0000-0000-0000-000000000000', []],
    ['9'.repeat(18), []],
    ['9'.repeat(200), []],
    [`${'x'.repeat(190)}@example`, []],
  ])('%j finds %j', async (q, emails) => {
    expect(await emailsBy(q)).toEqual(emails);
  });

  it('of more than 200 characters is refused', async () => {
    expect(await find('😀'.repeat(200))).toEqual({ people: [], more: false });
    const refusal = (await find('x'.repeat(201)).catch((error) => error)) as AppError;
    expect(refusal).toMatchObject({ code: 'validation_failed', status: 422, errors: [{ pointer: '/q' }] });
    await expect(find('😀'.repeat(201))).rejects.toMatchObject({ code: 'validation_failed' });
  });
});
