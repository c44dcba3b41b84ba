import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findContractsInArrears } from '../../db/tables/due-contracts.ts';
import { listBlocked } from '../../db/tables/invoice-lists.ts';
import { endsWithPerson } from '../../server/billing/customers/ends-with-person.ts';
import { cancelContract, runBilling } from '../../server/billing/invoices/invoicing.ts';
import { readPreview } from '../../server/billing/invoices/preview.ts';
import { type Money, recordMoney } from '../../server/billing/payments/allocate.ts';
import { creditInvoice } from '../../server/billing/payments/credit.ts';
import type { BillingSettings } from '../../server/billing/settings/settings.ts';
import type { DocumentFacts } from '../../server/billing/values/document-facts.ts';
import { eraseUser } from '../../server/identity/person/erase-user.ts';
import { recordLog } from '../support/app/log.ts';
import { addOldInvoice } from '../support/billing/money.ts';
import { germanSettings, setBillingClock, setSettings } from '../support/billing/settings.ts';
import { openBilling } from '../support/crm/billing.ts';
import { connect } from '../support/database/postgres.ts';
import { shared } from '../support/run/shared.ts';

const billing = shared(() => openBilling({ settings: null }));
afterEach(() => expect(billing.takeFaults()).toEqual([]));

const documentsOf = (contractId: string) =>
  billing.app.db
    .selectFrom('documents as d')
    .innerJoin('invoices as i', 'i.number', 'd.invoice')
    .selectAll('d')
    .select([sql<string>`issued_on::text`.as('issuedOn'), 'i.due_at as dueAt', 'i.status as status'])
    .where('i.contract_id', '=', contractId)
    .orderBy('d.issued_at')
    .orderBy('d.number')
    .execute();

const factsOf = async (contractId: string) =>
  (await documentsOf(contractId)).map(({ facts }) => facts as unknown as DocumentFacts);

/** Settings whose number prefixes give each test a series of its own. */
const numberedAs = (prefix: string, changes: Partial<BillingSettings> = {}): BillingSettings => ({
  ...germanSettings,
  ...changes,
  numbers: { invoice: prefix, credit_note: `${prefix}C-` },
});

async function giveDetails(contractId: string, details: Record<string, string>): Promise<void> {
  const address = { line1: 'Rue 1', postcode: '75001', city: 'Paris', country: 'FR' };
  await sql`insert into billing_details ${sql.raw(`(account_id, ${Object.keys({ ...address, ...details }).join(', ')})`)}
    select account_id, ${sql.join(Object.values({ ...address, ...details }))} from service_contracts where id = ${contractId}
    on conflict (account_id) do update set country = excluded.country, line1 = excluded.line1,
      vat_id = excluded.vat_id, checked_vat_id = excluded.checked_vat_id`.execute(billing.app.db);
}

const heldOf = async (contractId: string) =>
  (
    await billing.app.db
      .selectFrom('waiting_periods')
      .select('held_code')
      .where('contract_id', '=', contractId)
      .orderBy('starts_at')
      .executeTakeFirst()
  )?.held_code ?? null;

let payments = 0;
const record = (money: Partial<Money> & { amount: number }) =>
  inTransaction(billing.app.db, { by: 'operator', cause: 'test' }, (trx) =>
    recordMoney(
      trx,
      {
        ...{
          id: `recorded-${++payments}`,
          kind: 'payment',
          of: null,
          currency: 'EUR',
          paidAt: billing.now(),
        },
        ...{ method: null, reference: null, invoiceNumber: null, ...money },
      } as Money,
      { now: billing.now(), recordedBy: 'operator' },
    ),
  );
const credit = (number: string, amount: number) =>
  inTransaction(billing.app.db, { by: 'operator', cause: 'test' }, (trx) =>
    creditInvoice(trx, number, amount, { now: billing.now(), recordedBy: 'operator' }),
  );

