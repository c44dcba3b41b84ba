// Credit notes and invoices that are issued anew (contract 7.70 to 7.74): what they say, and to whom.
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findFacts } from '../../db/tables/documents.ts';
import { requireSums } from '../../server/billing/documents/require-sums.ts';
import { creditInvoice, reissueInvoice } from '../../server/billing/payments/credit.ts';
import type { BillingSettings } from '../../server/billing/settings/settings.ts';
import type { DocumentFacts } from '../../server/billing/values/document-facts.ts';
import { openBooks } from '../support/billing/books.ts';
import { findFaultsInBooks, renameBuyer } from '../support/billing/money.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { shared } from '../support/run/shared.ts';

const books = shared(() => openBooks({ at: '2026-03-01T10:00:00.000Z' }));
afterAll(async () => {
  expect(await findFaultsInBooks(books.db)).toEqual([]);
});

const withTax = (tax: Partial<BillingSettings['tax']>) => ({
  ...germanSettings,
  tax: { ...germanSettings.tax, ...tax },
});

let serial = 0;
/** Adds a contract with an invoice of 29.00 EUR, issued by these settings. */
async function bill(settings: BillingSettings = germanSettings) {
  await setSettings(books.db, settings);
  await books.setClock(new Date(books.now().getTime() + 61_000));
  const contract = await books.report(`Corrected${++serial}`);
  await books.bill();
  const [invoice] = await books.documentsOf(contract.id);
  return { ...contract, number: invoice?.number ?? '' };
}

/** Changes the billing details of the buyer. */
const move = (accountId: string, company: string, checkedVatId: string | null = null) =>
  sql`insert into billing_details (account_id, company, line1, postcode, city, country, vat_id, checked_vat_id)
    values (${accountId}, ${company}, 'Rue 1', '75001', 'Paris', 'FR', ${checkedVatId}, ${checkedVatId})`.execute(
    books.db,
  );

const work = <T>(does: Parameters<typeof inTransaction<T>>[2]) =>
  inTransaction(books.db, { by: 'operator', cause: 'test' }, does);
const by = () => ({ now: books.now(), recordedBy: 'operator' }) as const;
const credit = async (number: string, amount?: number) =>
  (await work((trx) => creditInvoice(trx, number, amount, by()))) ?? '';
const reissue = (number: string) => work((trx) => reissueInvoice(trx, number, by()));
const factsOf = async (number: string) => (await findFacts(books.db, number)) as DocumentFacts;

describe('a credit note', () => {
  it('has the rate, buyer and period of its invoice, even if they have changed since', async () => {
    const { accountId, number } = await bill();
    const invoice = await factsOf(number);
    await move(accountId, 'Moved SARL', 'FR40303265045');
    const [, ...others] = germanSettings.tax.rules;
    await setSettings(
      books.db,
      withTax({
        prices: 'gross',
        rules: [{ country: 'DE', rate: 700, category: 'S', from: '2020-01-01' }, ...others],
      }),
    );
    await books.setClock('2026-04-02T10:00:00.000Z');
    const { category, rate, words, currency, buyer, line, prices } = invoice;
    expect(rate).toBe(1_900);
    expect(await factsOf(await credit(number, 1_000))).toMatchObject({
      ...{ category, rate, words, currency, buyer, line, prices, kind: 'credit_note' },
      invoice: { number, issued_on: '2026-03-01' },
      ...{ issued_on: '2026-04-02', due_on: null, net: 840, tax: 160, total: 1_000, payment: null },
    });
  });

  // Contract 7.54.
  it.each([
    [
      'the series of invoices is ahead',
      '2026-06-20T10:00:00.000Z',
      '2026-06-10T10:00:00.000Z',
      'Europe/Berlin',
    ],
    ['the zone is corrected', '2026-06-20T22:30:00.000Z', '2026-06-20T22:40:00.000Z', 'America/New_York'],
    ['it is New Year', '2026-12-31T23:30:00.000Z', '2026-12-31T23:40:00.000Z', 'America/New_York'],
  ])('is never dated before its invoice: %s', async (_, issued, credited, zone) => {
    const before = books.now();
    const numbers = { invoice: `I${++serial}-`, credit_note: `C${serial}-` };
    await books.setClock(issued);
    const { number } = await bill({ ...germanSettings, numbers });
    const seller = { ...germanSettings.seller, time_zone: zone };
    await setSettings(books.db, { ...germanSettings, numbers, seller });
    await books.setClock(credited);
    const { issued_on } = await factsOf(number);
    const notes: DocumentFacts[] = [];
    for (const amount of [1_000, 1_000, undefined]) notes.push(await factsOf(await credit(number, amount)));
    const year = issued_on.slice(0, 4);
    expect(notes.map((note) => [note.number, note.issued_on])).toEqual(
      [1, 2, 3].map((at) => [`${numbers.credit_note}${year}-000${at}`, issued_on]),
    );
    for (const note of notes) expect(() => requireSums(note)).not.toThrow();
    await books.setClock(before);
  });

  it.each([
    ['net', 3_451, [840, 841, 1_219], [160, 159, 232]],
    ['gross', 2_900, [840, 841, 756], [160, 159, 144]],
  ] as const)('of a part has its share of all so far: %s prices', async (prices, total, nets, taxes) => {
    const { number } = await bill(withTax({ prices }));
    const parts = [1_000, 1_000, total - 2_000];
    const notes: DocumentFacts[] = [];
    for (const part of parts) notes.push(await factsOf(await credit(number, part)));
    expect(notes.map(({ net }) => net)).toEqual(nets);
    expect(notes.map(({ tax }) => tax)).toEqual(taxes);
  });
});

