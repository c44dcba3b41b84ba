import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { expectMisused, expectRefused, hasTerminals, runCli, runCliAtTerminal } from '../support/app/cli.ts';
import {
  addContract,
  addInvoice,
  findFaultsInBooks,
  readInvoice,
  renameBuyer,
} from '../support/billing/money.ts';
import { setSettings } from '../support/billing/settings.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
beforeAll(async () => {
  await setSettings(app.db);
});
afterAll(async () => {
  expect(await findFaultsInBooks(app.db)).toEqual([]);
});

const cli = (...args: string[]) => runCli(app.databaseUrl, args);
async function json(...args: string[]) {
  const { code, out, err } = await cli(...args, '--json');
  expect(code, err).toBe(0);
  expect(err).toMatch(/^(invoice:\w+ goes with version 1\.2\.0: use \S+\.\n)?$/);
  return JSON.parse(out);
}

it('payment:record pays the invoice, once by its id, and keeps the rest (contract 7.161 and 7.162)', async () => {
  const number = await addInvoice(app.db);
  const args = ['payment:record', number, '--amount', '40.00', '--paid-at', '2026-02-01', '--id', 'bank-7'];
  const more = ['--method', 'transfer', '--why', 'Bank statement 7', '--by', 'Bo'];
  expect(await json(...args, ...more)).toEqual({
    ...{ done: true, intent: 'pay', id: 'bank-7', allocated: 3_451, unallocated: 549 },
    invoice: { number, status: 'paid', open: 0 },
  });
  expect(await json(...args)).toMatchObject({ done: false, id: 'bank-7', unallocated: 549 });
  expectRefused(await cli(...args, '--amount', '41.00'), /^A payment with this id is recorded already/);
  const { rows } = await sql`select type, why, details ->> 'by' as by, details ->> 'operator' as operator
    from audit_events where details ->> 'payment' = 'bank-7'`.execute(app.db);
  expect(rows).toEqual([{ type: 'payment.recorded', why: 'Bank statement 7', by: 'cli', operator: 'Bo' }]);
});

it('payment:record for an unknown number needs a currency, and waits (contract 7.162)', async () => {
  const args = ['payment:record', 'INV-1999-0001', '--amount', '10.00', '--id', 'bank-8'];
  expectMisused(await cli(...args), /There is no invoice with this number, so give --currency, too/);
  expect(await json(...args, '--currency', 'EUR')).toMatchObject({ unallocated: 1_000, invoice: null });
  expectMisused(await cli('payment:record', 'x', '--amount', '1', '--currency', 'EURO'), /ISO 4217/);
  const eur = ['--currency', 'EUR'];
  expectMisused(await cli('payment:record', 'x', '--amount', '1,000', ...eur), /--amount must be above zero/);
  expectMisused(
    await cli('payment:record', 'x', '--amount', '1', ...eur, '--paid-at', '1999-01-01'),
    /--paid-at/,
  );
  expectMisused(await cli('payment:record', 'x'), /--amount/);
});

it('payment:allocate puts it to an invoice, and payment:paid-back records the rest (contract 7.161)', async () => {
  const number = await addInvoice(app.db);
  await cli('payment:record', 'none', '--amount', '50.00', '--currency', 'EUR', '--id', 'bank-9');
  const answer = await json('payment:allocate', 'bank-9', number);
  expect(answer).toEqual({
    ...{ done: true, intent: 'allocate', id: 'bank-9', amount: 3_451, unallocated: 1_549, invoice: number },
  });
  expectRefused(
    await cli('payment:allocate', 'bank-9', number),
    /^Nothing changed: Nothing is left to pay, credit, allocate or pay back/,
  );
  expectRefused(await cli('payment:allocate', 'nothing', number), /^There is no payment with this id/);
  expectMisused(await cli('payment:paid-back', 'bank-9'), /give --yes/);
  expect(await json('payment:paid-back', 'bank-9', '--yes')).toEqual({
    ...{ done: true, intent: 'paid-back', id: 'bank-9', amount: 1_549, currency: 'EUR' },
  });
  expectRefused(await cli('payment:paid-back', 'bank-9', '--yes'), /^Nothing changed/);
});

