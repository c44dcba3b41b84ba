// Strangers who use up a limit do not keep the owner out. Each of these attacks succeeded in an earlier version.
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Answer, expectRetryAfter, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { type Browser, fieldOf, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { emptyTables } from '../support/database/empty-tables.ts';
import { readMails, readToken } from '../support/people/kept-mail.ts';
import { shared } from '../support/run/shared.ts';

// This user is not one of the demo users, which the login page of local mode names.
const email = 'owner@example.test';
const unknown = 'nobody@example.test';
const password = 'local demo password';
const newPassword = 'seven quiet lanterns';

// Answers for the wrong password without hashing it, because hundreds of real guesses would take long. Hashes everything else.
vi.mock('@node-rs/argon2', async (importOriginal) => {
  const real = await importOriginal<typeof import('@node-rs/argon2')>();
  const verify = async (hash: string, typed: string) => typed !== 'wrong' && (await real.verify(hash, typed));
  return { ...real, verify };
});

const app = shared(openApp);
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl }));
beforeAll(async () => {
  await sql`update users set email = ${email} where email = 'merchant@example.test'`.execute(app.db);
});
beforeEach(() => emptyTables(app.db, 'rate_limits', 'mails'));

let last = 0;
/** Each call returns an IP address in another network. */
const anywhere = () => `203.${++last >> 8}.${last & 255}.9`;

const guess = (at: string) =>
  app.send('/login', { form: { email: at, password: 'wrong' }, from: anywhere() });
const ask = (of: string, from = anywhere()) => app.send('/forgot-password', { form: { email: of }, from });

const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status).sort();
const sent = (count: number, refused: number) => [...Array(count).fill(303), ...Array(refused).fill(429)];

const letPass = (...names: string[]) =>
  sql`update rate_limits set expire = 1 where split_part(key, ':', 1) = any(${names}::text[])`.execute(
    app.db,
  );

/** Uses up the guesses at the account's password and its mails of the day, with requests from many IP addresses. */
async function spendEverything(of: string): Promise<void> {
  // Only 16 guesses run at the same time, because further guesses would wait for too long.
  let answers: Answer[];
  do answers = await Promise.all(Array.from({ length: 16 }, () => guess(of)));
  while (!answers.some(({ status }) => status === 429));
  await spendMails(of);
}

async function spendMails(of: string): Promise<void> {
  for (let hour = 0; hour < 2; hour++) {
    await Promise.all(Array.from({ length: 6 }, () => ask(of)));
    await letPass('mail-account');
  }
}

const comeIn = (browser: Browser, of: string, typed = password) =>
  browser.send('/login?next=/sso/launch/marketplace', {
    form: { email: of, password: typed },
    from: anywhere(),
  });

describe('an owner in a new browser, while strangers have used up the guesses and the mails (contract 9.43 and 9.44)', () => {
  it('is told what works, and gets in by the mail that comes every three hours', async () => {
    await spendEverything(email);
    await letPass('spare-mail-account');
    const owner = openBrowser(app.send);
    const refused = await comeIn(owner, email);
    expect(refused.status).toBe(429);
    expectRetryAfter(refused, 60 * 60);
    const minutes = Math.ceil(Number(refused.headers.get('retry-after')) / 60);
    expect(textOf(refused)).toMatch(new RegExp(`Try again in ${minutes} minutes?\\.`));
    expect(textOf(refused)).toContain('a browser that you have used for this account before');
    expect(textOf(refused)).toContain('use a passkey');
    const path = '/forgot-password?next=%2Fsso%2Flaunch%2Fmarketplace';
    expect(refused.text).toContain(`href="${path}"`);
    expect(fieldOf(await owner.send(path), 'email').value).toBe(email);

    await sql`truncate mails cascade`.execute(app.db);
    expect((await owner.send(path, { form: { email }, from: anywhere() })).status).toBe(303);
    const token = await readToken(other, email, 'set_password');
    const set = await owner.send(`/set-password?token=${token}`, { form: { newPassword } });
    expect(set.status).toBe(303);
    expect(await owner.whoAmI()).toBe(email);
    await sql`truncate mails cascade`.execute(app.db);
    await letPass('spare-mail-account');
    await ask(email);
    const back = await readToken(other, email, 'set_password');
    await app.send(`/set-password?token=${back}`, { form: { newPassword: password } });
  });

  it('sees the same page as somebody without an account, and so does a stranger', async () => {
    const pages: string[] = [];
    for (const of of [email, unknown]) {
      await spendEverything(of);
      const refused = await comeIn(openBrowser(app.send), of);
      expect(refused.status).toBe(429);
      const cookie = refused.headers.get('set-cookie')?.replace(encodeURIComponent(of), '').replace(of, '');
      pages.push(`${refused.text} ${cookie}`.replaceAll(of, '').replace(/in \d+ minutes?/, ''));
    }
    const [known, other] = pages.map((page) =>
      page.replace(/nonce="[^"]*"/g, '').replace(/nonce:[^ ]*/g, ''),
    );
    expect(known).toBe(other);
  });
});

