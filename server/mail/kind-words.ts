// What the pages of staff call each kind of mail (contract 12.120).
import type { MailKind } from '../../db/tables/mail-kinds.ts';

export const mailWords: Record<MailKind, string> = {
  welcome: 'Welcome, with a link to set a password',
  set_password: 'Link to set a new password',
  prove_address: 'Link to verify the address and set a password',
  verify_email: 'Link to verify the address',
  sign_up: 'Link to create an account',
  invitation: 'Link to take an invitation to the staff',
  account_exists: 'Sign-up of somebody who has an account',
  change_email: 'Link to confirm a new address',
  new_address: 'Link to confirm a new address, from staff',
  stop_new_address: 'Warning of a new address, from staff',
  invoice_email: 'Link to confirm an address for invoices',

  account_deleted: 'Account deleted',
  account_frozen: 'Account frozen',
  account_linked: 'Marketplace account connected',
  account_resumed: 'Suspension ended',
  account_suspended: 'Account suspended',
  account_thawed: 'Freeze ended',
  authenticator_added: 'Authenticator app added',
  authenticator_removed: 'Authenticator app removed',
  bank_details_changed: 'Bank account or a link changed',
  billing_texts_changed: 'Texts on invoices changed',
  client_changed: 'Warning that a client was changed',
  codes_guessed: 'Wrong codes entered',
  contract_added: 'Contract added',
  data_downloaded: 'Data downloaded',
  deletion_canceled: 'Deletion canceled',
  deletion_requested: 'Deletion planned',
  email_change_undone: 'Change of address undone',
  email_changed: 'Address changed',
  email_proved: 'Address verified',
  email_replaced: 'Address changed by the marketplace',
  factors_removed: 'Second factor removed',
  billing_details_changed: 'Billing details changed',
  invoice_email_changed: 'Address for invoices changed',
  invitation_sent: 'Warning that somebody was invited to the staff',
  invitation_taken: 'Warning that somebody took an invitation to the staff',
  no_seller: 'Warning that invoices wait for a seller',
  link_removed: 'Marketplace account disconnected',
  new_browser: 'Login in a new browser',
  passkey_added: 'Passkey added',
  passkey_removed: 'Passkey removed',
  password_changed: 'Password changed',
  password_set: 'Password set',
  recovery_code_used: 'Recovery code used',
  recovery_codes_made: 'New recovery codes',
  rights_decided: 'What the account may do changed',
  role_changed: 'Role changed',
  person_frozen: 'Warning that somebody was frozen',
  role_granted: 'Warning that somebody was given a staff role',
  sessions_ended: 'Logged out everywhere',
  vat_ids_to_check: 'VAT IDs to check',
  staff_limited: 'Warning that staff looked at very many people',

  invoice_issued: 'Invoice',
  invoice_reminder_1: 'First reminder of an invoice',
  invoice_reminder_2: 'Second reminder of an invoice',
  payment_received: 'Payment received',
  credit_note_issued: 'Credit note',
  trial_ends: 'Trial ends soon',
  contract_cancel_asked: 'Contract canceled',
  contract_kept: 'Contract goes on',
};

/** If only a newer version knows the kind, the page shows the kind as the database has it. */
export const sayMailKind = (kind: string): string =>
  Object.hasOwn(mailWords, kind) ? mailWords[kind as MailKind] : kind;

export const listMailKinds = (): { kind: string; words: string }[] =>
  Object.entries(mailWords)
    .map(([kind, words]) => ({ kind, words }))
    .sort((one, other) => one.words.localeCompare(other.words, 'en'));
