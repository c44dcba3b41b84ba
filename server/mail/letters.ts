// Emails with a link: what each says, where its link leads and for how long. layout.ts says how they look. No email
// contains a name or any other text that somebody could have typed: strangers can type anybody's address.
import type { LetterKind } from '../../db/tables/mail-kinds.ts';
import type { MailTokenPurpose } from '../../db/tables/mail-tokens.ts';
import type { MailMessage } from './layout.ts';

/** `life` is how long the link works, such as "1 hour". */
type LetterWords = { link: string; life: string };

type Letter = {
  build: (words: LetterWords) => MailMessage;
  purpose?: MailTokenPurpose;
  path: string;
  life?: string;
  lifeMs?: number;
};

const hourMs = 60 * 60 * 1_000;
const hour = { life: '1 hour', lifeMs: hourMs };
const week = { life: '7 days', lifeMs: 7 * 24 * hourMs };

// Somebody waits for most of these letters; a welcome comes unasked. A letter without a purpose needs no token.
export const letters: Record<LetterKind, Letter> = {
  welcome: { build: buildWelcome, purpose: 'set_password', path: '/set-password', ...week },
  set_password: { build: buildSetPassword, purpose: 'set_password', path: '/set-password', ...hour },
  prove_address: { build: buildProveAddress, purpose: 'set_password', path: '/set-password', ...hour },
  verify_email: { build: buildVerifyEmail, purpose: 'verify_email', path: '/verify-email/confirm', ...hour },
  sign_up: { build: buildSignUp, purpose: 'sign_up', path: '/signup/confirm', ...hour },
  account_exists: { build: buildAccountExists, path: '/login' },
  change_email: { build: buildChangeEmail, purpose: 'change_email', path: '/profile/email/confirm', ...hour },
};

const onlyOnce = (life: string) =>
  `The link works once and expires after ${life}. If it has expired, open it all the same: you can ask for a new one there.`;

/** For a new customer from the CRM, who has no password yet. */
function buildWelcome({ link, life }: LetterWords): MailMessage {
  return {
    subject: 'Your account is ready: set a password',
    paragraphs: ['We have created an account for you. Set a password to start using it.'],
    action: { label: 'Set a password', url: link },
    after: [
      `${onlyOnce(life)} Using it also verifies your email address.`,
      'If you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.',
    ],
  };
}

function buildSetPassword({ link, life }: LetterWords): MailMessage {
  return {
    subject: 'Set a new password',
    paragraphs: ['We received a request to set a new password for your account.'],
    action: { label: 'Set a new password', url: link },
    after: [
      onlyOnce(life),
      'If you did not ask for this, you can ignore this email. Nothing happens unless the link is used.',
    ],
  };
}

const typed = 'You received this email because somebody entered this address for an account.';

/** To an address that somebody merely typed. Whoever reads its mails proves the address by setting their password. */
function buildProveAddress({ link, life }: LetterWords): MailMessage {
  return {
    subject: 'Is this your email address?',
    paragraphs: [
      'Somebody used this email address for an account with us. If that was you, verify the address and set a password.',
    ],
    action: { label: 'Verify this address', url: link },
    after: [
      `The link works once and expires after ${life}.`,
      'If it was not you, you can ignore this email: the address stays unverified, and it cannot be used to log in.',
    ],
    why: typed,
  };
}

function buildVerifyEmail({ link, life }: LetterWords): MailMessage {
  return {
    subject: 'Verify your email address',
    paragraphs: ['To verify your email address, open this link in the browser where you are logged in.'],
    action: { label: 'Verify your email address', url: link },
    after: [
      `The link works once and expires after ${life}.`,
      'If you do not have an account with us, you can ignore this email. Someone probably typed your address by mistake.',
    ],
    why: typed,
  };
}

const ignore = 'If it was not you, you can ignore this email.';

/** To an address that somebody typed to sign up: nobody has an account with it. */
function buildSignUp({ link, life }: LetterWords): MailMessage {
  return {
    subject: 'Create your account',
    paragraphs: [
      'Somebody asked to create an account with this email address. If that was you, use the link to finish.',
    ],
    action: { label: 'Create your account', url: link },
    after: [
      `The link works once and expires after ${life}.`,
      `${ignore} No account exists unless you use the link.`,
    ],
    why: 'You received this email because somebody typed this email address on our sign-up page.',
  };
}

/** To the holder of an address that somebody typed to get another account. */
function buildAccountExists({ link }: LetterWords): MailMessage {
  return {
    subject: 'You already have an account',
    paragraphs: [
      'Somebody asked to use this email address for an account with us. You already have an account with it, so there is nothing to create. To use it, log in.',
    ],
    action: { label: 'Log in', url: link },
    after: [
      'If you forgot your password, choose “Forgot your password” there.',
      `${ignore} Nothing has changed.`,
    ],
  };
}

function buildChangeEmail({ link, life }: LetterWords): MailMessage {
  return {
    subject: 'Confirm your new email address',
    paragraphs: [
      'Somebody asked to use this email address for their account with us. If that was you, confirm it here, and log in to your account if you are not logged in yet.',
    ],
    action: { label: 'Confirm the new address', url: link },
    after: [
      `The link works once and expires after ${life}. Your email address stays as it is until then.`,
      ignore,
    ],
    why: 'You received this email because somebody asked to use this email address for their account.',
  };
}
