// The text of every email. Plain text: every mail program shows it, and links show where they lead. None contains a name
// or any other text that somebody could have typed: strangers can type anybody's address.
import type { NoticeKind } from '../../db/mails.ts';

type Words = { subject: string; text: string };

/** `life` is how long the link works, such as "1 hour". */
type Letter = { baseUrl: string; link: string; life: string };

/** For a new customer from the CRM, who has no password yet. */
export function buildWelcome({ baseUrl, link, life }: Letter): Words {
  return {
    subject: 'Your account is ready: set a password',
    text: `Hello,

We have created an account for you. Set a password to start using it:

${link}

The link works once and expires after ${life}. Using it also verifies your email address. If the link has expired, ask for a new one: ${baseUrl}/forgot-password

If you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.
`,
  };
}

export function buildSetPassword({ baseUrl, link, life }: Letter): Words {
  return {
    subject: 'Set a new password',
    text: `Hello,

We received a request to set a new password for your account. To set it, open this link:

${link}

The link works once and expires after ${life}. If it has expired, ask for a new one: ${baseUrl}/forgot-password

If you did not ask for this, you can ignore this email. Your password will stay the same.
`,
  };
}

/** To an address that somebody merely typed: it proves the address by setting the password of whoever reads it. */
export function buildProveAddress({ link, life }: Letter): Words {
  return {
    subject: 'Is this your email address?',
    text: `Hello,

Somebody used this email address for an account with us. If that was you, open this link to verify the address and set a password:

${link}

The link works once and expires after ${life}.

If it was not you, you can ignore this email: the address stays unverified, and it cannot be used to log in.
`,
  };
}

export function buildVerifyEmail({ link, life }: Letter): Words {
  return {
    subject: 'Verify your email address',
    text: `Hello,

To verify your email address, open this link in the browser where you are logged in:

${link}

The link works once and expires after ${life}.

If you do not have an account with us, you can ignore this email. Someone probably typed your address by mistake.
`,
  };
}

/** What happened, as a subject and a sentence. */
const notices: Record<NoticeKind, Words> = {
  account_linked: {
    subject: 'Your marketplace account is connected',
    text: 'A marketplace account has been connected to your account. You can now log in from the marketplace.',
  },
  contract_added: {
    subject: 'A contract has been added to your account',
    text: 'A service contract has been added to your account. You can see it on your profile.',
  },
  email_proved: {
    subject: 'Your email address is verified',
    text: 'Your email address has been verified. You can now open our other products.',
  },
  email_replaced: {
    subject: 'Your email address has changed',
    text: 'The marketplace has sent us a new email address for your account. It replaces this one.',
  },
  new_browser: {
    subject: 'New login to your account',
    text: 'Somebody has logged in to your account from a browser that you have not used before.',
  },
  password_changed: {
    subject: 'Your password has changed',
    text: 'The password of your account has been changed. All other browsers have been logged out.',
  },
  password_set: {
    subject: 'Your password has been set',
    text: 'A password for your account has been set through a link that we emailed to you. All other browsers have been logged out.',
  },
};

const instant = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/** `at` is an ISO instant; `device` a kind of browser, where a person did it. */
export function buildNotice(
  kind: NoticeKind,
  { baseUrl, at, device }: { baseUrl: string; at: string; device: string | undefined },
): Words {
  const { subject, text } = notices[kind];
  return {
    subject,
    text: `Hello,

${text}

When: ${instant.format(new Date(at))} UTC
${device ? `Browser: ${device}\n` : ''}
If this was you, there is nothing to do. If it was not, set a new password, which logs out everyone else: ${baseUrl}/forgot-password
Then check your profile: ${baseUrl}/profile
`,
  };
}
