// Quantities and charges that the CRM reports (contract 7.529 to 7.534, 7.538 and 7.539).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { listOpenCharges } from '../../db/tables/contract-charges.ts';
import { findContractsToInvoice } from '../../db/tables/due-contracts.ts';
import { requireSums } from '../../server/billing/documents/require-sums.ts';
import { buildXml } from '../../server/billing/documents/xml.ts';
import { readPreview } from '../../server/billing/invoices/preview.ts';
import type { DocumentFacts } from '../../server/billing/values/document-facts.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { openBilling, price } from '../support/crm/billing.ts';
import { buildSignup, type Charge, type SignupBody, sendSignup } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

const billing = shared(() => openBilling({ settings: germanSettings }));
const setClock = (at: string) => billing.setClock(at);
beforeEach(() => setClock('2026-03-10T10:00:00.000Z'));

let serial = 0;
const freshId = () => `crm_${serial++}`;

const setup: Charge = { id: 'setup', title: 'Setup', unit_amount: 10_000, when: 'now' };
const overage: Charge = { id: 'overage-1', title: 'Minutes', unit_amount: 5, quantity: 120, when: 'next' };
const discount: Charge = { id: 'sorry', title: 'For the trouble', unit_amount: -5_000, when: 'next' };

/** Reports a contract now, and returns the answer. */
async function report(
  signupId: string,
  contract: Partial<SignupBody['contract']> = {},
  occurredAt = billing.now(),
) {
  const signup = buildSignup(signupId, {
    occurred_at: occurredAt.toISOString(),
    contract: { plan: 'starter', status: 'active', price, ...contract },
  });
  const { status, text } = await sendSignup(billing.app, signup, { at: billing.now() });
  return { status, ...JSON.parse(text) };
}

async function factsOf(contractId: string): Promise<DocumentFacts[]> {
  const rows = await billing.app.db
    .selectFrom('documents as d')
    .innerJoin('invoices as i', 'i.number', 'd.invoice')
    .select('d.facts')
    .where('i.contract_id', '=', contractId)
    .orderBy('d.issued_at')
    .orderBy('i.number')
    .execute();
  const facts = rows.map((row) => row.facts as unknown as DocumentFacts);
  for (const each of facts) requireSums(each);
  return facts;
}

/** Returns the lines of each document: quantity, title and amount. */
const linesOf = async (contractId: string) =>
  (await factsOf(contractId)).map(({ lines, line, net }) =>
    (lines ?? [{ quantity: 1, title: line.title, amount: net }]).map(
      ({ quantity, title, amount }) => `${quantity} ${title} ${amount}`,
    ),
  );

describe('a quantity', () => {
  // Contract 7.529 and 7.539.
  it('multiplies the price, and is in the document and its XML', async () => {
    const { contract } = await report(freshId(), { price: { ...price, quantity: 5 } });
    expect(contract.price).toEqual({ ...price, quantity: 5 });
    await billing.bill();
    expect(await linesOf(contract.id)).toEqual([['5 Starter 14500']]);
    const [facts] = await factsOf(contract.id);
    expect(facts).toMatchObject({ net: 14_500, tax: 2_755, total: 17_255 });
    const xml = buildXml(facts as DocumentFacts);
    expect(xml).toContain('<ram:ChargeAmount>29.00</ram:ChargeAmount>');
    expect(xml).toContain('<ram:BilledQuantity unitCode="C62">5</ram:BilledQuantity>');
    expect(xml).toContain('<ram:LineTotalAmount>145.00</ram:LineTotalAmount>');
  });

  it('changes with a later report, and is 1 again if that leaves it out', async () => {
    const id = freshId();
    await report(id, { price: { ...price, quantity: 5 } });
    await setClock('2026-03-11T10:00:00.000Z');
    expect((await report(id, { price: { ...price, quantity: 7 } })).contract.price.quantity).toBe(7);
    await setClock('2026-03-12T10:00:00.000Z');
    expect((await report(id)).contract.price).toEqual({ ...price, quantity: 1 });
  });

  it('waits with its period', async () => {
    const usd = { currency: 'USD', unit_amount: 1_000, interval: 'month', quantity: 3 };
    const { contract } = await report(freshId(), { price: usd });
    await billing.bill();
    expect(await linesOf(contract.id)).toEqual([]);
    await setSettings(billing.app.db, {
      ...germanSettings,
      seller: { ...germanSettings.seller, currency: 'USD' },
    });
    await setClock('2026-03-10T10:02:00.000Z');
    await billing.bill();
    await setSettings(billing.app.db);
    expect(await linesOf(contract.id)).toEqual([['3 Starter 3000']]);
  });

  it.each([0, -1, 100_001, 1.5, '5'])('of %j is refused', async (quantity) => {
    const answer = await report(freshId(), { price: { ...price, quantity: quantity as number } });
    expect(answer).toMatchObject({ status: 422, errors: [{ pointer: '/contract/price/quantity' }] });
  });

  it('that makes more than 10^12 is refused', async () => {
    const answer = await report(freshId(), { price: { ...price, unit_amount: 10 ** 11, quantity: 11 } });
    expect(answer).toMatchObject({ status: 422, errors: [{ pointer: '/contract/price/quantity' }] });
  });
});

