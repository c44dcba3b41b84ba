// The words of emails that tell people what happened to their account. None of these words can be one that somebody typed.
import type { NoticeKind } from '../../db/tables/mail-kinds.ts';
import type { PrintedText } from '../billing/settings/set-settings.ts';
import type { Capability } from '../identity/ground/capabilities.ts';

/** Without `advice`, the mail asks whether the reader made the change, and says what to do if they did not. */
type Notice = {
  subject: string;
  text: string;
  /** What the reader has to do or to know now. */
  advice?: string;
  /** `isQuiet` means that most readers need not press the button. */
  action?: { label: string; path: string; isQuiet?: true };
  why?: string;
  /**
   * Words for a change that the reader may not have made. `done` replaces the usual words for readers who made it. `lines` say
   * what “This wasn’t me” does.
   */
  doubt?: { done?: string; lines?: string[] };
};

export const isOrWas = 'You received this email because this is, or was, the email address of an account.';

export const passwordLines = (last: string) => [
  'Enter your email address, and we send you a link to set a new password.',
  'The new password logs everyone else out.',
  last,
];

export const usualLines = passwordLines('Then check Security in your account.');

export const askSupport = (hasSupport: boolean) =>
  hasSupport ? 'contact support' : 'contact the people who run this service';

/** What the added contract is for. Each member is undefined if the settings do not name it. */
export type Ordered = {
  plan?: string | undefined;
  seller?: string | undefined;
  products?: string | undefined;
};

// `dueAt` is when the account will be deleted, if its owner had asked for that by the time of the mail.
// `who` is the person that a warning to administrators is about.
// `countsAt` is when the change takes effect.
// `was` and `role` are the roles before and after the change.
// `what` names the changed texts, the changed rights, or what was done to a client or to the address for invoices. It is
// `by_support` if staff or an operator planned or canceled a deletion.
// `to` says yes or no for each of the changed rights.
export type Words = {
  dueAt: string;
  hasSupport: boolean;
  who: { id: string; name: string };
  countsAt: string;
  was: string | undefined;
  role: string | undefined;
  what: string | undefined;
  to: string | undefined;
  /** The address that an invitation went to. Undefined if the invitation has ended. */
  invited: string | undefined;
  ordered: Ordered;
  client: string | undefined;
};

const printedTexts: Record<PrintedText, string> = {
  name: 'the seller’s name',
  address: 'the seller’s address',
  contact: 'the seller’s email address or tax numbers',
  foot: 'the footer',
  plans: 'what plans are called',
  payment: 'the payment instructions',
  tax: 'the words about tax',
};

const sayTexts = (names = ''): string =>
  names
    .split(' ')
    .flatMap((name) => printedTexts[name as PrintedText] ?? [])
    .join(', ');

const roles = new Map([
  ['user', 'customer'],
  ['manager', 'manager'],
  ['admin', 'administrator'],
]);

export const sayRole = (role: string | undefined) => (role === 'admin' ? 'an administrator' : 'a manager');

/** An unsent mail may be from version 0.6.0, which did not store the roles. */
function sayRoles(was = '', role = ''): string {
  const [before, after] = [roles.get(was), roles.get(role)];
  return before && after ? ` from ${before} to ${after}` : '';
}

const deeds: Record<Capability, string> = {
  manage_storefront: 'manage a storefront',
  sell_media_inventory: 'sell media inventory',
  sell_products: 'sell products',
  sell_services: 'sell services',
};

/** An unsent mail may be from version 0.6.0, which did not store which rights were changed. */
function sayRights(whats = '', tos = ''): string {
  const answers = tos.split(' ');
  const sentences = whats.split(' ').flatMap((what, n) => sayRight(what, answers[n] === 'yes') ?? []);
  return sentences.join(' ') || 'Our support team has decided what your account may do.';
}

function sayRight(what: string, isYes: boolean): string | undefined {
  if (what === 'verification')
    return isYes
      ? 'Our support team has verified your account. It was not verified before.'
      : 'Our support team has decided that your account is no longer verified. It was verified before.';
  const deed = Object.hasOwn(deeds, what) && deeds[what as Capability];
  if (!deed) return undefined;
  return isYes
    ? `Our support team has given your account the right to ${deed}. It did not have this right before.`
    : `Our support team has taken from your account the right to ${deed}. It had this right before.`;
}

