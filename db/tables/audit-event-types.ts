// The types of audit events of this version and the previous one. For each type: how often a user may cause it, and the words
// that readers see.

export type Allowance = { times: number; seconds: number };

/** Words by the event's reason. `any` has the words for all other reasons. */
type ByReason = { any: string } & Record<string, string>;

type EventType = {
  /**
   * How often each user may cause the event (contract 9.52 to 9.67), or words that say what else limits it. An act that ends
   * access or undoes a change has no allowance, because a thief could use up the allowance. Instead, the change that can be
   * undone has one. An act of staff is counted as a look at the person.
   */
  limit: Allowance | string;
  /** What the person reads in their activity. Without these words, the event is hidden from them. */
  person?: string | ByReason;
  /** The words for staff, if different. */
  staff?: string;
};

const hour = 60 * 60;
const day = 24 * hour;

export const auditEventTypes = {
  'account.frozen': {
    limit: 'links of mails, commands and staff, and nothing while it is frozen',
    person: {
      by_staff: 'Our support team froze the account',
      any: 'The account was frozen with the link in an email',
    },
  },
  'account.take_back_refused': {
    limit: 'guesses of a code with a link of a mail',
    person: 'A wrong code was entered to take the account back',
  },
  'account.taken_back': {
    limit: 'links of mails',
    person: {
      thawed: 'Our support team gave the account back to this email address',
      any: 'The account was taken back with the link in an email',
    },
  },
  'account.thawed': { limit: 'commands', person: 'Our support team unfroze the account' },
  'authenticator.added': { limit: { times: 10, seconds: hour }, person: 'Added an authenticator app' },
  'authenticator.removed': { limit: 'authenticator.added', person: 'Removed the authenticator app' },
  'billing.invoice_email_asked': {
    limit: 'mails',
    person: 'Asked for an email to confirm the address for invoices',
  },
  'billing.invoice_email_proved': {
    limit: 'links of mails',
    person: 'The address for invoices was confirmed with the link in an email',
  },
  'billing.resumed': { limit: 'commands', staff: 'Billing goes on after a restore of the database' },
  // Counted for each administrator, because each event may send a mail to every administrator.
  'billing.set': {
    limit: { times: 60, seconds: hour },
    staff: 'The settings of billing were changed, or a change of them was stopped',
  },
  'billing.updated': {
    limit: { times: 30, seconds: hour },
    person: {
      taken_out: 'The address for invoices was removed, in case somebody else had added it',
      any: 'Changed the billing details',
    },
  },
  'capability.decided': {
    limit: 'commands',
    person: {
      yes: 'We decided that the account may ',
      no: 'We decided that the account may not ',
      any: 'The marketplace decides again whether the account may ',
    },
  },
  'contract.cancel_asked': { limit: { times: 10, seconds: day }, person: 'Canceled a contract' },
  'contract.kept': { limit: 'contract.cancel_asked', person: 'Kept a contract that had been canceled' },
  'contract.moved': { limit: 'time', staff: 'The state of a contract changed' },
  'credit_note.issued': { limit: 'commands, and staff', staff: 'A credit note was issued' },
  'data.downloaded': { limit: { times: 5, seconds: hour }, person: 'Downloaded a copy of the data' },
  'database.backed_up': { limit: 'commands', staff: 'The database was backed up' },
  'database.restored': { limit: 'commands', staff: 'The database was restored' },
  'document.lost': { limit: 'commands', staff: 'Documents are lost by a restore of the database' },
  'document.recovered': { limit: 'commands', staff: 'A lost document was recovered' },
  'email.change_canceled': {
    limit: 'email.change_requested',
    person: 'Canceled the change of the email address',
  },
  'email.change_requested': {
    limit: { times: 10, seconds: hour },
    person: 'Asked to change the email address',
  },
  'email.change_undone': { limit: 'links of mails', person: 'The change of the email address was undone' },
  'email.changed': { limit: 'links of mails', person: 'Changed the email address' },
  'email.new_address_refused': {
    limit: 'guesses of a code with a link of a mail',
    person: 'A wrong code was entered with a link from our support team to change the email address',
  },
  'email.new_address_stopped': {
    limit: 'links of mails',
    person: 'A change of the email address by our support team was stopped with the link in an email',
  },
  'email.new_address_used': {
    limit: 'links of mails',
    person:
      'The email address was changed and a new password set, with the link in an email that our support team sent',
  },
  'email.verification_requested': {
    limit: 'mails',
    person: 'Asked for an email to verify the email address',
  },
  'email.verified': { limit: 'links of mails', person: 'Verified the email address' },
  'factors.removed': {
    limit: 'links of mails, and commands',
    person: 'Passkeys or the authenticator app were removed',
  },
  'hand_off.accepted': {
    limit: 'the marketplace, whose signature counts once',
    person: {
      created: 'The account was created from a marketplace account',
      linked: 'A marketplace account was connected',
      proved: 'The marketplace verified the email address',
      any: 'Came here from the marketplace',
    },
  },
  'hand_off.confirmed': {
    limit: 'the marketplace, whose signature counts once',
    person: { connect: 'Connected a marketplace account', any: 'Logged in from the marketplace' },
  },
  'hand_off.email_skipped': {
    limit: 'the marketplace, whose signature counts once',
    staff: 'The marketplace sent an address that somebody else has',
  },
  'hand_off.pending': {
    limit: 'the marketplace, whose signature counts once',
    person: 'A marketplace account that is not connected was used to come here',
  },
  'hand_off.refused': {
    limit: 'the marketplace, whose signature counts once',
    staff: 'A login from the marketplace was refused',
  },
  'import.accepted': { limit: 'commands', person: 'Account details were imported from the marketplace' },
  'invoice.issued': { limit: 'time', staff: 'An invoice was issued' },
  'invoice.paid': { limit: 'commands', staff: 'An invoice was paid' },
  'invoice.void': { limit: 'commands, and staff', staff: 'An invoice was made void' },
  'link.removed': { limit: 'hand-offs', person: 'Disconnected a marketplace account' },
  'login.code_asked': { limit: 'logins', person: 'Entered the right password, then was asked for a code' },
  // Counted for each session. Otherwise a thief in the account could use up the tries that the owner needs to end the session.
  'login.confirmed': {
    limit: { times: 30, seconds: hour },
    person: {
      passkey: 'Used a passkey to confirm a change',
      code: 'Entered the password and a code again to make a change',
      any: 'Entered the password again to make a change',
    },
  },
  'login.refused': {
    limit: 'guesses of a password or code, and logins',
    person: {
      wrong_code: 'A login was refused: the code was wrong',
      passkey_counter: 'A login was refused: the passkey may have been copied',
      no_password: 'A login was refused: there is no password yet',
      suspended: 'A login was refused: the account was suspended',
      wrong_password: 'A login was refused: the password was wrong',
      any: 'A login was refused: the password was wrong',
    },
  },
  'login.succeeded': {
    limit: 'logins',
    person: {
      passkey: 'Logged in with a passkey',
      recovery_code: 'Logged in with a recovery code',
      any: 'Logged in',
    },
  },
  logout: { limit: 'logins', person: 'Logged out' },
  'oidc.rotated_keys': { limit: 'commands', staff: 'The key that signs ID tokens was replaced' },
  'passkey.added': { limit: { times: 30, seconds: hour }, person: 'Added a passkey' },
  'passkey.removed': { limit: 'passkey.added', person: 'Removed a passkey' },
  // Counted for each browser that the user has had for a week, and for all other browsers together.
  'password.changed': { limit: { times: 10, seconds: hour }, person: 'Changed the password' },
  'password.refused': {
    limit: 'guesses of a password',
    person: 'A change was refused: the password was wrong',
  },
  'password.set': { limit: 'links of mails', person: 'Set a password with the link in an email' },
  'password_link.requested': {
    limit: 'mails',
    person: {
      reserved: 'An email to take the account back was requested for an earlier email address',
      any: 'An email to set a new password was requested',
    },
  },
  'payment.allocated': { limit: 'commands, and staff', staff: 'A payment was put to an invoice' },
  'payment.recorded': {
    limit: 'the payment provider, whose signature counts, commands, and staff',
    staff: 'A payment was recorded',
  },
  'payment.refunded': {
    limit: 'the payment provider, whose signature counts, commands, and staff',
    staff: 'A refund was recorded, or a payment paid back',
  },
  'profile.updated': { limit: { times: 60, seconds: hour }, person: 'Changed the profile' },
  'recovery_codes.made': { limit: { times: 10, seconds: hour }, person: 'Made new recovery codes' },
  'role.taken': { limit: 'links of mails', person: 'Got a staff role with an invitation' },
  'session.ended': { limit: 'logins', person: 'Logged out another browser' },
  'session.ended_others': { limit: 'logins', person: 'Logged out everywhere else' },
  'session.started': { limit: 'logins', staff: 'A session began' },
  'signup.accepted': {
    limit: 'the CRM, whose signature counts',
    person: {
      created: 'A service contract was added',
      unchanged: 'The details of a service contract were sent to us again, with no changes',
      any: 'A service contract was changed',
    },
  },
  'staff.accept_country': {
    limit: 'staff.looked',
    person: {
      yes: 'Our support team accepted the new country of the billing address',
      any: 'Our support team refused the new country of the billing address',
    },
    staff: 'Staff: decided whether a new country counts for the tax',
  },
  'staff.add_client': { limit: 'staff.set_client', staff: 'Staff: added a client' },
  'staff.cancel_contract': {
    limit: 'staff.looked',
    person: 'Our support team canceled a contract',
    staff: 'Staff: canceled a contract',
  },
  'staff.change_email': {
    limit: 'staff.looked',
    person: 'Our support team asked for another email address',
    staff: 'Staff: asked for another email address',
  },
  'staff.change_role': {
    limit: 'staff.looked',
    person: 'Our support team changed the role',
    staff: 'Staff: changed the role',
  },
  'staff.check_vat_id': {
    limit: 'staff.looked',
    person: 'Our support team checked the VAT ID',
    staff: 'Staff: said whether the VAT ID is checked',
  },
  'staff.confirm_client': { limit: 'restores', staff: 'Staff: confirmed a client after a restore' },
  'staff.create': { limit: 'commands', staff: 'Staff: created the account' },
  'staff.delete_note': { limit: 'staff.looked', staff: 'Staff: deleted a note' },
  'staff.edit_billing_details': {
    limit: 'staff.looked',
    person: 'Our support team changed the billing details',
    staff: 'Staff: changed the billing details',
  },
  'staff.end_client_secret': { limit: 'staff.rotate_client', staff: 'Staff: ended a secret of a client' },
  'staff.end_session': {
    limit: 'staff.looked',
    person: 'Our support team logged the account out in one browser',
    staff: 'Staff: logged them out in one browser',
  },
  'staff.end_sessions': {
    limit: 'staff.looked',
    person: 'Our support team logged the account out everywhere',
    staff: 'Staff: logged them out everywhere',
  },
  'staff.erase': { limit: 'commands', staff: 'Staff: deleted the account for good' },
  'staff.export_started': { limit: 'five an hour, counted in the audit', staff: 'Staff: began to download' },
  'staff.exported': { limit: 'staff.export_started', staff: 'Staff: downloaded' },
  'staff.freeze': { limit: 'staff.looked', staff: 'Staff: froze the account' },
  'staff.give_up_mail': {
    limit: 'mails that have not left',
    person: 'Our support team stopped trying to send an email that had not arrived',
    staff: 'Staff: gave up a mail',
  },
  'staff.grant': { limit: 'staff.looked', staff: 'Staff: decided that the account may do something' },
  // Counted for each administrator, because each invitation sends a mail to the invited address and to every administrator.
  'staff.invite': { limit: { times: 20, seconds: day }, staff: 'Staff: invited somebody to the staff' },
  'staff.keep': { limit: 'staff.looked', staff: 'Staff: canceled the deletion' },
  'staff.limited': { limit: 'one a day', staff: 'Staff: reached the limit of looks or searches' },
  'staff.looked': { limit: '300 people an hour', staff: 'Staff: looked at a person' },
  // Counted for each author. The person finds the note in the download of their data, so their activity need not show it.
  'staff.note': { limit: { times: 60, seconds: hour }, staff: 'Staff: left a note' },
  'staff.plan_deletion': { limit: 'staff.looked', staff: 'Staff: planned the deletion' },
  'staff.remove_factors': { limit: 'staff.looked', staff: 'Staff: removed the second factors' },
  'staff.remove_link': { limit: 'staff.looked', staff: 'Staff: disconnected a marketplace account' },
  'staff.resume': { limit: 'staff.looked', staff: 'Staff: ended the suspension' },
  'staff.retry_mail': { limit: 'mails that failed', staff: 'Staff: sent a mail again that had failed' },
  'staff.revoke': { limit: 'staff.looked', staff: 'Staff: decided that the account may not do something' },
  'staff.rotate_client': { limit: 'staff.set_client', staff: 'Staff: gave a client a new secret' },
  'staff.searched': { limit: { times: 600, seconds: hour }, staff: 'Staff: searched for people' },
  // Counted for each recipient. All staff share the count.
  'staff.send_mail': { limit: { times: 5, seconds: hour }, staff: 'Staff: sent a mail' },
  // Counted for each administrator, because each event sends a mail to all of them.
  'staff.set_client': { limit: { times: 300, seconds: hour }, staff: 'Staff: changed a client' },
  'staff.suspend': { limit: 'staff.looked', staff: 'Staff: suspended the account' },
  'staff.test_webhook': {
    limit: 'one in ten seconds for each client',
    staff: 'Staff: tried the webhook of a client',
  },
  'staff.thaw': {
    limit: 'staff.looked',
    staff: 'Staff: ended the freeze or suspension, and said whose the account is',
  },
  'staff.turn_client_off': { limit: 'staff.turn_client_on', staff: 'Staff: turned a client off' },
  'staff.turn_client_on': { limit: 'staff.set_client', staff: 'Staff: turned a client on' },
  'staff.undecide': { limit: 'staff.looked', staff: 'Staff: left a decision to the marketplace' },
  'staff.unverify': { limit: 'staff.looked', staff: 'Staff: decided that the account is not verified' },
  'staff.verify': { limit: 'staff.looked', staff: 'Staff: verified the account' },
  'staff.withdraw_invitation': { limit: 'staff.invite', staff: 'Staff: withdrew an invitation to the staff' },
  'user.created': {
    limit: 'links of mails, and commands',
    person: {
      sign_up: 'Signed up',
      invitation: 'Accepted an invitation to the staff',
      any: 'We created the account',
    },
  },
  'user.deletion_canceled': {
    limit: 'user.deletion_requested',
    person: 'Deletion of the account was canceled',
  },
  'user.deletion_requested': {
    limit: { times: 5, seconds: day },
    person: 'Deletion of the account was requested',
  },
  'user.erased': { limit: 'time, and commands', staff: 'The account was deleted for good' },
  'user.resumed': { limit: 'commands', person: 'We ended the suspension of the account' },
  'user.suspended': { limit: 'commands', person: 'We suspended the account' },
  'vat_id.checked': {
    limit: 'changes of the VAT ID, and time',
    person: 'The VAT ID was compared with the EU’s register',
  },
  'verification.decided': {
    limit: 'commands',
    person: {
      yes: 'We decided that the account is verified',
      no: 'We decided that the account is not verified',
      any: 'The marketplace decides again whether the account is verified',
    },
  },
} satisfies Record<string, EventType>;

export type AuditEventType = keyof typeof auditEventTypes;

/** Returns undefined for a type of a later version. */
export const findEventType = (type: string): EventType | undefined =>
  Object.hasOwn(auditEventTypes, type) ? auditEventTypes[type as AuditEventType] : undefined;
