// Somebody who is logged in, and the request they make: what rules about their own data work with.
import { type AuditEvent, recordAuditEvent } from '../../db/audit-events.ts';
import type { Database } from '../../db/postgres/client.ts';
import type { Session } from '../../db/sessions.ts';
import { AppError } from '../errors.ts';
import type { Visit } from '../http/requests.ts';
import type { Services } from '../services.ts';
import { describeDevice } from './device.ts';
import { findLiveSession } from './sessions.ts';

export type Actor = { session: Session; request: Request; visit: Visit };

/** Who is logged in, for changes of their own. Throws 401 `login_required`. */
export async function requireActor(services: Services, request: Request, visit: Visit): Promise<Actor> {
  const session = await findLiveSession(services, request, visit);
  if (!session) throw new AppError('login_required');
  return { session, request, visit };
}

type Seen = Pick<Visit, 'address' | 'requestId' | 'userAgent' | 'place'>;

/** What an audit event says of the browser that did it. */
export function trailOf({ address, requestId, userAgent, place }: Seen) {
  return { address, requestId, device: userAgent ? describeDevice(userAgent) : undefined, place };
}

export async function recordActorEvent(
  db: Database,
  { session, visit }: Actor,
  event: Pick<AuditEvent, 'type' | 'reason' | 'details'>,
): Promise<void> {
  await recordAuditEvent(db, { ...event, ...trailOf(visit), userId: session.user.id });
}