export const sayWhoOrdered = ({ plan, seller }: Ordered): string =>
  `Someone ordered ${plan ? `the plan ${plan} ` : ''}${seller ? `from ${seller} ` : ''}with this email address, or asked for a trial.`;

export const listOrdered = ({ plan, seller, products }: Ordered): [string, string][] =>
  [
    ['Plan', plan],
    ['Company', seller],
    ['Products', products],
  ].filter((row): row is [string, string] => row[1] !== undefined);

const whereInvoicesGo: Record<string, Pick<Notice, 'subject' | 'text'>> = {
  given: {
    subject: 'An address for your invoices was entered',
    text: 'Someone with access to your account has entered another email address for invoices. No invoice goes there until its reader confirms the address. Until then, invoices go to the contract holder.',
  },
  proved: {
    subject: 'Your invoices go to another email address',
    text: 'The new email address for the invoices of your account has been confirmed. Invoices now go there.',
  },
  kept: {
    subject: 'The address for your invoices was approved',
    text: 'An order named an email address for your invoices. Someone with access to your account approved it. Invoices go there if its reader has confirmed the address.',
  },
  removed: {
    subject: 'The address for your invoices was removed',
    text: 'The email address for the invoices of your account has been removed. Invoices now go to the contract holder.',
  },
};

// An unsent mail may be from version 0.6.0, which did not store what was changed.
const invoicesGoSomewhere = {
  subject: 'The address for your invoices has changed',
  text: 'The email address for the invoices of your account has been added, confirmed, changed or removed. You can see under Billing where your invoices go.',
};

const clientDeeds: Record<string, string> = {
  add: 'was added. People can open it now',
  set: 'was changed: its title or addresses, who sees or may enter it, or its second factor',
  rotate: 'got a second secret. The first one still works',
  end_secret: 'lost one of its two secrets',
  off: 'was turned off. Nobody can open it, and it no longer hears of log-outs, suspensions and deletions',
  on: 'was turned on. People can open it again',
  confirm: 'was confirmed after the restore of the database. People can open it again',
  adopt:
    'was copied from the settings into the database, with its secrets. It counts there once the settings no longer name it',
};

/** Words for what one command did to several clients. Below these words, the mail lists the clients' names. */
const severalDeeds: Record<string, string> = {
  apply: 'Clients were changed from a file',
  rebind: 'Clients were moved from another address of this service to this one',
};

function sayClient(client: string, what = ''): string {
  if (Object.hasOwn(severalDeeds, what)) return `${severalDeeds[what]}: ${client}.`;
  return `The client ${client} ${Object.hasOwn(clientDeeds, what) ? clientDeeds[what] : 'was changed'}.`;
}

const whyAdministrator = 'You received this email because you are an administrator.';