it('invoice:credit and invoice:reissue ask first, and name the credit note (contract 7.161)', async () => {
  const number = await addInvoice(app.db);
  expectMisused(await cli('invoice:credit', number, '--amount', '4.51'), /give --yes/);
  expect(await json('invoice:credit', number, '--amount', '4.51', '--yes')).toEqual({
    ...{ done: true, intent: 'credit', id: number, credit_note: expect.stringMatching(/^CN-/) },
    invoice: { number, status: 'open', open: 3_000 },
  });
  expectRefused(await cli('invoice:credit', number, '--amount', '30.01', '--yes'), /more than is left/);
  expectRefused(await cli('invoice:reissue', number, '--yes'), /is credited already/);
  expect((await cli('invoice:credit', number, '--yes')).out).toMatch(/ is void\. The credit note is CN-/);
  expectRefused(await cli('invoice:credit', number, '--yes'), /^Nothing changed/);
  const other = await addInvoice(app.db);
  expectMisused(await cli('invoice:reissue', other), /give --yes/);
  expectRefused(
    await cli('invoice:reissue', other, '--yes'),
    /^Nothing changed: Buyer and tax would be the same/,
  );
  await renameBuyer(app.db, other);
  const { invoice, ...said } = await json('invoice:reissue', other, '--yes');
  expect(said).toEqual({
    done: true,
    intent: 'reissue',
    id: other,
    credit_note: expect.stringMatching(/^CN-/),
  });
  expect(await readInvoice(app.db, invoice)).toMatchObject({ total: 3_451, status: 'open' });
});

it('invoice:paid, invoice:void and contract:cancel say so to programs, and where there was nothing to do (contract 7.161)', async () => {
  const number = await addInvoice(app.db);
  expect(await json('invoice:paid', number)).toMatchObject({ done: true, intent: 'pay', allocated: 3_451 });
  expect(await json('invoice:paid', number)).toEqual({ done: false, intent: 'pay', id: number });
  expect(await json('invoice:void', number)).toMatchObject({ done: true, intent: 'credit', id: number });
  expect(await json('invoice:void', number)).toEqual({ done: false, intent: 'credit', id: number });
  const signup = `crm_${await addContract(app.db)}`;
  expect(await json('contract:cancel', signup)).toEqual({ done: true, intent: 'cancel', id: signup });
  expect(await json('contract:cancel', signup)).toEqual({ done: false, intent: 'cancel', id: signup });
});

it('contract:cancel --at-period-end says the last day, and writes one mail (contract 7.425)', async () => {
  const signup = `crm_${await addContract(app.db)}`;
  const atPeriodEnd = ['contract:cancel', signup, '--at-period-end'];
  const said = { intent: 'cancel', id: signup };
  expect(await json(...atPeriodEnd)).toEqual({ done: true, ...said, last_day: '2099-12-31' });
  expect(await json(...atPeriodEnd)).toEqual({ done: false, ...said });
  expect((await cli(...atPeriodEnd)).out).toBe('The contract is canceled already, or has ended.\n');
  const { rows } = await sql`select from mails where kind = 'contract_cancel_asked'
    and details ->> 'contract' = ${signup.slice('crm_'.length)}`.execute(app.db);
  expect(rows).toHaveLength(1);
  expect((await cli('contract:cancel', signup)).out).toBe('The contract is canceled.\n');
  const other = `crm_${await addContract(app.db)}`;
  expect((await cli('contract:cancel', other, '--at-period-end')).out).toBe(
    'The contract is canceled. Its last day is 2099-12-31.\n',
  );
});

describe(`at a terminal${hasTerminals ? '' : ' (NOT RUN: there is no script of util-linux)'}`, () => {
  const type = (typed: string, ...args: string[]) => runCliAtTerminal(app.databaseUrl, args, typed);

  // Without a terminal, these commands ask nothing, as the tests above show (contract 7.163).
  it.skipIf(!hasTerminals)(
    'invoice:void and contract:cancel ask, too, and do nothing without a yes',
    async () => {
      const number = await addInvoice(app.db);
      const signup = `crm_${await addContract(app.db)}`;
      for (const [args, question] of [
        [['invoice:void', number], `Make invoice ${number} void?`],
        [['invoice:credit', number], `Credit invoice ${number}?`],
        [['contract:cancel', signup], `Cancel the contract of signup ${signup} for good?`],
      ] as const) {
        const { code, out } = await type('no', ...args);
        expect([code, out.includes(question), out.includes('Nothing was done.')], out).toEqual([
          1,
          true,
          true,
        ]);
      }
      expect(await readInvoice(app.db, number)).toMatchObject({ status: 'open', credited: 0 });
      expect(await type('yes', 'invoice:void', number)).toMatchObject({ code: 0 });
      expect(await readInvoice(app.db, number)).toMatchObject({ status: 'void' });
      expect((await type('yes', 'contract:cancel', signup)).out).toContain('The contract is canceled.');
    },
  );
});
