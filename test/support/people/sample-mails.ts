// Every kind of mail, with facts as a row might have them, and what a mail looks like.
import type { DocumentMailKind, MailKind } from '../../../db/tables/mail-kinds.ts';
import type { Told } from '../../../db/tables/take-back-changes.ts';
import { type BillingWords, billingMails } from '../../../server/mail/billing-words.ts';
import type { MailMessage } from '../../../server/mail/layout.ts';
import { letters } from '../../../server/mail/letters.ts';
import { buildNotice, buildRest } from '../../../server/mail/notices.ts';
import { buildAccent } from '../../../server/settings/accent.ts';

export const baseUrl = 'https://id.example.test';
export const notice = {
  timeZone: null,
  baseUrl,
  at: '2026-01-02T03:04:05.000Z',
  device: 'Firefox on Linux',
  hasSupport: true,
};
export const words = { link: `${baseUrl}/a?token=t&next=%2Fb`, life: '1 hour', name: 'Château & <Söhne>' };
const manager = { id: '0198c1d2-0000-7000-8000-000000000001', name: 'manager@example.test' };
const admin = 'admin@example.test';
const longAddress = `${'l'.repeat(64)}@${'d'.repeat(63)}.${'e'.repeat(63)}.example.test`;
const takeBack = { link: `${baseUrl}/take-back?token=t`, until: '2026-01-09T03:04:05.000Z' };
export const supportUrl = 'mailto:help%2Bid@example.test?subject=Login';
export const style = { name: words.name, accent: buildAccent('#14594a'), baseUrl, supportUrl };

export const money: BillingWords = {
  baseUrl,
  hasLogin: true,
  setPassword: undefined,
  seller: 'Blumen & <Söhne>',
  sellerEmail: 'billing@example.test',
  bank: { recipient: 'Blumen & <Söhne>', iban: 'DE89 3704 0044 0532 0130 00', bic: 'COBADEFFXXX' },
  number: 'INV-2026-0001',
  invoice: 'INV-2026-0001',
  replaces: undefined,
  corrects: undefined,
  isVoid: false,
  plan: 'Starter & <more>',
  period: '1 January 2026 to 31 January 2026',
  total: 'EUR 34.51',
  open: 'EUR 34.51',
  due: '14 January 2026',
  received: 'EUR 10.00',
  pays: undefined,
  lastDay: '31 January 2026',
  isBySupport: false,
  hasSupport: true,
  price: 'EUR 29.00 a month',
  goOn: undefined,
  pdf: 'attached',
};
const paid = { ...money, open: undefined };
const bySupport = { ...money, isBySupport: true };

const ordered = { plan: 'Starter', seller: 'Blumen & <Söhne>', products: 'Flower CRM' };
const setPassword = { url: `${baseUrl}/set-password?token=t`, life: '7 days' };
const unproved = { ...money, pdf: 'unverified' as const, setPassword };
const inAccounts = { ...money, hasLogin: false };

type BillingSpecial =
  | 'invoice_issued again'
  | `${DocumentMailKind} to somebody without a password`
  | 'invoice_issued to somebody without a password, with its PDF'
  | 'invoice_issued to somebody without a password, without its PDF'
  | 'invoice_issued for a long plan'
  | 'invoice_issued to an accounts department'
  | 'invoice_issued to an accounts department, without its PDF'
  | 'trial_ends with a link'
  | 'trial_ends to an accounts department'
  | 'contract_cancel_asked to an accounts department'
  | 'contract_kept to an accounts department'
  | 'invoice_issued that is paid'
  | 'invoice_issued without its PDF'
  | 'payment_received of all'
  | 'contract_cancel_asked at once'
  | 'contract_cancel_asked by staff'
  | 'contract_cancel_asked by staff at once';

type Special =
  | `${Told | 'rest'} with a take-back link`
  | 'rest'
  | 'deletion_canceled by support'
  | 'welcome without facts'
  | 'contract_added without facts'
  | 'role_changed without facts'
  | 'person_frozen of a long address'
  | 'rights_decided of the verification'
  | 'rights_decided without facts'
  | `invoice_email_changed: ${'given' | 'proved' | 'kept' | 'removed'}`;

