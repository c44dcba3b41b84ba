// Every migration, in the order of their names. Written by "npm run schema" from the files beside it.
import * as baseline from './m100-baseline.ts';
import * as staffInvitations from './m101-staff-invitations.ts';
import * as staffNotes from './m102-staff-notes.ts';
import * as invoiceChanges from './m107-invoice-changes.ts';

export const migrations = {
  'm100-baseline': baseline,
  'm101-staff-invitations': staffInvitations,
  'm102-staff-notes': staffNotes,
  'm107-invoice-changes': invoiceChanges,
};
