// Emails that tell people what happened to their account. They contain no word that somebody could have typed.

import type { NoticeKind } from '../../db/tables/mail-kinds.ts';
import type { PrintedText } from '../billing/settings/set-settings.ts';
import { dueAfter } from '../identity/person/deletion.ts';
import type { MailMessage } from './layout.ts';
import { sayRole } from './letters.ts';

/** Without `advice` and `action`, the usual ones apply. */
type Notice = {
  subject: string;
  text: string;
  advice?: string;
  action?: { label: string; path: string };
  why?: string;
};

const usual = {
  advice:
    'If this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account.',
  action: { label: 'Set a new password', path: '/forgot-password' },
};

const isOrWas = 'You received this email because this is, or was, the email address of an account.';

/** `until` is an ISO instant. */
export type TakeBackLink = { link: string; until: string };

const takeBackLabel = 'Take your account back';

const takeBackAdvice = (until: string, added = 'since then') =>
  `If this was you, you do not need to do anything. If it was not, use the link to take your account back. You will set a new password, and we will log everyone else out. We will also remove passkeys, authenticator apps and recovery codes added ${added}, and cancel any request to delete the account. You may be asked for a passkey or a code that you had before. The link works once, in any browser, until ${sayInstant(new Date(until))}.`;

export const askSupport = (hasSupport: boolean) =>
  hasSupport ? 'contact support' : 'contact the people who run this service';

// `dueAt`: when the account is deleted if its owner asked for that at the time of the mail. `who`: the person that a warning to
// administrators is about. `countsAt`: when the change takes effect. `role`: the new role of `who`. `what`: the changed texts.
// `invited`: the address that an invitation went to.
type Words = {
  dueAt: Date;
  hasSupport: boolean;
  who: { id: string; name: string };
  countsAt: Date;
  role: string | undefined;
  what: string;
  invited: string;
};

const printedTexts: Record<PrintedText, string> = {
  name: 'the seller’s name',
  address: 'the seller’s address',
  contact: 'the seller’s email address or tax numbers',
  foot: 'the foot',
  plans: 'what plans are called',
  payment: 'the payment instructions',
  tax: 'the words about tax',
};

const sayTexts = (names: string): string =>
  names
    .split(' ')
    .flatMap((name) => printedTexts[name as PrintedText] ?? [])
    .join(', ');

const instant = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

const sayInstant = (at: Date) => `${instant.format(at)} UTC`;

const whyAdministrator = 'You received this email because you are an administrator.';