export const buildNotices = ({
  dueAt,
  hasSupport,
  who,
  countsAt,
  was,
  role,
  what,
  to,
  invited,
  ordered,
  client = '',
}: Words): Record<NoticeKind, Notice> => ({
  account_frozen: {
    subject: 'Your account is frozen',
    text: 'Your account was frozen because someone else may have got in. Either a link in one of our emails was used, or our support team did it. Nobody can log in until our support team has checked who the owner is.',
    advice: `To get your account back, ${askSupport(hasSupport)}.`,
    why: isOrWas,
  },
  account_thawed: {
    subject: 'Your account is no longer frozen',
    text: 'Our support team has ended the freeze of the account that has, or had, this email address. If the account is yours, you can log in again. If we also sent you a link for a new password, use that first: your old password no longer works.',
    advice: `If you are the owner and cannot log in, ${askSupport(hasSupport)}.`,
    action: { label: 'Log in', path: '/login' },
    why: isOrWas,
  },
  account_deleted: {
    subject: 'Your account has been deleted',
    text: 'Your account has been deleted. Contracts that were still running have been canceled. We keep invoices because the law requires it.',
    advice: `You can use this email address for a new account at any time. If you did not ask for this, ${askSupport(hasSupport)}.`,
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
    subject: 'How customers pay you will change',
    text: `Someone changed the bank account on your invoices, or a link that customers use to pay or to go on after a trial. The old details stay in use until ${countsAt}.`,
    advice:
      'Check by phone or in person that this is right. If it is not, stop the change on the page before then: every administrator can.',
    action: { label: 'See or stop the change', path: '/admin/billing/settings' },
    why: whyAdministrator,
  },
  billing_details_changed: {
    subject: 'Your billing details have changed',
    text: 'Our support team has changed the name, address or VAT ID for the invoices of your account. You can see and change them under Billing. Your invoices go to the same email address as before.',
    advice: `If nobody in your account asked for this, ${askSupport(hasSupport)}.`,
    action: { label: 'See your billing details', path: '/profile/billing', isQuiet: true },
  },
  billing_texts_changed: {
    subject: 'What your invoices say has been changed',
    text: `Texts on your invoices have been changed: ${sayTexts(what)}. The change is already in use.`,
    advice:
      'Check by phone or in person that this is right: a text can ask customers to pay somewhere else. If it is not right, put it back on the page, and see in the audit what else was done.',
    action: { label: 'See the settings', path: '/admin/billing/settings' },
    why: whyAdministrator,
  },
  client_changed: {
    subject: 'A product that people open from here was changed',
    text: sayClient(client, what),
    advice:
      'Check by phone or in person that this is right: people who log in are sent to the address of the client. If it is not right, turn the client off, and see in the audit what else was done.',
    action: Object.hasOwn(severalDeeds, what ?? '')
      ? { label: 'See the clients', path: '/admin/clients' }
      : { label: 'See the client', path: `/admin/clients/${client}` },
    why: whyAdministrator,
  },
  codes_guessed: {
    subject: 'Wrong codes were entered for your account',
    text: 'Someone entered several wrong codes for your account. They did not get in.',
    advice:
      'If it was not you, someone knows your password or can read your email, or has asked our support team to change your email address. Set a new password for your account and for your mailbox.',
    doubt: { done: 'If you mistyped a code, you do not need to do anything.' },
  },
  contract_added: {
    subject: 'A contract has been added to your account',
    text: `${sayWhoOrdered(ordered)} Your account has this address, so the contract has been added to it. Nothing else in your account has changed.`,
    advice: `You can see it under Billing. If neither you nor your company ordered it, ${askSupport(hasSupport)}.`,
    action: { label: 'See the contract', path: '/profile/billing', isQuiet: true },
  },
  data_downloaded: {
    subject: 'Your data has been downloaded',
    text: 'A copy of everything that we keep about you has been downloaded from your account.',
  },
  deletion_canceled: {
    subject: 'Your account will not be deleted',
    text: `${what === 'by_support' ? 'Our support team has canceled the deletion that was planned for your account' : 'The deletion that was planned for your account has been canceled'}. Your account stays as it is.`,
    doubt: { done: 'If you did this or asked for it, you are done.' },
  },
  deletion_requested: {
    subject: 'Your account will be deleted in 14 days',
    text: `To keep your account, log in and choose “Keep your account”. Otherwise we will delete it on ${dueAt}, because ${what === 'by_support' ? 'our support team was asked' : 'we received a request'} to delete it. Until then you cannot open our products.`,
    action: { label: 'Keep your account', path: '/profile/delete', isQuiet: true },
    doubt: {
      done: 'If you asked for this and still want it, you are done.',
      lines: passwordLines('Then choose “Keep your account”.'),
    },
  },
  email_change_undone: {
    subject: 'Your change of email address has been undone',
    text: 'This email address no longer belongs to the account. The account has its previous address again: either a link that we sent there was used, or our support team checked who the owner is. The browsers that were logged in before have been logged out.',
    advice: `If this was not you, ${askSupport(hasSupport)}.`,
    why: isOrWas,
  },
  email_changed: {
    subject: 'Your email address has changed',
    text: 'Your account now has another email address. You can no longer log in with this one.',
    why: 'You received this email because this was the email address of your account.',
  },
  email_proved: {
    subject: 'Your email address is verified',
    text: 'Your email address has been verified. You can now open our products.',
  },
  email_replaced: {
    subject: 'Your email address has changed',
    text: 'The marketplace has sent us a new email address for your account. It replaces this one.',
    advice: `If you did this, you are done. If you did not, change it back at the marketplace${hasSupport ? ', or contact support' : ''}.`,
    why: 'You received this email because this was the email address of your account.',
  },
  factors_removed: {
    subject: 'Your second factor has been removed',
    text: 'Our support team has removed all second factors from your account: any authenticator app, recovery codes and passkeys. All browsers have been logged out. Your password no longer works.',
    advice: `Set a new password with the link in the other email that we have just sent. Then set up a second factor again. If you did not ask for this, ${askSupport(hasSupport)}.`,
  },
  invoice_email_changed: {
    ...((what && Object.hasOwn(whereInvoicesGo, what) && whereInvoicesGo[what]) || invoicesGoSomewhere),
    doubt: {
      done: 'If you or a colleague did this, you are done.',
      lines: [
        'Enter your email address, and we send you a link to set a new password. The new password logs everyone else out.',
        'It also removes an address for invoices that was added in the last 30 days, or that came with an order and was never approved.',
        'Then check Security and Billing in your account.',
      ],
    },
  },
  invitation_sent: {
    subject: 'Someone has been invited to the staff',
    text: invited
      ? `${invited} has been invited to be ${sayRole(role)}. The link in the email works for 24 hours.`
      : `Someone was invited to be ${sayRole(role)}. The invitation is over.`,
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
    action: { label: 'See connected accounts', path: '/profile/security', isQuiet: true },
  },
  new_browser: {
    subject: 'New login to your account',
    text: 'There was a login to your account from a browser that you have not used before.',
  },
  no_seller: {
    subject: 'Invoices wait for a seller',
    text: 'A contract should be invoiced now, but there is no seller yet. Nothing is invoiced until an administrator sets one.',
    advice: 'Then the periods that wait are invoiced within a minute, each at its own price.',
    action: { label: 'Set the seller', path: '/admin/billing/settings' },
    why: whyAdministrator,
  },
  passkey_added: {
    subject: 'A passkey has been added to your account',
    text: 'A passkey has been added to your account. Anyone who has it can log in without your password.',
    doubt: {
      lines: passwordLines(
        'Then go to Security, then Passkeys, to remove the passkey: a new password does not remove it.',
      ),
    },
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
    text: `${sayRights(what, to)} Your profile shows what it may do.`,
    advice: `If you have a question about this, ${askSupport(hasSupport)}.`,
    action: { label: 'Go to your profile', path: '/profile', isQuiet: true },
  },
  role_changed: {
    subject: 'Your role has changed',
    text: `Our support team has changed the role of your account${sayRoles(was, role)}. All browsers have been logged out.`,
    advice: `If you did not expect this, ${askSupport(hasSupport)}.`,
    action: { label: 'Log in', path: '/login' },
  },
  person_frozen: {
    subject: 'An account has been frozen',
    text: `The account of ${who.name} has been frozen. Nobody can log in to it until an administrator ends the freeze. If the page of the person shows no freeze, the account was given back to an earlier address.`,
    advice:
      'Check by phone or in person that this is right. If it is not, end the freeze on the page of the person, and see in the audit what else was done.',
    action: { label: 'See the person', path: `/admin/people/${who.id}` },
    why: whyAdministrator,
  },
  role_granted: {
    subject: 'Someone has been given a staff role',
    text: `${who.name} is now ${sayRole(role)}.${was && roles.has(was) ? ` Before, the role was ${roles.get(was)}.` : ''}`,
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
    subject: 'A colleague has opened unusually many customer records',
    text: `${who.name} has searched for, or looked at, more people within an hour than we allow. Further looks are refused for a while. Someone else may be using their session.`,
    advice: 'Ask them. If it was not them, end their sessions, and see in the audit what was looked at.',
    action: { label: 'See the audit', path: '/admin/audit' },
    why: whyAdministrator,
  },
  vat_ids_to_check: {
    subject: 'VAT IDs of customers wait to be checked',
    text: 'Customers in other EU countries have given VAT IDs that nobody has checked. The VAT ID decides the tax, so an invoice waits for it, 14 days at most, and is then issued with tax.',
    advice:
      'Check each VAT ID at VIES, the EU’s register, and say on the page of the person whether it is checked.',
    action: { label: 'See the VAT IDs', path: '/admin/billing#vat-ids' },
    why: whyAdministrator,
  },
});
