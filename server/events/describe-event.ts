// An event as a client reads it (contract section 10).
import type { ClientEvent } from '../../db/events.ts';
import { describeContract } from '../billing/contract-list.ts';
import { buildStandardProfile } from '../identity/profile.ts';

export function describeEvent(event: ClientEvent) {
  const { seq, type } = event;
  if (event.type === 'erased') return { seq, type };
  const { userId, occurredAt } = event;
  const common = { seq, type, occurred_at: occurredAt.toISOString(), user_id: userId };
  switch (event.type) {
    case 'profile.updated':
      return { ...common, profile: buildStandardProfile(event.profile) };
    case 'session.ended':
      return { ...common, sid: event.sid };
    case 'contract.updated': {
      const { contract } = event;
      return { ...common, signup_id: contract.signupId, contract: describeContract(contract, occurredAt) };
    }
    default:
      return common;
  }
}