describe('with a seller', () => {
  it('an invoice is numbered, dated and taxed as the settings say (contract 7.51 and 7.56)', async () => {
    await billing.setClock('2026-01-31T23:30:00.000Z');
    await setSettings(billing.app.db, numberedAs('A-'));
    const contractId = await billing.report('first');
    await billing.bill();
    const [invoice] = await factsOf(contractId);
    // In Berlin it is already February.
    expect(invoice).toMatchObject({
      kind: 'invoice',
      number: 'A-2026-0001',
      issued_on: '2026-02-01',
      due_on: '2026-02-15',
      invoice: null,
      seller: germanSettings.seller,
      buyer: { address: null, vat_id: null, email: 'customer@example.test' },
      // Contract 7.55.
      line: { plan: 'starter', title: 'Starter', first_day: '2026-02-01', last_day: '2026-02-28' },
      ...{ category: 'S', rate: 1900, words: null, net: 2_900, tax: 551, total: 3_451, currency: 'EUR' },
    });
    const [row] = await documentsOf(contractId);
    expect(row?.dueAt).toEqual(new Date('2026-02-15T23:00:00.000Z'));
    expect(await billing.invoicesOf(contractId)).toMatchObject([
      { number: 'A-2026-0001', unit_amount: '3451', status: 'open' },
    ]);
    const { rows } = await sql`select number from documents_to_make where number = 'A-2026-0001'`.execute(
      billing.app.db,
    );
    expect(rows).toHaveLength(1);
  });

  it('a contract is past due from the end of the last day to pay on, and active once nothing is open (contract 7.81)', async () => {
    await billing.setClock('2026-01-10T12:00:00.000Z');
    const terms = { ...germanSettings.terms, past_due_after_days: 3 };
    await setSettings(billing.app.db, numberedAs('DUE-', { terms }));
    const contractId = await billing.report('days');
    await billing.bill();
    // The invoice is due on the 24th, and past due three days after that.
    await billing.setClock('2026-01-27T22:59:59.999Z');
    await billing.bill();
    expect(await billing.statusOf(contractId)).toBe('active');
    await billing.setClock('2026-01-27T23:00:00.000Z');
    await billing.bill();
    expect(await billing.statusOf(contractId)).toBe('past_due');
    await billing.pay(contractId);
    expect(await billing.statusOf(contractId)).toBe('active');
  });

  it('a contract is not past due by an invoice whose files cannot be made (contract 7.495)', async () => {
    await billing.setClock('2026-01-10T12:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('UNMADE-'));
    const contractId = await billing.report('unmade');
    await billing.bill();
    const [{ number = '' } = {}] = await factsOf(contractId);
    await sql`insert into documents_to_make (number, tries, next_try_at, last_error)
      values (${number}, 3, 'infinity', 'fault')
      on conflict (number) do update set tries = 3, next_try_at = 'infinity', last_error = 'fault'`.execute(
      billing.app.db,
    );
    await billing.setClock('2026-03-01T12:00:00.000Z');
    await billing.bill();
    expect(await billing.statusOf(contractId)).toBe('active');
    const search = { now: billing.now(), limit: 1_000, except: [] };
    expect(await findContractsInArrears(billing.app.db, search)).not.toContain(contractId);
    // Neither the job nor a payment makes the contract past due.
    await record({ invoiceNumber: number, amount: 1 });
    expect(await billing.statusOf(contractId)).toBe('active');
    await sql`delete from documents_to_make where number = ${number}`.execute(billing.app.db);
    await billing.bill();
    expect(await billing.statusOf(contractId)).toBe('past_due');
  });

  it('a contract is past due by the days of the settings that its invoice was issued with (contract 7.81 and 7.100)', async () => {
    await billing.setClock('2026-01-10T12:00:00.000Z');
    const past_due_after_days = 3;
    await setSettings(
      billing.app.db,
      numberedAs('OWN-', { terms: { ...germanSettings.terms, past_due_after_days } }),
    );
    const contractId = await billing.report('own-days');
    await billing.bill();
    const [{ number = '' } = {}] = await factsOf(contractId);
    await setSettings(billing.app.db, numberedAs('OTHER-'));
    await billing.setClock('2026-01-27T22:59:59.999Z');
    await billing.bill();
    expect(await billing.statusOf(contractId)).toBe('active');
    await billing.setClock('2026-01-27T23:00:00.000Z');
    await billing.bill();
    expect(await billing.statusOf(contractId)).toBe('past_due');
    const { rows } = await sql`select settings #>> '{numbers,invoice}' as prefix,
        facts #>> '{record,settings_version}' = version::text as "isNamed"
      from documents join billing_settings on version = settings_version where number = ${number}`.execute(
      billing.app.db,
    );
    expect(rows).toEqual([{ prefix: 'OWN-', isNamed: true }]);
  });

  it('a contract is past due until all is paid, and at once again where the money goes back (contract 7.135)', async () => {
    await billing.setClock('2026-01-10T12:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('BACK-'));
    const contractId = await billing.report('goes-back');
    await billing.bill();
    await billing.setClock('2026-01-26T12:00:00.000Z');
    await billing.bill();
    const [{ number = '' } = {}] = await factsOf(contractId);
    await record({ invoiceNumber: number, amount: 3_450 });
    expect(await billing.statusOf(contractId)).toBe('past_due');
    const { payment } = await record({ invoiceNumber: number, amount: 1 });
    expect(await billing.statusOf(contractId)).toBe('active');
    await record({ kind: 'refund', of: payment.id, amount: 1 });
    expect(await billing.statusOf(contractId)).toBe('past_due');
    expect(await documentsOf(contractId)).toMatchObject([
      { status: 'open', dueAt: new Date('2026-01-24T23:00:00Z') },
    ]);
  });

  it('a beginning of numbers that was used before goes on counting where it was', async () => {
    await billing.setClock('2026-03-01T10:00:00.000Z');
    // Issues the documents that earlier tests have left to issue.
    await billing.bill();
    const numbers: string[] = [];
    for (const [at, prefix] of ['ONE-', 'ONE-', 'TWO-', 'ONE-'].entries()) {
      await setSettings(billing.app.db, numberedAs(prefix));
      const contractId = await billing.report(`series-${at}`);
      await billing.bill();
      numbers.push(...(await factsOf(contractId)).map(({ number }) => number));
    }
    expect(numbers).toEqual(['ONE-2026-0001', 'ONE-2026-0002', 'TWO-2026-0001', 'ONE-2026-0003']);
  });

  it('a plan that the settings do not list is called by its own name', async () => {
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('PLAN-'));
    const contractId = await billing.report('unlisted', { plan: 'enterprise' });
    await billing.bill();
    expect((await factsOf(contractId))[0]?.line).toMatchObject({ title: 'enterprise', description: null });
  });

  it('the highest price is taxed to the cent (contract 7.61)', async () => {
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('HIGH-'));
    const price = { currency: 'EUR', unit_amount: 10 ** 12, interval: 'month' };
    const contractId = await billing.report('highest', { price });
    await billing.bill();
    expect(await factsOf(contractId)).toMatchObject([
      { net: 1_000_000_000_000, tax: 190_000_000_000, total: 1_190_000_000_000 },
    ]);
  });

  it('numbers have no gap and no duplicate, and days never go back, over New Year in the seller’s zone', async () => {
    await billing.setClock('2026-12-31T22:59:00.000Z');
    await setSettings(billing.app.db, numberedAs('NY-'));
    const ids: string[] = [];
    for (let at = 0; at < 16; at++) ids.push(await billing.report(`new-year-${at}`));
    const others = Array.from({ length: 4 }, () => connect(billing.app.databaseUrl, { poolSize: 4 }));
    const { log } = recordLog();
    const run = () => Promise.all(others.map(({ db }) => runBilling({ db, now: billing.now, log: log })));
    await run();
    for (let at = 16; at < 32; at++) ids.push(await billing.report(`new-year-${at}`));
    await billing.setClock('2026-12-31T23:00:00.000Z');
    await run();
    for (let at = 32; at < 36; at++) ids.push(await billing.report(`new-year-${at}`));
    // The clock was set back, but the day of the documents does not go back.
    await setBillingClock(billing.app.db, '2027-01-05T10:00:00.000Z');
    await run();
    for (let at = 36; at < 40; at++) ids.push(await billing.report(`new-year-${at}`));
    await setBillingClock(billing.app.db, '2027-01-02T10:00:00.000Z');
    await run();
    for (const { close } of others) await close();
    const { rows } = await sql<{
      number: string;
      on: string;
    }>`select number, issued_on::text as on from documents
      where prefix = 'NY-' order by year, number`.execute(billing.app.db);
    const countOf = (year: number) => rows.filter(({ number }) => number.startsWith(`NY-${year}`)).length;
    const numbered = (year: number) =>
      Array.from({ length: countOf(year) }, (_, at) => `NY-${year}-${String(at + 1).padStart(4, '0')}`);
    expect(rows.map(({ number }) => number)).toEqual([...numbered(2026), ...numbered(2027)]);
    // The service's own job may issue some documents a moment before the test does.
    expect(countOf(2026)).toBeGreaterThanOrEqual(16);
    expect(countOf(2027)).toBeGreaterThanOrEqual(8);
    expect(rows.length).toBeGreaterThanOrEqual(40);
    expect(rows.map(({ on }) => on)).toEqual([...rows.map(({ on }) => on)].sort());
    expect(rows.slice(-5).map(({ on }) => on)).toEqual(Array(5).fill('2027-01-05'));
  });

  it('goes on after 9999', async () => {
    await billing.setClock('2026-05-01T10:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('MANY-'));
    await sql`insert into document_series values ('MANY-', 2026, 9999, '2026-01-01')`.execute(billing.app.db);
    const contractId = await billing.report('many');
    await billing.bill();
    expect((await factsOf(contractId))[0]?.number).toBe('MANY-2026-10000');
  });

  it('the buyer’s country decides the tax, and a checked VAT id of another member state reverses it (contract 7.64 and 7.231)', async () => {
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('TAX-'));
    const contractId = await billing.report('taxed', {}, { email: 'merchant@example.test' });
    await giveDetails(contractId, { company: 'Fleurs SARL' });
    await billing.bill();
    await giveDetails(contractId, { vat_id: 'FR40303265045', checked_vat_id: 'FR40303265045' });
    await billing.setClock('2026-04-02T10:00:00.000Z');
    await billing.pay(contractId);
    await billing.bill();
    expect(await factsOf(contractId)).toMatchObject([
      {
        category: 'S',
        rate: 2_000,
        total: 3_480,
        buyer: { name: 'Fleurs SARL', address: { country: 'FR' } },
      },
      { category: 'AE', rate: 0, tax: 0, total: 2_900, words: 'Reverse charge' },
    ]);
  });

  it('is made out to the account, even after its user is erased, if others still have the account (contract 7.231)', async () => {
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('LEFT-'));
    const [leaver, colleague] = ['admin@example.test', 'manager@example.test'];
    await sql`update users set account_id = (select account_id from users where email = ${leaver})
      where email = ${colleague}`.execute(billing.app.db);
    const contractId = await billing.report('left', {}, { email: leaver });
    const { rows } = await sql<{ id: string; name: string }>`select u.id, a.name from users u
      join accounts a on a.id = u.account_id where u.email = ${leaver}`.execute(billing.app.db);
    const [{ id, name } = { id: '', name: '' }] = rows;
    await inTransaction(billing.app.db, { by: 'operator', cause: 'test' }, (trx) =>
      eraseUser(trx, { now: () => billing.now(), endsWithPerson }, id, { by: 'cli', onlyDue: false }),
    );
    await billing.bill();
    const [invoice] = await factsOf(contractId);
    expect(name).not.toBe('');
    expect(invoice?.buyer).toMatchObject({ name, email: null });
  });

  it('a free period has no document, and the next one begins (contract 7.51)', async () => {
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('FREE-'));
    const contractId = await billing.report('free', {
      price: { currency: 'EUR', unit_amount: 0, interval: 'month' },
    });
    await billing.bill();
    expect(await billing.invoicesOf(contractId)).toEqual([]);
    await billing.setClock('2026-04-02T10:00:00.000Z');
    const price = { currency: 'EUR', unit_amount: 100, interval: 'month' };
    await billing.report('free', { price });
    await billing.setClock('2026-05-01T10:00:00.000Z');
    await billing.bill();
    expect((await factsOf(contractId)).map(({ line }) => line.first_day)).toEqual(['2026-05-01']);
  });
});

