// Emails with a link. They must not contain words that somebody typed, because a stranger can make us send them to anybody's
// address.
import type { LetterKind } from '../../db/tables/mail-kinds.ts';
import type { MailTokenPurpose } from '../../db/tables/mail-tokens.ts';
import type { MailMessage } from './layout.ts';
import { listOrdered, type Ordered, sayRole, sayWhoOrdered } from './notice-words.ts';

type LetterWords = {
  link: string;
  /** How long the link works, such as "1 hour". */
  life: string;
  name: string;
  /** The title of the product that the reader gets to after the link's page, if there is one (contract 9.230). */
  product?: string | undefined;
  /** The name of the selling company, in a letter about invoices. */
  seller?: string | undefined;
  /** What was ordered. Only a welcome mail says this. */
  ordered?: Ordered | undefined;
  role?: string | undefined;
};

type Letter = {
  build: (words: LetterWords) => MailMessage;
  purpose?: MailTokenPurpose;
  path: string;
  life?: string;
  lifeMs?: number;
};

const hourMs = 60 * 60 * 1_000;
const hour = { life: '1 hour', lifeMs: hourMs };
const day = { life: '24 hours' };
const week = { life: '7 days', lifeMs: 7 * 24 * hourMs };

// The readers wait for most of these mails, so most links work for only an hour. If there is no `purpose`, the link has no
// token.
export const letters: Record<LetterKind, Letter> = {
  welcome: { build: buildWelcome, purpose: 'set_password', path: '/set-password', ...week },
  set_password: { build: buildSetPassword, purpose: 'set_password', path: '/set-password', ...hour },
  prove_address: { build: buildProveAddress, purpose: 'set_password', path: '/set-password', ...hour },
  verify_email: { build: buildVerifyEmail, purpose: 'verify_email', path: '/verify-email/confirm', ...hour },
  sign_up: { build: buildSignUp, purpose: 'sign_up', path: '/signup/confirm', ...hour },
  // This link works while the invitation is open (db/tables/staff-invitations.ts).
  invitation: { build: buildInvitation, purpose: 'invitation', path: '/invitation', ...day },
  account_exists: { build: buildAccountExists, path: '/login' },
  change_email: { build: buildChangeEmail, purpose: 'change_email', path: '/profile/email/confirm', ...hour },
  // These links work while the new address is pending (db/tables/new-addresses.ts).
  new_address: { build: buildNewAddress, purpose: 'new_address', path: '/new-address', ...day },
  stop_new_address: {
    build: buildStopNewAddress,
    purpose: 'stop_new_address',
    path: '/stop-new-address',
    ...day,
  },
  invoice_email: {
    build: buildInvoiceEmail,
    purpose: 'invoice_email',
    path: '/invoice-email/confirm',
    ...week,
  },
};

export const sayRenewable = (life: string) =>
  `The link works once and expires after ${life}. If it has expired, open it to ask for a new one.`;

const onlyOnce = (life: string) => `The link works once and expires after ${life}.`;

const thenTo = (product: string | undefined) => (product ? ` You will then go on to ${product}.` : '');

/** Goes to a new customer from the CRM, who has no password yet. */
function buildWelcome({ link, life, name, ordered = {} }: LetterWords): MailMessage {
  return {
    subject: 'Set a password for your new account',
    paragraphs: [
      `${sayWhoOrdered(ordered)} For this, we have created an account with ${name}. Set a password to start using it.`,
    ],
    facts: listOrdered(ordered),
    action: { label: 'Set a password', url: link },
    after: [
      `${sayRenewable(life)} Using it also verifies your email address.`,
      'If neither you nor your company ordered this, you can ignore this email. Nobody can log in to the account without this link.',
    ],
  };
}

function buildSetPassword({ link, life, name, product }: LetterWords): MailMessage {
  return {
    subject: 'Set a new password',
    paragraphs: [`Use this link to set a new password for your account with ${name}.${thenTo(product)}`],
    action: { label: 'Set a new password', url: link },
    after: [
      sayRenewable(life),
      'If you do not expect this, you can ignore this email. Nothing changes unless the link is used.',
    ],
  };
}

const entered = 'You received this email because someone entered this email address for an account.';

/** Goes to an address that somebody typed. Setting the password proves the address. */
function buildProveAddress({ link, life, name, product }: LetterWords): MailMessage {
  return {
    subject: 'Is this your email address?',
    paragraphs: [
      `Someone entered this email address for an account with ${name}. If it was you, verify the address and set a password.${thenTo(product)}`,
    ],
    action: { label: 'Verify this address', url: link },
    after: [
      onlyOnce(life),
      'If it was not you, you can ignore this email. The address stays unverified and cannot be used to log in.',
    ],
    why: entered,
  };
}