const buildNotices = ({
  dueAt,
  hasSupport,
  who,
  countsAt,
  role,
  what,
  invited,
}: Words): Record<NoticeKind, Notice> => ({
  account_frozen: {
    subject: 'Your account is frozen',
    text: 'Your account was frozen, with the link in one of our emails or by our support team, because someone else may have got in. Nobody can log in to it until our support team knows who its owner is. Nothing else has changed.',
    advice: `To get your account back, ${askSupport(hasSupport)}.`,
    action: { label: 'Go to the login page', path: '/login' },
    why: isOrWas,
  },
  account_thawed: {
    subject: 'Your account is no longer frozen',
    text: 'Our support team has unfrozen your account. Its owner can log in again. If we also sent you a link to set a new password, the account is under your address: use that link, because the old password does not work any more.',
    advice: `If you are the owner and cannot log in, ${askSupport(hasSupport)}.`,
    action: { label: 'Log in', path: '/login' },
    why: isOrWas,
  },
  account_deleted: {
    subject: 'Your account has been deleted',
    text: 'Your account has been deleted. Contracts that were still running have been canceled. We keep invoices because the law requires it.',
    advice: 'You can use this email address for a new account at any time.',
    action: { label: 'Go to the login page', path: '/login' },
    why: 'You received this email because this was the email address of your account.',
  },
  account_linked: {
    subject: 'Your marketplace account is connected',
    text: 'A marketplace account has been connected to your account. You can now log in from the marketplace.',
  },
  account_resumed: {
    subject: 'Your account is no longer suspended',
    text: 'Our support team has ended the suspension of your account. You can log in again.',
    advice: `If you have a question about this, ${askSupport(hasSupport)}.`,
    action: { label: 'Log in', path: '/login' },
  },
  account_suspended: {
    subject: 'Your account is suspended',
    text: 'Our support team has suspended your account. You cannot log in while it is suspended. All browsers have been logged out.',
    advice: `If you have a question about this, ${askSupport(hasSupport)}.`,
    action: { label: 'Go to the login page', path: '/login' },
  },
  authenticator_added: {
    subject: 'An authenticator app has been added to your account',
    text: 'From now on, logging in with your password also needs a code from the app. All other browsers have been logged out.',
  },
  authenticator_removed: {
    subject: 'The authenticator app has been removed from your account',
    text: 'The authenticator app for your account has been turned off. From now on, your password is enough to log in.',
  },
  bank_details_changed: {
    subject: 'How customers pay you has been changed',
    text: `The bank account or the payment link on your invoices has been changed. The change counts from ${sayInstant(countsAt)}. Until then invoices keep the bank account and the link from before.`,
    advice:
      'Check the change with whoever made it, by phone or in person. If it is not right, stop it on the page before it counts: every administrator can.',
    action: { label: 'See or stop the change', path: '/admin/billing/settings' },
    why: whyAdministrator,
  },
  billing_texts_changed: {
    subject: 'What your invoices say has been changed',
    text: `Texts on your invoices have been changed: ${what}. The change counts already.`,
    advice:
      'Check by phone or in person that this is right: a text can ask customers to pay somewhere else. If it is not right, put it back on the page, and see in the audit what else was done.',
    action: { label: 'See the settings', path: '/admin/billing/settings' },
    why: whyAdministrator,
  },
  codes_guessed: {
    subject: 'Wrong codes were entered for your account',
    text: 'Someone entered several wrong codes after the right password for your account, or with a link in one of our emails that takes your account back or gives it another email address. They are not logged in.',
    advice:
      'If this was you, you do not need to do anything. If it was not, set a new password: this logs everyone else out. Then check Security in your account. Anyone with a link that takes your account back can read email sent to an address that your account has, or had in the last 7 days; anyone with a link that gives your account another email address can read email sent to the address that our support team was told. They cannot get in without one of your codes or passkeys.',
  },
  contract_added: {
    subject: 'A contract has been added to your account',
    text: 'A service contract has been added to your account.',
    advice: 'You can see it under Billing.',
    action: { label: 'See the contract', path: '/profile/billing' },
  },
  data_downloaded: {
    subject: 'Your data has been downloaded',
    text: 'A copy of everything that we keep about you has been downloaded from your account.',
  },
  deletion_canceled: {
    subject: 'Your account will not be deleted',
    text: 'The deletion that was planned for your account has been canceled. Your account stays as it is.',
  },
  deletion_requested: {
    subject: 'Your account will be deleted in 14 days',
    text: `We received a request to delete your account. We will delete it on ${sayInstant(dueAt)}. Until then you cannot open our products.`,
    action: { label: 'Keep your account', path: '/profile/delete' },
    advice:
      'To keep your account, log in and choose “Keep your account”. If you did not ask for this, also set a new password: this logs everyone else out.',
  },
  email_change_undone: {
    subject: 'Your change of email address has been undone',
    text: 'Your account has its previous email address again. Either the link in the email that we sent there was used, or our support team found out who the owner is. All other browsers have been logged out.',
    action: { label: 'Log in', path: '/login' },
    advice: `The account no longer uses this address.${hasSupport ? ' If this was not you, contact support.' : ''}`,
  },
  email_changed: {
    subject: 'Your email address has changed',
    text: 'Your account now has another email address. You can no longer log in with this one.',
    why: 'You received this email because this was the email address of your account.',
  },
  email_proved: {
    subject: 'Your email address is verified',
    text: 'Your email address has been verified. You can now open our other products.',
  },
  email_replaced: {
    subject: 'Your email address has changed',
    text: 'The marketplace has sent us a new email address for your account. It replaces this one.',
    advice: `If this was you, you do not need to do anything. If it was not, change it back at the marketplace${hasSupport ? ', or contact support' : ''}.`,
    action: { label: 'Go to the login page', path: '/login' },
    why: 'You received this email because this was the email address of your account.',
  },
  factors_removed: {
    subject: 'Your second factor has been removed',
    text: 'Our support team has removed the authenticator app, recovery codes and passkeys from your account. All browsers have been logged out. Your password no longer works. Set a new one with the link in our next email, then set up a second factor again.',
    advice: `If you did not ask for this, set a new password now${hasSupport ? ', and contact support' : ''}.`,
  },
  invoice_email_changed: {
    subject: 'Your invoices go to another email address',
    text: 'The email address for invoices of your account has been added, confirmed, changed or removed. You can see under Billing where your invoices go.',
    advice:
      'If this was you, or somebody else who belongs to the account, you do not need to do anything. If it was not, set a new password: this logs everyone else out, and removes an address for invoices that was added in the last 30 days, or that came with an order and that nobody has kept. Then check Security and Billing in your account.',
  },
  invitation_sent: {
    subject: 'Someone has been invited to the staff',
    text: `${invited} has been invited to be ${sayRole(role)}. The link in the email works for 24 hours.`,
    advice:
      'Check by phone or in person that this is right. If it is not, withdraw the invitation, and see in the audit what else was done.',
    action: { label: 'See or withdraw invitations', path: '/admin/invitations' },
    why: whyAdministrator,
  },
  invitation_taken: {
    subject: 'Someone has taken an invitation to the staff',
    text: `${who.name} has created an account with an invitation to be ${sayRole(role)}. They get the role when they have set up a second factor.`,
    advice:
      'Check by phone or in person that this is right. If it is not, withdraw the invitation, and see in the audit what else was done.',
    action: { label: 'See or withdraw invitations', path: '/admin/invitations' },
    why: whyAdministrator,
  },
  link_removed: {
    subject: 'Your marketplace account is no longer connected',
    text: 'Our support team has disconnected a marketplace account from your account. You can no longer log in from there.',
    advice: `If you did not ask for this, ${askSupport(hasSupport)}.`,
    action: { label: 'See connected accounts', path: '/profile/security' },
  },
  new_browser: {
    subject: 'New login to your account',
    text: 'There was a login to your account from a browser that you have not used before.',
  },
  passkey_added: {
    subject: 'A passkey has been added to your account',
    text: 'A passkey has been added to your account. Anyone who has it can log in without your password. A new password does not remove it: to remove it, go to Security, then Passkeys.',
  },
  passkey_removed: {
    subject: 'A passkey has been removed from your account',
    text: 'A passkey has been removed from your account. It can no longer be used to log in.',
  },
  password_changed: {
    subject: 'Your password has changed',
    text: 'The password for your account has been changed. All other browsers have been logged out.',
  },
  password_set: {
    subject: 'Your password has been set',
    text: 'A password for your account has been set with a link that we emailed to you. All other browsers have been logged out.',
  },
  recovery_code_used: {
    subject: 'A recovery code for your account was used',
    text: 'A recovery code was used to log in to your account after the password, or to take it back with the link in one of our emails. That code will not work again.',
  },
  recovery_codes_made: {
    subject: 'You have new recovery codes',
    text: 'New recovery codes have been made for your account. The old ones no longer work.',
  },
  rights_decided: {
    subject: 'What your account may do has changed',
    text: 'Our support team has decided what your account may do. Your profile shows it.',
    advice: `If you have a question about this, ${askSupport(hasSupport)}.`,
    action: { label: 'Go to your profile', path: '/profile' },
  },
  role_changed: {
    subject: 'Your role has changed',
    text: 'Our support team has changed the role of your account. All browsers have been logged out.',
    advice: `If you did not expect this, ${askSupport(hasSupport)}.`,
    action: { label: 'Log in', path: '/login' },
  },
  person_frozen: {
    subject: 'An account has been frozen',
    text: `The account of ${who.name} has been frozen. Nobody can log in to it until an administrator ends the freeze.`,
    advice:
      'Check by phone or in person that this is right. If it is not, end the freeze on the page of the person, and see in the audit what else was done.',
    action: { label: 'See the person', path: `/admin/people/${who.id}` },
    why: whyAdministrator,
  },
  role_granted: {
    subject: 'Someone has been given a staff role',
    text: `${who.name} is now ${sayRole(role)}.`,
    advice:
      'Check by phone or in person that this is right. If it is not, take the role away on the page of the person, and see in the audit what else was done.',
    action: { label: 'See the person', path: `/admin/people/${who.id}` },
    why: whyAdministrator,
  },
  sessions_ended: {
    subject: 'You have been logged out everywhere',
    text: 'Our support team has logged your account out in all browsers.',
    advice: `You can log in again. If you did not ask for this, ${askSupport(hasSupport)}.`,
    action: { label: 'Log in', path: '/login' },
  },
  staff_limited: {
    subject: 'Someone on your team has looked at very many people',
    text: `${who.name} has searched for, or looked at, more people within an hour than we allow. Further looks are refused for a while. Someone else may be using their session.`,
    advice: 'Ask them. If it was not them, end their sessions, and see in the audit what was looked at.',
    action: { label: 'See the audit', path: '/admin/audit' },
    why: whyAdministrator,
  },
});

