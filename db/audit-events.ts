// The only writer of `audit_events`: what happened, to whom, from where, and the precise reason that the
// outside is not told. Never a password, token, payload or signature.
import { v7 as uuidv7 } from 'uuid';
import type { Database } from './client.ts';

export type AuditEvent = {
  type: string;
  reason?: string;
  userId?: string;
  address?: string;
  requestId?: string;
  details?: Record<string, string | number | boolean | string[]>;
};

export async function recordAuditEvent(db: Database, event: AuditEvent): Promise<void> {
  await db
    .insertInto('audit_events')
    .values({
      id: uuidv7(),
      type: event.type,
      reason: event.reason ?? null,
      user_id: event.userId ?? null,
      address: event.address ?? null,
      request_id: event.requestId ?? null,
      details: JSON.stringify(event.details ?? {}),
    })
    .execute();
}
