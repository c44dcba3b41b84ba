import { sql } from 'kysely';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Answer, expectRetryAfter, openApp } from '../support/app/app.ts';
import { scrape } from '../support/app/metrics.ts';
import { logIn } from '../support/app/visitor.ts';
import { emptyTables } from '../support/database/empty-tables.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';

const app = shared(openApp);
// Uses up the extra mail of contract 9.122, which is tested in test/attacks/owner-gets-in.mocked.test.ts.
beforeEach(async () => {
  await emptyTables(app.db, 'mails', 'rate_limits');
  const all = [email, 'unverified@example.test'];
  await Promise.all(all.map((of) => many(6, () => ask(of))));
  await sql`delete from rate_limits where key not like 'spare-mail-account:%'`.execute(app.db);
  await sql`truncate mails`.execute(app.db);
});

let lastAddress = 0;
const ask = (of = email) =>
  app.send('/forgot-password', { form: { email: of }, from: `203.0.113.${++lastAddress % 256}` });

const many = (times: number, askOne: () => Promise<Answer>) =>
  Promise.all(Array.from({ length: times }, askOne));
const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status).sort();

const letPass = (name: string) =>
  sql`update rate_limits set expire = extract(epoch from now()) * 1000 - 1 where key like ${`${name}:%`}`.execute(
    app.db,
  );

async function expectMails(count: number, to = email): Promise<void> {
  await vi.waitFor(async () => {
    const { rows } = await sql`select 1 from mails where recipient = ${to} and kind <> 'new_browser'`.execute(
      app.db,
    );
    expect(rows).toHaveLength(count);
  }, 15_000);
}

describe('mails to one address that strangers ask for (contract 9.121)', () => {
  it('are five an hour, even when 16 ask at once, and ten a day', async () => {
    for (let hour = 0; hour < 2; hour++) {
      expect(statusesOf(await many(16, ask))).toEqual([...Array(5).fill(303), ...Array(11).fill(429)]);
      // Without this, the limits of the network would count, too: seven mails a day.
      for (const count of ['mail-account', 'mail-network', 'mail-network-day']) await letPass(count);
    }
    const refused = await ask();
    expect(refused.status).toBe(429);
    expectRetryAfter(refused, 24 * 60 * 60);
    await expectMails(10);
    await letPass('mail-account-day');
    expect((await ask()).status).toBe(303);
    await expectMails(11);
  });

  it('are five an hour and seven a day from one network', async () => {
    const all = [5, 2].map((taken) => [...Array(taken).fill(303), ...Array(16 - taken).fill(429)]);
    for (const expected of all) {
      expect(statusesOf(await many(16, ask))).toEqual(expected);
      for (const count of ['mail-account', 'mail-network']) await letPass(count);
    }
    await letPass('mail-network-day');
    expect((await ask()).status).toBe(303);
  });

  it('leave room for mails that the owner asks for in their own browser', async () => {
    const owner = await logIn(app.send, email);
    await many(16, ask);
    const own = () => owner.send('/forgot-password', { form: { email } });
    expect(statusesOf(await many(16, own))).toEqual([...Array(5).fill(303), ...Array(11).fill(429)]);
    expectRetryAfter(await own(), 60 * 60);
    await expectMails(10);
  });

  it('are not used up by mails that the owner asks for', async () => {
    const owner = await logIn(app.send, email);
    await many(5, () => owner.send('/forgot-password', { form: { email } }));
    expect(statusesOf(await many(5, ask))).toEqual(Array(5).fill(303));
  });

  it('leave no room for somebody else in a browser that they know', async () => {
    const stranger = await logIn(app.send, 'customer@example.test');
    await many(5, ask);
    expect((await stranger.send('/forgot-password', { form: { email } })).status).toBe(429);
  });
});

describe('mails that somebody asks for to verify their address', () => {
  const unverified = 'unverified@example.test';
  const verify = { form: {} };

  it('have room of their own in a browser that the holder of the address knows', async () => {
    const owner = await logIn(app.send, unverified);
    await many(16, () => ask(unverified));
    expect((await owner.send('/verify-email', verify)).status).toBe(303);
    await expectMails(6, unverified);
  });

  it('count as those of a stranger where the address was merely typed', async () => {
    const typist = await logIn(app.send, unverified);
    await sql`update users set password_hash = null, holds_email = false where email = ${unverified}`.execute(
      app.db,
    );
    await many(5, () => ask(unverified));
    expect((await typist.send('/verify-email', verify)).status).toBe(429);
  });
});

/** Contract 9.273. */
describe('mails that one network asks for', () => {
  const signUp = (n: number, site = '2001:db8:7') =>
    app.send('/signup', {
      form: { name: 'Nina New', email: `many-${n}@example.test` },
      from: `${site}:${n.toString(16)}::1`,
    });

  it('are 150 an hour from an IPv6 /48, over however many /64, and leave other networks theirs', async () => {
    const statuses: number[] = [];
    for (let n = 1; n <= 160; n += 16)
      statuses.push(...statusesOf(await Promise.all(Array.from({ length: 16 }, (_, at) => signUp(n + at)))));
    expect(statuses.sort()).toEqual([...Array(150).fill(303), ...Array(10).fill(429)]);
    expect((await signUp(161, '2001:db8:8')).status).toBe(303);
    // The owner of a mailbox in this network still gets one mail for a new password.
    const spare = await app.send('/forgot-password', {
      form: { email: 'manager@example.test' },
      from: '2001:db8:7:ffff::1',
    });
    expect(spare.status).toBe(303);
  });

  it('for a new password are 150 more an hour from an IPv6 /48 (contract 9.122)', async () => {
    const forget = (n: number, site = '2001:db8:7') =>
      app.send('/forgot-password', {
        form: { email: `nobody-${n}@example.test` },
        from: `${site}:${n.toString(16)}::1`,
      });
    const statuses: number[] = [];
    for (let n = 1; n <= 320; n += 16)
      statuses.push(...statusesOf(await Promise.all(Array.from({ length: 16 }, (_, at) => forget(n + at)))));
    expect(statuses.sort()).toEqual([...Array(300).fill(303), ...Array(20).fill(429)]);
    expect((await forget(321, '2001:db8:8')).status).toBe(303);
  });

  it('are counted, taken or refused (contract 9.275)', async () => {
    const count = async (result: string) =>
      (await scrape(app)).valueFor('identity_asked_mails_total', { result }) ?? 0;
    const before = [await count('taken'), await count('refused')];
    await many(16, () => ask('counted@example.test'));
    const after = [await count('taken'), await count('refused')];
    // Five mails are within the limits, and the sixth is the extra one of contract 9.122.
    expect(after.map((value, at) => value - (before[at] ?? 0))).toEqual([6, 10]);
  });
});
