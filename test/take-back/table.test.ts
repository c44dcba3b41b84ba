// Taking an account back: who clicks, which factors there are, from when and from which browser, which role, which link, and
// how the account is.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApp, type TestApp } from '../support/app.ts';
import {
  type Arranged,
  arrange,
  nameOf,
  outcomeOf,
  secretInBase32,
  type TakeBackCase,
  takeBackCases,
} from '../support/take-back-cases.ts';
import { showCode } from '../support/totp-app.ts';

const newPassword = 'eight louder lanterns';
let app: TestApp;

beforeAll(async () => {
  app = await openApp();
});
afterAll(() => app.close());

describe('an account', () => {
  it.each(takeBackCases.map((given) => [nameOf(given), given] as const))(
    'is taken back as the contract says: %s',
    (_, given) => takeBackAndCheck(given),
  );
});

async function takeBackAndCheck(given: TakeBackCase) {
  const arranged = await arrange(app, given, new Date());
  const { link, mailbox, emails } = arranged;
  const expected = outcomeOf(given);
  const before = await read(arranged);
  const page = await app.send(link);
  if (expected.isRefused) {
    expect(page.status).toBe(403);
    expect((await app.send(link, { form: { newPassword } })).status).toBe(403);
    expect((await app.send(link, { form: { intent: 'freeze' } })).status).toBe(403);
    expect(await read(arranged)).toEqual(before);
    return;
  }
  expect(page.status).toBe(200);
  for (const email of emails) expect(page.text.includes(email), email).toBe(email === mailbox);
  expect([page.text.includes('name="code"'), page.text.includes('data-passkey="take-back"')]).toEqual([
    expected.asks === 'app',
    expected.asks === 'passkey',
  ]);
  if (expected.asks) {
    const wrong: Record<string, string>[] = [{ newPassword }, { newPassword, code: '000000' }];
    for (const form of wrong) expect((await app.send(link, { form })).status).toBe(422);
    expect(await read(arranged)).toEqual(before);
  } else {
    expect((await app.send(link, { form: { intent: 'freeze' } })).status).toBe(400);
    expect(await read(arranged)).toEqual(before);
  }
  if (expected.asks === 'passkey') return expectFrozen(arranged, before);
  const code = showCode(secretInBase32, Date.now());
  const form: Record<string, string> = expected.asks ? { newPassword, code } : { newPassword };
  const done = await app.send(link, { form });
  expect([done.status, done.headers.get('location')]).toEqual([303, '/profile?saved=taken-back']);
  const after = await read(arranged);
  expect(after).toEqual({
    email: mailbox,
    factors: expected.keepsFactor ? before.factors : [],
    codes: 0,
    isLeaving: expected.keepsDeletion,
    isSuspended: false,
    passwordHash: expect.not.stringMatching(before.passwordHash),
    told: before.told.filter((email) => emails.indexOf(email) < expected.earlier),
    reserved: before.reserved.filter((email) => emails.indexOf(email) < expected.earlier),
  });
  for (const [at, each] of arranged.links.entries())
    expect((await app.send(each)).status).toBe(at < expected.earlier ? 200 : 404);
}

async function expectFrozen(arranged: Arranged, before: State) {
  const frozen = await app.send(arranged.link, { form: { intent: 'freeze' } });
  expect(frozen.status).toBe(303);
  expect(await read(arranged)).toEqual({ ...before, isSuspended: true });
  const shown = await app.send(frozen.headers.get('location') ?? '');
  expect([shown.status, shown.text.includes('account_frozen')]).toEqual([403, true]);
}

type State = Awaited<ReturnType<typeof read>>;

async function read({ userId }: Arranged) {
  const { rows } = await sql<{
    email: string;
    passwordHash: string;
    isLeaving: boolean;
    isSuspended: boolean;
    factors: string[];
    codes: number;
    told: string[];
    reserved: string[];
  }>`
    select email, password_hash as "passwordHash", deletion_due_at is not null as "isLeaving",
      suspended_at is not null as "isSuspended",
      array(select 'passkey' from passkeys where user_id = u.id union all select 'app' from authenticators where user_id = u.id) as factors,
      (select count(*)::int from recovery_codes where user_id = u.id) as codes,
      array(select c.email from take_back_changes c where user_id = u.id order by at) as told,
      array(select r.email from reserved_addresses r where user_id = u.id order by number) as reserved
    from users u where id = ${userId}`.execute(app.db);
  const [row] = rows;
  if (!row) throw new Error('the user is gone');
  return row;
}
