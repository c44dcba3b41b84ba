import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectRetryAfter, openApp, type TestApp } from '../support/app.ts';
import { openClient, refusalOf } from '../support/trpc.ts';
import { cookieOf, fieldOf, isLoggedIn, textOf } from '../support/visitor.ts';

const password = 'local demo password';
const triesByEmail = 10;
const triesByAddress = 100;

let app: TestApp;
let proxied: Pick<TestApp, 'send' | 'login'>;
beforeAll(async () => {
  app = await openApp();
  proxied = await app.startInstance({ env: { TRUSTED_PROXIES: '10.0.0.0/8' } });
  await sql`update users set email = 'kasse@xn--bcher-kva.test' where email = 'customer@example.test'`.execute(
    app.db,
  );
});
afterAll(() => app.close());

let lastAddress = 0;
/** A client address without any guesses so far. */
const newAddress = () => `198.51.100.${++lastAddress}`;

const guess = (email: string, { from = newAddress(), send = app.send, typed = 'wrong' } = {}) =>
  send('/login', { form: { email, password: typed }, from });

async function guessTimes(times: number, email: string): Promise<void> {
  const answers = await Promise.all(Array.from({ length: times }, () => guess(email)));
  expect(answers.map(({ status }) => status)).toEqual(Array(times).fill(401));
}

const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status).sort();

function expectRateLimited(answer: Answer): void {
  expect(answer.status).toBe(429);
  expectRetryAfter(answer, 15 * 60);
}

describe('too many guesses at one e-mail address', () => {
  it('get the login page with 429 and Retry-After', async () => {
    await guessTimes(triesByEmail, 'merchant@example.test');
    const answer = await guess('merchant@example.test');
    expectRateLimited(answer);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(textOf(answer)).toContain('There have been too many attempts in a short time.');
    expect(fieldOf(answer, 'email').value).toBe('merchant@example.test');
  });

  it('block even the right password from anywhere, but end no session', async () => {
    const cookie = await app.login('manager@example.test');
    await guessTimes(triesByEmail, 'manager@example.test');
    expectRateLimited(await guess('manager@example.test', { typed: password }));
    expect(await isLoggedIn(app.send, cookie)).toBe(true);
  });

  it('count together for every spelling of it', async () => {
    const spellings = [
      'kasse@bücher.test',
      'KASSE@BÜCHER.TEST',
      'kasse@xn--bcher-kva.test',
      'Kasse@Bücher.Test',
    ];
    for (let count = 0; count < triesByEmail; count++)
      expect((await guess(spellings[count % 4] ?? '')).status).toBe(401);
    for (const spelling of spellings) expectRateLimited(await guess(spelling));
  });

  it('count the same for an unknown address', async () => {
    await guessTimes(triesByEmail, 'nobody@example.test');
    expectRateLimited(await guess('nobody@example.test'));
  });

  it('block nobody else, not even from the same client address', async () => {
    const from = newAddress();
    for (let count = 0; count <= triesByEmail; count++) await guess('new-merchant@example.test', { from });
    expect((await guess('new-merchant@example.test', { from })).status).toBe(429);
    expect((await guess('admin@example.test', { from, typed: password })).status).toBe(303);
  });

  it('are forgotten after a while', async () => {
    await guessTimes(triesByEmail, 'later@example.test');
    expectRateLimited(await guess('later@example.test'));
    await sql`update rate_limits set expire = extract(epoch from now()) * 1000 - 1 where key like 'email:%'`.execute(
      app.db,
    );
    expect((await guess('later@example.test')).status).toBe(401);
  });

  it('are refused and recorded after the tenth, even when 32 come at once to two instances', async () => {
    const email = 'unverified@example.test';
    const second = await app.startInstance();
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, index) =>
        guess(email, { send: index % 2 === 0 ? app.send : second.send }),
      ),
    );
    expect(statusesOf(answers)).toEqual([...Array(triesByEmail).fill(401), ...Array(22).fill(429)]);
    for (const answer of answers.filter(({ status }) => status === 429)) expectRateLimited(answer);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    const { rows } = await sql`select reason, count(*)::int as times from audit_events
      where type = 'login.refused' and request_id = any(${ids}) group by reason order by reason`.execute(
      app.db,
    );
    expect(rows).toEqual([
      { reason: 'rate_limited', times: 22 },
      { reason: 'wrong_password', times: 10 },
    ]);
  });

  it('are forgotten after a successful login', async () => {
    const email = 'admin@example.test';
    for (let round = 0; round < 2; round++) {
      await guessTimes(triesByEmail - 1, email);
      expect((await guess(email, { typed: password })).status).toBe(303);
    }
  });

  it('do not include the right password of a suspended user, who gets 403 every time', async () => {
    for (let count = 0; count <= triesByEmail; count++)
      expect((await guess('suspended@example.test', { typed: password })).status).toBe(403);
  });
});