describe('an invoice that is issued anew', () => {
  it('is made out to the present buyer for the same period, and the credit note to the earlier buyer', async () => {
    const { accountId, number } = await bill();
    const before = await factsOf(number);
    await move(accountId, 'Moved SARL', 'FR40303265045');
    const { creditNote, invoice } = await reissue(number);
    expect((await factsOf(creditNote)).buyer).toEqual(before.buyer);
    const { first_day, last_day, plan } = before.line;
    expect(await factsOf(invoice)).toMatchObject({
      buyer: { name: 'Moved SARL', address: { country: 'FR' }, vat_id: 'FR40303265045' },
      line: { first_day, last_day, plan },
      ...{ kind: 'invoice', invoice: null, category: 'AE', net: 2_900, tax: 0, total: 2_900 },
    });
    // The old document still says what it said.
    expect(await factsOf(number)).toEqual(before);
  });

  it.each([
    ['net', 'gross', { net: 2_900, tax: 551, total: 3_451 }],
    ['gross', 'net', { net: 2_437, tax: 463, total: 2_900 }],
  ] as const)('keeps a price that was %s, even if prices are %s by then', async (then, now, amounts) => {
    const { number } = await bill(withTax({ prices: then }));
    await setSettings(books.db, withTax({ prices: now }));
    await renameBuyer(books.db, number);
    expect(await factsOf((await reissue(number)).invoice)).toMatchObject({ ...amounts, prices: then });
  });

  it('has the gross price as its net if tax is no longer charged, and as its total if tax is charged again', async () => {
    const { accountId, number } = await bill(withTax({ prices: 'gross' }));
    await move(accountId, 'Moved SARL', 'FR40303265045');
    const { invoice } = await reissue(number);
    expect(await factsOf(invoice)).toMatchObject({ category: 'AE', net: 2_900, tax: 0, total: 2_900 });
    await sql`update billing_details set checked_vat_id = null, refused_vat_id = vat_id where account_id = ${accountId}`.execute(
      books.db,
    );
    expect(await factsOf((await reissue(invoice)).invoice)).toMatchObject({
      ...{ category: 'S', rate: 2_000, net: 2_417, tax: 483, total: 2_900 },
    });
  });

  it('is refused as long as buyer and tax would be the same (contract 7.431)', async () => {
    const { accountId, number } = await bill();
    await expect(reissue(number)).rejects.toMatchObject({ code: 'already_settled' });
    await renameBuyer(books.db, number, 'New Name AG');
    const { invoice } = await reissue(number);
    await expect(reissue(invoice)).rejects.toMatchObject({ code: 'already_settled' });
    // A checked VAT ID changes the tax, but not the buyer on the document.
    const vatId = 'FR40303265045';
    await sql`update billing_details set line1 = 'Rue 1', postcode = '75001', city = 'Paris', country = 'FR', vat_id = ${vatId},
      refused_vat_id = ${vatId} where account_id = ${accountId}`.execute(books.db);
    const abroad = (await reissue(invoice)).invoice;
    expect(await factsOf(abroad)).toMatchObject({ category: 'S', buyer: { vat_id: vatId } });
    await sql`update billing_details set checked_vat_id = ${vatId} where account_id = ${accountId}`.execute(
      books.db,
    );
    expect(await factsOf((await reissue(abroad)).invoice)).toMatchObject({ category: 'AE' });
  });

  it('leaves the old one unchanged if no new one can be issued', async () => {
    const { id, number } = await bill();
    await setSettings(
      books.db,
      withTax({ rules: germanSettings.tax.rules.map((rule) => ({ ...rule, from: '2099-01-01' })) }),
    );
    await expect(reissue(number)).rejects.toMatchObject({ code: 'validation_failed' });
    const { rows } = await sql`select i.status, i.credited, count(*)::int as documents from invoices i
      join documents d on d.invoice = i.number where i.contract_id = ${id} group by 1, 2`.execute(books.db);
    expect(rows).toEqual([{ status: 'open', credited: '0', documents: 1 }]);
  });
});