/** A contract whose first period is invoiced. When this returns, the clock is in the middle of that period. */
async function begin(): Promise<string> {
  const id = freshId();
  await report(id);
  await billing.bill();
  await setClock('2026-03-20T10:00:00.000Z');
  return id;
}

describe('a charge', () => {
  // Contract 7.533 and 7.538.
  it('of now is on the invoice of a period that begins', async () => {
    const { contract } = await report(freshId(), { charges: [setup, overage] });
    expect(contract.charges).toEqual([{ ...setup, quantity: 1 }, overage]);
    await billing.bill();
    expect(await linesOf(contract.id)).toEqual([['1 Starter 2900', '1 Setup 10000', '120 Minutes 600']]);
  });

  // Contract 7.533.
  it('of now gets an invoice of its own within a period, for the day of its issue', async () => {
    const id = await begin();
    const { contract } = await report(id, { charges: [setup] });
    await billing.bill();
    await billing.bill();
    expect(await linesOf(contract.id)).toEqual([['1 Starter 2900'], ['1 Setup 10000']]);
    expect((await factsOf(contract.id))[1]?.line).toMatchObject({
      title: 'Setup',
      first_day: '2026-03-20',
      last_day: '2026-03-20',
    });
  });

  // Contract 7.532.
  it('of next waits for the next period', async () => {
    const id = await begin();
    const { contract } = await report(id, { charges: [overage] });
    await billing.bill();
    expect(await linesOf(contract.id)).toHaveLength(1);
    await billing.pay(contract.id);
    await setClock('2026-04-10T10:00:00.000Z');
    await billing.bill();
    expect((await linesOf(contract.id))[1]).toEqual(['1 Starter 2900', '120 Minutes 600']);
  });

  // Contract 7.532.
  it('of next is invoiced at the end if no period follows', async () => {
    const id = await begin();
    const { contract } = await report(id, { charges: [overage] });
    await setClock('2026-03-21T10:00:00.000Z');
    await report(id, { status: 'canceled' });
    await billing.bill();
    expect(await linesOf(contract.id)).toEqual([['1 Starter 2900'], ['120 Minutes 600']]);
  });

  // Contract 7.532 and 7.534.
  it('of the report that ends the contract is on the last invoice', async () => {
    const id = await begin();
    await report(id, { charges: [overage] });
    await setClock('2026-03-21T10:00:00.000Z');
    const charges = [{ ...discount, unit_amount: -100 }];
    const { contract } = await report(id, { status: 'canceled', charges });
    await billing.bill();
    expect((await linesOf(contract.id))[1]).toEqual(['120 Minutes 600', '1 For the trouble -100']);
  });

  // Contract 7.552.
  it('of next in the currency of an earlier price has an invoice of its own', async () => {
    const id = await begin();
    const { contract } = await report(id, { charges: [overage] });
    await billing.bill();
    expect(await linesOf(contract.id)).toHaveLength(1);
    await setClock('2026-03-21T10:00:00.000Z');
    await report(id, { price: { ...price, currency: 'USD' } });
    await billing.bill();
    expect((await linesOf(contract.id))[1]).toEqual(['120 Minutes 600']);
  });

  // Contract 7.533 and 7.476.
  it('of now is invoiced while the contract is past due', async () => {
    const id = freshId();
    await report(id);
    await billing.bill();
    await setClock('2026-04-09T10:00:00.000Z');
    await billing.bill();
    const { contract } = await report(id, { charges: [setup] });
    expect(contract.status).toBe('past_due');
    await billing.bill();
    expect((await linesOf(contract.id))[1]).toEqual(['1 Setup 10000']);
  });

  // Contract 7.533.
  it('of now that is blocked leaves a period that is still to begin', async () => {
    const usd = { ...price, currency: 'USD' };
    // The seller's day begins in a minute, and UTC's later.
    await setClock('2026-03-10T22:59:00.000Z');
    const soon = new Date('2026-03-10T23:01:00.000Z');
    const { contract } = await report(freshId(), { price: usd, charges: [setup] }, soon);
    await billing.bill();
    expect(await linesOf(contract.id)).toEqual([]);
    await setSettings(billing.app.db, {
      ...germanSettings,
      seller: { ...germanSettings.seller, currency: 'USD' },
    });
    await setClock('2026-03-10T23:10:00.000Z');
    await billing.bill();
    expect((await linesOf(contract.id)).flat().sort()).toEqual(['1 Setup 10000', '1 Starter 2900']);
  });

  // Contract 7.533.
  it('of now that was blocked is for the day on which it is issued', async () => {
    const { contract } = await report(freshId(), {
      price: { ...price, currency: 'USD' },
      status: 'trialing',
      trial_ends_at: '2026-06-01T10:00:00.000Z',
      charges: [setup],
    });
    await billing.bill();
    await setClock('2026-03-12T10:00:00.000Z');
    await billing.bill();
    expect(await linesOf(contract.id)).toEqual([]);
    await setSettings(billing.app.db, {
      ...germanSettings,
      seller: { ...germanSettings.seller, currency: 'USD' },
    });
    await setClock('2026-03-14T10:00:00.000Z');
    await billing.bill();
    const day = '2026-03-14';
    expect((await factsOf(contract.id))[0]).toMatchObject({
      issued_on: day,
      line: { first_day: day, last_day: day },
    });
  });

  // Contract 7.533 and 7.552.
  it('that is blocked in another currency holds up nothing else, and nothing mixes', async () => {
    const id = freshId();
    const usd = { ...price, currency: 'USD' };
    const trial = { status: 'trialing', trial_ends_at: '2026-06-01T10:00:00.000Z' } as const;
    await report(id, { ...trial, price: usd, charges: [setup, overage] });
    await setClock('2026-03-11T10:00:00.000Z');
    const { contract } = await report(id, { charges: [{ ...setup, id: 'second', title: 'Second' }] });
    await billing.bill();
    await setClock('2026-03-12T10:00:00.000Z');
    await report(id, { charges: [{ ...setup, id: 'third', title: 'Third' }] });
    await setClock('2026-03-12T10:01:00.000Z');
    await billing.bill();
    await setClock('2026-04-11T10:00:00.000Z');
    await billing.bill();
    const euros = [['1 Starter 2900', '1 Second 10000'], ['1 Third 10000'], ['1 Starter 2900']];
    expect(await linesOf(contract.id)).toEqual(euros);
    await setSettings(billing.app.db, {
      ...germanSettings,
      seller: { ...germanSettings.seller, currency: 'USD' },
    });
    await setClock('2026-04-12T10:00:00.000Z');
    await billing.bill();
    expect(await linesOf(contract.id)).toEqual([...euros, ['1 Setup 10000', '120 Minutes 600']]);
    expect((await factsOf(contract.id)).map(({ currency }) => currency)).toEqual([
      'EUR',
      'EUR',
      'EUR',
      'USD',
    ]);
  });

  // Contract 7.533 and 7.534.
  it('of now is invoiced with its deduction however many wait for the next period', async () => {
    const id = await begin();
    await report(id, { charges: Array.from({ length: 100 }, (_, at) => ({ ...overage, id: `m-${at}` })) });
    await setClock('2026-03-21T10:00:00.000Z');
    const { contract } = await report(id, { charges: [setup, { ...discount, when: 'now' }] });
    await billing.bill();
    expect((await linesOf(contract.id))[1]).toEqual(['1 Setup 10000', '1 For the trouble -5000']);
  });

  // Contract 7.532.
  it('of next lapses with a trial that ends, and one of now does not', async () => {
    const trial_ends_at = '2026-03-15T10:00:00.000Z';
    const { contract } = await report(freshId(), {
      status: 'trialing',
      trial_ends_at,
      charges: [setup, overage],
    });
    await billing.bill();
    await setClock('2026-03-16T10:00:00.000Z');
    await billing.bill();
    expect(await billing.statusOf(contract.id)).toBe('expired');
    expect(await linesOf(contract.id)).toEqual([['1 Setup 10000']]);
    expect(await listOpenCharges(billing.app.db, contract.id)).toEqual([]);
  });

  // Contract 7.532.
  it('of next lapses with a trial that a report ends, and if it comes after it', async () => {
    const id = freshId();
    const trial = { status: 'trialing', trial_ends_at: '2026-03-15T10:00:00.000Z' } as const;
    const { contract } = await report(id, { ...trial, charges: [overage] });
    await setClock('2026-03-11T10:00:00.000Z');
    await report(id, { status: 'canceled' });
    expect(await listOpenCharges(billing.app.db, contract.id)).toEqual([]);
    const late = await report(id, { status: 'canceled', charges: [{ ...overage, id: 'late' }, overage] });
    expect(late).toMatchObject({ applied: false, contract: { charges: [{ id: 'late' }, overage] } });
    expect(await listOpenCharges(billing.app.db, contract.id)).toEqual([]);
  });

  it('is looked for without a look at every contract', async () => {
    const id = freshId();
    await report(id, { charges: [{ ...discount, when: 'now' }] });
    await billing.bill();
    const { db } = billing.app;
    await sql`insert into service_contracts (id, user_id, account_id, signup_id, plan, status, price_currency, price_unit_amount,
        price_interval, occurred_at, next_period_starts_at, billing_anchor_day)
      select gen_random_uuid(), user_id, account_id, signup_id || '-' || n, plan, 'active', 'EUR', 2900,
        'month', occurred_at, '2099-01-01Z', 1
      from service_contracts, generate_series(1, 5000) n where signup_id = ${id}`.execute(db);
    await sql`analyze service_contracts`.execute(db);
    const scans = await db.transaction().execute(async (trx) => {
      await findContractsToInvoice(trx, { now: billing.now(), limit: 100, except: [] });
      return sql<{
        seq_scan: string;
        idx_scan: string;
      }>`select seq_scan, idx_scan from pg_stat_xact_user_tables
        where relname = 'service_contracts'`.execute(trx);
    });
    expect(scans.rows).toMatchObject([{ seq_scan: '0' }]);
  });

  // Contract 7.530 and 7.585.
  it('counts once, as it was first reported', async () => {
    const id = freshId();
    await report(id, { charges: [setup] });
    await setClock('2026-03-11T10:00:00.000Z');
    const again = { ...setup, title: 'Another', unit_amount: 1 };
    const { contract } = await report(id, { charges: [again, overage] });
    expect(contract.charges).toEqual([{ ...setup, quantity: 1 }, overage]);
    await billing.bill();
    await setClock('2026-03-12T10:00:00.000Z');
    await report(id, { charges: [again] });
    await billing.bill();
    expect(await linesOf(contract.id)).toEqual([['1 Starter 2900', '1 Setup 10000']]);
  });

  // Contract 7.32, 7.530 and 7.585.
  it('of a report that is not stored counts all the same', async () => {
    const id = freshId();
    await report(id, { charges: [setup] });
    const older = await report(id, { charges: [overage] }, new Date('2026-03-09T10:00:00.000Z'));
    expect(older).toMatchObject({ applied: false, reason: 'older', contract: { charges: [overage] } });
    await setClock('2026-03-11T09:00:00.000Z');
    const trial = { status: 'trialing', trial_ends_at: '2026-04-01T10:00:00.000Z' } as const;
    const forbidden = {
      id: 'forbidden',
      title: 'Forbidden',
      unit_amount: 1,
      quantity: 1,
      when: 'now',
    } as const;
    expect(await report(id, { ...trial, charges: [forbidden] })).toMatchObject({
      ...{ status: 200, applied: false, reason: 'not_allowed' },
      contract: { status: 'active', trial_ends_at: null, charges: [forbidden] },
    });
    await setClock('2026-03-11T10:00:00.000Z');
    await report(id, { status: 'canceled' });
    await setClock('2026-03-12T10:00:00.000Z');
    const late = await report(id, { charges: [{ ...setup, id: 'late' }] });
    expect(late).toMatchObject({ applied: false, reason: 'ended' });
    await billing.bill();
    const lines = (await linesOf(late.contract.id)).flat().sort();
    expect(lines).toEqual([
      ...['1 Forbidden 1', '1 Setup 10000', '1 Setup 10000', '1 Starter 2900', '120 Minutes 600'],
    ]);
  });

  // Contract 7.530 and 7.585.
  it('that 16 reports name at once is on one invoice', async () => {
    const id = await begin();
    const at = (ms: number) => new Date(billing.now().getTime() - ms);
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, nth) => report(id, { charges: [setup] }, at(nth))),
    );
    await Promise.all(Array.from({ length: 16 }, () => billing.bill()));
    await billing.bill();
    billing.takeFaults();
    expect(await linesOf(answers[0]?.contract.id)).toEqual([['1 Starter 2900'], ['1 Setup 10000']]);
  });

  // Contract 7.534.
  it('below 0 takes no more than there is to pay, and the rest from the next invoice', async () => {
    const { contract } = await report(freshId(), { charges: [discount] });
    await billing.bill();
    expect(await linesOf(contract.id)).toEqual([]);
    expect(await billing.periodsOf(contract.id)).toEqual([]);
    await setClock('2026-04-10T10:00:00.000Z');
    await billing.bill();
    expect(await linesOf(contract.id)).toEqual([['1 Starter 2900', '1 For the trouble -2100']]);
    const [facts] = await factsOf(contract.id);
    expect(facts).toMatchObject({ net: 800, tax: 152, total: 952 });
    expect(buildXml(facts as DocumentFacts)).toContain(
      '<ram:ChargeAmount>21.00</ram:ChargeAmount></ram:NetPriceProductTradePrice></ram:SpecifiedLineTradeAgreement>' +
        '<ram:SpecifiedLineTradeDelivery><ram:BilledQuantity unitCode="C62">-1</ram:BilledQuantity>',
    );
  });

  // Contract 7.534.
  it('below 0 alone makes no invoice', async () => {
    const id = await begin();
    const { contract } = await report(id, { charges: [{ ...discount, when: 'now' }] });
    await billing.bill();
    expect(await linesOf(contract.id)).toEqual([['1 Starter 2900']]);
  });

  it('is on the invoice that takes the place of another', async () => {
    const { contract } = await report(freshId(), { price: { ...price, quantity: 2 }, charges: [setup] });
    await billing.bill();
    const [facts] = await factsOf(contract.id);
    await billing.settle(facts?.number ?? '', 'void');
    const [, note] = await factsOf(contract.id);
    expect(note).toMatchObject({ kind: 'credit_note', lines: facts?.lines, total: facts?.total });
  });

  // Contract 7.185.
  it('is in the preview of its invoice', async () => {
    const id = await begin();
    await report(id, { price: { ...price, quantity: 2 }, charges: [overage] });
    const { documents } = await readPreview(billing.app.db, id, 1);
    expect(documents).toMatchObject([{ period_first_day: '2026-04-10', net: 6_400, total: 7_616 }]);
  });

  // Contract 7.185 and 7.532.
  it('of next is in the preview of a contract that ends before the next period', async () => {
    const id = await begin();
    await report(id, { cancels_at: '2026-04-01T10:00:00.000Z', charges: [overage] });
    const { documents } = await readPreview(billing.app.db, id, 1);
    expect(documents).toMatchObject([{ issued_on: '2026-04-01', net: 600 }]);
  });

  // Contract 7.530, 7.531, 7.595 and 7.598.
  it.each<[what: string, contract: object, pointer: string]>([
    ['without a price', { price: null, charges: [setup] }, '/contract/price'],
    ['of 0', { charges: [{ ...setup, unit_amount: 0 }] }, '/contract/charges/0/unit_amount'],
    [
      'of too much',
      { charges: [{ ...setup, unit_amount: 10 ** 12 + 1 }] },
      '/contract/charges/0/unit_amount',
    ],
    [
      'of too many',
      { charges: [{ ...setup, unit_amount: 10 ** 11, quantity: 11 }] },
      '/contract/charges/0/quantity',
    ],
    [
      'that deducts too many',
      { charges: [{ ...setup, unit_amount: -(10 ** 11), quantity: 11 }] },
      '/contract/charges/0/quantity',
    ],
    ['without a title', { charges: [{ ...setup, title: ' ' }] }, '/contract/charges/0/title'],
    [
      'with a line break in its title',
      { charges: [{ ...setup, title: 'a\nb' }] },
      '/contract/charges/0/title',
    ],
    [
      'with a character in its title that XML cannot have',
      { charges: [{ ...setup, title: 'Setup \ufffe' }] },
      '/contract/charges/0/title',
    ],
    ['with an id that is none', { charges: [{ ...setup, id: 'a b' }] }, '/contract/charges/0/id'],
    ['with an id twice', { charges: [overage, setup, setup] }, '/contract/charges/2/id'],
    ['at another time', { charges: [{ ...setup, when: 'later' }] }, '/contract/charges/0/when'],
  ])('%s is refused', async (_, contract, pointer) => {
    expect(await report(freshId(), contract)).toMatchObject({ status: 422, errors: [{ pointer }] });
  });

  it('is refused with 100 others', async () => {
    const charges = Array.from({ length: 101 }, (_, at) => ({ ...setup, id: `charge-${at}` }));
    expect(await report(freshId(), { charges })).toMatchObject({
      status: 422,
      errors: [{ pointer: '/contract/charges' }],
    });
  });

  it('is with as many others on as few documents as can be', async () => {
    const id = freshId();
    const charges = (from: number) =>
      Array.from({ length: 100 }, (_, at) => ({ ...setup, id: `charge-${from + at}`, unit_amount: 1 }));
    await report(id, { charges: charges(0) });
    const older = new Date('2026-03-09T10:00:00.000Z');
    const { contract } = await report(id, { charges: charges(100) }, older);
    for (let run = 0; run < 3; run++) await billing.bill();
    expect((await linesOf(contract.id)).map(({ length }) => length)).toEqual([101, 100]);
  });
});