const rulesFrom = (from: string) => ({
  ...germanSettings.tax,
  rules: [{ country: 'DE', rate: 1_900, category: 'S' as const, from }],
});

describe('what cannot be issued (contract 7.67, 7.68 and 7.594)', () => {
  const priced = (currency: string, unit_amount: number) => ({
    price: { currency, unit_amount, interval: 'month' },
  });

  it.each([
    ['tax_currency', priced('USD', 2_900)],
    ['price_too_high', priced('EUR', 10 ** 12 + 1)],
  ] as const)('is held as %s, holds up nothing else, and is not skipped', async (code, contract) => {
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('HELD-'));
    const contractId = await billing.report(`held-${code}`, contract);
    await billing.bill();
    expect(await heldOf(contractId)).toBe(code);
    await billing.setClock('2026-05-02T10:00:00.000Z');
    await billing.bill();
    expect(await documentsOf(contractId)).toEqual([]);
    const otherId = await billing.report(`beside-${code}`);
    await billing.bill();
    expect(await documentsOf(otherId)).toHaveLength(1);
  });

  it('is issued once there is a rule, each period at the rate of its own last day, with the date of issue', async () => {
    await billing.setClock('2026-03-01T10:00:00.000Z');
    const rules = (from: string[]) => ({
      ...germanSettings.tax,
      rules: from.map((day, at) => ({
        country: 'DE',
        rate: 1_900 + at * 100,
        category: 'S' as const,
        from: day,
      })),
    });
    await setSettings(billing.app.db, numberedAs('LATE-', { tax: rules(['2027-01-01']) }));
    const contractId = await billing.report('no-rule');
    await billing.bill();
    expect(await heldOf(contractId)).toBe('no_tax_rule');
    await billing.setClock('2026-05-02T10:00:00.000Z');
    // The contract ended before its invoice could be issued, but the period that began is still owed.
    await billing.report('no-rule', { status: 'canceled' });
    await billing.bill();
    await setSettings(billing.app.db, numberedAs('LATE-', { tax: rules(['2026-01-01', '2026-04-15']) }));
    await billing.setClock('2026-06-20T10:00:00.000Z');
    await billing.bill();
    expect(await heldOf(contractId)).toBeNull();
    expect(
      (await factsOf(contractId)).map(({ line, rate, issued_on }) => [line.first_day, rate, issued_on]),
    ).toEqual([
      ['2026-03-01', 1_900, '2026-06-20'],
      ['2026-04-01', 2_000, '2026-06-20'],
      ['2026-05-01', 2_000, '2026-06-20'],
    ]);
    expect(await billing.statusOf(contractId)).toBe('canceled');
  });

  it.each([
    ['another price', { price: { currency: 'EUR', unit_amount: 9_900, interval: 'month' } }, [9_900]],
    ['another interval', { price: { currency: 'EUR', unit_amount: 9_900, interval: 'year' } }, [9_900]],
    ['no price', { price: undefined }, []],
    ['another plan', { plan: 'pro' }, [2_900]],
  ] as const)(
    'keeps the price that it began with, even if a report changes it: %s',
    async (_, change, after) => {
      const signupId = `price-of-then-${Object.keys(change)}-${after.length}-${_.length}`;
      await billing.setClock('2026-03-01T10:00:00.000Z');
      await setSettings(billing.app.db, numberedAs('THEN-', { tax: rulesFrom('2027-01-01') }));
      const contractId = await billing.report(signupId);
      await billing.bill();
      await billing.setClock('2026-04-02T10:00:00.000Z');
      await billing.report(signupId, change);
      await billing.bill();
      await billing.setClock('2026-05-02T10:00:00.000Z');
      await billing.bill();
      expect([await heldOf(contractId), await documentsOf(contractId)]).toEqual(['no_tax_rule', []]);
      await setSettings(billing.app.db, numberedAs('THEN-', { tax: rulesFrom('2026-01-01') }));
      await billing.setClock('2026-05-02T10:02:00.000Z');
      await billing.bill();
      expect((await factsOf(contractId)).map(({ line, net }) => [line.first_day, line.plan, net])).toEqual([
        ['2026-03-01', 'starter', 2_900],
        ['2026-04-01', 'starter', 2_900],
        ...after.map((net) => ['2026-05-01', 'plan' in change ? change.plan : 'starter', net]),
      ]);
    },
  );

  it('is tried again within a minute, and issued if the rule begins on its last day, but not if on the next', async () => {
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('EDGE-', { tax: rulesFrom('2026-04-01') }));
    const contractId = await billing.report('last-day');
    await billing.bill();
    expect(await heldOf(contractId)).toBe('no_tax_rule');
    await setSettings(billing.app.db, numberedAs('EDGE-', { tax: rulesFrom('2026-03-31') }));
    await billing.setClock('2026-03-01T10:01:00.000Z');
    await billing.bill();
    expect((await factsOf(contractId)).map(({ line }) => line.last_day)).toEqual(['2026-03-31']);
  });

  it.each([
    ['within a minute where the job comes every five seconds', '2026-03-01T10:00:55.000Z'],
    ['also where the clock was put back since the last try', '2026-03-01T09:00:00.000Z'],
  ])('is tried again %s', async (how, at) => {
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('AGAIN-', { tax: rulesFrom('2027-01-01') }));
    const contractId = await billing.report(`again-${how.replace(/\W/g, '-')}`);
    await billing.bill();
    expect(await heldOf(contractId)).toBe('no_tax_rule');
    await setSettings(billing.app.db, numberedAs('AGAIN-'));
    await billing.setClock(at);
    await billing.bill();
    expect((await factsOf(contractId)).map(({ line }) => line.first_day)).toEqual(['2026-03-01']);
  });

  it('stays listed once its account is erased, and is not tried any more', async () => {
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('GONE-'));
    const contractId = await billing.report('held-gone', priced('USD', 2_900));
    await billing.bill();
    const { user_id: id } = await billing.app.db
      .selectFrom('service_contracts')
      .select('user_id')
      .where('id', '=', contractId)
      .executeTakeFirstOrThrow();
    await inTransaction(billing.app.db, { by: 'operator', cause: 'test' }, (trx) =>
      eraseUser(trx, { now: () => billing.now(), endsWithPerson }, id ?? '', { by: 'cli', onlyDue: false }),
    );
    await billing.setClock('2026-03-02T10:00:00.000Z');
    await billing.bill();
    const held = await listBlocked(billing.app.db);
    expect(held.filter(({ signupId }) => signupId === 'held-gone')).toMatchObject([
      { code: 'account_erased', userId: null },
    ]);
    // Without a buyer, the document is never issued, and the preview says so. Canceling a second time changes nothing.
    expect(await readPreview(billing.app.db, 'held-gone', 1)).toEqual({
      documents: [],
      held: 'account_erased',
    });
    const { seller } = germanSettings;
    await setSettings(billing.app.db, numberedAs('GONE-', { seller: { ...seller, currency: 'USD' } }));
    expect(await readPreview(billing.app.db, 'held-gone', 1)).toMatchObject({ held: 'account_erased' });
    expect(await cancelContract({ db: billing.app.db, now: billing.now }, 'held-gone')).toBe(false);
    expect(await documentsOf(contractId)).toEqual([]);
  });
});

