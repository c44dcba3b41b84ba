// Every migration, in the order of their names. Written by "npm run schema" from the files beside it.
import * as foundation from './2026-11-20-foundation.ts';
import * as inboundHandOff from './2026-11-20-inbound-hand-off.ts';
import * as billingAndMail from './2026-11-21-billing-and-mail.ts';
import * as unloggedRateLimits from './2026-11-21-unlogged-rate-limits.ts';
import * as contractArrival from './2026-11-22-contract-arrival.ts';
import * as oneWordForEachIdea from './2026-11-22-one-word-for-each-idea.ts';
import * as whoSomebodyIs from './2026-11-22-who-somebody-is.ts';
import * as restores from './2026-11-23-restores.ts';
import * as activity from './2026-11-24-activity.ts';
import * as addresses from './2026-11-24-addresses.ts';
import * as deletions from './2026-11-24-deletions.ts';
import * as passkeys from './2026-11-24-passkeys.ts';
import * as secondFactors from './2026-11-24-second-factors.ts';
import * as events from './2026-11-25-events.ts';
import * as history from './2026-11-25-history.ts';
import * as nudges from './2026-11-25-nudges.ts';
import * as trialEnds from './2026-11-25-trial-ends.ts';
import * as pendingEmailChanges from './2026-11-26-pending-email-changes.ts';
import * as establishedBrowsers from './m019-established-browsers.ts';
import * as takeBack from './m020-take-back.ts';
import * as decidedHere from './m021-decided-here.ts';
import * as awaitedMails from './m022-awaited-mails.ts';
import * as takeBackBounds from './m023-take-back-bounds.ts';
import * as cheapTriggers from './m024-cheap-triggers.ts';
import * as comments from './m025-comments.ts';
import * as endedLinks from './m026-ended-links.ts';
import * as passkeysDeclined from './m027-passkeys-declined.ts';
import * as personWords from './m028-person-words.ts';
import * as staff from './m029-staff.ts';
import * as newAddresses from './m030-new-addresses.ts';
import * as billing from './m031-billing.ts';
import * as sums from './m032-sums.ts';
import * as lostDocuments from './m033-lost-documents.ts';
import * as income from './m034-income.ts';
import * as failedMails from './m035-failed-mails.ts';
import * as retention from './m036-retention.ts';
import * as mailsToHolders from './m037-mails-to-holders.ts';
import * as taxCountry from './m038-tax-country.ts';
import * as formAnswers from './m039-form-answers.ts';
import * as refusedForms from './m040-refused-forms.ts';
import * as freedCreditNotes from './m041-freed-credit-notes.ts';

export const migrations = {
  '2026-11-20-foundation': foundation,
  '2026-11-20-inbound-hand-off': inboundHandOff,
  '2026-11-21-billing-and-mail': billingAndMail,
  '2026-11-21-unlogged-rate-limits': unloggedRateLimits,
  '2026-11-22-contract-arrival': contractArrival,
  '2026-11-22-one-word-for-each-idea': oneWordForEachIdea,
  '2026-11-22-who-somebody-is': whoSomebodyIs,
  '2026-11-23-restores': restores,
  '2026-11-24-activity': activity,
  '2026-11-24-addresses': addresses,
  '2026-11-24-deletions': deletions,
  '2026-11-24-passkeys': passkeys,
  '2026-11-24-second-factors': secondFactors,
  '2026-11-25-events': events,
  '2026-11-25-history': history,
  '2026-11-25-nudges': nudges,
  '2026-11-25-trial-ends': trialEnds,
  '2026-11-26-pending-email-changes': pendingEmailChanges,
  'm019-established-browsers': establishedBrowsers,
  'm020-take-back': takeBack,
  'm021-decided-here': decidedHere,
  'm022-awaited-mails': awaitedMails,
  'm023-take-back-bounds': takeBackBounds,
  'm024-cheap-triggers': cheapTriggers,
  'm025-comments': comments,
  'm026-ended-links': endedLinks,
  'm027-passkeys-declined': passkeysDeclined,
  'm028-person-words': personWords,
  'm029-staff': staff,
  'm030-new-addresses': newAddresses,
  'm031-billing': billing,
  'm032-sums': sums,
  'm033-lost-documents': lostDocuments,
  'm034-income': income,
  'm035-failed-mails': failedMails,
  'm036-retention': retention,
  'm037-mails-to-holders': mailsToHolders,
  'm038-tax-country': taxCountry,
  'm039-form-answers': formAnswers,
  'm040-refused-forms': refusedForms,
  'm041-freed-credit-notes': freedCreditNotes,
};
