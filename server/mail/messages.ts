// What mails say. Plain text: it is read everywhere, and a link in it shows where it leads.

type Words = { subject: string; text: string };

type Letter = {
  baseUrl: string;
  link: string;
  details: Record<string, string | undefined>;
  lifeDays: number;
};

/** For who was made a customer by the CRM and has no password yet. */
export function buildWelcome({ baseUrl, link, details, lifeDays }: Letter): Words {
  return {
    subject: 'Your login is ready: set a password',
    text: `Hello ${details.name},

a login has been made for you, with the account “${details.accountName}”. Set a password to use it:

${link}

The link works once, within ${lifeDays} days, and confirms that this address is yours. If it has run out, ask for another one at ${baseUrl}/forgot-password

If you did not expect this, leave it: without the link nobody can use the login.
`,
  };
}

export function buildSetPassword({ baseUrl, link, details, lifeDays }: Letter): Words {
  return {
    subject: 'Set a new password',
    text: `Hello ${details.name},

somebody, most likely you, asked for a link to set the password of your login:

${link}

The link works once, within ${lifeDays} days. If it has run out, ask for another one at ${baseUrl}/forgot-password

If it was not you, leave it: your password stays as it is.
`,
  };
}

export function buildVerifyEmail({ link, details, lifeDays }: Letter): Words {
  return {
    subject: 'Confirm your e-mail address',
    text: `Hello ${details.name},

please confirm that this address is yours, in the browser in which you are logged in:

${link}

The link works once, within ${lifeDays} days.

If you have no login with us, leave it: somebody mistyped their address, and without you nothing happens.
`,
  };
}
