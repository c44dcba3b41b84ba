// Billing with a seller and a clock that the test sets. There is no instance that runs jobs: the test runs them itself.
import { sql } from 'kysely';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { readSignup } from '../../../server/billing/contracts/signup-message.ts';
import { acceptSignup } from '../../../server/billing/customers/accept-signup.ts';
import { runBilling } from '../../../server/billing/invoices/invoicing.ts';
import type { BillingSettings } from '../../../server/billing/settings/settings.ts';
import type { Message } from '../../../server/mail/mailer.ts';
import { sendDueMails } from '../../../server/mail/outbox.ts';
import { openBackend } from '../app/backend.ts';
import { buildSignup, type SignupBody } from '../crm/crm.ts';
import { germanSettings, setBillingClock, setSettings } from './settings.ts';

export const price = { currency: 'EUR', unit_amount: 2_900, interval: 'month' };

type Options = { env?: Record<string, string>; at?: string; settings?: BillingSettings | null };

/** If `settings` is null, there is no seller. */
export async function openBooks({ env, at = '2027-01-31T10:00:00.000Z', settings }: Options = {}) {
  let now = new Date(at);
  const test = await openBackend({ env, now: () => now });
  const { db } = test;
  const { deps } = test.backend;
  // The service's own job must not make the files of documents, because tests call `makeFiles`.
  await sql`create function hold_document() returns trigger language plpgsql as
    'begin new.next_try_at := ''9999-01-01''; return new; end'`.execute(db);
  await sql`create trigger hold_document before insert on documents_to_make for each row
    execute function hold_document()`.execute(db);
  if (settings !== null) await setSettings(db, settings ?? germanSettings);
  await setBillingClock(db, at);

  const books = {
    ...test,
    deps,
    now: () => now,
    async setClock(instant: string | Date) {
      now = new Date(instant);
      await setBillingClock(db, now.toISOString());
    },
    bill: () => runBilling(deps),
    /** Removes all contracts, documents, payments and mails. */
    async empty() {
      await db.connection().execute(async (one) => {
        // Only the role that owns the database may empty the books.
        await sql`set session_replication_role = replica`.execute(one);
        await sql`truncate mails, invoices, documents, document_files, documents_to_make, document_series, payments,
          allocations, billing_details, invoice_changes, contract_charges, vat_checks`.execute(one);
        await sql`reset session_replication_role`.execute(one);
      });
      await sql`delete from service_contracts`.execute(db);
    },
    /**
     * Reports a contract as the CRM does. By default it is active, at 29.00 EUR a month, of a user with a proved email address
     * and a password.
     */
    async report(
      signupId: string,
      contract: Partial<SignupBody['contract']> = {},
      { email = `${signupId.toLowerCase()}@example.test`, isProved = true } = {},
    ) {
      const signup = buildSignup(signupId, {
        occurred_at: now.toISOString(),
        user: { email, name: 'Somebody' },
        contract: { plan: 'starter', status: 'active', price, ...contract },
      });
      const bytes = new TextEncoder().encode(JSON.stringify(signup));
      const read = readSignup(bytes, now);
      const { contract: made } = await inTransaction(db, { by: 'crm' }, (trx) =>
        acceptSignup(trx, deps.config, read, now),
      );
      await sql`update service_contracts set created_at = ${now} where id = ${made.id}
        and created_at > now() - interval '1 minute'`.execute(db);
      if (isProved)
        await sql`update users set email_verified_at = ${now}, password_hash = 'a hash' where email = ${email}
          and email_verified_at is null`.execute(db);
      return { id: made.id, accountId: made.accountId, userId: made.userId, email };
    },
    /** Makes the files of all documents, or only of `numbers`. */
    async makeFiles(numbers?: string[]) {
      const isOfThem = numbers ? sql`number = any(${numbers})` : sql`true`;
      await sql`insert into document_files (number, pdf, pdf_sha256, made_at)
        select number, convert_to('%PDF of ' || number, 'UTF8'), '', now() from documents
        where ${isOfThem} on conflict do nothing`.execute(db);
      await sql`delete from documents_to_make where ${isOfThem}`.execute(db);
    },
    /** Sends due mails, and returns them without welcomes and notices. */
    async send(fail?: (message: Message) => void | Promise<void>): Promise<Message[]> {
      const sent: Message[] = [];
      const mailer = {
        async send(message: Message) {
          await fail?.(message);
          sent.push(message);
        },
        close: () => undefined,
      };
      await sendDueMails(deps, mailer, new AbortController().signal);
      return sent.filter(({ subject }) => !/^(Set a password|A contract has been added)/.test(subject));
    },
    async documentsOf(contractId: string): Promise<{ number: string; id: number }[]> {
      const { rows } = await sql<{ number: string; id: number }>`
        select document as number, number::int as id from invoices
        where contract_id = ${contractId} and document is not null order by invoices.number`.execute(db);
      return rows;
    },
  };
  return books;
}

export type Books = Awaited<ReturnType<typeof openBooks>>;
