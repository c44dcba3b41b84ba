// The only writer of `audit_events`: what happened, to whom, from where, and the precise reason. Nobody outside is told the
// reason. An event never has a password, token, payload or signature.
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { runInBatches } from '../batches.ts';
import type { Database } from '../postgres/client.ts';
import { prepare, prepareDeferred } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';
import type { AuditEventType } from './audit-event-types.ts';

export type AuditEvent = {
  /** Set it if the event may be reported again but must be stored only once. */
  id?: string;
  type: AuditEventType;
  reason?: string;
  userId?: string;
  address?: string;
  requestId?: string;
  /** The staff member who caused the event, and why (contract 12.22). */
  actorId?: string;
  why?: string;
  /** The kind of browser, and roughly where the browser was. */
  device?: string;
  place?: string;
  details?: Record<string, string | number | boolean | string[] | Record<string, unknown>>;
};

type Row = {
  id: string;
  type: string;
  reason: string | null;
  userId: string | null;
  address: string | null;
  requestId: string | null;
  device: string | null;
  place: string | null;
  details: string;
  actorId: string | null;
  why: string | null;
};

const buildInsert = (db: Database, row: Row) =>
  db
    .insertInto('audit_events')
    .values({
      id: row.id,
      type: row.type,
      reason: row.reason,
      user_id: row.userId,
      address: row.address,
      request_id: row.requestId,
      device: row.device,
      place: row.place,
      details: row.details,
      actor_id: row.actorId,
      why: row.why,
    })
    .onConflict((conflict) => conflict.column('id').doNothing());
const insert = prepare(buildInsert);
const deferInsert = prepareDeferred(buildInsert);

/** Records an event that belongs to no change. */
export async function recordAuditEvent(db: Database, event: AuditEvent): Promise<void> {
  await insert(db, buildRow(event));
}

/** Records an event about a change, in the transaction of that change. */
export const deferAuditEvent = (trx: Transaction<DB>, event: AuditEvent): void =>
  deferInsert(trx, buildRow(event));

function buildRow(event: AuditEvent): Row {
  return {
    id: event.id ?? uuidv7(),
    type: event.type,
    reason: event.reason ?? null,
    userId: event.userId ?? null,
    address: event.address || null,
    requestId: event.requestId ?? null,
    device: event.device ?? null,
    place: event.place ?? null,
    details: JSON.stringify(event.details ?? {}),
    actorId: event.actorId ?? null,
    why: event.why ?? null,
  };
}

/** Details that identify nobody. All other details are erased with their user. */
const impersonalDetails = ['by', 'changed', 'contractId', 'ended', 'role', 'status'];

/**
 * Erases everything except what happened and when. Also erases events that have no user but name one of `externalIds`, the user's
 * ids at the marketplace.
 */
export async function eraseFromAuditEvents(
  trx: Transaction<DB>,
  userId: string,
  externalIds: string[],
): Promise<void> {
  const isTheirs = sql`user_id = ${userId}`;
  await eraseEvents(
    trx,
    sql`details ? 'id' and details ->> 'id' in (
      select unnest(${externalIds}::text[])
      union select details ->> 'id' from audit_events where ${isTheirs} and details ? 'id')`,
  );
  await eraseEvents(trx, isTheirs);
  // Other people can still read what this user did to them as a member of the staff. So only the facts about request and
  // browser are erased.
  await runInBatches(
    trx,
    (limit) => sql`
      update audit_events set address = null, request_id = null, device = null, place = null where id in (
        select id from audit_events where actor_id = ${userId}
          and num_nonnulls(address, request_id, device, place) > 0 limit ${limit})`,
  );
}

// Erases in batches, because a user may have very many events, for example if somebody has guessed the password often.
const eraseEvents = (trx: Transaction<DB>, which: RawBuilder<unknown>): Promise<void> =>
  runInBatches(
    trx,
    (limit) => sql`
      update audit_events set address = null, request_id = null, device = null, place = null, why = null, details = (
        select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(details)
        where key = any(${impersonalDetails}))
      where id in (
        select id from audit_events where ${which}
          and (num_nonnulls(address, request_id, device, place, why) > 0 or details - ${impersonalDetails}::text[] <> '{}')
        limit ${limit})`,
  );

type Looks = { isKnown: boolean; people: number; oldestAgeSeconds: number };

/** Returns how many people a staff member looked at within the last hour, and whether `whom` was one of them. */
export async function findLooks(
  db: Database,
  { actorId, whom }: { actorId: string; whom: string },
): Promise<Looks> {
  const { rows } = await sql<Looks>`
    select coalesce(bool_or(whom = ${whom}), false) as "isKnown", count(distinct whom)::int as people,
      coalesce(extract(epoch from now() - min(at)), 0)::float8 as "oldestAgeSeconds"
    from audit_events, coalesce(user_id::text, details ->> 'number') as whom
    where actor_id = ${actorId} and at > now() - interval '1 hour' and type = 'staff.looked'`.execute(db);
  return rows[0] ?? { isKnown: false, people: 0, oldestAgeSeconds: 0 };
}

type FileTaken = {
  file: string;
  from: string | null;
  to: string | null;
  times: number;
  oldestAgeSeconds: number;
};

