import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, expectRetryAfter, locationOf, openApp } from '../support/app/app.ts';
import { newVisit, openBackend } from '../support/app/backend.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { emptyTables } from '../support/database/empty-tables.ts';
import { readMails, readToken } from '../support/people/kept-mail.ts';
import { quoted } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

const email = 'unverified@example.test';
const hour = 60 * 60 * 1_000;

let now = new Date();
let client: ReturnType<typeof openClient>;
let cookie: string;
const app = shared(() => openApp({ now: () => now }));
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl, now: () => now }));
beforeEach(async () => {
  now = new Date();
  await emptyTables(app.db, 'mails', 'mail_tokens', 'rate_limits', 'sessions');
  await sql`update users set email_verified_at = null, email = ${email}
    where name = 'Uma Unverified'`.execute(app.db);
  cookie = await app.login(email);
  client = openClient(app.send, cookie);
});

async function askToVerify(next?: string): Promise<string> {
  await client.email.requestVerification.mutate({ next });
  return readToken(other, email, 'verify_email');
}

const isVerified = async () => (await client.profile.get.query()).emailVerified;
const verify = (token: string, as = client) => as.email.verify.mutate({ token });

const noSuchLink = { httpStatus: 404, problem: 'not_found' };

async function expectNoLink(call: Promise<unknown>): Promise<void> {
  expect(await refusalOf(call)).toMatchObject(noSuchLink);
  expect(await isVerified()).toBe(false);
}

describe('a link that verifies an address', () => {
  it('arrives in a mail that local mode keeps, and opens the products to its user', async () => {
    const asked = '/sso/launch/marketplace?state=s';
    const token = await askToVerify(asked);
    const [mail] = await readMails(other, email);
    expect(mail?.subject).toBe('Verify your email address – Identity');
    // The link leaves out the parameters of the client, because anybody could have chosen them.
    const query = new URLSearchParams({ token, next: '/sso/launch/marketplace' });
    expect(mail?.text).toContain(`http://localhost:3000/verify-email/confirm?${query}\n`);

    const launch = async () => locationOf(await app.send(asked, { cookie }));
    expect((await launch()).pathname).toBe('/verify-email');
    await verify(token);
    expect(await isVerified()).toBe(true);
    expect((await launch()).searchParams.has('payload')).toBe(true);
  });

  // Contract 9.116.
  it('works once, even when sixteen use it at once', async () => {
    const token = await askToVerify();
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, () =>
        verify(token).then(
          () => 'verified',
          (error) => error.data?.problem,
        ),
      ),
    );
    expect(outcomes.sort()).toEqual([...Array(15).fill('not_found'), 'verified']);
    expect(await refusalOf(verify(token))).toMatchObject(noSuchLink);
  });

  it('works only while its user is logged in, and is not used up by anybody else', async () => {
    const token = await askToVerify();
    const stranger = openClient(app.send, await app.login('customer@example.test'));
    await expectNoLink(verify(token, stranger));
    const outsider = openClient(app.send);
    expect(await refusalOf(verify(token, outsider))).toMatchObject({ problem: 'login_required' });
    await verify(token);
    expect(await isVerified()).toBe(true);
  });

  it('works for an hour and not after', async () => {
    const token = await askToVerify();
    const sentAt = now.getTime();
    now = new Date(sentAt + hour);
    await expectNoLink(verify(token));
    now = new Date(sentAt + hour - 1_000);
    await verify(token);
    expect(await isVerified()).toBe(true);
  });

  it('does not work after the address changed (contract 9.116)', async () => {
    const token = await askToVerify();
    await sql`update users set email = 'uma@example.test' where email = ${email}`.execute(app.db);
    await expectNoLink(verify(token));
  });

  it('does not work for another purpose, and no other link works for this one', async () => {
    const token = await askToVerify();
    expect(await other.call(({ passwordMail }) => passwordMail.find({ token }))).toBeNull();
    const fields = { token, newPassword: 'quite another long password' };
    await expect(other.call(({ passwordMail }) => passwordMail.use(fields))).rejects.toMatchObject({
      status: 404,
      code: 'not_found',
    });
    await other.call(({ passwordMail }) => passwordMail.request({ email: email }));
    const passwordToken = await readToken(other, email, 'set_password', 2);
    await expectNoLink(verify(passwordToken));
    expect((await other.call(({ passwordMail }) => passwordMail.find({ token: passwordToken })))?.email).toBe(
      email,
    );
    await verify(token);
  });

  it.each(quoted(['', 'x', 'A'.repeat(43), 'A'.repeat(10_000), '\u0000', '\ud800']))(
    'does not work with the token %s',
    async (_, token) => expectNoLink(verify(token)),
  );
});

describe('requests for a mail', () => {
  const ask = async (): Promise<Answer> =>
    app.send('/trpc/email.requestVerification', { cookie, json: { json: {} } });
  const countMails = async () =>
    (await sql`select 1 from mails where kind <> 'new_browser'`.execute(app.db)).rows.length;
  const askForPassword = async (address: string, visit = newVisit()) =>
    other
      .call(({ passwordMail }) => passwordMail.request({ email: address }), { visit })
      .then(
        () => 200,
        (error) => error,
      );

  it('are limited to five an hour for one address, even when sixteen come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 16 }, ask));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(11);
    for (const answer of refused) {
      expect(answer.status).toBe(429);
      expectRetryAfter(answer, 60 * 60);
      expect(JSON.parse(answer.text).error.json.data.problem).toBe('rate_limited');
    }
    expect(await countMails()).toBe(5);
  });

  it('count together for an address, no matter who asks and why', async () => {
    for (let times = 0; times < 3; times++) expect((await ask()).status).toBe(200);
    expect(await askForPassword(email)).toBe(200);
    expect(await askForPassword(email.toUpperCase())).toBe(200);
    // This is the extra mail that is allowed one time in three hours (contract 9.122).
    expect(await askForPassword(email)).toBe(200);
    const refusal = await askForPassword(email);
    expect(refusal).toMatchObject({ status: 429, code: 'rate_limited' });
    expectRetryAfter({ headers: new Headers(refusal.headers) }, 60 * 60);
    expect((await ask()).status).toBe(429);
    expect(await countMails()).toBe(6);
    expect(await askForPassword('customer@example.test')).toBe(200);
  });

  it('are limited to fifty an hour from one client, for all addresses together, and fifty that set a password', async () => {
    const { address } = newVisit();
    const outcomes: unknown[] = [];
    // On a busy machine, 110 requests at the same time would be refused by their deadlines, and not by the limit.
    for (let from = 0; from < 110; from += 10)
      outcomes.push(
        ...(await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            askForPassword(`n${from + index}@example.test`, { ...newVisit(), address }),
          ),
        )),
      );
    expect(outcomes.filter((outcome) => outcome === 200)).toHaveLength(100);
  });

  it('do not count as guesses at the password, nor the other way round', async () => {
    const guess = () => app.send('/login', { form: { email, password: 'wrong' } });
    for (let times = 0; times < 9; times++) expect((await guess()).status).toBe(401);
    expect((await ask()).status).toBe(200);
    for (let times = 0; times < 5; times++) await ask();
    await app.login(email);
  });
});
