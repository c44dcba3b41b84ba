// A service whose clock the test sets. It has a seller, and contracts that the CRM reports to it, and runs its own jobs.
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { runBilling } from '../../../server/billing/invoices/invoicing.ts';
import { payOpen } from '../../../server/billing/payments/allocate.ts';
import { creditInvoice } from '../../../server/billing/payments/credit.ts';
import { creditEnded } from '../../../server/billing/payments/credit-ended.ts';
import type { BillingSettings } from '../../../server/billing/settings/settings.ts';
import { openApp } from '../app/app.ts';
import { recordLog } from '../app/log.ts';
import { germanSettings, setBillingClock, setSettings } from '../billing/settings.ts';
import { buildSignup, pushSignup, type SignupBody } from './crm.ts';

export const price = { currency: 'EUR', unit_amount: 2_900, interval: 'month' };

/**
 * Prices are totals, because nothing is taxed. The seller's day begins at 10:00 UTC, as do most periods in these tests. So an
 * invoice is past due exactly 14 days after its date. No reminder is due, and past-due contracts are not invoiced.
 */
export const plainSettings: BillingSettings = {
  ...germanSettings,
  seller: { ...germanSettings.seller, time_zone: 'Pacific/Honolulu' },
  terms: {
    ...germanSettings.terms,
    ...{ days_to_pay: 13, reminder_days: [300, 330], invoice_while_past_due: false },
  },
  tax: {
    ...germanSettings.tax,
    rules: ['DE', '*'].map((country) => ({
      ...{ country, rate: 0, category: 'O', words: 'Not taxed', from: '2000-01-01' },
    })),
  },
};

/** If `settings` is null, there is no seller. */
export async function openBilling({ settings = plainSettings }: { settings?: BillingSettings | null } = {}) {
  let at = new Date();
  const now = () => at;
  const app = await openApp({ now });
  let series = 0;
  // No document is dated before the last one of its series. So each time the clock goes back, a new series begins.
  const beginSeries = async (nth = series++) =>
    settings &&
    setSettings(app.db, { ...settings, numbers: { invoice: `INV${nth}-`, credit_note: `CN${nth}-` } });
  await beginSeries();
  const { log, logged } = recordLog();
  const faults: object[] = [];
  let busy = 0;
  function keepFaults(): void {
    for (const { level, fields } of logged.splice(0)) {
      if (level !== 'error') continue;
      if (JSON.stringify(fields).includes('55P03')) busy++;
      else faults.push(fields);
    }
  }

  return {
    app,
    close: app.close,
    now,
    /** What `bill` logged as errors since the last call. */
    takeFaults: () => faults.splice(0),
    async setClock(instant: string) {
      if (new Date(instant) < at) await beginSeries();
      at = new Date(instant);
      await setBillingClock(app.db, instant);
    },
    /** Issues what is due. Tries again if another job had locked a contract. */
    async bill(db = app.db, tries = 5): Promise<void> {
      const before = busy;
      await runBilling({ db, now, log });
      await creditEnded({ db, now, log });
      keepFaults();
      if (busy > before && tries > 1) await this.bill(db, tries - 1);
    },
    /** Pays an invoice's open amount, or credits everything that is not credited yet, as an operator does. */
    settle: (number: string, status: 'paid' | 'void', db = app.db) =>
      inTransaction(db, { by: 'operator', cause: 'test' }, async (trx) => {
        const by = { now: now(), recordedBy: 'operator' } as const;
        await (status === 'paid'
          ? payOpen(trx, { number, id: uuidv7(), paidAt: now() }, by)
          : creditInvoice(trx, number, undefined, by));
      }),

    /** Pays every open invoice of a contract, oldest first. */
    async pay(contractId: string): Promise<void> {
      for (const { number, status } of await this.invoicesOf(contractId)) {
        if (status === 'open') await this.settle(number, 'paid');
      }
    },

    /** Reports a contract now; by default active, at 29.00 EUR a month, for the demo customer. Returns its id. */
    async report(
      signupId: string,
      contract: Partial<SignupBody['contract']> = {},
      { occurredAt = at.toISOString(), email = 'customer@example.test' } = {},
    ): Promise<string> {
      const signup = buildSignup(signupId, {
        occurred_at: occurredAt,
        user: { email, name: 'Somebody' },
        contract: { plan: 'starter', status: 'active', price, ...contract },
      });
      return (await pushSignup(app, signup, { at })).contract.id;
    },

    async invoicesOf(contractId: string) {
      const rows = await app.db
        .selectFrom('invoices')
        .selectAll()
        .where('contract_id', '=', contractId)
        .orderBy('period_starts_at')
        .execute();
      return rows.map(({ document, number, ...row }) => ({ ...row, number: document ?? number }));
    },

    /** The first and last day of each invoiced period of a contract. */
    async periodsOf(contractId: string): Promise<string[]> {
      const invoices = await this.invoicesOf(contractId);
      return invoices.map(({ period_starts_at: start, period_ends_at: end }) =>
        [start, end].map((at) => at.toISOString().slice(0, 10)).join(' to '),
      );
    },

    async statusOf(contractId: string): Promise<string> {
      const { status } = await app.db
        .selectFrom('service_contracts')
        .select('status')
        .where('id', '=', contractId)
        .executeTakeFirstOrThrow();
      return status;
    },

    async numbers(): Promise<number[]> {
      const rows = await app.db.selectFrom('invoices').select('number').orderBy('number').execute();
      return rows.map(({ number }) => Number(number));
    },

    /** Audit events about a contract or an invoice, oldest first, as `type` or `type reason`. */
    async eventsOf(details: { contractId: string } | { number: number | string }): Promise<string[]> {
      const { rows } = await sql<{
        told: string;
      }>`select concat_ws(' ', type, reason) as told from audit_events
        where exists (
          select from jsonb_each_text(${JSON.stringify(details)}::jsonb) asked
          where details ->> asked.key = asked.value or asked.key = 'number' and details ->> 'invoice' = asked.value) and type <> 'signup.accepted'
        order by at, id`.execute(app.db);
      return rows.map(({ told }) => told);
    },
  };
}