function buildVerifyEmail({ link, life, name, product }: LetterWords): MailMessage {
  return {
    subject: 'Verify your email address',
    paragraphs: [
      `To verify your email address, open this link, and log in if you are asked to.${thenTo(product)}`,
    ],
    action: { label: 'Verify your email address', url: link },
    after: [
      onlyOnce(life),
      `If you do not have an account with ${name}, you can ignore this email. Someone probably entered your address by mistake.`,
    ],
    why: entered,
  };
}

/** Goes to an address that was typed into the sign-up form, if nobody has an account with it. */
function buildSignUp({ link, life, name, product }: LetterWords): MailMessage {
  return {
    subject: 'Create your account',
    paragraphs: [
      `To create an account with ${name} for this email address, open this link.${thenTo(product)}`,
    ],
    action: { label: 'Create your account', url: link },
    after: [
      onlyOnce(life),
      'If you did not ask for an account, you can ignore this email. No account is created unless the link is used.',
    ],
    why: 'You received this email because someone entered this email address on our sign-up page.',
  };
}

/** Goes to an address that an administrator typed. It does not say who the administrator was, because a stranger may read it. */
function buildInvitation({ link, life, name, role }: LetterWords): MailMessage {
  return {
    subject: 'You are invited to the staff',
    paragraphs: [
      `An administrator of ${name} has invited you to be ${sayRole(role)}. To accept, create your account, then set up a second factor: an authenticator app or a passkey.`,
    ],
    action: { label: 'Accept the invitation', url: link },
    after: [
      `The link works once and expires ${life} after you were invited. You get the role only if you have also set up the second factor by then.`,
      'If you do not expect this, ask the people who you think sent it, by phone or in person, before you use the link. If it is not for you, you can ignore this email.',
    ],
    why: `You received this email because an administrator of ${name} entered this email address.`,
  };
}

/** Goes to the holder of an address that somebody typed to get another account. */
function buildAccountExists({ link, name, product }: LetterWords): MailMessage {
  return {
    subject: 'You already have an account',
    paragraphs: [
      `You or someone else tried to use this email address for an account with ${name}. You already have an account with this address: log in to use it.${thenTo(product)}`,
    ],
    action: { label: 'Log in', url: link },
    after: [
      'If you have forgotten your password, choose “Forgot your password” on the login page.',
      'If it was not you, you can ignore this email. Nothing has changed.',
    ],
  };
}

/**
 * Goes to an address that somebody gave to our support. It does not say whose account it is, because a stranger may read it.
 */
function buildNewAddress({ link, life, name }: LetterWords): MailMessage {
  return {
    subject: 'Confirm this email address for an account',
    paragraphs: [
      `Our support team was asked to change the email address of an account with ${name} to this one. To use it, set a new password. If the account keeps its second factors, you will be asked for a passkey or a code. Otherwise they are removed when you use the link.`,
    ],
    action: { label: 'Use this email address', url: link },
    after: [
      `The link works once, in any browser, and expires ${life} after we were asked. The email address of the account changes only if the link is used.`,
      'If you did not ask for this, you can ignore this email.',
    ],
    why: 'You received this email because someone gave this email address to our support team.',
  };
}

/** Goes to the current address of a person who told our support that they lost this mailbox. */
function buildStopNewAddress({ link, life, name }: LetterWords): MailMessage {
  return {
    subject: 'Someone asked us to change your email address',
    paragraphs: [
      `Someone told our support team that they can no longer read this mailbox, and asked for another email address for your account with ${name}. We have sent a link to that address. Nothing has changed yet.`,
      'If this was not you, stop the change now.',
    ],
    action: { label: 'Stop the change', url: link },
    after: [
      `The link works once, in any browser, and expires ${life} after we were asked. Setting a new password also stops the change.`,
      'If this was you, you do not need to do anything.',
    ],
  };
}

/** Goes to an address for invoices that somebody typed. It does not say whose account it is, because a stranger may read it. */
function buildInvoiceEmail({ link, life, name, seller }: LetterWords): MailMessage {
  const invoices = seller ? `invoices from ${seller}` : 'invoices';
  return {
    subject: `Get ${invoices} at this email address`,
    paragraphs: [
      `Someone entered this email address to get the ${invoices} for an account with ${name}. If you expect these invoices, confirm the address.`,
    ],
    action: { label: 'Confirm this address', url: link },
    after: [
      onlyOnce(life),
      'If you do not expect invoices, you can ignore this email. We send none here unless the link is used.',
    ],
    why: 'You received this email because someone entered this email address for the invoices of an account.',
  };
}

function buildChangeEmail({ link, life, name }: LetterWords): MailMessage {
  return {
    subject: 'Confirm your new email address',
    paragraphs: [
      `To use this email address for your account with ${name}, confirm it. You may have to log in first.`,
    ],
    action: { label: 'Confirm the new address', url: link },
    after: [
      `${onlyOnce(life)} Your email address changes only if you use the link.`,
      'If you did not ask for this, you can ignore this email.',
    ],
    why: 'You received this email because someone entered this email address for their account.',
  };
}
