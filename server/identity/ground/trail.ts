// What audit events say of who did something, and why a login was refused.
import type { auditEventTypes } from '../../../db/tables/audit-event-types.ts';
import type { AuditEvent } from '../../../db/tables/audit-events.ts';
import type { Visit } from '../../web/requests.ts';
import { describeDevice } from './device.ts';

type Seen = Pick<Visit, 'address' | 'requestId' | 'userAgent' | 'place'>;

/** What an audit event says of the browser that caused it. */
export function trailOf({ address, requestId, userAgent, place }: Seen) {
  return { address, requestId, device: userAgent ? describeDevice(userAgent) : undefined, place };
}

/** What an event says of somebody of the staff, or an operator, who did something to somebody else. */
export type AuthorTrail = Pick<AuditEvent, 'requestId' | 'actorId' | 'why'> & {
  details: { by: 'staff' | 'cli' };
};

/** Records an event about somebody, with who did it and why. */
export type Recorder = (event: Pick<AuditEvent, 'type' | 'reason' | 'details'>) => void;

/** The reasons that are about an account, so its owner reads them. */
type ToldRefusal = Exclude<keyof (typeof auditEventTypes)['login.refused']['person'], 'any'>;

/** Why a login is refused: for logs, and for what the audit trail tells the owner. Outside, all reasons look the same. */
export type LoginRefusal = ToldRefusal | 'malformed_address' | 'unknown_user';

/** The audit event of a refused login. */
export const refusedLogin = (reason: LoginRefusal) => ({ type: 'login.refused', reason }) as const;
