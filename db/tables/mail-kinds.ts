// The kinds of mails, as in `mails.kind`. Their texts are in server/mail/.

type Traits = {
  /** A letter has a link. A notice says what happened to an account. A warning tells administrators what a staff member did. */
  is: 'letter' | 'notice' | 'warning' | 'document' | 'contract';
  /** Somebody waits for the mail. `isAwaited` and `isCaused` decide the lane of the mail (`Lane` in mails.ts). */
  isAwaited?: true;
  /** Anybody can cause the mail by typing an email address. */
  isCaused?: true;
  /** The mail goes to an address that somebody has typed but nobody has proved. */
  isToTyped?: true;
  /**
   * A new password or address makes an unsent mail void. Mails with a take-back link are sent anyway, because the user may need
   * the link.
   */
  isVoidable?: true;
  /** The mail is about what somebody did in the account, so it goes to the person and not to the address for invoices. */
  isToPerson?: true;
};

const notice = { is: 'notice' } as const;
const warning = { is: 'warning' } as const;
const document = { is: 'document' } as const;

const mails = {
  welcome: { is: 'letter', isVoidable: true },
  set_password: { is: 'letter', isAwaited: true, isVoidable: true },
  prove_address: { is: 'letter', isAwaited: true, isVoidable: true },
  verify_email: { is: 'letter', isAwaited: true, isVoidable: true },
  sign_up: { is: 'letter', isAwaited: true, isCaused: true, isToTyped: true, isVoidable: true },
  invitation: { is: 'letter', isToTyped: true, isVoidable: true },
  account_exists: { is: 'letter', isAwaited: true, isCaused: true },
  change_email: { is: 'letter', isAwaited: true, isToTyped: true, isVoidable: true },
  new_address: { is: 'letter', isToTyped: true, isVoidable: true },
  stop_new_address: { is: 'letter', isVoidable: true },
  invoice_email: { is: 'letter', isCaused: true, isToTyped: true },

  account_deleted: notice,
  account_frozen: notice,
  account_linked: notice,
  account_resumed: notice,
  account_suspended: notice,
  account_thawed: notice,
  authenticator_added: notice,
  authenticator_removed: notice,
  /** This notice goes to everybody in an account. */
  billing_details_changed: notice,
  codes_guessed: notice,
  contract_added: notice,
  data_downloaded: notice,
  deletion_canceled: notice,
  deletion_requested: notice,
  email_change_undone: notice,
  email_changed: notice,
  email_proved: notice,
  email_replaced: notice,
  factors_removed: notice,
  /** This notice goes to everybody in an account. */
  invoice_email_changed: notice,
  link_removed: notice,
  new_browser: notice,
  passkey_added: notice,
  passkey_removed: notice,
  password_changed: notice,
  password_set: notice,
  recovery_code_used: notice,
  recovery_codes_made: notice,
  rights_decided: notice,
  role_changed: notice,
  sessions_ended: notice,
  /** This notice goes to administrators. */
  vat_ids_to_check: notice,

  bank_details_changed: warning,
  billing_texts_changed: warning,
  client_changed: warning,
  invitation_sent: warning,
  invitation_taken: warning,
  no_seller: warning,
  person_frozen: warning,
  role_granted: warning,
  staff_limited: warning,

  // If you add a kind of document mail or contract mail, add a migration too. Triggers of `mails` and `restores` put these kinds
  // on hold while billing waits.
  invoice_issued: document,
  invoice_reminder_1: document,
  invoice_reminder_2: document,
  payment_received: document,
  credit_note_issued: document,
  trial_ends: { is: 'contract' },
  contract_cancel_asked: { is: 'contract', isToPerson: true },
  contract_kept: { is: 'contract', isToPerson: true },
} as const satisfies Record<string, Traits>;

type Mails = typeof mails;
export type MailKind = keyof Mails;
type KindOf<Group extends Traits['is']> = {
  [Kind in MailKind]: Mails[Kind]['is'] extends Group ? Kind : never;
}[MailKind];

export type LetterKind = KindOf<'letter'>;
export type WarningKind = KindOf<'warning'>;
export type NoticeKind = KindOf<'notice' | 'warning'>;
export type DocumentMailKind = KindOf<'document'>;
export type ContractMailKind = KindOf<'contract'>;
export type BillingMailKind = DocumentMailKind | ContractMailKind;

export const mailKinds = Object.keys(mails) as MailKind[];

export const kindsThat = (have: (traits: Traits) => unknown): MailKind[] =>
  mailKinds.filter((kind) => have(mails[kind]));

/** Returns undefined for a kind that only a newer version knows. */
const groupOf = (kind: string) => (mails as Record<string, Traits>)[kind]?.is;
export const isLetter = (kind: MailKind): kind is LetterKind => groupOf(kind) === 'letter';
export const isAboutContract = (kind: MailKind): kind is ContractMailKind => groupOf(kind) === 'contract';
export const isAboutBilling = (kind: MailKind): kind is BillingMailKind =>
  groupOf(kind) === 'document' || isAboutContract(kind);

export const billingMailKinds = mailKinds.filter(isAboutBilling);
