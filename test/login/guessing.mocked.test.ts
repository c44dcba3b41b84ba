import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Answer, expectRetryAfter, openApp, type TestApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { type Browser, cookieOf, fieldOf, isLoggedIn, logIn, textOf } from '../support/app/visitor.ts';
import { readToken } from '../support/people/kept-mail.ts';
import { shared } from '../support/run/shared.ts';

const password = 'local demo password';

// The real function, except for wrong passwords: hundreds of real guesses would take long.
vi.mock('@node-rs/argon2', async (importOriginal) => {
  const real = await importOriginal<typeof import('@node-rs/argon2')>();
  const verify = async (hash: string, typed: string) => typed !== 'wrong' && (await real.verify(hash, typed));
  return { ...real, verify };
});

const email = 'merchant@example.test';
const triesByNetwork = 10;
const triesByAccount = 100;
const triesByAddress = 100;
const triesByDevice = 10;

const app = shared(openApp);
const proxied = shared(() => app.startInstance({ env: { TRUSTED_PROXIES: '10.0.0.0/8' } }));
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl }));
beforeAll(async () => {
  await sql`update users set email = 'kasse@xn--bcher-kva.test' where email = 'customer@example.test'`.execute(
    app.db,
  );
});
beforeEach(() => sql`truncate rate_limits`.execute(app.db));

let lastNetwork = 0;
/** An IP address in a network without any guesses so far. */
function newNetwork(): string {
  lastNetwork++;
  return `203.${lastNetwork >> 8}.${lastNetwork & 255}.9`;
}

type Guess = { from?: string; send?: TestApp['send']; typed?: string };

const guess = (at: string, { from = newNetwork(), send = app.send, typed = 'wrong' }: Guess = {}) =>
  send('/login', { form: { email: at, password: typed }, from });

