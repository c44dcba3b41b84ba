// Events as clients get them (contract 10.7 to 10.13).
import { z } from 'zod';
import type { ClientEvent } from '../../db/tables/events.ts';
import { contractEntrySchema, describeContract } from '../billing/contracts/contract-list.ts';
import { signupIdSchema } from '../billing/contracts/signup-message.ts';
import { buildStandardProfile } from '../identity/person/profile.ts';
import { sidSchema, standardProfileSchema, userIdSchema, wireInstantSchema } from '../sso/payload.ts';

const numbered = {
  seq: z
    .int()
    .min(1)
    .describe('Its number. They follow each other without gaps, but for a restore of our database.'),
};
const about = { occurred_at: wireInstantSchema, user_id: userIdSchema };

export const eventSchema = z
  .discriminatedUnion('type', [
    z
      .object({ ...numbered, type: z.literal('profile.updated'), ...about, profile: standardProfileSchema })
      .describe('Any change of the profile, and the first launch of this person to this client.'),
    z
      .object({ ...numbered, type: z.literal('session.ended'), ...about, sid: sidSchema })
      .describe('A login that this client was handed has ended, but not by expiry.'),
    z
      .object({ ...numbered, type: z.enum(['user.suspended', 'user.restored', 'user.deleted']), ...about })
      .describe('After `user.deleted`, forget this person.'),
    z
      .object({
        ...numbered,
        type: z.literal('contract.updated'),
        ...about,
        signup_id: signupIdSchema,
        contract: contractEntrySchema,
      })
      .describe('Only for `crm_app`: a new contract, and any change of its state or terms.'),
    z
      .object({ ...numbered, type: z.literal('erased') })
      .describe('In the place of an event about a person who was deleted.'),
  ])
  .describe('Something that happened to a person who was handed to this client.');

export const eventPageSchema = z.object({
  events: z.array(eventSchema).describe('Those behind `after`, in the order of their numbers.'),
  latest: z
    .int()
    .min(0)
    .describe('The number of the newest event. Behind a full page there may be more than it says.'),
});

export type EventPage = z.infer<typeof eventPageSchema>;

export function describeEvent(event: ClientEvent): z.infer<typeof eventSchema> {
  const { seq } = event;
  if (event.type === 'erased') return { seq, type: event.type };
  const { userId, occurredAt } = event;
  const common = { occurred_at: occurredAt.toISOString(), user_id: userId };
  switch (event.type) {
    case 'profile.updated':
      return { seq, type: event.type, ...common, profile: buildStandardProfile(event.profile) };
    case 'session.ended':
      return { seq, type: event.type, ...common, sid: event.sid };
    case 'contract.updated': {
      const { contract } = event;
      const entry = describeContract(contract, occurredAt);
      return { seq, type: event.type, ...common, signup_id: contract.signupId, contract: entry };
    }
    default:
      return { seq, type: event.type, ...common };
  }
}
