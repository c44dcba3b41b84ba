// Every migration, in the order of their names. Written by "npm run schema" from the files beside it.
import * as baseline from './m100-baseline.ts';
import * as staffInvitations from './m101-staff-invitations.ts';
import * as staffNotes from './m102-staff-notes.ts';
import * as pastDuePeriods from './m103-past-due-periods.ts';
import * as vatChecks from './m104-vat-checks.ts';
import * as unprintedLetters from './m105-unprinted-letters.ts';
import * as wakeDocumentMails from './m106-wake-document-mails.ts';
import * as invoiceChanges from './m107-invoice-changes.ts';
import * as contractCharges from './m108-contract-charges.ts';
import * as documentCountry from './m109-document-country.ts';
import * as newAddressFactors from './m110-new-address-factors.ts';
import * as clients from './m111-clients.ts';
import * as openid from './m112-openid.ts';
import * as timeZone from './m113-time-zone.ts';

export const migrations = {
  'm100-baseline': baseline,
  'm101-staff-invitations': staffInvitations,
  'm102-staff-notes': staffNotes,
  'm103-past-due-periods': pastDuePeriods,
  'm104-vat-checks': vatChecks,
  'm105-unprinted-letters': unprintedLetters,
  'm106-wake-document-mails': wakeDocumentMails,
  'm107-invoice-changes': invoiceChanges,
  'm108-contract-charges': contractCharges,
  'm109-document-country': documentCountry,
  'm110-new-address-factors': newAddressFactors,
  'm111-clients': clients,
  'm112-openid': openid,
  'm113-time-zone': timeZone,
};