// Contract 7.535.
describe('an amount that is not written as an integer', () => {
  const sendText = async (change: (text: string) => string) => {
    const signup = buildSignup(freshId(), {
      contract: { plan: 'starter', status: 'active', price, charges: [setup] },
      occurred_at: billing.now().toISOString(),
    });
    const { status, text } = await sendSignup(billing.app, change(JSON.stringify(signup)), {
      at: billing.now(),
    });
    return { status, errors: JSON.parse(text).errors?.map(({ pointer }: { pointer: string }) => pointer) };
  };

  it.each([
    ['79.00', '/contract/price/unit_amount', '2900', '79.00'],
    ['7.9e3', '/contract/price/unit_amount', '2900', '7.9e3'],
    ['1E2', '/contract/charges/0/unit_amount', '10000', '1E2'],
    ['5.0 as a quantity', '/contract/price/quantity', '2900,', '2900,"quantity":5.0,'],
    [
      '79.00 under an escaped name',
      '/contract/price/unit_amount',
      '"unit_amount":2900',
      '"unit\\u005famount":79.00',
    ],
  ])('is refused: %s', async (_, pointer, from, to) => {
    expect(await sendText((text) => text.replace(from, to))).toEqual({ status: 422, errors: [pointer] });
  });

  it('is taken where nobody reads it, and in a text', async () => {
    const change = (text: string) =>
      text
        .replace('"plan"', '"x":[1.5,{"unit_amount":1.5}],"a \\"unit_amount":1.5,"plan"')
        .replace('"Setup"', '"\\"unit_amount\\": 7.5"');
    expect(await sendText(change)).toEqual({ status: 201, errors: undefined });
  });
});