/** Guesses that many times. Only a few run at the same time, because more would have to wait for too long. */
async function guessTimes(times: number, guessOne: (index: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  while (answers.length < times) {
    const some = Array.from({ length: Math.min(32, times - answers.length) }, (_, index) => index);
    const from = answers.length;
    answers.push(...(await Promise.all(some.map((index) => guessOne(from + index)))));
  }
  return answers;
}

function countStatuses(answers: Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function expectRateLimited(answer: Answer, withinSeconds = 15 * 60): void {
  expect(answer.status).toBe(429);
  expectRetryAfter(answer, withinSeconds);
}

/** Makes the counts whose names start with `name` expire, as if their time had passed. */
const letPass = (name: string) =>
  sql`update rate_limits set expire = extract(epoch from now()) * 1000 - 1 where key like ${`${name}:%`}`.execute(
    app.db,
  );

async function countTries(): Promise<number> {
  const { rows } = await sql<{ tries: number }>`
    select coalesce(sum(points), 0)::int as tries from rate_limits
    where key like 'guess-%'`.execute(app.db);
  return rows[0]?.tries ?? Number.NaN;
}

/** A browser in which this user has logged in and out. */
async function openOwnBrowser(of = email): Promise<Browser> {
  const browser = await logIn(app.send, of);
  expect((await browser.send('/logout', { form: {} })).status).toBe(303);
  await sql`truncate rate_limits`.execute(app.db);
  return browser;
}

describe('guesses in a browser that the user has logged in with (contract 9.42 and 9.420)', () => {
  it('are let in whatever strangers have tried, from anywhere and from its own address', async () => {
    const browser = await openOwnBrowser();
    await guessTimes(triesByNetwork + 5, () => guess(email, { from: '192.0.2.1' }));
    await guessTimes(triesByAccount + 5, () => guess(email));
    await guessTimes(triesByAddress + 5, (index) => guess(`u${index}@example.test`, { from: '192.0.2.1' }));
    expectRateLimited(await guess(email, { typed: password }), 60 * 60);
    expect((await browser.login(email)).status).toBe(303);
  });

  it('are refused after the tenth in 15 minutes, even when 16 come at once, and count nowhere else', async () => {
    const browser = await openOwnBrowser();
    const answers = await guessTimes(16, () => browser.login(email, 'wrong'));
    expect(countStatuses(answers)).toEqual({ 401: triesByDevice, 429: 6 });
    expectRateLimited(await browser.login(email));
    for (let times = 0; times < triesByNetwork; times++)
      expect((await guess(email, { from: '192.0.2.1' })).status).toBe(401);
    await letPass('guess-device');
    expect((await browser.login(email)).status).toBe(303);
  });

  it('are refused after the thirtieth in a day', async () => {
    const browser = await openOwnBrowser();
    for (let round = 0; round < 3; round++) {
      expect(countStatuses(await guessTimes(12, () => browser.login(email, 'wrong')))).toEqual({
        401: triesByDevice,
        429: 2,
      });
      await letPass('guess-device');
    }
    expectRateLimited(await browser.login(email), 24 * 60 * 60);
    await letPass('guess-device-day');
    expect((await browser.login(email)).status).toBe(303);
  });

  it('are not given to somebody else who logs in with the same browser in between', async () => {
    const browser = await openOwnBrowser();
    await guessTimes(triesByDevice, () => browser.login(email, 'wrong'));
    expect((await browser.login('manager@example.test')).status).toBe(303);
    expectRateLimited(await browser.login(email, 'wrong'));
  });

  it('are refused after 300 in 15 minutes from one IP address, in however many browsers', async () => {
    const browsers: Browser[] = [];
    while (browsers.length < 31) browsers.push(await openOwnBrowser());
    const answers = await guessTimes(310, (index) => (browsers[index % 31] as Browser).login(email, 'wrong'));
    expect(countStatuses(answers)).toEqual({ 401: 300, 429: 10 });
  });

  it('have that allowance for this user only', async () => {
    const browser = await openOwnBrowser();
    await guessTimes(triesByNetwork, () => guess('admin@example.test', { from: '192.0.2.1' }));
    expectRateLimited(await browser.login('admin@example.test'));
    expect((await browser.login(email)).status).toBe(303);
  });

  it('have it no longer after a password was set by mail elsewhere', async () => {
    const browser = await openOwnBrowser('new-merchant@example.test');
    await setPasswordByMail('new-merchant@example.test', password);
    await guessTimes(triesByNetwork, () => guess('new-merchant@example.test', { from: '192.0.2.1' }));
    expectRateLimited(await browser.login('new-merchant@example.test'));
  });

  it('count a right one nowhere, even when 16 come at once', async () => {
    const browser = await openOwnBrowser();
    await guessTimes(16, () => browser.login(email));
    expect(await countTries()).toBe(0);
  });
});

async function setPasswordByMail(of: string, newPassword: string): Promise<Answer> {
  await sql`truncate mails`.execute(app.db);
  expect((await app.send('/forgot-password', { form: { email: of } })).status).toBe(303);
  await vi.waitFor(
    async () =>
      expect((await sql`select 1 from mails where recipient = ${of}`.execute(app.db)).rows).toHaveLength(1),
    15_000,
  );
  const token = await readToken(other, of, 'set_password');
  return app.send(`/set-password?token=${token}`, { form: { newPassword } });
}

describe('other guesses at one account (contract 9.43)', () => {
  it('get the login page with 429 and Retry-After after the tenth from one network (contract 11.3)', async () => {
    const [from, neighbour] = ['198.51.100.1', '198.51.100.254'];
    for (let times = 0; times < triesByNetwork; times++)
      expect((await guess(email, { from })).status).toBe(401);
    const answer = await guess(email, { from: neighbour, typed: password });
    expectRateLimited(answer);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(textOf(answer)).toContain('There have been too many attempts in a short time.');
    expect(fieldOf(answer, 'email').value).toBe(email);
    expect((await guess(email, { from: '198.51.101.1', typed: password })).status).toBe(303);
    await letPass('guess-network');
    expect((await guess(email, { from, typed: password })).status).toBe(303);
  });

  it('count by /48 in IPv6', async () => {
    const answers = await guessTimes(16, (index) => guess(email, { from: `2001:db8:1:${index}::1` }));
    expect(countStatuses(answers)).toEqual({ 401: triesByNetwork, 429: 6 });
    expect((await guess(email, { from: '2001:db8:2::1', typed: password })).status).toBe(303);
  });

  it('are refused after the hundredth in an hour, from however many networks, and end no session', async () => {
    const cookie = await app.login(email);
    const answers = await guessTimes(triesByAccount + 16, () => guess(email));
    expect(countStatuses(answers)).toEqual({ 401: triesByAccount, 429: 16 });
    expectRateLimited(await guess(email, { typed: password }), 60 * 60);
    expect(await isLoggedIn(app.send, cookie)).toBe(true);
    await letPass('guess-account');
    expect((await guess(email, { typed: password })).status).toBe(303);
  });

  it('do not use up the hundred where a network has used up its ten', async () => {
    const answers = await guessTimes(triesByAccount, () => guess(email, { from: '198.51.100.1' }));
    expect(countStatuses(answers)).toEqual({ 401: triesByNetwork, 429: triesByAccount - triesByNetwork });
    expect((await guess(email, { typed: password })).status).toBe(303);
  });

  it('are refused after the tenth, even when 32 come at once to two instances', async () => {
    const second = await app.startInstance();
    const answers = await guessTimes(32, (index) =>
      guess(email, { from: '198.51.100.1', send: index % 2 === 0 ? app.send : second.send }),
    );
    expect(countStatuses(answers)).toEqual({ 401: triesByNetwork, 429: 22 });
    for (const answer of answers.filter(({ status }) => status === 429)) expectRateLimited(answer);
  });

  it('count together for every spelling of its address', async () => {
    const spellings = [
      'kasse@bücher.test',
      'KASSE@BÜCHER.TEST',
      'kasse@xn--bcher-kva.test',
      'Kasse@Bücher.Test',
    ];
    const from = newNetwork();
    for (let count = 0; count < triesByNetwork; count++)
      expect((await guess(spellings[count % 4] ?? '', { from })).status).toBe(401);
    for (const spelling of spellings) expectRateLimited(await guess(spelling, { from }));
  });

  it.each(['nobody@example.test', 'no address'])('count the same for %s', async (unknown) => {
    const byNetwork = await guessTimes(triesByNetwork + 2, () => guess(unknown, { from: '198.51.100.1' }));
    expect(countStatuses(byNetwork)).toEqual({ 401: triesByNetwork, 429: 2 });
    const rest = await guessTimes(triesByAccount, () => guess(unknown));
    expect(countStatuses(rest)).toEqual({ 401: triesByAccount - triesByNetwork, 429: triesByNetwork });
  });

  it('block nobody else, not even from the same IP address', async () => {
    const from = newNetwork();
    await guessTimes(triesByNetwork + 1, () => guess(email, { from }));
    expectRateLimited(await guess(email, { from }));
    expect((await guess('admin@example.test', { from, typed: password })).status).toBe(303);
  });

  it('get a right one back, and no other (contract 9.46)', async () => {
    const from = newNetwork();
    for (let times = 1; times < triesByNetwork; times++)
      expect((await guess(email, { from })).status).toBe(401);
    for (let times = 0; times < 3; times++)
      expect((await guess(email, { from, typed: password })).status).toBe(303);
    expect((await guess(email, { from })).status).toBe(401);
    expectRateLimited(await guess(email, { from, typed: password }));
  });

  it.each(['198.51.100.7', '2001:db8::7'])(
    'count right ones from %s nowhere, even when 32 come at once',
    async (from) => {
      const answers = await guessTimes(32, () => guess(email, { from, typed: password }));
      expect(answers.every(({ status }) => status === 303 || status === 429)).toBe(true);
      // A refused guess counts only at the limits that let it pass, and no count exceeds its limit.
      for (let times = 0; times < 3; times++)
        expect((await guess(email, { from, typed: password })).status).toBe(303);
      const { rows } = await sql`select points from rate_limits
        where key like 'guess-account:%' or key like 'guess-network:%'`.execute(app.db);
      expect(rows).toEqual([{ points: 0 }, { points: 0 }]);
    },
  );

  it('give back nothing of a later time', async () => {
    const from = newNetwork();
    await sql`create function end_all() returns trigger language plpgsql
      as 'begin update rate_limits set points = 5, expire = expire + 900000; return null; end'`.execute(
      app.db,
    );
    await sql`create trigger end_all after insert on audit_events
      for each row when (new.type = 'login.succeeded') execute function end_all()`.execute(app.db);
    expect((await guess(email, { from, typed: password })).status).toBe(303);
    await sql`drop function end_all cascade`.execute(app.db);
    const { rows } = await sql`select distinct points from rate_limits`.execute(app.db);
    expect(rows).toEqual([{ points: 5 }]);
  });

  it('are forgotten after a password was set by mail (contract 9.46)', async () => {
    const of = 'new-merchant@example.test';
    const newPassword = 'seven quiet lanterns';
    await guessTimes(triesByNetwork, () => guess(of, { from: '198.51.100.1' }));
    await guessTimes(triesByAccount, () => guess(of));
    expectRateLimited(await guess(of, { typed: password }), 60 * 60);
    expect((await setPasswordByMail(of, newPassword)).status).toBe(303);
    expect((await guess(of, { typed: newPassword })).status).toBe(303);
    expect((await guess(of, { from: '198.51.100.1', typed: newPassword })).status).toBe(303);
    expect((await setPasswordByMail(of, password)).status).toBe(303);
  });

  it('do not include the right password of a suspended user, who gets 403 every time', async () => {
    const from = newNetwork();
    for (let count = 0; count <= triesByNetwork; count++)
      expect((await guess('suspended@example.test', { from, typed: password })).status).toBe(403);
  });

  it('leave no address in the table of counts', async () => {
    await guess(email, { from: '198.51.100.1' });
    await guess(email, { from: '2001:db8:7::1' });
    const { rows } = await sql<{ key: string }>`select key from rate_limits`.execute(app.db);
    for (const { key } of rows) expect(key).toMatch(/^guess-(address|site|network|account):[\w-]{43}$/);
  });
});

describe('what strangers try', () => {
  const countEvents = async () => {
    const { rows } = await sql<{ events: number }>`select count(*)::int as events from audit_events`.execute(
      app.db,
    );
    return rows[0]?.events;
  };
  const logged = (answer: Answer) =>
    app.logged
      .filter(({ fields, message }) => message !== 'request' && isOf(answer, fields))
      .map(({ fields: { reason }, message }) => ({ reason, message }));
  const isOf = (answer: Answer, fields: Record<string, unknown>) =>
    fields.requestId === answer.headers.get('x-request-id');

  it('is logged, and does not grow the audit events, before a password was checked (contract 9.101)', async () => {
    const from = newNetwork();
    await guessTimes(triesByNetwork, () => guess(email, { from }));
    await vi.waitFor(async () => {
      const { rows } = await sql`select 1 from audit_events where type = 'login.refused'
        and reason = 'wrong_password' and address = ${from}`.execute(app.db);
      expect(rows).toHaveLength(triesByNetwork);
    }, 15_000);
    const before = await countEvents();
    const refused = await guess(email, { from });
    const unknown = await guess('nobody@example.test');
    const malformed = await guess('no address');
    expect((await app.send('/forgot-password', { form: { email: 'nobody@example.test' } })).status).toBe(303);
    await vi.waitFor(
      () => expect(app.logged.map(({ message }) => message)).toContain('password mail refused'),
      15_000,
    );
    expect(await countEvents()).toBe(before);
    expect(logged(refused)).toEqual([{ reason: 'rate_limited', message: 'password not checked' }]);
    expect(logged(unknown)).toEqual([{ reason: 'unknown_user', message: 'login refused' }]);
    expect(logged(malformed)).toEqual([{ reason: 'malformed_address', message: 'login refused' }]);
  });

  it('is answered although it cannot be stored, and the failure is logged', async () => {
    await sql`alter table audit_events rename to away`.execute(app.db);
    const answer = await guess(email);
    expect(answer.status).toBe(401);
    await vi.waitFor(
      () => expect(logged(answer)).toContainEqual({ reason: 'wrong_password', message: 'audit event lost' }),
      15_000,
    );
    await sql`alter table away rename to audit_events`.execute(app.db);
  });
});

describe('too many guesses from one IP address (contract 9.41)', () => {
  const from = '203.0.113.77';

  const guessMany = (times: number, addressOf: (index: number) => string) =>
    guessTimes(times, (index) =>
      guess(`user-${addressOf(0)}-${index}@example.test`, { from: addressOf(index) }),
    );

  it('are refused for every e-mail address', async () => {
    const answers = await guessMany(triesByAddress + 5, () => from);
    expect(countStatuses(answers)).toEqual({ 401: triesByAddress, 429: 5 });
    expectRateLimited(await guess('anybody@example.test', { from }));
    expectRateLimited(await guess('anybody@example.test', { from: `::ffff:${from}` }));
    expect((await guess('anybody@example.test')).status).toBe(401);
  });

  it('are counted by the part of X-Forwarded-For that a trusted proxy wrote', async () => {
    await guessMany(triesByAddress, () => from);
    const guessThrough = (proxy: string, forwarded: string) =>
      proxied.send('/login', {
        from: proxy,
        headers: { 'x-forwarded-for': forwarded },
        form: { email: 'proxied@example.test', password: 'wrong' },
      });
    expect((await guessThrough('10.1.2.3', from)).status).toBe(429);
    expect((await guessThrough('10.1.2.3', `192.0.2.9, ${from}`)).status).toBe(429);
    expect((await guessThrough('10.1.2.3', `${from}, 10.9.9.9`)).status).toBe(429);
    expect((await guessThrough('10.1.2.3', `${from}, 192.0.2.9`)).status).toBe(401);
    expect((await guessThrough('192.0.2.10', from)).status).toBe(401);
    expect((await guessThrough(from, '192.0.2.11')).status).toBe(429);
  });

  it('are not counted by X-Forwarded-For if no proxy is trusted', async () => {
    await guessMany(triesByAddress, () => from);
    const headers = { 'x-forwarded-for': '192.0.2.12', forwarded: 'for=192.0.2.12' };
    const form = { email: 'anybody@example.test', password: 'wrong' };
    expect((await app.send('/login', { from, headers, form })).status).toBe(429);
  });

  it('count together for an IPv6 /64, and not for its neighbour', async () => {
    const answers = await guessMany(triesByAddress + 5, (index) => `2001:db8:0:7:${index}::1`);
    expect(countStatuses(answers)).toEqual({ 401: triesByAddress, 429: 5 });
    expect((await guess('anybody@example.test', { from: '2001:db8:0:8::1' })).status).toBe(401);
  });

  it('are refused after the 300th from an IPv6 /48, over however many /64', async () => {
    const answers = await guessMany(305, (index) => `2001:db8:9:${(index % 16).toString(16)}::1`);
    expect(countStatuses(answers)).toEqual({ 401: 300, 429: 5 });
    expectRateLimited(await guess('anybody@example.test', { from: '2001:db8:9:ffff::1' }));
    expect((await guess('anybody@example.test', { from: '2001:db8:a::1' })).status).toBe(401);
  });
});

describe('wrong guesses at the current password in a password change', () => {
  const newPassword = 'quite another long password';
  const change = (cookie: string, currentPassword: string) =>
    app.send('/profile/security', { cookie, form: { intent: 'password', currentPassword, newPassword } });

  it('count with those at the login, in a browser that is not known as elsewhere', async () => {
    const cookie = await app.login('admin@example.test');
    for (let times = 0; times < 4; times++)
      expect((await guess('admin@example.test', { from: '192.0.2.1' })).status).toBe(401);
    const answers = await guessTimes(16, () => change(cookie, 'wrong'));
    expect(countStatuses(answers)).toEqual({ 422: 6, 429: 10 });

    const refused = await change(cookie, password);
    expectRateLimited(refused);
    expect(textOf(refused)).toContain('There have been too many attempts in a short time.');
    expectRateLimited(await guess('admin@example.test', { from: '192.0.2.1' }));
    expect(await isLoggedIn(app.send, cookie)).toBe(true);
  });

  it('have the allowance of a browser that the user knows', async () => {
    const browser = await logIn(app.send, 'admin@example.test');
    await guessTimes(triesByAccount + 5, () => guess('admin@example.test'));
    const form = { intent: 'password', currentPassword: 'wrong', newPassword };
    const answers = await guessTimes(16, () => browser.send('/profile/security', { form }));
    expect(countStatuses(answers)).toEqual({ 422: triesByDevice, 429: 6 });
    expectRateLimited(await browser.login('admin@example.test'));
  });

  it('are refused with Retry-After over tRPC too', async () => {
    const cookie = await app.login('admin@example.test');
    await guessTimes(triesByNetwork, () => guess('admin@example.test', { from: '192.0.2.1' }));
    let answer: Answer | undefined;
    const client = openClient(async (...request) => {
      answer = await app.send(...request);
      return answer;
    }, cookie);
    const call = client.profile.changePassword.mutate({ currentPassword: password, newPassword });
    expect(await refusalOf(call)).toMatchObject({ code: 'TOO_MANY_REQUESTS', problem: 'rate_limited' });
    expectRateLimited(answer as Answer);
  });

  it('count nothing for somebody who has no password', async () => {
    const cookie = await app.login('manager@example.test');
    await sql`update users set password_hash = null where email = 'manager@example.test'`.execute(app.db);
    await sql`truncate rate_limits`.execute(app.db);
    for (let times = 0; times < 12; times++) expect((await change(cookie, 'wrong')).status).toBe(422);
    expect(await countTries()).toBe(0);
  });

  it('are given back after the right one', async () => {
    const cookie = await app.login('admin@example.test');
    for (let count = 1; count < triesByNetwork; count++) expect((await change(cookie, 'x')).status).toBe(422);
    const changed = await change(cookie, password);
    expect(changed.status).toBe(303);
    expect((await change(cookieOf(changed), 'x')).status).toBe(422);
  });
});
