// The only writer of `audit_events`: what happened, to whom, from where, and the precise reason
// that the outside is not told. Never a password, token, payload or signature.
import { v7 as uuidv7 } from 'uuid';
import type { Database } from './postgres/client.ts';
import { prepareDeferredWrite } from './postgres/prepare.ts';

export type AuditEvent = {
  /** Given where the same event may be reported again, and must be stored once. */
  id?: string;
  type: string;
  reason?: string;
  userId?: string;
  address?: string;
  requestId?: string;
  details?: Record<string, string | number | boolean | string[]>;
};

type Row = {
  id: string;
  type: string;
  reason: string | null;
  userId: string | null;
  address: string | null;
  requestId: string | null;
  details: string;
};

const insert = prepareDeferredWrite((db, row: Row) =>
  db
    .insertInto('audit_events')
    .values({
      id: row.id,
      type: row.type,
      reason: row.reason,
      user_id: row.userId,
      address: row.address,
      request_id: row.requestId,
      details: row.details,
    })
    .onConflict((conflict) => conflict.column('id').doNothing()),
);

export async function recordAuditEvent(db: Database, event: AuditEvent): Promise<void> {
  await insert(db, {
    id: event.id ?? uuidv7(),
    type: event.type,
    reason: event.reason ?? null,
    userId: event.userId ?? null,
    address: event.address ?? null,
    requestId: event.requestId ?? null,
    details: JSON.stringify(event.details ?? {}),
  });
}
