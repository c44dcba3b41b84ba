// Parts of audit events: the author, and why a login was refused.
import type { auditEventTypes } from '../../../db/tables/audit-event-types.ts';
import type { AuditEvent } from '../../../db/tables/audit-events.ts';
import type { Visit } from '../../web/requests.ts';
import { describeDevice } from './device.ts';

type Seen = Pick<Visit, 'address' | 'requestId' | 'userAgent' | 'place'>;

export function trailOf({ address, requestId, userAgent, place }: Seen) {
  return { address, requestId, device: userAgent ? describeDevice(userAgent) : undefined, place };
}

/** What events say about their author if staff or an operator did something to somebody else. */
export type AuthorTrail = Pick<AuditEvent, 'requestId' | 'actorId' | 'why'> & {
  details: { by: 'staff' | 'cli' };
};

export type Recorder = (event: Pick<AuditEvent, 'type' | 'reason' | 'details'>) => void;

/** Reasons why a login to an existing account was refused. The owner of the account can read these reasons. */
type ToldRefusal = Exclude<keyof (typeof auditEventTypes)['login.refused']['person'], 'any'>;

/** The reasons are for logs and for the owner. To a stranger, all refusals look the same. */
export type LoginRefusal = ToldRefusal | 'malformed_address' | 'unknown_user';

export const refusedLogin = (reason: LoginRefusal) => ({ type: 'login.refused', reason }) as const;
