// Hand-offs that are unusual but correct. A client must accept each of them.
import type { FindingId } from './findings.ts';
import { type Changes, randomDigits } from './hand-offs.ts';

export type RightHandOff = {
  id: FindingId;
  sent: string;
  changes: Changes;
};

/** Letters of three scripts and an apostrophe. */
export const manyScripts = 'Identity doctor Zoë O’Neil Ζωή 走';

export const rightHandOffs: RightHandOff[] = [
  {
    id: 'signature_next_ignored',
    sent: 'a hand-off that only "signature_next" signs with its secret',
    changes: {
      query: (query) => {
        query.set('signature_next', query.get('signature') ?? '');
        query.set('signature', randomDigits());
      },
    },
  },
  {
    id: 'unknown_member_refused',
    sent: 'a hand-off with a member and a capability that are new',
    changes: {
      members: (payload) => {
        payload.identity_doctor = { new: true };
        payload.profile.account.capabilities = ['identity_doctor'];
      },
    },
  },
  {
    id: 'optional_member_demanded',
    sent: 'a hand-off without "sid", "auth_time", "amr" and "return_to"',
    changes: {
      members: (payload) => {
        for (const name of ['sid', 'auth_time', 'amr', 'return_to']) delete payload[name];
      },
    },
  },
  {
    id: 'name_refused',
    sent: 'a hand-off of somebody with letters of three scripts and an apostrophe in the name',
    changes: {
      members: ({ profile }) => {
        profile.name = manyScripts;
      },
    },
  },
];
