// Somebody who is logged in, and the request they make: what rules about their own data work with.
import { type AuditEvent, recordAuditEvent } from '../../db/audit-events.ts';
import type { Database } from '../../db/postgres/client.ts';
import type { Session } from '../../db/sessions.ts';
import type { Visit } from '../http/requests.ts';

export type Actor = { session: Session; request: Request; visit: Visit };

export async function recordActorEvent(
  db: Database,
  { session, visit }: Actor,
  event: Pick<AuditEvent, 'type' | 'reason' | 'details'>,
): Promise<void> {
  const { address, requestId } = visit;
  await recordAuditEvent(db, { ...event, userId: session.user.id, address, requestId });
}