const where =
  'If this is still the email address of your account, log in and go to Activity to see everything that happened.';

/** The mail about notices that were held back (contract 9.133). `at` is the time of the first of them. */
export function buildRest({
  baseUrl,
  at,
  takeBack,
}: {
  baseUrl: string;
  at: string;
  takeBack?: TakeBackLink | undefined;
}): MailMessage {
  const subject = 'More activity in your account';
  const text =
    'So much has happened in your account that we no longer email you about each change. This email is about everything since the time below.';
  const facts: MailMessage['facts'] = [['Since', sayInstant(new Date(at))]];
  if (takeBack) {
    const advice = `Some of these changes could let someone else in. ${takeBackAdvice(takeBack.until, 'by these changes')}`;
    const action = { label: takeBackLabel, url: takeBack.link };
    return { subject, paragraphs: [text, advice, where], facts, action, why: isOrWas };
  }
  const advice =
    'If it was not you, choose “Forgot your password” on the login page and set a new one: this logs everyone else out. Then check Security in your account.';
  const action = { label: 'See what has happened', url: `${baseUrl}/profile/activity` };
  return { subject, paragraphs: [text, where, advice], facts, action, why: isOrWas };
}

export function buildNotice(
  kind: NoticeKind,
  {
    baseUrl,
    at,
    device,
    hasSupport,
    who,
    by,
    countsAt,
    role,
    what,
    invited,
    takeBack,
  }: {
    baseUrl: string;
    at: string;
    device: string | undefined;
    hasSupport: boolean;
    who?: Words['who'] | undefined;
    /** The address of the administrator who did it, or words for a command. */
    by?: string | undefined;
    countsAt?: string | undefined;
    role?: string | undefined;
    what?: string | undefined;
    invited?: string | undefined;
    takeBack?: TakeBackLink | undefined;
  },
): MailMessage {
  const words = {
    dueAt: dueAfter(new Date(at)),
    hasSupport,
    who: who ?? { id: '', name: '' },
    countsAt: new Date(countsAt ?? at),
    role,
    what: sayTexts(what ?? ''),
    invited: invited ?? 'Somebody whose invitation is over',
  };
  const notice = buildNotices(words)[kind];
  const { subject, text, advice, action, why } = { why: undefined, ...usual, ...notice };
  const facts: MailMessage['facts'] = [
    ['When', sayInstant(new Date(at))],
    ...(device ? [['Browser', device] as [string, string]] : []),
    ...(by ? [['Done by', by] as [string, string]] : []),
  ];
  if (takeBack) {
    const link = { label: takeBackLabel, url: takeBack.link };
    return { subject, paragraphs: [text, takeBackAdvice(takeBack.until)], facts, action: link, why };
  }
  const link = { label: action.label, url: `${baseUrl}${action.path}` };
  return { subject, paragraphs: [text, advice], facts, action: link, why };
}