it('a contract past due gets no documents if the settings say so, even if a report says active, and later gets them at the prices of their time (contract 7.82)', async () => {
  await billing.setClock('2026-01-10T12:00:00.000Z');
  await setSettings(
    billing.app.db,
    numberedAs('PAST-', { terms: { ...germanSettings.terms, invoice_while_past_due: false } }),
  );
  const contractId = await billing.report('past-and-dearer');
  await billing.bill();
  await billing.setClock('2026-02-01T12:00:00.000Z');
  await billing.bill();
  expect(await billing.statusOf(contractId)).toBe('past_due');
  await billing.setClock('2026-02-12T12:00:00.000Z');
  await billing.report('past-and-dearer', {
    price: { currency: 'EUR', unit_amount: 9_900, interval: 'month' },
  });
  await billing.setClock('2026-03-12T12:00:00.000Z');
  await billing.bill();
  expect(await billing.statusOf(contractId)).toBe('past_due');
  expect(await factsOf(contractId)).toHaveLength(1);
  await billing.pay(contractId);
  await billing.bill();
  expect((await factsOf(contractId)).map(({ line, net }) => [line.first_day, net])).toEqual([
    ['2026-01-10', 2_900],
    ['2026-02-10', 2_900],
    ['2026-03-10', 9_900],
  ]);
});

