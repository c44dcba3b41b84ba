// Which mails about billing are due, who gets them, and what they need. This file only reads.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { type BillingMailKind, kindsThat } from './mail-kinds.ts';

/**
 * Says where mails about each contract go. Documents go to `email`: the account's proved address for invoices, or otherwise the
 * address of the contract's user. Mails about what somebody did in the account go to `personEmail`. Copies of documents go to
 * `copyEmail`, until somebody in the account has confirmed the address for invoices. Frozen users and erased accounts have no
 * mailbox.
 */
export const selectMailboxes = (db: Pick<Database, 'selectFrom'>) =>
  db.selectFrom(
    sql<{
      contractId: string;
      userId: string;
      email: string;
      isProved: boolean;
      isForInvoices: boolean;
      personEmail: string;
      copyEmail: string | null;
      isCopyProved: boolean;
    }>`
      (select c.id as "contractId", d.email is not null as "isForInvoices", coalesce(d.email, u.email) as email,
        coalesce(case when u.holds_email then u.email end, d.email) as "personEmail",
        d.email is not null or u.email_verified_at is not null as "isProved",
        case when d.is_undecided and u.holds_email and u.email <> d.email then u.email end as "copyEmail",
        u.email_verified_at is not null as "isCopyProved",
        coalesce(u.id, (select o.id from users o where o.account_id = c.account_id order by o.id limit 1)) as "userId"
      from service_contracts c
      left join users u on u.id = c.user_id
      left join lateral (
        select invoice_email as email, not 'invoiceEmail' = any(edited_here) as is_undecided from billing_details
          where account_id = c.account_id and invoice_email_proved_at is not null) d on true
      where c.account_id is not null and u.frozen_at is null and (d.email is not null or u.holds_email))`.as(
      'm',
    ),
  );

const kindsToPerson = kindsThat((mail) => mail.isToPerson);

/** Returns the recipient, for statements with `selectMailboxes as m`. */
export const recipientOf = (kind: BillingMailKind) =>
  sql<string>`case when ${kind}::text = any(${kindsToPerson}::text[]) then m."personEmail" else m.email end`;

/** The recipient of a copy is null if nobody gets a copy. */
export const copyRecipientOf = (kind: BillingMailKind) =>
  sql<string>`case when ${kind}::text <> all(${kindsToPerson}::text[]) then m."copyEmail" end`;

const copySuffix = ':copy';

export const copyKeyOf = (key: string) => `${key}${copySuffix}`;

export type Mailbox = {
  email: string;
  isProved: boolean;
  isForInvoices: boolean;
  /** Whether a user of the account has this address. */
  hasLogin: boolean;
  /** Whether a mail and its copy go to the same recipient. Then one of them is not needed. */
  hasOther: boolean;
  firstIssuedAt: Date | null;
};

/** Returns undefined if nobody gets the mail. */
export async function findMailbox(
  db: Database,
  contractId: string,
  { id, kind, isCopy }: { id: string; kind: BillingMailKind; isCopy: boolean },
): Promise<Mailbox | undefined> {
  const now = recipientOf(kind);
  const copy = isCopy ? copyRecipientOf(kind) : sql<string>`null::text`;
  const email = sql<string>`coalesce(${copy}, ${now})`;
  const keyOfOther = isCopy ? sql`left(own.key, ${-copySuffix.length})` : sql`own.key || ${copySuffix}`;
  const placeOfUnsent = isCopy ? now : sql`null`;
  return selectMailboxes(db)
    .select([
      email.as('email'),
      sql<boolean>`case when ${copy} is null then m."isProved" else m."isCopyProved" end`.as('isProved'),
      sql<boolean>`m."isForInvoices" and ${email} = m.email`.as('isForInvoices'),
      sql<boolean>`exists (select from users o join service_contracts c on c.account_id = o.account_id
        where c.id = m."contractId" and o.email = ${email} and o.holds_email)`.as('hasLogin'),
      sql<boolean>`exists (select from mails own join mails other on other.key = ${keyOfOther}
        where own.id = ${id} and ${email} = case when other.sent_at is null then ${placeOfUnsent} else other.recipient end)`.as(
        'hasOther',
      ),
      sql<Date | null>`(select min(issued_at) from invoices where contract_id = m."contractId")`.as(
        'firstIssuedAt',
      ),
    ])
    .where('m.contractId', '=', contractId)
    .executeTakeFirst();
}

/** `pdf` is null until it is made. `nextTryAt` is set if a try to make the PDF failed. */
export async function findPdf(
  db: Database,
  number: string,
): Promise<{ pdf: Uint8Array | null; tries: number | null; nextTryAt: Date | null } | undefined> {
  return db
    .selectFrom('documents as d')
    .leftJoin('document_files as f', 'f.number', 'd.number')
    .leftJoin('documents_to_make as q', 'q.number', 'd.number')
    .select([
      'f.pdf',
      'q.tries',
      // Without an error, `next_try_at` is the end of a lease, and not the time of a try.
      sql<Date | null>`case when q.last_error is not null then q.next_try_at end`.as('nextTryAt'),
    ])
    .where('d.number', '=', number)
    .executeTakeFirst();
}

