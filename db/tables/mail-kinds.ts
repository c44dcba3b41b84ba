// Every mail that there is, as `mails.kind` has it. Their words are in server/mail/.

/** Mails to administrators about what somebody of the staff, or an operator, did. */
export const warningKinds = [
  /** The seller's bank account or link to pay. */
  'bank_details_changed',
  /** What documents print of what administrators typed. */
  'billing_texts_changed',
  'person_frozen',
  'role_granted',
  'staff_limited',
] as const;

export type WarningKind = (typeof warningKinds)[number];

/** Mails that say what happened to an account. */
export const noticeKinds = [
  'account_deleted',
  'account_frozen',
  'account_linked',
  'account_resumed',
  'account_suspended',
  'account_thawed',
  'authenticator_added',
  'authenticator_removed',
  'codes_guessed',
  'contract_added',
  'data_downloaded',
  'deletion_canceled',
  'deletion_requested',
  'email_change_undone',
  'email_changed',
  'email_proved',
  'email_replaced',
  'factors_removed',
  /** To everybody of an account. */
  'invoice_email_changed',
  'link_removed',
  'new_browser',
  'passkey_added',
  'passkey_removed',
  'password_changed',
  'password_set',
  'recovery_code_used',
  'recovery_codes_made',
  'rights_decided',
  'role_changed',
  'sessions_ended',
  ...warningKinds,
] as const;

export type NoticeKind = (typeof noticeKinds)[number];

/** Mails with a link. */
export const letterKinds = [
  'welcome',
  'set_password',
  'prove_address',
  'verify_email',
  'sign_up',
  'account_exists',
  'change_email',
  'new_address',
  'stop_new_address',
  'invoice_email',
] as const;

export type LetterKind = (typeof letterKinds)[number];

/** Mails about documents and money (server/billing/invoices/mails.ts). */
const documentMailKinds = [
  'invoice_issued',
  'invoice_reminder_1',
  'invoice_reminder_2',
  'payment_received',
  'credit_note_issued',
] as const;

/** Mails about contracts and trials. */
const contractMailKinds = ['trial_ends', 'contract_cancel_asked', 'contract_kept'] as const;

export type DocumentMailKind = (typeof documentMailKinds)[number];
export type ContractMailKind = (typeof contractMailKinds)[number];

/** A new one has to be added to the triggers of `mails` and `restores`, by a migration: they hold it while billing waits. */
export const billingMailKinds = [...documentMailKinds, ...contractMailKinds] as const;

export type BillingMailKind = (typeof billingMailKinds)[number];

export const isAboutContract = (kind: BillingMailKind): kind is ContractMailKind =>
  (contractMailKinds as readonly string[]).includes(kind);

export type MailKind = LetterKind | NoticeKind | BillingMailKind;

export const mailKinds: readonly MailKind[] = [...letterKinds, ...noticeKinds, ...billingMailKinds];
