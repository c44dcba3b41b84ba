// Customers with contracts and documents, on a service. The test sets the clocks of the service and of the database.
import { sql } from 'kysely';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { runBilling } from '../../../server/billing/invoices/invoicing.ts';
import { payOpen } from '../../../server/billing/payments/allocate.ts';
import { creditInvoice } from '../../../server/billing/payments/credit.ts';
import { creditEnded } from '../../../server/billing/payments/credit-ended.ts';
import type { BillingSettings } from '../../../server/billing/settings/settings.ts';
import type { TestApp } from '../app/app.ts';
import { recordLog } from '../app/log.ts';
import { buildSignup, pushSignup } from '../crm/crm.ts';
import { germanSettings, setBillingClock, setSettings } from './settings.ts';

export const price = { currency: 'EUR', unit_amount: 2_900, interval: 'month' };

/** `clock` is the clock with which the service was started. */
export async function arrangeSeller(
  app: TestApp,
  clock: { at: Date },
  settings: BillingSettings = germanSettings,
) {
  await setSettings(app.db, settings);
  const now = () => clock.at;
  const reports = new Map<string, number>();
  const customers = {
    async setClock(instant: string): Promise<void> {
      clock.at = new Date(instant);
      await setBillingClock(app.db, instant);
    },
    /** Issues the invoices and credit notes that are due. */
    async bill(): Promise<void> {
      const { log, logged } = recordLog();
      await runBilling({ db: app.db, now, log });
      await creditEnded({ db: app.db, now, log });
      const faults = logged.filter(({ level }) => level === 'error');
      // 55P03 means that a row is locked. The service's own job has locked the contract, and will invoice it.
      if (faults.length > 0 && faults.every((fault) => JSON.stringify(fault).includes('55P03')))
        return customers.bill();
      if (faults.length > 0) throw new Error(`billing failed: ${JSON.stringify(faults)}`);
    },
    /** Reports a contract, by default active from now on. Returns the answer. */
    report(
      signupId: string,
      {
        email = 'customer@example.test',
        billing,
        contract = {},
      }: { email?: string; billing?: unknown; contract?: object } = {},
    ) {
      // Each report is later than the last one, even if the clock stands still.
      const nth = reports.get(signupId) ?? 0;
      reports.set(signupId, nth + 1);
      const signup = buildSignup(signupId, {
        occurred_at: new Date(clock.at.getTime() + nth).toISOString(),
        user: { email, name: 'Zoë O’Neil' },
        account: { name: 'Zoë’s Flowers', ...(billing !== undefined && { billing }) },
        contract: { plan: 'starter', status: 'active', price, ...contract },
      });
      return pushSignup(app, signup, { at: clock.at });
    },
    /**
     * Gives the user's account a postal address in France, and a name for its documents. The VAT id is recorded as refused, so
     * it does not count.
     */
    async giveDetails(email: string, company: string, vatId: string | null = null): Promise<void> {
      const { line1, postcode, city, country } = address;
      await sql`insert into billing_details (account_id, company, line1, postcode, city, country, vat_id, refused_vat_id)
        select account_id, ${company}, ${line1}, ${postcode}, ${city}, ${country}, ${vatId}, ${vatId} from users
        where email = ${email}`.execute(app.db);
    },
    async numbers(kind: 'invoice' | 'credit_note' = 'invoice'): Promise<string[]> {
      const { rows } = await sql<{ number: string }>`select number from documents where kind = ${kind}
        order by issued_at, number`.execute(app.db);
      return rows.map(({ number }) => number);
    },
    credit: (number: string, amount?: number) =>
      inTransaction(app.db, { by: 'operator', cause: 'test' }, (trx) =>
        creditInvoice(trx, number, amount, { now: now(), recordedBy: 'operator' }),
      ),
    pay: (number: string, id = `pay-${number}`) =>
      inTransaction(app.db, { by: 'operator', cause: 'test' }, (trx) =>
        payOpen(trx, { number, id, paidAt: now() }, { now: now(), recordedBy: 'operator' }),
      ),
  };
  return customers;
}

export const address = {
  line1: '12 Rue des Fleurs',
  postcode: '75011',
  city: 'Paris',
  country: 'FR',
};