/** Returns whether the mail has been sent, perhaps as a part of another mail. */
export const isSent = async (db: Database, id: string): Promise<boolean> =>
  (await db
    .selectFrom('mails')
    .select('id')
    .where('id', '=', id)
    .where('sent_at', 'is not', null)
    .executeTakeFirst()) !== undefined;

/** Returns the mail with this key if it still has to be sent. */
export const findUnsent = (db: Database, key: string): Promise<{ id: string; nextTryAt: Date } | undefined> =>
  db
    .selectFrom('mails')
    .select(['id', 'next_attempt_at as nextTryAt'])
    .where('key', '=', key)
    .where('sent_at', 'is', null)
    .where('given_up_at', 'is', null)
    .executeTakeFirst();

/**
 * `sentAt` and `nextTryAt` belong to the mail of the first reminder. Both are null if that mail was given up or does not exist.
 */
export async function findReminders(
  db: Database,
  number: string,
): Promise<{ reminded: number; sentAt: Date | null; nextTryAt: Date | null } | undefined> {
  return db
    .selectFrom('invoices as i')
    .leftJoin('mails as m', (join) => join.on('m.key', '=', `invoice_reminder_1:${number}`))
    .select([
      'i.reminded',
      'm.sent_at as sentAt',
      sql<Date | null>`case when m.sent_at is null and m.given_up_at is null then m.next_attempt_at end`.as(
        'nextTryAt',
      ),
    ])
    .where('i.document', '=', number)
    .executeTakeFirst();
}

/** Returns the amount of a payment, and how much of it pays for that invoice. */
export async function findAllocated(
  db: Database,
  { payment, invoiceId }: { payment: string; invoiceId: number },
): Promise<{ received: number; allocated: number }> {
  const found = await db
    .selectFrom('payments as p')
    .leftJoin('allocations as a', (join) =>
      join.onRef('a.payment', '=', 'p.id').on('a.invoice', '=', String(invoiceId)),
    )
    .select(['p.amount as received', sql<string>`coalesce(sum(a.amount), 0)`.as('allocated')])
    .where('p.id', '=', payment)
    .groupBy('p.id')
    .executeTakeFirst();
  return { received: Number(found?.received ?? 0), allocated: Number(found?.allocated ?? 0) };
}

type Search = { now: Date; limit: number };

type Reminder = { number: string; contractId: string; which: 1 | 2 };

/**
 * For each contract, only the oldest open invoice gets reminders. If both reminders of that invoice are due, returns only the
 * second. The second is never due within six days after the mail of the first.
 */
export async function findDueReminders(db: Database, { now, limit }: Search): Promise<Reminder[]> {
  const { rows } = await sql<Reminder>`
    with due as (
      select i.document as number, i.contract_id, i.due_at, i.reminded, d.settings_version as version
      from invoices i
      join documents d on d.number = i.document
      where i.status = 'open' and i.reminded < 2 and i.due_at <= ${now}
    ), terms as materialized (
      -- Settings are large, so the settings of each version are read once, and not once for each invoice.
      select version, settings #>> '{seller,time_zone}' as zone,
        (settings #>> '{terms,reminder_days,0}')::int as first,
        (settings #>> '{terms,reminder_days,1}')::int as second
      from billing_settings where version in (select version from due)
    ), passed as (
      select number, contract_id, due_at, reminded, case
        when (due_at at time zone zone + make_interval(days => second)) at time zone zone <= ${now} then 2
        when (due_at at time zone zone + make_interval(days => first)) at time zone zone <= ${now} then 1
      end as which
      from due join terms using (version)
    )
    select number, contract_id as "contractId", which
    from passed join ${selectMailboxes(db).select('contractId').as('m')} on m."contractId" = contract_id
    where which > reminded
      and not exists (select from invoices older where older.contract_id = passed.contract_id and older.status = 'open'
        and older.document is not null and (older.due_at, older.document) < (passed.due_at, passed.number))
      and not exists (select from mails where key = 'invoice_reminder_1:' || number
        and sent_at > ${now}::timestamptz - interval '6 days')
    order by due_at, number limit ${limit}`.execute(db);
  return rows;
}

type EndingTrial = { key: string; contractId: string; endsAt: Date };

/** Finds trials that end within three days and last at least four days. */
export async function findEndingTrials(db: Database, { now, limit }: Search): Promise<EndingTrial[]> {
  const { rows } = await sql<EndingTrial>`
    with ending as (
      select id, trial_ends_at, 'trial_ends:' || id || ':' || floor(extract(epoch from trial_ends_at)) as key
      from service_contracts
      where status = 'trialing' and trial_ends_at > ${now}
        and trial_ends_at <= ${now}::timestamptz + interval '3 days'
        and trial_ends_at >= created_at + interval '4 days' and cancels_at is null
    )
    select key, id as "contractId", trial_ends_at as "endsAt"
    from ending join ${selectMailboxes(db).select('contractId').as('m')} on m."contractId" = id
    where not exists (select from mails where mails.key = ending.key)
    order by trial_ends_at limit ${limit}`.execute(db);
  return rows;
}
