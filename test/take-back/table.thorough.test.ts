// Taking an account back, in all combinations. `npm run test:faults` runs all of them. `npm run test:thorough` runs a part in
// which each pair of values occurs.
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openApp, type TestApp } from '../support/app/app.ts';
import { openBrowser } from '../support/app/visitor.ts';
import { byForm } from '../support/faults/faults.ts';
import {
  type Arranged,
  arrange,
  nameOf,
  type Outcome,
  outcomeOf,
  recoveryCode,
  secretInBase32,
  type TakeBackCase,
  takeBackCases,
  type Way,
} from '../support/people/take-back-cases.ts';
import { answerWith } from '../support/people/take-backs.ts';
import { showCode, wrongCode } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const newPassword = 'eight louder lanterns';

const app = shared(openApp);

/** Sends the request again if a busy machine refuses it. A refused request changes nothing. */
const send: TestApp['send'] = async (path, options) => {
  const answer = await app.send(path, options);
  if (answer.status !== 503) return answer;
  await pause(200);
  return send(path, options);
};

const every = byForm({ short: 37, long: 1 });
const chosen = [...takeBackCases.entries()].filter(([at]) => at % every === 0);

it('each two values that can meet do so in the part that is gone through', () => {
  const pairsOf = (cases: TakeBackCase[]) =>
    new Set(
      cases.flatMap((given) => {
        const values = Object.entries(given).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
        return values.flatMap((one, at) => values.slice(at + 1).map((other) => `${one}, ${other}`));
      }),
    );
  const met = pairsOf(chosen.map(([, given]) => given));
  expect([...pairsOf(takeBackCases)].filter((pair) => !met.has(pair))).toEqual([]);
});

describe('an account', () => {
  it.concurrent.each(chosen.map(([at, given]) => [nameOf(given), at, given] as const))(
    'is taken back as the contract says: %s',
    (_, at, given) => takeBackAndCheck(given, at),
  );
});

async function takeBackAndCheck(given: TakeBackCase, at: number) {
  // Without this, new passwords would be limited, because all cases come from one IP address.
  await sql`delete from rate_limits where key like 'new-password-%'`.execute(app.db);
  const arranged = await arrange(app, given, new Date());
  const { link, mailbox, emails } = arranged;
  const expected = outcomeOf(given);
  const before = await read(arranged);
  const page = await send(link);
  if (expected.isRefused) {
    expect(page.status).toBe(403);
    expect((await send(link, { form: { newPassword } })).status).toBe(403);
    expect((await send(link, { form: { intent: 'freeze' } })).status).toBe(403);
    expect(await read(arranged)).toEqual(before);
    return;
  }
  expect(page.status).toBe(200);
  for (const email of emails) expect(page.text.includes(email), email).toBe(email === mailbox);
  expect({
    code: page.text.includes('name="code"'),
    passkey: page.text.includes('data-passkey="take-back"'),
  }).toEqual(expected.asks);
  await expectRefused(arranged, expected);
  expect(await read(arranged)).toEqual(before);
  // Each case uses one of the ways to take the account back. Some cases freeze the account instead.
  const way = expected.ways[at % expected.ways.length] ?? 'nothing';
  if (expected.canFreeze && at % 4 === 3) return expectFrozen(arranged, before);
  const done = await give(arranged, way);
  expect([done.status, done.headers.get('location')]).toEqual([303, '/profile?saved=taken-back']);
  expect(await read(arranged)).toEqual({
    email: mailbox,
    factors: expected.factorsAfter(way),
    codes: 0,
    isLeaving: expected.keepsDeletion,
    isSuspended: false,
    passwordHash: expect.stringMatching(/^\$argon2id\$/),
    told: before.told.filter((email) => emails.indexOf(email) < expected.earlier),
    reserved: before.reserved.filter((email) => emails.indexOf(email) < expected.earlier),
    oldSessions: 0,
    oldBrowsers: 0,
    linksAwake: 0,
  });
  for (const [n, each] of arranged.links.entries())
    expect((await send(each)).status).toBe(n < expected.earlier ? 200 : 404);
}

/** Insufficient proof (no factor, a wrong factor, or a factor that does not count) must change nothing. */
async function expectRefused(arranged: Arranged, { asks, canFreeze }: Outcome): Promise<void> {
  const { link } = arranged;
  const isAsked = asks.passkey || asks.code;
  if (!canFreeze) expect((await send(link, { form: { intent: 'freeze' } })).status).toBe(isAsked ? 403 : 400);
  if (!isAsked) return;
  const wrong = { newPassword, code: wrongCode(secretInBase32, Date.now()) };
  for (const form of [{ newPassword }, wrong] as Record<string, string>[])
    expect((await send(link, { form })).status).toBe(422);
  const ways: Way[] = [
    ...(asks.passkey ? [] : (['passkey'] as const)),
    ...(asks.code ? [] : (['code', 'recovery code'] as const)),
  ];
  for (const way of ways) expect((await give(arranged, way)).status, way).toBe(422);
}

async function give({ link, passkey, userId }: Arranged, way: Way) {
  const browser = openBrowser(send);
  const form: Record<string, string> = { newPassword };
  if (way === 'code') form.code = showCode(secretInBase32, Date.now());
  if (way === 'recovery code') form.code = recoveryCode;
  if (way === 'passkey')
    form.passkey = await answerWith(browser, link, passkey, {
      userHandle: Buffer.from(userId).toString('base64url'),
    });
  return browser.send(link, { form });
}

async function expectFrozen(arranged: Arranged, before: State) {
  const frozen = await send(arranged.link, { form: { intent: 'freeze' } });
  expect([frozen.status, frozen.headers.get('location')]).toEqual([303, '/take-back?saved=frozen']);
  // A freeze suspends the user and ends the sessions, and changes nothing else.
  expect(await read(arranged)).toEqual({ ...before, isSuspended: true, oldSessions: 0 });
  const shown = await send(arranged.link);
  expect([shown.status, shown.text.includes('account_frozen')]).toEqual([403, true]);
}

type State = Awaited<ReturnType<typeof read>>;

/** Returns the state of the account. Leaves out the browser that takes it back. */
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
    oldSessions: number;
    oldBrowsers: number;
    linksAwake: number;
  }>`
    select email, password_hash as "passwordHash", deletion_due_at is not null as "isLeaving",
      suspended_at is not null as "isSuspended",
      array(select 'passkey' from passkeys where user_id = u.id union all select 'app' from authenticators where user_id = u.id) as factors,
      (select count(*)::int from recovery_codes where user_id = u.id) as codes,
      array(select c.email from take_back_changes c where user_id = u.id order by at) as told,
      array(select r.email from reserved_addresses r where user_id = u.id order by number) as reserved,
      (select count(*)::int from sessions where user_id = u.id and ended_at is null and user_agent = 'Firefox') as "oldSessions",
      (select count(*)::int from devices where user_id = u.id and forgotten_at is null
        and known_since < now() - interval '1 day') as "oldBrowsers",
      (select count(*)::int from external_links where user_id = u.id and sleeping_since is null) as "linksAwake"
    from users u where id = ${userId}`.execute(app.db);
  const [row] = rows;
  if (!row) throw new Error('the user is gone');
  return row;
}