/** Returns the files that a staff member began to download within the last hour. */
export async function listFilesTaken(db: Database, actorId: string): Promise<FileTaken[]> {
  const { rows } = await sql<FileTaken>`
    select details ->> 'file' as file, details ->> 'from' as "from", details ->> 'to' as "to", count(*)::int as times,
      extract(epoch from now() - min(at))::float8 as "oldestAgeSeconds"
    from audit_events
    where actor_id = ${actorId} and at > now() - interval '1 hour' and type = 'staff.export_started'
    group by 1, 2, 3`.execute(db);
  return rows;
}

export async function hasEventOf(
  db: Database,
  { actorId, type, hours }: { actorId: string; type: string; hours: number },
): Promise<boolean> {
  const { rows } = await sql`
    select from audit_events where actor_id = ${actorId} and type = ${type}
      and at > now() - make_interval(hours => ${hours}) limit 1`.execute(db);
  return rows.length > 0;
}

export const looksAndSearches: string[] = ['staff.looked', 'staff.searched'] satisfies AuditEventType[];

export type AuditRow = {
  id: string;
  at: Date;
  type: string;
  reason: string | null;
  userId: string | null;
  actorId: string | null;
  why: string | null;
  address: string | null;
  device: string | null;
  place: string | null;
  details: Record<string, unknown>;
};

export type AuditFilter = {
  kind?: string | undefined;
  person?: string | undefined;
  staff?: string | undefined;
  types?: string[] | undefined;
  /** Finds only events with this client's name in their details. Give `types` too, because only the types have an index. */
  client?: string | undefined;
  /** Leaves out the events that say that staff viewed people or searched for them. */
  isWithoutLooks?: boolean | undefined;
  /**
   * Leaves out events about staff, invitations and clients. Also leaves out events by staff that are about no person. An event
   * about money stays only if it names a document of an account that has no staff.
   */
  isWithoutStaff: boolean;
};

/** Events about documents and payments. They name no user. */
const ofMoney: AuditEventType[] = [
  ...(['credit_note.issued', 'invoice.issued', 'invoice.paid', 'invoice.void'] as const),
  ...(['document.lost', 'document.recovered'] as const),
  ...(['payment.allocated', 'payment.recorded', 'payment.refunded'] as const),
];

/** Acts of staff and operators on clients in the database. */
export const ofClients: string[] = [
  ...(['staff.add_client', 'staff.set_client', 'staff.rotate_client', 'staff.end_client_secret'] as const),
  ...(['staff.turn_client_off', 'staff.turn_client_on', 'staff.confirm_client'] as const),
  'staff.test_webhook',
] satisfies AuditEventType[];

/**
 * Managers see no events of these types. The types are listed here, because an event caused by a command names neither a user
 * nor an actor that would show whom it concerns.
 */
const ofAdministrators: string[] = [
  ...(['staff.invite', 'staff.withdraw_invitation'] satisfies AuditEventType[]),
  ...ofClients,
];

/** The invoice number in the details of an event about money. If an invoice was issued without a seller, its id is its number. */
const named = sql`coalesce(e.details ->> 'invoice', e.details ->> 'number')`;
const isOfCustomer = sql`exists (
  select from invoices i join service_contracts c on c.id = i.contract_id
  where (i.document = ${named}
      or i.document is null and i.number = case when ${named} ~ '^[1-9][0-9]{0,14}$' then (${named})::bigint end)
    and exists (select from users u where u.account_id = c.account_id)
    and not exists (select from users u where u.account_id = c.account_id and u.role <> 'user'))`;

/** Returns the newest first. `before` is an instant or the id of an event, and only earlier events are returned. */
export async function listAuditEvents(
  db: Database,
  {
    kind,
    person,
    staff,
    types,
    client,
    isWithoutLooks,
    isWithoutStaff,
    before,
    limit,
  }: AuditFilter & { before?: Date | string | undefined; limit: number },
): Promise<AuditRow[]> {
  const conditions = [
    kind === undefined ? undefined : sql`e.type = ${kind}`,
    person === undefined ? undefined : sql`e.user_id = ${person}`,
    staff === undefined ? undefined : sql`e.actor_id = ${staff}`,
    types === undefined ? undefined : sql`e.type = any(${types})`,
    client === undefined ? undefined : sql`e.details ->> 'client' = ${client}`,
    isWithoutLooks ? sql`e.type <> all(${looksAndSearches})` : undefined,
    isWithoutStaff
      ? sql`not exists (select from users u where u.id = e.user_id and u.role <> 'user')
          and e.type <> all(${ofAdministrators})
          and case when e.type = any(${ofMoney}) then ${isOfCustomer}
            else not (e.user_id is null and e.actor_id is not null) end`
      : undefined,
    before === undefined
      ? undefined
      : before instanceof Date
        ? sql`e.at < ${before}`
        : sql`(e.at, e.id) < (select b.at, b.id from audit_events b where b.id = ${before})`,
  ].filter((each) => each !== undefined);
  const { rows } = await sql<AuditRow>`
    select e.id, e.at, e.type, e.reason, e.user_id as "userId", e.actor_id as "actorId", e.why, e.address, e.device,
      e.place, e.details
    from audit_events e where ${conditions.length > 0 ? sql.join(conditions, sql` and `) : sql`true`}
    order by e.at desc, e.id desc limit ${limit}`.execute(db);
  return rows;
}