describe('the mail that sets a password, every three hours', () => {
  it.each([email, unknown])('is one, even when 16 ask at once for %s', async (of) => {
    await spendMails(of);
    await letPass('spare-mail-account');
    const answers = await Promise.all(Array.from({ length: 16 }, () => ask(of)));
    expect(statusesOf(answers)).toEqual(sent(1, 15));
    for (const answer of answers.filter(({ status }) => status === 429))
      expectRetryAfter(answer, 3 * 60 * 60);
  });

  it('makes at most eighteen a day, no matter who asks (contract 9.421)', async () => {
    const answers: Answer[] = [];
    const day = 24;
    for (let hour = 0; hour < day; hour++) {
      answers.push(...(await Promise.all(Array.from({ length: 8 }, () => ask(email)))));
      await letPass('mail-account', 'mail-network');
      if (hour % 3 === 2) await letPass('spare-mail-account');
    }
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(18);
    const mails = await readMails(other, email, 18);
    for (const { text } of mails) expect(text).toContain('Nothing changes unless the link is used.');
  });

  it('comes whatever one network, or the browser of its owner, has used up', async () => {
    const owner = await logIn(app.send, email);
    const own = () => owner.send('/forgot-password', { form: { email } });
    expect(statusesOf(await Promise.all(Array.from({ length: 16 }, own)))).toEqual(sent(6, 10));
    await sql`truncate rate_limits`.execute(app.db);
    const near = () => ask(email, '198.51.100.7');
    expect(statusesOf(await Promise.all(Array.from({ length: 16 }, near)))).toEqual(sent(6, 10));
  });

  it('comes even if its IP address has used up its fifty, and such an address uses it up for nobody', async () => {
    const from = '198.51.100.8';
    const many = (count: number, name: string) =>
      Promise.all(Array.from({ length: count }, (_, index) => ask(`${name}${index}@example.test`, from)));
    expect(statusesOf(await many(50, 'first'))).toEqual(sent(50, 0));
    expect((await ask(email, from)).status).toBe(303);
    expect(statusesOf(await many(50, 'second'))).toEqual(sent(49, 1));
    // `from` has used up the mails that one IP address may ask for.
    expect((await ask('customer@example.test', from)).status).toBe(429);
    await spendMails('customer@example.test');
    const { rows } = await sql<{ points: number }>`select points from rate_limits
      where key like 'spare-mail-account:%' order by points desc`.execute(app.db);
    expect(rows.length).toBe(51);
  });

  it('is for no other mail', async () => {
    await spendMails(unknown);
    await letPass('spare-mail-account');
    expect(
      (await app.send('/signup', { form: { name: 'N', email: unknown }, from: anywhere() })).status,
    ).toBe(429);
  });
});
