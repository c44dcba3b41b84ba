// A refused form comes back to its page by a redirect, in a browser (contract 9.171 to 9.177).
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { problemSchema } from '../../server/basics/errors.ts';
import { problems } from '../../server/basics/problems.ts';
import { unseal } from '../../server/basics/sealing.ts';
import { demoPassword } from '../../server/doors/demo/demo-users.ts';
import { loadPages } from '../../server/instance/build.ts';
import { type Answer, locationOf, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { type Browser, fieldOf, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { addInvoice, buildPayment, report } from '../support/billing/money.ts';
import { setSettings } from '../support/billing/settings.ts';
import { inviteByCommand } from '../support/people/invitations.ts';
import { readToken } from '../support/people/kept-mail.ts';
import { setUp } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

let lagMs = 0;
let invoiceNumber = '';
const now = () => new Date(Date.now() + lagMs);
const app = shared(() => openApp({ now }));
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl, now }));
beforeAll(async () => {
  await setSettings(app.db);
  invoiceNumber = await addInvoice(app.db);
  await report(app, buildPayment(100, { payment_id: 'pay_waits' }));
});

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

/** Posts as a browser that has got the cookie `identity_browser` with the page of the form. */
function post(browser: Browser, path: string, form: Record<string, string>): Promise<Answer> {
  browser.jar.set('identity_browser', 'B'.repeat(43));
  return browser.send(path, { form, headers: html });
}
const open = (browser: Browser, path: string) => browser.send(path, { headers: html });

/** Posts a form that is refused. Returns the path to which the browser is redirected. */
async function postRefused(browser: Browser, path: string, form: Record<string, string>): Promise<string> {
  const answer = await post(browser, path, form);
  expect([answer.status, answer.text]).toEqual([303, '']);
  const { pathname, search } = locationOf(answer);
  expect(pathname).toBe(path.split('?')[0]);
  expect(search).toMatch(/[?&]refused=[0-9a-f-]{36}$/);
  return pathname + search;
}

const cookieName = 'identity_refused';

type Row = {
  /** The path of the page, and the intent of the form if it has one. */
  form: string;
  arrange: () => Promise<{ browser: Browser; query?: string }>;
  fields?: Record<string, string>;
  status: number;
  says: string | RegExp;
  /** The fields that the page shows as they were typed. */
  holds?: Record<string, string>;
};

const stranger = async () => ({ browser: openBrowser(app.send) });
const customer = async () => ({ browser: await logIn(app.send, 'customer@example.test') });
/** A user whose last credential is over ten minutes old. */
const customerOfBefore = async () => {
  const { browser } = await customer();
  lagMs += 11 * 60_000;
  return { browser };
};
const admin = async () => ({ browser: await logIn(app.send, 'admin@example.test') });
const adminOfBefore = async () => {
  const { browser } = await admin();
  lagMs += 11 * 60_000;
  return { browser };
};
const withToken = async (email: string, purpose: Parameters<typeof readToken>[2]) => ({
  browser: openBrowser(app.send),
  query: `?token=${await readToken(other, email, purpose)}`,
});
const deadLink = `?token=${'A'.repeat(43)}`;
const id = '0190f5a0-0000-7000-8000-000000000000';

