// A later report corrects the customer whom its signup made, until that customer has logged in (contract 7.536, 7.537 and
// 7.586).
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { findPasswordMail } from '../../server/identity/address/password-by-mail.ts';
import { openApp } from '../support/app/app.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { countLetters } from '../support/people/kept-mail.ts';
import { tokenIn } from '../support/people/mail-server.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

let serial = 0;

/** Makes a new customer, and a function that reports another name or email address a moment later. */
async function arrange(email?: string) {
  const id = `right_${serial++}`;
  const first = buildSignup(id);
  const wrong = email ?? first.user.email;
  const answer = await pushSignup(app, { ...first, user: { ...first.user, email: wrong } });
  let nth = 0;
  const correct = (user: { email?: string; name?: string }, account = first.account) =>
    pushSignup(app, {
      ...first,
      occurred_at: new Date(Date.parse(first.occurred_at) + ++nth).toISOString(),
      user: { email: wrong, name: first.user.name, ...user },
      account,
    });
  return { id, wrong, answer, correct, right: `${id}.right@example.test` };
}

const readUser = async (userId: string) =>
  (
    await sql<{ email: string; name: string; account: string }>`
      select u.email, u.name, a.name as account from users u join accounts a on a.id = u.account_id
      where u.id = ${userId}`.execute(app.db)
  ).rows[0];

/** Returns the token in the mail to `recipient`, once the service has sent the mail. */
const readToken = (recipient: string) =>
  vi.waitFor(async () => {
    const { rows } = await sql<{ text: string }>`
      select kept_text as text from mails where recipient = ${recipient} and kind = 'welcome'`.execute(
      app.db,
    );
    return tokenIn(rows[0] ?? {}, '/set-password');
  }, 20_000);

/** Returns whether the link with this token opens a form for a password. */
const works = async (token: string) =>
  (await findPasswordMail({ db: app.db, now: () => new Date() } as never, token)) !== undefined;

it('a name and an address are corrected, and only the new link works', async () => {
  const { wrong, answer, correct, right } = await arrange();
  const before = await readToken(wrong);
  expect(await works(before)).toBe(true);
  const { user, account, ignored } = await correct({ email: right, name: 'Zoë' }, { name: 'Zoë’s Flowers' });
  expect([user, account, ignored]).toEqual([
    { id: answer.user.id, created: false },
    { id: answer.account.id, created: false },
    undefined,
  ]);
  expect(await readUser(answer.user.id)).toEqual({ email: right, name: 'Zoë', account: 'Zoë’s Flowers' });
  expect([await works(before), await works(await readToken(right))]).toEqual([false, true]);
  // If the same correction is sent a second time, no second mail is sent.
  await correct({ email: right, name: 'Zoë' }, { name: 'Zoë’s Flowers' });
  expect(await countLetters(app.db, right)).toBe(1);
});

it('nothing is corrected once the person has a password', async () => {
  const { wrong, answer, correct, right } = await arrange();
  await sql`update users set password_hash = 'x', email_verified_at = now() where id = ${answer.user.id}`.execute(
    app.db,
  );
  await correct({ email: right, name: 'Somebody Else' }, { name: 'Another' });
  expect(await readUser(answer.user.id)).toMatchObject({ email: wrong, name: 'User right_1' });
  expect(await countLetters(app.db, right)).toBe(0);
});

it('nothing is corrected of a customer whom another signup made, or who was here before', async () => {
  const { wrong, answer } = await arrange();
  const second = await arrange(wrong);
  expect(second.answer.user.id).toBe(answer.user.id);
  await second.correct({ email: second.right, name: 'Somebody Else' });
  expect((await readUser(answer.user.id))?.email).toBe(wrong);
  const known = await arrange('customer@example.test');
  await known.correct({ email: known.right, name: 'Somebody Else' });
  expect((await readUser(known.answer.user.id))?.email).toBe('customer@example.test');
});

// Contract 7.537.
it('an address that somebody has changes nothing, and the answer says so', async () => {
  const { wrong, answer, correct } = await arrange();
  const { applied, ignored } = await correct({ email: 'customer@example.test', name: 'Zoë' });
  expect([applied, ignored]).toEqual([true, ['/user/email']]);
  expect(await readUser(answer.user.id)).toMatchObject({ email: wrong, name: 'Zoë' });
});

it('16 corrections at once to one address make one customer there', async () => {
  const customers = await Promise.all(Array.from({ length: 16 }, () => arrange()));
  const right = `crowd.${serial}@example.test`;
  const answers = await Promise.all(customers.map(({ correct }) => correct({ email: right })));
  expect(answers.filter(({ ignored }) => ignored === undefined)).toHaveLength(1);
  expect(await countLetters(app.db, right)).toBe(1);
});