it('the preview of a contract past due has the periods that have begun, dated today and at the prices of their time', async () => {
  await billing.setClock('2026-01-10T12:00:00.000Z');
  await setSettings(
    billing.app.db,
    numberedAs('SOON-', { terms: { ...germanSettings.terms, invoice_while_past_due: false } }),
  );
  const contractId = await billing.report('soon-and-dearer');
  await billing.bill();
  await billing.setClock('2026-02-01T12:00:00.000Z');
  await billing.bill();
  await billing.setClock('2026-02-12T12:00:00.000Z');
  await billing.bill();
  expect(await billing.statusOf(contractId)).toBe('past_due');
  const price = { currency: 'EUR', unit_amount: 9_900, interval: 'month' };
  await billing.report('soon-and-dearer', { price });
  await billing.setClock('2026-03-12T12:00:00.000Z');
  const preview = await readPreview(billing.app.db, 'soon-and-dearer', 1);
  expect(preview.held).toBeNull();
  expect(
    preview.documents.map(({ issued_on, period_first_day, net }) => [issued_on, period_first_day, net]),
  ).toEqual([
    ['2026-03-12', '2026-02-10', 2_900],
    ['2026-03-12', '2026-03-10', 9_900],
    ['2026-04-10', '2026-04-10', 9_900],
  ]);
});

