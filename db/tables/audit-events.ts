// The only writer of `audit_events`: what happened, to whom, from where, and the precise reason
// that the outside is not told. Never a password, token, payload or signature.
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { runInBatches } from '../batches.ts';
import type { Database } from '../postgres/client.ts';
import { prepare, prepareDeferred } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';

export type AuditEvent = {
  /** Given if the event may be reported again, and must be stored once. */
  id?: string;
  /** What the person reads of it is in server/identity/history/activity.ts. */
  type: string;
  reason?: string;
  userId?: string;
  address?: string;
  requestId?: string;
  /** The kind of browser, and roughly where it was, if a person's browser did it. */
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
    })
    .onConflict((conflict) => conflict.column('id').doNothing());
const insert = prepare(buildInsert);
const deferInsert = prepareDeferred(buildInsert);

/** Records an event that came without a change. */
export async function recordAuditEvent(db: Database, event: AuditEvent): Promise<void> {
  await insert(db, buildRow(event));
}

/** Records an event in the transaction that it tells of. */
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
  };
}

/** The details that say nothing about who somebody is. Any other detail is erased with its user. */
const impersonalDetails = ['by', 'changed', 'contractId', 'ended', 'role', 'status'];

/**
 * Leaves what happened to the user, and when; addresses, and whatever else could tell who it was, are gone. `externalIds` are
 * the user's ids at the marketplace: events that tell of no user name these ids.
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
}

// In batches, because somebody may have guessed at a password very often.
const eraseEvents = (trx: Transaction<DB>, which: RawBuilder<unknown>): Promise<void> =>
  runInBatches(
    trx,
    (limit) => sql`
      update audit_events set address = null, request_id = null, device = null, place = null, details = (
        select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(details)
        where key = any(${impersonalDetails}))
      where id in (
        select id from audit_events where ${which}
          and (num_nonnulls(address, request_id, device, place) > 0 or details - ${impersonalDetails}::text[] <> '{}')
        limit ${limit})`,
  );