describe('too many guesses from one client address', () => {
  const from = '203.0.113.77';

  const guessMany = (times: number, addressOf: (index: number) => string) =>
    Promise.all(
      Array.from({ length: times }, (_, index) =>
        guess(`user-${addressOf(0)}-${index}@example.test`, { from: addressOf(index) }),
      ),
    );

  it('are refused for every e-mail address', async () => {
    const answers = await guessMany(triesByAddress + 5, () => from);
    expect(statusesOf(answers)).toEqual([...Array(triesByAddress).fill(401), ...Array(5).fill(429)]);
    expectRateLimited(await guess('anybody@example.test', { from }));
    expectRateLimited(await guess('anybody@example.test', { from: `::ffff:${from}` }));
    expect((await guess('anybody@example.test')).status).toBe(401);
  });

  it('are counted by the part of X-Forwarded-For that a trusted proxy wrote', async () => {
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
    const headers = { 'x-forwarded-for': '192.0.2.12', forwarded: 'for=192.0.2.12' };
    const form = { email: 'anybody@example.test', password: 'wrong' };
    expect((await app.send('/login', { from, headers, form })).status).toBe(429);
  });

  it('count together for an IPv6 /64, and not for its neighbour', async () => {
    const answers = await guessMany(triesByAddress + 5, (index) => `2001:db8:0:7:${index}::1`);
    expect(statusesOf(answers)).toEqual([...Array(triesByAddress).fill(401), ...Array(5).fill(429)]);
    expect((await guess('anybody@example.test', { from: '2001:db8:0:8::1' })).status).toBe(401);
  });
});

describe('wrong guesses at the current password in a password change', () => {
  const newPassword = 'quite another long password';
  const change = (cookie: string, currentPassword: string) =>
    app.send('/profile', { cookie, form: { intent: 'password', currentPassword, newPassword } });

  it('count together with those at the login', async () => {
    const email = 'guessed@example.test';
    await sql`update users set email = ${email} where email = 'admin@example.test'`.execute(app.db);
    const cookie = await app.login(email);
    await guessTimes(4, email);
    const answers = await Promise.all(Array.from({ length: 16 }, () => change(cookie, 'wrong')));
    expect(statusesOf(answers)).toEqual([...Array(6).fill(422), ...Array(10).fill(429)]);

    const refused = await change(cookie, password);
    expectRateLimited(refused);
    expect(textOf(refused)).toContain('There have been too many attempts in a short time.');
    expectRateLimited(await guess(email));
    expect(await isLoggedIn(app.send, cookie)).toBe(true);
  });

  it('are refused with Retry-After over tRPC too', async () => {
    const email = 'typed@example.test';
    await sql`update users set email = ${email} where email = 'guessed@example.test'`.execute(app.db);
    const cookie = await app.login(email);
    await guessTimes(triesByEmail, email);
    let answer: Answer | undefined;
    const client = openClient(async (...request) => {
      answer = await app.send(...request);
      return answer;
    }, cookie);
    const call = client.profile.changePassword.mutate({ currentPassword: password, newPassword });
    expect(await refusalOf(call)).toMatchObject({ code: 'TOO_MANY_REQUESTS', problem: 'rate_limited' });
    expectRateLimited(answer as Answer);
  });

  it('are forgotten after the right one', async () => {
    const email = 'forgiven@example.test';
    await sql`update users set email = ${email} where email = 'typed@example.test'`.execute(app.db);
    const cookie = await app.login(email);
    for (let count = 1; count < triesByEmail; count++) expect((await change(cookie, 'x')).status).toBe(422);
    const changed = await change(cookie, password);
    expect(changed.status).toBe(303);
    expect((await change(cookieOf(changed), 'x')).status).toBe(422);
  });
});
