// An administrator corrects the billing details of a customer and issues an invoice again, in one act (contract 7.556 and 7.557).
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { insertRestore, resumeBilling } from '../../db/tables/restores.ts';
import { type Answer, openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { sendPatiently } from '../support/app/patience.ts';
import { textOf } from '../support/app/visitor.ts';
import { addInvoice } from '../support/billing/money.ts';
import { setSettings } from '../support/billing/settings.ts';
import {
  addPerson,
  addSession,
  addStaff,
  call,
  formsOf,
  type Person,
  readOutcome,
} from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const known = 'Called back at a number that we had before';
let target: Person;
let other: Person;
let number: string;
const staff = {} as Record<'admin' | 'second', Awaited<ReturnType<typeof addStaff>>>;
const app = shared(openApp);
beforeAll(async () => {
  await setSettings(app.db);
  staff.admin = await addStaff(app, 'admin');
  staff.second = await addStaff(app, 'admin');
});
beforeEach(async () => {
  target = await addPerson(app);
  other = await addPerson(app, { accountId: target.accountId });
  await sql`insert into billing_details (account_id, company, line1, postcode, city, country, tax_country)
    values (${target.accountId}, 'Blumen Gmbh', 'Hauptstr. 1', '10115', 'Berlin', 'DE', 'DE')`.execute(
    app.db,
  );
  number = await addInvoice(app.db, { email: target.email });
  await sql`delete from mails`.execute(app.db);
});

/** What a browser sends that changes nothing in the form. */
const fields = {
  ...{ company: 'Blumen Gmbh', line1: 'Hauptstr. 1', line2: '', postcode: '10115', city: 'Berlin' },
  ...{ country: 'DE', vatId: '' },
};

const path = () => `/admin/invoices/${number}`;
const open = (cookie = staff.admin.cookie) => app.send(path(), { cookie });
const formOn = (page: Answer) => ({ ...formsOf(page).get('reissue'), ...fields, known });

const post = async (changes: Record<string, string>, cookie = staff.admin.cookie): Promise<Answer> =>
  app.send(path(), { cookie, form: { ...formOn(await open()), ...changes } });

const ask = async (input: Record<string, string>, { cookie } = staff.admin) =>
  readOutcome(await call(app, 'billing.reissue', cookie, { number, why: known, ...input }));

/** Everything that the act writes. */
async function state() {
  const { rows } = await sql<Record<string, unknown>>`select
    (select jsonb_build_object('company', company, 'city', city, 'country', country, 'vatId', vat_id, 'waits', waiting ->> 'country')
      from billing_details where account_id = ${target.accountId}) as details,
    (select jsonb_agg(jsonb_build_array(d.kind, d.facts -> 'buyer' ->> 'name') order by d.issued_at, d.kind)
      from documents d join invoices i on i.number = d.invoice join service_contracts c on c.id = i.contract_id
      where c.account_id = ${target.accountId}) as documents,
    (select coalesce(jsonb_agg(jsonb_build_array(type, why, details -> 'changed') order by type), '[]') from audit_events
      where actor_id = ${staff.admin.id} and (user_id = ${target.id} or details ->> 'contractId' in
        (select id::text from service_contracts where account_id = ${target.accountId}))
      and type <> 'staff.looked') as events,
    (select coalesce(jsonb_agg(jsonb_build_array(kind, user_id) order by kind, user_id), '[]') from mails
      where recipient <> '' and user_id in (${target.id}, ${other.id})) as mails`.execute(app.db);
  return rows[0];
}

const nothingDone = {
  details: { company: 'Blumen Gmbh', city: 'Berlin', country: 'DE', vatId: null, waits: null },
  ...{ documents: [['invoice', 'Blumen Gmbh']], events: [], mails: [] },
};

const allDone = () => ({
  details: { company: 'Blumen GmbH', city: 'Berlin', country: 'DE', vatId: null, waits: null },
  documents: [
    ['invoice', 'Blumen Gmbh'],
    ['credit_note', 'Blumen Gmbh'],
    ['invoice', 'Blumen GmbH'],
  ],
  events: [
    ['credit_note.issued', known, null],
    ['invoice.issued', known, null],
    ['staff.edit_billing_details', known, ['company']],
  ],
  mails: [
    ...[target.id, other.id].sort().map((id) => ['billing_details_changed', id]),
    ['credit_note_issued', target.id],
    ['invoice_issued', target.id],
  ],
});

describe('the form', () => {
  it('has the details as they are, and saves what is changed and issues the invoice again (contract 7.556)', async () => {
    const page = await open();
    expect(page.text).toMatch(/name="line1"[^>]* value="Hauptstr. 1"/);
    expect(page.text).toMatch(/<option value="DE" selected="">/);
    expect((await post({ company: 'Blumen GmbH' })).headers.get('location')).toContain('saved=reissue');
    expect(await state()).toEqual(allDone());
    const { cookie } = await addSession(app, other.id);
    expect(textOf(await app.send('/profile/billing', { cookie }))).toContain('Blumen GmbH');
  });

  it('issues nothing if nothing is changed in it (contract 7.431)', async () => {
    expect((await post({})).status).toBe(409);
    expect(await state()).toEqual(nothingDone);
  });

  it('is done once if two administrators send it 16 times at once', async () => {
    const form = { ...formOn(await open()), company: 'Blumen GmbH' };
    const [first, ...answers] = await sendPatiently(
      Array.from({ length: 17 }, (_, at) => () => {
        // The other administrator is told apart by the audit.
        const { cookie } = at % 2 ? staff.second : staff.admin;
        return app.send(path(), { cookie, form });
      }),
    );
    expect([first, ...answers].map((answer) => answer?.status).sort()).toEqual([303, ...Array(16).fill(409)]);
    const { events: _, ...done } = allDone();
    expect(await state()).toMatchObject(done);
  });

  it('is refused if the details have changed since, or a country waits by now (contract 12.19)', async () => {
    for (const change of [
      sql`city = 'Potsdam'`,
      sql`waits_since = now(), waiting = '{"address": null, "country": "FR", "vatId": null}'`,
    ]) {
      const form = { ...formOn(await open()), company: 'Blumen GmbH' };
      await sql`update billing_details set ${change} where account_id = ${target.accountId}`.execute(app.db);
      expect((await app.send(path(), { cookie: staff.admin.cookie, form })).status).toBe(409);
    }
    expect(await state()).toMatchObject({ details: { company: 'Blumen Gmbh', city: 'Potsdam' }, events: [] });
  });

  it('asks for a credential, and shows what was typed (contract 12.17 and 12.202)', async () => {
    const stale = await addSession(app, staff.admin.id, { authTime: new Date(Date.now() - 11 * 60_000) });
    const answer = await post({ company: 'Blumen GmbH' }, stale.cookie);
    expect(answer.status).toBe(401);
    expect(textOf(answer)).toContain('Company Blumen GmbH');
    expect(await state()).toEqual(nothingDone);
  });

  it.each<[what: string, changes: Record<string, string>, alerts: number]>([
    ['a reason', { known: '' }, 1],
    ['a way that it offers', { known: 'They sounded nice' }, 1],
    ['right details', { line1: '', vatId: 'FR1', company: 'x'.repeat(201) }, 3],
  ])('needs %s (contract 12.255)', async (_, changes, alerts) => {
    const answer = await post({ company: 'Blumen GmbH', ...changes });
    expect(answer.status).toBe(422);
    expect(answer.text.match(/role="alert"/g)?.length).toBeGreaterThanOrEqual(alerts);
    expect(await state()).toEqual(nothingDone);
  });
});

// Contract 7.557.
describe('details that change the tax', () => {
  it.each<[what: string, changes: Record<string, string>]>([
    ['another country', { country: 'FR', postcode: '75011', city: 'Paris' }],
    [
      'a VAT ID that has to be checked',
      { country: 'FR', postcode: '75011', city: 'Paris', vatId: 'FR83404833048' },
    ],
  ])('are refused, with nothing done: %s', async (_, changes) => {
    const answer = await post(changes);
    expect([answer.status, textOf(answer)]).toEqual([422, expect.stringContaining('so nothing was done.')]);
    expect(await ask(changes)).toBe('422 validation_failed');
    expect(await state()).toEqual(nothingDone);
  });

  it('are refused if the country stays, too', async () => {
    const [vatId, another] = ['FR83404833048', 'FR23334175221'];
    await sql`update billing_details set line1 = null, postcode = null, city = null, country = null, tax_country = 'FR',
      vat_id = ${vatId}, checked_vat_id = ${vatId} where account_id = ${target.accountId}`.execute(app.db);
    number = await addInvoice(app.db, { email: target.email });
    for (const given of ['', another]) expect(await ask({ vatId: given })).toBe('422 validation_failed');
    expect(await state()).toMatchObject({ details: { vatId }, events: [] });
    expect(await ask({ company: 'Fleurs' })).toBe('200');
    expect(await state()).toMatchObject({ details: { company: 'Fleurs', vatId } });
  });

  it('are refused if they were given before and wait, and then the form has no details', async () => {
    await sql`update billing_details set waits_since = now(),
      waiting = '{"address": {"line1": "1 rue X", "postcode": "75011", "city": "Paris", "country": "FR"}, "country": "FR",
        "vatId": null}' where account_id = ${target.accountId}`.execute(app.db);
    const page = await open();
    expect(textOf(page)).toContain('a new country waits for a decision');
    expect(page.text).not.toContain('name="company"');
    // The country that applies would take back the one that waits (contract 7.396), but not its street.
    for (const input of [{ company: 'Blumen GmbH' }, { country: 'FR' }, { country: 'DE' }] as Record<
      string,
      string
    >[])
      expect(await ask(input)).toBe('422 validation_failed');
    expect(await state()).toMatchObject({
      details: { company: 'Blumen Gmbh', waits: 'FR' },
      events: [],
      mails: [],
    });
  });
});

describe('nothing is done by half', () => {
  it('if a part of the invoice is credited', async () => {
    await sql`update invoices set credited = 1 where document = ${number}`.execute(app.db);
    expect(await ask({ company: 'Blumen GmbH' })).toBe('409 already_settled');
    expect(await state()).toEqual(nothingDone);
  });

  it('if the process ends before the new invoice is written', async () => {
    await sql`create function end_here() returns trigger language plpgsql as $$ begin raise 'killed'; end $$`.execute(
      app.db,
    );
    await sql`create trigger end_here before insert on documents for each row when (new.kind = 'invoice')
      execute function end_here()`.execute(app.db);
    const answer = await post({ company: 'Blumen GmbH' });
    await sql`drop function end_here() cascade`.execute(app.db);
    expect(answer.status).toBe(500);
    expect(await state()).toEqual(nothingDone);
  });

  it('while billing waits after a restore (contract 7.341)', async () => {
    await insertRestore(app.db);
    const outcome = await ask({ company: 'Blumen GmbH' });
    await resumeBilling(app.db);
    expect(outcome).toBe('409 billing_paused');
    expect(await state()).toMatchObject(nothingDone);
  });
});

it('is for administrators, and not for their own account', async () => {
  const manager = await addStaff(app, 'manager');
  expect((await open(manager.cookie)).text).not.toContain('name="company"');
  expect(await ask({ company: 'Mine' }, manager)).toBe('404 not_found');
  await sql`update users set account_id = ${target.accountId} where id = ${staff.second.id}`.execute(app.db);
  expect(await ask({ company: 'Mine' }, staff.second)).toBe('403 not_allowed');
  expect((await open(staff.second.cookie)).text).not.toContain('name="company"');
  await sql`update users set account_id = ${staff.second.accountId} where id = ${staff.second.id}`.execute(
    app.db,
  );
  expect(await state()).toEqual(nothingDone);
});

it('is a command and a procedure, too, which leave alone what they do not name', async () => {
  const run = (...more: string[]) => runCli(app.databaseUrl, ['invoice:reissue', number, '--yes', ...more]);
  expect(await run('--company', 'Blumen GmbH')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--why'),
  });
  expect((await run('--country', 'XX', '--why', known)).code).toBe(2);
  expect(await state()).toEqual(nothingDone);
  expect(await run('--company', 'Blumen GmbH', '--why', known)).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      new RegExp(`Invoice ${number} is credited by CN-\\d+-\\d+. The new one is INV-`),
    ),
  });
  const { events: _, ...done } = allDone();
  expect(await state()).toMatchObject(done);
  [number = ''] = (
    await sql<{
      number: string;
    }>`select i.document as number from invoices i join service_contracts c on c.id = i.contract_id
      where c.account_id = ${target.accountId} order by i.number desc`.execute(app.db)
  ).rows.map((row) => row.number);
  expect(await ask({ city: 'Potsdam' })).toBe('200');
  expect(await state()).toMatchObject({ details: { company: 'Blumen GmbH', city: 'Potsdam' } });
});