const rows: Row[] = [
  {
    form: '/login',
    arrange: stranger,
    fields: { email: 'customer@example.test', password: 'not the password' },
    status: 401,
    says: 'The email address or password is incorrect.',
    holds: { email: 'customer@example.test' },
  },
  {
    form: '/login',
    arrange: stranger,
    fields: { passkey: '{}' },
    status: 401,
    says: 'We could not log you in with that passkey.',
  },
  {
    form: '/login/code',
    async arrange() {
      const owner = await logIn(app.send, 'new-merchant@example.test');
      await setUp(owner, Date.now() + lagMs);
      const browser = openBrowser(app.send);
      await browser.login('new-merchant@example.test');
      return { browser, query: '?next=%2Fprofile%2Fproducts' };
    },
    fields: { code: '000000' },
    status: 401,
    says: 'This code is wrong or has already been used',
  },
  {
    form: '/signup',
    arrange: stranger,
    fields: { name: 'Anna <b>', email: 'anna' },
    status: 422,
    says: 'Enter an email address in the correct format',
    holds: { name: 'Anna <b>', email: 'anna' },
  },
  {
    form: '/signup/confirm',
    async arrange() {
      const email = 'signs-up@example.com';
      await app.send('/signup', { form: { name: 'Before', email } });
      return withToken(email, 'sign_up');
    },
    fields: { name: 'Typed anew', newPassword: 'short' },
    status: 422,
    says: 'at least 12 characters',
    holds: { name: 'Typed anew' },
  },
  {
    form: '/invitation',
    async arrange() {
      const link = await inviteByCommand({ app, other }, 'is-invited@example.com');
      return { browser: openBrowser(app.send), query: link.replace('/invitation', '') };
    },
    fields: { name: 'Ina Invited', newPassword: 'short' },
    status: 422,
    says: 'at least 12 characters',
    holds: { name: 'Ina Invited' },
  },
  {
    form: '/forgot-password',
    arrange: stranger,
    fields: { email: 'nobody' },
    status: 422,
    says: 'Enter an email address in the correct format',
    holds: { email: 'nobody' },
  },
  {
    form: '/set-password',
    async arrange() {
      const email = 'merchant@example.test';
      await app.send('/forgot-password', { form: { email } });
      return withToken(email, 'set_password');
    },
    fields: { newPassword: 'passwordpassword' },
    status: 422,
    says: 'too easy to guess',
  },
  {
    form: '/verify-email',
    async arrange() {
      const browser = await logIn(app.send, 'unverified@example.test');
      for (let sent = 0; sent < 10; sent++) await browser.send('/verify-email', { form: {} });
      return { browser };
    },
    status: 429,
    says: /Try again in (60|5\d) minutes/,
  },
  {
    form: '/verify-email/confirm',
    arrange: async () => ({
      browser: await logIn(app.send, 'unverified@example.test'),
      query: deadLink,
    }),
    status: 404,
    says: 'This link does not work',
  },
  {
    form: '/profile/email/confirm',
    arrange: async () => ({ ...(await customer()), query: deadLink }),
    status: 404,
    says: 'This link does not work',
  },
  ...['/take-back', '/take-back freeze', '/new-address', '/stop-new-address', '/invoice-email/confirm'].map(
    (form) => ({
      form,
      arrange: async () => ({ ...(await stranger()), query: deadLink }),
      fields: { newPassword: 'a long enough password' },
      status: 404,
      says: 'This link does not work',
    }),
  ),
  {
    form: '/profile/billing details',
    arrange: customer,
    fields: { company: 'Flowers & <Co>', city: 'Paris', vatId: 'FR1' },
    status: 422,
    says: 'Fill this in too, or leave the whole address empty.',
    holds: { company: 'Flowers & <Co>', city: 'Paris', vatId: 'FR1' },
  },
  {
    form: '/profile/billing details',
    arrange: customerOfBefore,
    fields: { company: 'Flowers & <Co>' },
    status: 401,
    says: 'Enter your password to save your billing details.',
    holds: { company: 'Flowers & <Co>' },
  },
  {
    form: '/profile/billing keep-invoice-email',
    arrange: customer,
    fields: { invoiceEmail: 'gone@books.example.com' },
    status: 409,
    says: 'This profile was changed after you read it.',
  },
  {
    form: '/profile/billing cancel',
    arrange: customer,
    fields: { contract: id },
    status: 404,
    says: 'Your account does not have this contract.',
  },
  {
    form: '/profile/billing keep-contract',
    arrange: customer,
    fields: { contract: id },
    status: 404,
    says: 'Your account does not have this contract.',
  },
  {
    form: '/profile/email',
    arrange: customer,
    fields: { email: 'customer@example.test' },
    status: 422,
    says: 'This is already your email address.',
    holds: { email: 'customer@example.test' },
  },
  {
    form: '/profile/email',
    arrange: customerOfBefore,
    fields: { email: 'another@example.com' },
    status: 401,
    says: 'Enter your password to change your email address.',
    holds: { email: 'another@example.com' },
  },
  {
    form: '/profile names',
    arrange: customer,
    fields: { name: ' ', accountName: 'Typed "account"' },
    status: 422,
    says: 'Enter a name.',
    holds: { name: ' ', accountName: 'Typed "account"' },
  },
  {
    form: '/profile names',
    arrange: customer,
    fields: { name: 'Typed', accountName: 'Mine', profile_updated_at: '2020-01-01T00:00:00.000Z' },
    status: 409,
    says: 'Your details were changed somewhere else',
    holds: { name: 'Typed', accountName: 'Mine' },
  },
  {
    form: '/profile time-zone',
    arrange: customer,
    fields: { timeZone: 'Europe/Atlantis' },
    status: 422,
    says: 'Choose a time zone from the list.',
  },
  {
    form: '/profile/security password',
    arrange: customer,
    fields: { currentPassword: 'not mine', newPassword: 'a long enough password' },
    status: 422,
    says: 'This is not your current password.',
  },
  {
    form: '/profile/security password',
    arrange: customer,
    fields: { currentPassword: demoPassword, newPassword: demoPassword },
    status: 422,
    says: 'This is your current password. Choose another one.',
  },
  {
    form: '/profile/security end-session',
    arrange: customer,
    fields: { id },
    status: 404,
    says: 'This session does not exist or has already ended.',
  },
  {
    // The form asks for a password (contract 11.24).
    form: '/profile/security end-others',
    arrange: customerOfBefore,
    fields: { currentPassword: 'not mine' },
    status: 422,
    says: 'This is not your current password.',
  },
  {
    form: '/profile/security remove-link',
    arrange: customer,
    fields: { externalId: 'none', currentPassword: demoPassword },
    status: 404,
    says: 'This account is no longer connected.',
  },
  {
    form: '/profile/data',
    arrange: customerOfBefore,
    status: 401,
    says: 'Enter your password to download your data.',
  },
  {
    form: '/profile/data',
    arrange: customerOfBefore,
    fields: { confirmPassword: 'not mine' },
    status: 401,
    says: 'The password is incorrect. Try again.',
  },
  {
    form: '/profile/delete delete',
    arrange: customerOfBefore,
    status: 401,
    says: 'Enter your password to delete your account.',
    holds: { intent: 'delete' },
  },
  {
    form: '/profile/passkeys add',
    arrange: customerOfBefore,
    status: 401,
    says: 'Enter your password to add a passkey.',
    holds: { intent: 'add' },
  },
  {
    form: '/profile/passkeys rename',
    arrange: customer,
    fields: { id, name: 'Phone' },
    status: 404,
    says: 'This passkey does not exist or has already been removed.',
  },
  {
    form: '/profile/passkeys remove',
    arrange: customerOfBefore,
    fields: { id },
    status: 401,
    says: 'Enter your password to remove this passkey.',
    holds: { id, intent: 'remove' },
  },
  {
    form: '/profile/passkeys/add',
    arrange: customer,
    fields: { name: 'My phone', passkey: '{}' },
    status: 422,
    says: 'The passkey could not be added.',
    holds: { name: 'My phone' },
  },
  {
    form: '/profile/authenticator set-up',
    arrange: customerOfBefore,
    status: 401,
    says: 'Enter your password to set up the app.',
    holds: { intent: 'set-up' },
  },
  {
    form: '/profile/authenticator renew-codes',
    arrange: customerOfBefore,
    status: 401,
    says: 'Enter your password to make new recovery codes.',
    holds: { intent: 'renew-codes' },
  },
  {
    form: '/profile/authenticator/set-up',
    async arrange() {
      const browser = await logIn(app.send, 'manager@example.test');
      await browser.send('/profile/authenticator', { form: { intent: 'set-up' } });
      return { browser };
    },
    fields: { code: '000000' },
    status: 422,
    says: 'This code is wrong.',
  },
  {
    form: '/profile/passkeys/offer add',
    arrange: async () => ({ ...(await customer()), query: '?next=%2Fprofile%2Fbilling' }),
    fields: { passkey: '{}' },
    status: 422,
    says: 'The passkey could not be added.',
  },
  {
    form: '/signup',
    arrange: stranger,
    fields: { name: 'Ann', email: 'ann@gmial.com' },
    status: 422,
    says: 'Did you mean ann@gmail.com?',
    holds: { name: 'Ann', email: 'ann@gmial.com', meant: 'yes' },
  },
  {
    form: '/profile/authenticator turn-off',
    arrange: customerOfBefore,
    status: 401,
    says: 'Enter your password to turn off the app.',
    holds: { intent: 'turn-off' },
  },
  {
    form: '/admin/people/:id send-mail',
    arrange: admin,
    fields: { kind: 'set-password', why: 'x', seen: 'x' },
    status: 422,
    says: 'Say why in 3 to 500 characters.',
    holds: { why: 'x' },
  },
  {
    form: '/admin/people/:id suspend',
    arrange: admin,
    fields: { why: 'They asked for it', seen: 'x' },
    status: 409,
    says: 'This has changed since you opened the page',
  },
  {
    form: '/admin/people/:id/:tab suspend',
    arrange: admin,
    fields: { why: 'They asked for it', seen: 'x' },
    status: 409,
    says: 'This has changed since you opened the page',
  },
  {
    form: '/admin/people/:id change-role',
    arrange: async () => ({ browser: await logIn(app.send, 'manager@example.test') }),
    fields: { role: 'admin', why: 'They asked for it', seen: 'x' },
    status: 403,
    says: 'Your role may not do this to this person.',
  },
  {
    form: '/admin/people/:id suspend',
    arrange: adminOfBefore,
    fields: { why: 'They asked for it', seen: 'x' },
    status: 401,
    says: /Enter your password to suspend the account \(\S+\)\./,
    holds: { intent: 'suspend', why: 'They asked for it', seen: 'x' },
  },
  {
    form: '/admin/invoices/:number pay',
    arrange: admin,
    fields: { amount: 'much', paidAt: '2026-02-01', payment: 'pay_1', why: 'As the bank says', seen: 'x' },
    status: 422,
    says: 'Enter an amount above zero, such as 29.00',
    holds: { amount: 'much', paidAt: '2026-02-01', payment: 'pay_1', why: 'As the bank says' },
  },
  {
    form: '/admin/invoices/:number credit',
    arrange: admin,
    fields: { credits: 'all', why: 'Sent twice', seen: 'x' },
    status: 409,
    says: 'This has changed since you opened the page',
  },
  {
    form: '/admin/invoices/:number credit',
    arrange: adminOfBefore,
    fields: { credits: 'all', why: 'Sent twice', seen: 'x' },
    status: 401,
    says: /Enter your password to credit all that is left: EUR 34\.51 \(INV-2\d{3}-0001\)\./,
    holds: { intent: 'credit', credits: 'all', why: 'Sent twice', seen: 'x' },
  },
  {
    form: '/admin/invoices/:number reissue',
    arrange: admin,
    fields: { company: 'Blumen GmbH', line1: '', city: 'Berlin', why: 'Wrong company', seen: 'x' },
    status: 422,
    says: 'Fill this in too, or leave the whole address empty.',
    holds: { company: 'Blumen GmbH', city: 'Berlin' },
  },
  {
    form: '/admin/files',
    arrange: admin,
    fields: { file: 'tax.csv', from: '2020-02-01', to: '2020-01-31' },
    status: 422,
    says: 'Must not be after the last day.',
    holds: { from: '2020-02-01', to: '2020-01-31' },
  },
  {
    form: '/admin/files',
    arrange: adminOfBefore,
    fields: { file: 'tax.csv', from: '2020-01-01', to: '2020-01-31' },
    status: 401,
    says: 'Enter your password to download tax.csv.',
    holds: { file: 'tax.csv', from: '2020-01-01', to: '2020-01-31' },
  },
  {
    form: '/admin/billing/unallocated allocate',
    arrange: admin,
    fields: { payment: 'pay_waits', number: 'none', why: 'As the bank says', seen: 'x' },
    status: 422,
    says: 'There is no invoice with this number.',
    holds: { number: 'none', why: 'As the bank says' },
  },
  {
    form: '/admin/billing/import',
    arrange: admin,
    fields: { why: 'As the bank says' },
    status: 422,
    says: 'No line names the columns',
  },
  {
    form: '/admin/billing/settings set',
    arrange: admin,
    fields: { sellerName: 'Blumen', iban: 'DE00', why: 'As the tax office says', seen: 'x' },
    status: 422,
    says: 'Check the IBAN: a letter or digit is wrong.',
    holds: { sellerName: 'Blumen', iban: 'DE00', why: 'As the tax office says' },
  },
  {
    form: '/admin/invitations invite',
    arrange: admin,
    fields: { email: 'anna', role: 'manager', why: 'Starts on Monday', seen: 'x' },
    status: 422,
    says: 'Enter an email address in the correct format',
    holds: { email: 'anna', why: 'Starts on Monday' },
  },
  {
    form: '/admin/clients add-client',
    arrange: admin,
    fields: {
      ...{ kind: 'hand-off', client: 'Shop', callback: 'http://localhost:4000/cb' },
      ...{ why: 'Starts on Monday', seen: 'x' },
    },
    status: 422,
    says: 'Use 1 to 63 lower-case letters, digits and underscores.',
    holds: { client: 'Shop', callback: 'http://localhost:4000/cb', why: 'Starts on Monday' },
  },
  {
    form: '/admin/clients/:client rotate-client',
    async arrange() {
      const { browser } = await admin();
      const json = { client: 'kept_shop', callback: 'http://localhost:4000/cb', why: 'Starts on Monday' };
      await browser.send('/trpc/admin.clients.add', { json: { json } });
      return { browser };
    },
    fields: { why: 'It was lost', seen: 'x' },
    status: 409,
    says: 'This has changed since you opened the page',
  },
  {
    form: '/admin/mails give-up',
    arrange: async () => ({ ...(await admin()), query: '?state=failed' }),
    fields: { id: '01900000-0000-7000-8000-0000000000aa', why: 'It bounces', seen: 'x' },
    status: 409,
    says: 'This has changed since you opened the page',
  },
];