export const messages: Record<MailKind | Special | BillingSpecial, MailMessage> = {
  welcome: letters.welcome.build({ ...words, ordered }),
  'welcome without facts': letters.welcome.build(words),
  set_password: letters.set_password.build(words),
  prove_address: letters.prove_address.build(words),
  verify_email: letters.verify_email.build(words),
  sign_up: letters.sign_up.build(words),
  account_exists: letters.account_exists.build(words),
  invitation: letters.invitation.build({ ...words, role: 'manager' }),
  change_email: letters.change_email.build(words),
  new_address: letters.new_address.build(words),
  stop_new_address: letters.stop_new_address.build(words),
  invoice_email: letters.invoice_email.build(words),
  account_frozen: buildNotice('account_frozen', notice),
  account_thawed: buildNotice('account_thawed', notice),
  authenticator_added: buildNotice('authenticator_added', notice),
  authenticator_removed: buildNotice('authenticator_removed', notice),
  codes_guessed: buildNotice('codes_guessed', notice),
  factors_removed: buildNotice('factors_removed', notice),
  invoice_email_changed: buildNotice('invoice_email_changed', notice),
  'invoice_email_changed: given': buildNotice('invoice_email_changed', { ...notice, what: 'given' }),
  'invoice_email_changed: proved': buildNotice('invoice_email_changed', { ...notice, what: 'proved' }),
  'invoice_email_changed: kept': buildNotice('invoice_email_changed', { ...notice, what: 'kept' }),
  'invoice_email_changed: removed': buildNotice('invoice_email_changed', { ...notice, what: 'removed' }),
  link_removed: buildNotice('link_removed', notice),
  recovery_code_used: buildNotice('recovery_code_used', notice),
  recovery_codes_made: buildNotice('recovery_codes_made', notice),
  rights_decided: buildNotice('rights_decided', { ...notice, what: 'sell_products', to: 'yes' }),
  'rights_decided of the verification': buildNotice('rights_decided', {
    ...notice,
    ...{ what: 'verification', to: 'no' },
  }),
  'rights_decided without facts': buildNotice('rights_decided', notice),
  role_changed: buildNotice('role_changed', { ...notice, was: 'manager', role: 'user' }),
  'role_changed without facts': buildNotice('role_changed', notice),
  sessions_ended: buildNotice('sessions_ended', notice),
  billing_details_changed: buildNotice('billing_details_changed', notice),
  bank_details_changed: buildNotice('bank_details_changed', { ...notice, countsAt: notice.at }),
  invitation_sent: buildNotice('invitation_sent', { ...notice, by: admin, role: 'manager' }),
  no_seller: buildNotice('no_seller', notice),
  client_changed: buildNotice('client_changed', { ...notice, by: admin, client: 'shop', what: 'add' }),
  invitation_taken: buildNotice('invitation_taken', { ...notice, who: manager, by: admin, role: 'admin' }),
  person_frozen: buildNotice('person_frozen', { ...notice, who: manager, by: admin }),
  'person_frozen of a long address': buildNotice('person_frozen', {
    ...notice,
    who: { ...manager, name: longAddress },
    by: longAddress,
  }),
  role_granted: buildNotice('role_granted', {
    ...notice,
    who: manager,
    by: admin,
    was: 'user',
    role: 'admin',
  }),
  billing_texts_changed: buildNotice('billing_texts_changed', { ...notice, by: admin, what: 'name payment' }),
  staff_limited: buildNotice('staff_limited', { ...notice, who: manager }),
  vat_ids_to_check: buildNotice('vat_ids_to_check', notice),
  account_deleted: buildNotice('account_deleted', notice),
  account_linked: buildNotice('account_linked', notice),
  account_resumed: buildNotice('account_resumed', notice),
  account_suspended: buildNotice('account_suspended', notice),
  contract_added: buildNotice('contract_added', { ...notice, ordered }),
  'contract_added without facts': buildNotice('contract_added', notice),
  data_downloaded: buildNotice('data_downloaded', notice),
  deletion_canceled: buildNotice('deletion_canceled', notice),
  'deletion_canceled by support': buildNotice('deletion_canceled', { ...notice, what: 'by_support' }),
  deletion_requested: buildNotice('deletion_requested', notice),
  email_change_undone: buildNotice('email_change_undone', notice),
  email_changed: buildNotice('email_changed', notice),
  email_proved: buildNotice('email_proved', notice),
  email_replaced: buildNotice('email_replaced', notice),
  new_browser: buildNotice('new_browser', notice),
  passkey_added: buildNotice('passkey_added', notice),
  passkey_removed: buildNotice('passkey_removed', notice),
  password_changed: buildNotice('password_changed', notice),
  password_set: buildNotice('password_set', notice),
  'passkey_added with a take-back link': buildNotice('passkey_added', { ...notice, takeBack }),
  'authenticator_added with a take-back link': buildNotice('authenticator_added', { ...notice, takeBack }),
  'recovery_codes_made with a take-back link': buildNotice('recovery_codes_made', { ...notice, takeBack }),
  'email_changed with a take-back link': buildNotice('email_changed', { ...notice, takeBack }),
  'deletion_requested with a take-back link': buildNotice('deletion_requested', { ...notice, takeBack }),
  invoice_issued: billingMails.invoice_issued(money),
  'invoice_issued that is paid': billingMails.invoice_issued(paid),
  'invoice_issued without its PDF': billingMails.invoice_issued({ ...money, pdf: 'unverified' }),
  'invoice_issued again': billingMails.invoice_issued({
    ...money,
    corrects: { invoice: 'INV-2025-0009', creditNote: 'CN-2026-0001', pdf: 'attached' },
  }),
  'invoice_issued for a long plan': billingMails.invoice_issued({ ...money, plan: 'x'.repeat(64) }),
  'invoice_issued to an accounts department': billingMails.invoice_issued(inAccounts),
  'invoice_issued to an accounts department, without its PDF': billingMails.invoice_issued({
    ...inAccounts,
    pdf: 'not_made',
  }),
  'invoice_issued to somebody without a password': billingMails.invoice_issued(unproved),
  'invoice_issued to somebody without a password, with its PDF': billingMails.invoice_issued({
    ...money,
    setPassword,
  }),
  'invoice_issued to somebody without a password, without its PDF': billingMails.invoice_issued({
    ...unproved,
    pdf: 'not_made',
  }),
  'invoice_reminder_1 to somebody without a password': billingMails.invoice_reminder_1(unproved),
  'invoice_reminder_2 to somebody without a password': billingMails.invoice_reminder_2(unproved),
  'payment_received to somebody without a password': billingMails.payment_received(unproved),
  'credit_note_issued to somebody without a password': billingMails.credit_note_issued(unproved),
  invoice_reminder_1: billingMails.invoice_reminder_1(money),
  invoice_reminder_2: billingMails.invoice_reminder_2(money),
  payment_received: billingMails.payment_received(money),
  'payment_received of all': billingMails.payment_received({ ...paid, pays: 'EUR 9.00' }),
  credit_note_issued: billingMails.credit_note_issued({ ...money, number: 'CN-2026-0001' }),
  trial_ends: billingMails.trial_ends(money),
  'trial_ends with a link': billingMails.trial_ends({ ...money, goOn: 'https://shop.example.test/starter' }),
  'trial_ends to an accounts department': billingMails.trial_ends(inAccounts),
  contract_cancel_asked: billingMails.contract_cancel_asked(money),
  'contract_cancel_asked to an accounts department': billingMails.contract_cancel_asked(inAccounts),
  'contract_cancel_asked at once': billingMails.contract_cancel_asked({ ...money, lastDay: undefined }),
  'contract_cancel_asked by staff': billingMails.contract_cancel_asked(bySupport),
  'contract_cancel_asked by staff at once': billingMails.contract_cancel_asked({
    ...bySupport,
    lastDay: undefined,
  }),
  contract_kept: billingMails.contract_kept(money),
  'contract_kept to an accounts department': billingMails.contract_kept(inAccounts),
  rest: buildRest(notice),
  'rest with a take-back link': buildRest({ ...notice, takeBack }),
};