describe('nothing that was issued or recorded', () => {
  it.each([
    sql`update documents set total = total + 1, net = net + 1`,
    sql`update documents set facts = '{}'`,
    sql`delete from documents`,
    sql`update invoices set unit_amount = 1 where document is not null`,
    sql`update invoices set due_at = now() where document is not null`,
    sql`delete from invoices where document is not null`,
    sql`update billing_settings set settings = '{}'`,
    sql`delete from billing_settings`,
    sql`update payments set amount = amount + 1`,
    sql`delete from payments`,
    sql`update allocations set amount = amount + 1`,
    sql`delete from allocations`,
    sql`truncate documents cascade`,
    sql`truncate payments cascade`,
    sql`truncate billing_settings cascade`,
  ])('is changed or deleted: %# (contract 7.52, 7.100 and 7.130)', async (statement) => {
    await expect(statement.execute(billing.app.db)).rejects.toThrow(/keeps what was recorded/);
  });

  it('is settled beyond what is open, or has a state that does not follow (contract 7.80)', async () => {
    const one = sql`number = (select max(number) from invoices where status = 'open')`;
    for (const change of [
      sql`allocated = unit_amount + 1, status = 'paid', paid_at = now()`,
      sql`allocated = 1, credited = unit_amount`,
      sql`allocated = -1`,
      sql`status = 'void'`,
      sql`allocated = 1, status = 'paid', paid_at = now()`,
    ])
      await expect(
        sql`update invoices set ${change} where ${one} and document is not null`.execute(billing.app.db),
      ).rejects.toMatchObject({ code: '23514' });
  });
});