const customerId = '01900000-0000-7000-8000-000000000003';

describe.each(rows.map((row) => [`${row.form}, ${row.status}`, row] as const))('%s', (_, row) => {
  it('comes back to its page, and says the same when the page is opened again', async () => {
    const { browser, query = '' } = await row.arrange();
    const [page = '', intent] = row.form.split(' ');
    const here =
      page
        .replace(':id', customerId)
        .replace(':tab', 'rights')
        .replace(':number', invoiceNumber)
        .replace(':client', 'kept_shop') + query;
    const path = await postRefused(browser, here, { ...(intent && { intent }), ...row.fields });
    // Contract 9.172.
    for (const _again of [1, 2]) {
      const shown = await open(browser, path);
      expect(shown.status).toBe(row.status);
      expect(textOf(shown)).toMatch(row.says);
      for (const [name, value] of Object.entries(row.holds ?? {}))
        expect(fieldOf(shown, name).value).toBe(value);
      expect(shown.headers.has('retry-after')).toBe(row.status === 429);
      for (const secret of Object.entries(row.fields ?? {}))
        if (/password|code|passkey/i.test(secret[0])) expect(shown.text).not.toContain(secret[1]);
    }
    // The form can be sent from the page of the refusal. If it is refused anew, the URL has only the new refusal.
    const again = await post(browser, path, { ...(intent && { intent }), ...row.fields });
    if (again.status === 303) expect(again.headers.get('location')?.split('refused=')).toHaveLength(2);
    // A program gets the problem instead of a page (contract 9.280).
    const form = { ...(intent && { intent }), ...row.fields };
    const problem = await browser.send(here, { form, headers: { accept: 'application/json' } });
    expect([problem.status, problem.headers.get('content-type')]).toEqual([
      row.status,
      'application/problem+json',
    ]);
    const { code, status } = problemSchema.parse(JSON.parse(problem.text));
    expect([problems[code][0], status]).toEqual([row.status, row.status]);
    expect(problem.headers.has('retry-after')).toBe(row.status === 429);
    for (const page of ['*/*', 'text/html, application/json'])
      expect((await browser.send(here, { form, headers: { accept: page } })).text).not.toMatch(/^\{/);
  });
});

/** Forms that are never refused, whose refusal is not kept, or whose refusal is a page of its own. */
const without = [
  '/continue',
  '/logout',
  '/demo/:client',
  '/demo/legacy-marketplace',
  '/profile cancel-email',
  '/profile/delete keep',
  '/profile/security mail-password',
  '/profile/authenticator go-on',
];

it('has a row for every form of the build', async () => {
  const known = new Set([...rows.map(({ form }) => form), ...without].map((form) => form.split(' ')[0]));
  const { routes } = await loadPages();
  const pages = routes.filter(({ isPage, methods }) => isPage && methods.includes('POST'));
  expect(new Set(pages.map(({ path }) => path))).toEqual(known);
});

describe('what is kept', () => {
  const wrong = { email: 'nobody@example.com', password: 'not the password' };
  const words = 'The email address or password is incorrect.';

  const isShown = async (browser: Browser, path: string) => {
    const { status, text } = await open(browser, path);
    return status === 401 && text.includes(words);
  };

  it('is for a document of a browser: a program gets the refusal at once', async () => {
    for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5']) {
      const answer = await app.send('/login', { form: wrong, headers: { accept } });
      // The only cookie is for the page that sends a link, and holds the email address (contract 2.138).
      const kept = answer.headers.getSetCookie().filter((each) => !each.startsWith('identity_login_email='));
      expect([answer.status, kept]).toEqual([401, []]);
      if (accept === '*/*') expect(answer.text).toContain(words);
      else expect(JSON.parse(answer.text)).toMatchObject({ code: 'login_required', detail: words });
    }
  });

  it('keeps what the page was opened with, and drops what an earlier form did', async () => {
    const browser = openBrowser(app.send);
    const answer = await post(
      browser,
      '/login?next=%2Fprofile%2Fbilling&logged_out&why=ended&refused=x',
      wrong,
    );
    expect(locationOf(answer).search).toMatch(/^\?next=%2Fprofile%2Fbilling&refused=[0-9a-f-]{36}$/);
  });

  it('holds two tabs apart, and the newest three refusals', async () => {
    const browser = openBrowser(app.send);
    const paths = [];
    for (const email of ['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com'])
      paths.push(await postRefused(browser, '/login', { ...wrong, email }));
    const [first, ...others] = paths;
    expect(await isShown(browser, first ?? '')).toBe(false);
    for (const [index, path] of others.entries()) {
      const shown = await open(browser, path);
      expect([shown.status, fieldOf(shown, 'email').value]).toEqual([401, `${'bcd'[index]}@example.com`]);
    }
  });

  it('is nothing on another path, in another browser, after ten minutes, or changed', async () => {
    const browser = openBrowser(app.send);
    const path = await postRefused(browser, '/login', wrong);
    const query = path.slice('/login'.length);
    expect(await isShown(browser, path)).toBe(true);
    expect((await open(browser, `/forgot-password${query}`)).status).toBe(200);
    expect(await isShown(openBrowser(app.send), path)).toBe(false);
    const cookie = browser.jar.get(cookieName) ?? '';
    for (const changed of [
      '',
      'A',
      `${cookie}A`,
      cookie.slice(1),
      `B${cookie.slice(1)}`,
      'A'.repeat(4_000),
      '!',
    ]) {
      const thief = openBrowser(app.send);
      thief.jar.set(cookieName, changed);
      expect(await isShown(thief, path), changed).toBe(changed === cookie);
    }
    lagMs += 9 * 60_000;
    expect(await isShown(browser, path)).toBe(true);
    lagMs += 61_000;
    expect(await isShown(browser, path)).toBe(false);
  });

  it('is nothing for another user, and for nobody', async () => {
    const browser = await logIn(app.send, 'customer@example.test');
    const path = await postRefused(browser, '/profile', { intent: 'names', name: '', accountName: 'Mine' });
    expect(fieldOf(await open(browser, path), 'accountName').value).toBe('Mine');
    const kept = browser.jar.get(cookieName) ?? '';
    await browser.send('/logout', { method: 'POST' });
    expect((await open(browser, path)).status).toBe(303);
    await browser.login('merchant@example.test');
    expect(browser.jar.has(cookieName)).toBe(false);
    browser.jar.set(cookieName, kept);
    const shown = await open(browser, path);
    expect(shown.status).toBe(200);
    expect(fieldOf(shown, 'accountName').value).not.toBe('Mine');
  });

  it('is no password, code, token or passkey, and no text of ours', async () => {
    const browser = openBrowser(app.send);
    await postRefused(browser, '/login', wrong);
    await postRefused(browser, `/take-back${deadLink}`, {
      newPassword: 'a very secret word',
      code: '123456',
    });
    const { config } = app;
    const [line = ''] = [browser.jar.get(cookieName)];
    const request = new Request(config.baseUrl, { headers: { cookie: `${cookieName}=${line}` } });
    const key = config.encryptionKeys[0] ?? new Uint8Array();
    const bytes = Buffer.from(line, 'base64url');
    const opened = await unseal([key], 'refused forms', bytes);
    const plain = new TextDecoder().decode(opened?.plain);
    expect(request.headers.get('cookie')).toContain(line);
    expect(JSON.parse(plain)).toMatchObject([
      { path: '/take-back', code: 'not_found', userId: null, fields: {} },
      { path: '/login', code: 'wrong_login', userId: null, fields: { email: wrong.email }, faults: {} },
    ]);
    for (const secret of [
      'not the password',
      'a very secret word',
      '123456',
      'A'.repeat(43),
      'link',
      'incorrect',
    ])
      expect(plain).not.toContain(secret);
  });

  it('has a bound, however long and odd what was typed is', async () => {
    const browser = openBrowser(app.send);
    for (const typed of [
      'ü'.repeat(800),
      '\u0000'.repeat(300),
      '"'.repeat(800),
      '😀'.repeat(400),
      'x'.repeat(60_000),
    ]) {
      const path = await postRefused(browser, '/signup', { name: typed, email: 'short' });
      const shown = await open(browser, path);
      expect([shown.status, fieldOf(shown, 'email').value]).toEqual([422, 'short']);
      expect(`${cookieName}=${browser.jar.get(cookieName)}`.length).toBeLessThan(2_000);
    }
  });

  it('is in a row where it is long, for that browser and that user alone (contract 9.173 and 9.418)', async () => {
    const why = (n: number) => `${n} ${'because they asked for it, and said so. '.repeat(12)}`;
    const staff = await logIn(app.send, 'admin@example.test');
    lagMs += 11 * 60_000;
    const paths: string[] = [];
    for (const n of [0, 1, 2]) {
      const path = `/admin/people/${customerId}`;
      const answer = await post(staff, path, { intent: 'suspend', why: why(n), seen: 'x' });
      expect(answer.headers.getSetCookie().join('').length).toBeLessThan(1_100);
      paths.push(answer.headers.get('location') ?? '');
    }
    const shown = await Promise.all(paths.map((path) => open(staff, path)));
    for (const [n, page] of shown.entries())
      expect([page.status, fieldOf(page, 'why').value]).toEqual([401, why(n)]);
    const { rows } = await sql<{ sealed: Buffer }>`select sealed from refused_forms`.execute(app.db);
    expect(rows.length).toBeGreaterThanOrEqual(2);
    for (const { sealed } of rows) expect(sealed.toString('latin1')).not.toMatch(/because|suspend|admin/);
    // The same user opens the path of the refusal in another browser.
    const elsewhere = await logIn(app.send, 'admin@example.test');
    expect((await open(elsewhere, paths[2] ?? '')).text).not.toContain('because they asked');
    // Another user logs in in the same browser. The test puts the cookie of the refusal back.
    const kept = staff.jar.get(cookieName) ?? '';
    await staff.send('/logout', { method: 'POST' });
    await staff.login('manager@example.test');
    staff.jar.set(cookieName, kept);
    expect((await open(staff, paths[2] ?? '')).text).not.toContain('because they asked');
  });

  it('has ten rows of one user at most, also sixteen at once, and none of a stranger (contract 9.173)', async () => {
    const count = async () => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::int from refused_forms where user_id <> ${customerId}`.execute(app.db);
      return rows[0]?.count;
    };
    await sql`delete from refused_forms`.execute(app.db);
    const long = { intent: 'names', name: '', accountName: 'ü'.repeat(390) };
    const browser = await logIn(app.send, 'merchant@example.test');
    await Promise.all(Array.from({ length: 16 }, () => postRefused(browser, '/profile', long)));
    const path = await postRefused(browser, '/profile', long);
    expect(await count()).toBeLessThanOrEqual(10);
    expect(fieldOf(await open(browser, path), 'accountName').value).toBe(long.accountName);
    const before = await count();
    for (let n = 0; n < 12; n++)
      await postRefused(openBrowser(app.send), '/signup', { name: 'ü'.repeat(390), email: 'short' });
    expect(await count()).toBe(before);
  });

  it('gives way to a full cookie jar: the refusal comes at once', async () => {
    for (const length of [4_000, 8_000, 12_000, 15_000]) {
      const browser = openBrowser(app.send);
      browser.jar.set('of_a_neighbour', 'x'.repeat(length));
      const answer = await post(browser, '/login', { ...wrong, email: `${length}@example.com` });
      if (length === 4_000) expect(answer.status).toBe(303);
      else expect([answer.status, textOf(answer)]).toEqual([401, expect.stringContaining(words)]);
      expect(browser.cookie().length).toBeLessThan(16_000);
    }
  });

  it('is logged and counted once, with the code of the post', async () => {
    const browser = openBrowser(app.send);
    const before = app.logged.length;
    const path = await postRefused(browser, '/signup', { name: '', email: 'x' });
    await open(browser, path);
    const lines = app.logged.slice(before).filter(({ message }) => message === 'request');
    expect(lines.map(({ fields: { method, status, code } }) => [method, status, code])).toEqual([
      ['POST', 303, 'validation_failed'],
      ['GET', 422, undefined],
    ]);
  });
});

describe('a form that arrives after its session has ended', () => {
  const typed = { intent: 'names', name: 'Typed for long', accountName: 'Mine' };

  it.each([
    ['ended elsewhere', (browser: Browser) => endSessions(browser)],
    ['logged out in another tab', (browser: Browser) => browser.send('/logout', { method: 'POST' })],
  ])('is there again after the login: %s', async (_, end) => {
    const browser = await logIn(app.send, 'customer@example.test');
    const { profile_updated_at } = JSON.parse((await browser.send('/sso/profile')).text);
    await end(browser);
    const answer = await browser.send('/profile', { form: { ...typed, profile_updated_at }, headers: html });
    const login = locationOf(answer);
    expect([login.pathname, login.searchParams.get('why')]).toEqual(['/login', 'ended']);
    expect(answer.status).toBe(303);
    const page = await open(browser, login.pathname + login.search);
    expect(textOf(page)).toContain('You have been logged out.');
    const next = login.searchParams.get('next') ?? '';
    await browser.login('customer@example.test');
    const shown = await open(browser, next);
    expect(shown.status).toBe(200);
    expect(textOf(shown)).toContain('You were logged out before you sent this form');
    expect(['name', 'accountName', 'profile_updated_at'].map((name) => fieldOf(shown, name).value)).toEqual([
      typed.name,
      typed.accountName,
      profile_updated_at,
    ]);
    const { name } = JSON.parse((await browser.send('/sso/profile')).text);
    expect(name).not.toBe(typed.name);
  });

  it('is there again where it waited for a credential, once the login has given one', async () => {
    const { browser } = await customerOfBefore();
    const path = await postRefused(browser, '/profile/email', { email: 'typed-before@example.test' });
    expect(textOf(await open(browser, path))).toContain('Confirm it’s you');
    await endSessions(browser);
    expect(locationOf(await open(browser, path)).searchParams.get('next')).toBe(path);
    await browser.login('customer@example.test');
    const shown = await open(browser, path);
    expect([shown.status, fieldOf(shown, 'email').value]).toEqual([200, 'typed-before@example.test']);
    expect(textOf(shown)).toContain('Not done yet. Check and confirm.');
    // After the change was asked for, going back does not show "Not done yet" (contract 9.363 and 9.419).
    const done = await post(browser, path, { email: 'typed-before@example.test' });
    expect(locationOf(done).search).toMatch(/^\?sent/);
    const back = await open(browser, path);
    expect([back.status, textOf(back).includes('Not done yet')]).toEqual([200, false]);
  });

  it('is dropped by the login of somebody else', async () => {
    const browser = await logIn(app.send, 'customer@example.test');
    await endSessions(browser);
    const login = locationOf(await post(browser, '/profile', typed));
    const next = login.searchParams.get('next') ?? '';
    await browser.login('merchant@example.test');
    expect(browser.jar.has(cookieName)).toBe(false);
    const shown = await open(browser, next);
    expect(shown.text).not.toContain(typed.name);
    await browser.login('customer@example.test');
    expect((await open(browser, next)).text).not.toContain(typed.name);
  });

  it('is kept for nobody where nobody is known', async () => {
    const answer = await post(openBrowser(app.send), '/profile', typed);
    expect(answer.headers.get('location')).toBe('/login?next=%2Fprofile');
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  async function endSessions(browser: Browser) {
    await sql`update sessions set ended_at = now() where user_id = ${await browser.whoseId()}`.execute(
      app.db,
    );
  }
});

describe('the login page', () => {
  it.each([
    ['ended', 'You have been logged out.'],
    ['other-browser', 'To continue in this browser, log in first.'],
    ['asked-again', 'is asking you to confirm that it is you'],
  ])('says why it appears: %s', async (why, words) => {
    expect(textOf(await app.send(`/login?why=${why}`))).toContain(words);
  });

  it('says nothing for any other value', async () => {
    const plain = textOf(await app.send('/login'));
    for (const why of ['', 'constructor', 'ended ', '__proto__', '<b>', 'x'.repeat(5_000)])
      expect(textOf(await app.send(`/login?why=${encodeURIComponent(why)}`))).toBe(plain);
  });

  it('is told why by the pages that lead there', async () => {
    const browser = await logIn(app.send, 'customer@example.test');
    const whyOf = async (path: string) => locationOf(await open(browser, path)).searchParams.get('why');
    expect(await whyOf('/sso/launch/marketplace?prompt=login')).toBe('asked-again');
    await sql`update sessions set ended_at = now()`.execute(app.db);
    expect(await whyOf('/profile')).toBe('ended');
    browser.jar.clear();
    expect(await whyOf('/profile')).toBe(null);
    expect(await whyOf(`/verify-email/confirm${deadLink}`)).toBe('other-browser');
    expect(await whyOf(`/profile/email/confirm${deadLink}`)).toBe('other-browser');
  });
});
