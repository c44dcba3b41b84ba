// The tables as files (contract 12.154 to 12.159): which columns each has, and its records in slices.

import {
  type EventRow,
  type MailRow,
  type PersonRow,
  readEvents,
  readMails,
  readPeople,
} from '../../db/table-slices.ts';
import { listDeliveries } from '../../db/tables/event-deliveries.ts';
import { listAllContracts, listAllInvoices } from '../../db/tables/invoice-lists.ts';
import { findZone } from '../billing/invoices/issue.ts';
import { describeListedContract, describeListedInvoice } from '../billing/invoices/lists.ts';
import { writeDecimal } from '../billing/values/decimals.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { describeAnswer } from '../mail/describe-answer.ts';
import { isOpenId } from '../sso/clients.ts';
import { stateOf } from './person.ts';

type From = Pick<Dependencies, 'db' | 'now' | 'config' | 'clients'>;

type TableFile = { columns: string; read: (from: From) => AsyncGenerator<string[][], void> };

/** A time set by SQL may be 'infinity'. */
const at = (value: Date | null) =>
  value === null ? '' : value instanceof Date ? value.toISOString() : String(value);

async function* map<Row>(
  slices: AsyncIterable<Row[]>,
  toRecord: (row: Row) => string[],
): AsyncGenerator<string[][], void> {
  for await (const rows of slices) yield rows.map(toRecord);
}

const toPerson = (person: PersonRow) => [
  ...[person.id, person.email, person.name, person.accountId, person.account],
  ...[person.role, stateOf(person), at(person.emailVerifiedAt)],
  ...[String(person.hasPasskey), String(person.hasAuthenticator)],
  ...[person.capabilities.join(' '), at(person.verifiedAt), at(person.createdAt)],
  ...[at(person.suspendedAt), at(person.frozenAt), at(person.deletionDueAt)],
];

const toEvent = (event: EventRow) => [
  ...[event.id, at(event.at), event.type, event.reason ?? '', event.userId ?? '', event.actorId ?? ''],
  ...[event.why ?? '', event.address ?? '', event.device ?? '', event.place ?? '', event.details],
];

const stateOfMail = ({ sentAt, givenUpAt, lastError }: MailRow) =>
  sentAt ? 'sent' : givenUpAt ? 'given_up' : lastError === null ? 'waiting' : 'failed';

/** Cuts out what a mail server may quote from the mail, such as a link in it. */
const whyOf = ({ lastError, recipient }: MailRow) => describeAnswer(lastError ?? undefined, recipient) ?? '';

const toMail = (mail: MailRow) => [
  ...[mail.id, stateOfMail(mail), mail.kind, mail.userId ?? '', mail.recipient],
  ...[String(mail.attempts), whyOf(mail), at(mail.createdAt), at(mail.sentAt), at(mail.givenUpAt)],
];

async function* readClients({ db, clients }: From): AsyncGenerator<string[][], void> {
  const deliveries = await listDeliveries(
    db,
    clients.list().map(({ name }) => name),
  );
  yield deliveries.flatMap((delivery) => {
    const client = clients.get(delivery.client);
    if (!client) return [];
    return [
      [
        ...[client.name, client.title, client.callbackUrl, client.eventsUrl ?? ''],
        ...[String(client.secrets.length), String(delivery.latest)],
        // A client of OpenID Connect has no events to read.
        ...(isOpenId(client)
          ? Array(7).fill('')
          : [
              ...[delivery.acknowledged, delivery.behind].map(String),
              ...[at(delivery.oldestAt), at(delivery.pulledAt), at(delivery.succeededAt)],
              ...[at(delivery.failedAt), delivery.failure ?? ''],
            ]),
      ],
    ];
  });
}

async function* readContracts({ db, now }: From): AsyncGenerator<string[][], void> {
  const zone = await findZone(db);
  yield* map(listAllContracts(db), (contract) => {
    const entry = describeListedContract(contract, { now: now(), zone });
    const { price } = entry;
    return [
      ...[entry.signup_id, entry.id, entry.user_id, entry.email ?? '', entry.status, entry.plan],
      ...[entry.trial_ends_at ?? '', entry.cancels_at ?? '', price?.currency ?? ''],
      ...[price ? writeDecimal(price.unit_amount, price.currency) : '', price?.interval ?? ''],
      ...[entry.held ?? '', entry.occurred_at, entry.last_day ?? '', String(price?.quantity ?? '')],
    ];
  });
}

async function* readInvoices({ db, now }: From): AsyncGenerator<string[][], void> {
  const zone = await findZone(db);
  yield* map(listAllInvoices(db, { now: now(), zone }), (invoice) => {
    const { number, signup_id, status, overdue, currency, total, open, ...entry } =
      describeListedInvoice(invoice);
    return [
      ...[number, signup_id, invoice.userId ?? '', entry.email ?? '', status, String(overdue), currency],
      ...[writeDecimal(total, currency), writeDecimal(open, currency), entry.issued_at, entry.due_at],
    ];
  });
}

export const tableFiles = {
  'people.csv': {
    columns:
      'id,email,name,account_id,account,role,state,email_verified_at,has_passkey,has_authenticator,capabilities,verified_at,created_at,suspended_at,frozen_at,deletion_due_at',
    read: ({ db }: From) => map(readPeople(db), toPerson),
  },
  'audit.csv': {
    columns: 'id,at,type,reason,user_id,actor_id,why,address,device,place,details',
    read: ({ db }: From) => map(readEvents(db), toEvent),
  },
  'mails.csv': {
    columns: 'id,state,kind,user_id,recipient,attempts,last_error,created_at,sent_at,given_up_at',
    read: ({ db }: From) => map(readMails(db), toMail),
  },
  'clients.csv': {
    columns:
      'client,title,callback_url,events_url,secrets,newest_event,acknowledged,behind,oldest_unread_at,last_pull_at,last_nudge_taken_at,last_failure_at,last_failure',
    read: readClients,
  },
  'contracts.csv': {
    columns:
      'signup_id,id,user_id,email,status,plan,trial_ends_at,cancels_at,currency,amount,interval,held,occurred_at,last_day,quantity',
    read: readContracts,
  },
  'invoices.csv': {
    columns: 'number,signup_id,user_id,email,status,overdue,currency,total,open,issued_at,due_at',
    read: readInvoices,
  },
} as const satisfies Record<string, TableFile>;

export type TableName = keyof typeof tableFiles;
export const tableNames = Object.keys(tableFiles) as TableName[];
