// The text of every email. Plain text: every mail program shows it, and links show where they lead.

type Words = { subject: string; text: string };

type Letter = {
  baseUrl: string;
  link: string;
  details: Record<string, string | undefined>;
  lifeDays: number;
};

/** For a new customer from the CRM, who has no password yet. */
export function buildWelcome({ baseUrl, link, details, lifeDays }: Letter): Words {
  return {
    subject: 'Your account is ready: set a password',
    text: `Hello ${details.name},

We have created an account for you: “${details.accountName}”. Set a password to start using it:

${link}

The link works once and expires after ${lifeDays} days. Using it also verifies your email address. If the link has expired, ask for a new one: ${baseUrl}/forgot-password

If you were not expecting this email, you can ignore it. Nobody can log in to the account without this link.
`,
  };
}

export function buildSetPassword({ baseUrl, link, details, lifeDays }: Letter): Words {
  return {
    subject: 'Set a new password',
    text: `Hello ${details.name},

We received a request to set a new password for your account. To set it, open this link:

${link}

The link works once and expires after ${lifeDays} days. If it has expired, ask for a new one: ${baseUrl}/forgot-password

If you did not ask for this, you can ignore this email. Your password will stay the same.
`,
  };
}

export function buildVerifyEmail({ link, details, lifeDays }: Letter): Words {
  return {
    subject: 'Verify your email address',
    text: `Hello ${details.name},

To verify your email address, open this link in the browser where you are logged in:

${link}

The link works once and expires after ${lifeDays} days.

If you do not have an account with us, you can ignore this email. Someone probably typed your address by mistake.
`,
  };
}