describe('an instance of the version before', () => {
  it('issues nothing once there is a seller', async () => {
    const contractId = await billing.report('before');
    await expect(
      sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount, status,
          issued_at, due_at)
        values (999999, ${contractId}, 'starter', now(), now() + interval '1 month', 'EUR', 100, 'open', now(), now())`.execute(
        billing.app.db,
      ),
    ).rejects.toThrow(/there is a seller/);
  });

  it('records a payment of what is open if it says that an invoice is paid', async () => {
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('PRE-'));
    const contractId = await billing.report('paid-before');
    await billing.bill();
    await sql`update invoices set status = 'paid', paid_at = now() where contract_id = ${contractId}`.execute(
      billing.app.db,
    );
    const [{ number, ...paid } = { number: '' }] = await billing.invoicesOf(contractId);
    expect(paid).toMatchObject({ status: 'paid', allocated: '3451' });
    const { rows } = await sql`select p.amount, p.unallocated, a.amount as allocated from payments p
      join allocations a on a.payment = p.id where p.invoice_number = ${number}`.execute(billing.app.db);
    expect(rows).toEqual([{ amount: '3451', unallocated: '0', allocated: '3451' }]);
  });

  it('settles one from before there was a seller: paid by a payment, void by crediting it', async () => {
    const trial = { status: 'trialing', trial_ends_at: '2099-01-01T00:00:00.000Z' } as const;
    await billing.setClock('2026-03-01T10:00:00.000Z');
    const [paid, voided] = [await billing.report('old-paid', trial), await billing.report('old-void', trial)];
    for (const id of [paid, voided]) await addOldInvoice(billing.app.db, id);
    for (const [id, status, paidAt] of [
      [paid, 'paid', sql`now()`],
      [voided, 'void', sql`null`],
    ] as const)
      await sql`update invoices set status = ${status}, paid_at = ${paidAt} where contract_id = ${id}`.execute(
        billing.app.db,
      );
    expect(await billing.invoicesOf(paid)).toMatchObject([
      { past_due_at: null, status: 'paid', allocated: '2900', credited: '0' },
    ]);
    expect(await billing.invoicesOf(voided)).toMatchObject([
      { past_due_at: null, status: 'void', allocated: '0', credited: '2900' },
    ]);
  });

  it('records no more than is open of one that is credited and paid in part', async () => {
    await billing.setClock('2026-03-01T10:00:00.000Z');
    await setSettings(billing.app.db, numberedAs('PREPART-'));
    const contractId = await billing.report('paid-in-part-before');
    await billing.bill();
    const [{ number = '' } = {}] = await factsOf(contractId);
    await credit(number, 451);
    await record({ invoiceNumber: number, amount: 1_000 });
    await sql`update invoices set status = 'paid', paid_at = now() where contract_id = ${contractId}`.execute(
      billing.app.db,
    );
    expect(await billing.invoicesOf(contractId)).toMatchObject([
      { status: 'paid', credited: '451', allocated: '3000' },
    ]);
    const { rows } = await sql`select amount::int, unallocated::int from payments
      where invoice_number = ${number} order by amount`.execute(billing.app.db);
    expect(rows).toEqual([
      { amount: 1_000, unallocated: 0 },
      { amount: 2_000, unallocated: 0 },
    ]);
  });

  it('makes no contract past due before the days of the settings are over', async () => {
    await billing.setClock('2026-01-10T12:00:00.000Z');
    const terms = { ...germanSettings.terms, past_due_after_days: 30 };
    await setSettings(billing.app.db, numberedAs('EARLY-', { terms }));
    const contractId = await billing.report('early');
    await billing.bill();
    await billing.setClock('2026-02-01T12:00:00.000Z');
    await expect(
      sql`update service_contracts set status = 'past_due' where id = ${contractId}`.execute(billing.app.db),
    ).rejects.toThrow(/past its days/);
  });

  it('makes one past due for an old invoice, whatever days a later one has', async () => {
    const { db } = billing.app;
    await billing.setClock('2026-02-10T12:00:00.000Z');
    const contractId = await billing.report('old-and-new');
    const issuedAt = new Date('2026-01-10T12:00:00.000Z');
    const number = await addOldInvoice(db, contractId, { issuedAt });
    const paid = { id: 'paid-old', amount: 2_900, invoiceNumber: number };
    await record(paid);
    const terms = { ...germanSettings.terms, past_due_after_days: 365 };
    await setSettings(db, numberedAs('MIXED-', { terms }));
    await billing.bill();
    await billing.setClock('2026-03-01T12:00:00.000Z');
    await record({ kind: 'refund', of: paid.id, amount: paid.amount });
    expect(await billing.invoicesOf(contractId)).toMatchObject([{ status: 'open' }, { status: 'open' }]);
    expect(
      (await sql`select status from service_contracts where id = ${contractId}`.execute(db)).rows,
    ).toEqual([{ status: 'past_due' }]);
  });
});
