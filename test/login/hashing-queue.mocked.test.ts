import { connect } from 'node:net';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { hashingThreads } from '../../server/runtime/hashing-threads.ts';
import { listen } from '../../server/runtime/listen.ts';
import { type Answer, codeOf, expectRetryAfter, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { scrape } from '../support/app/metrics.ts';
import { openBrowser, textOf } from '../support/app/visitor.ts';
import { addPasskey, createAuthenticator, logInByPasskey } from '../support/people/authenticator.ts';
import { readToken } from '../support/people/kept-mail.ts';
import { shared } from '../support/run/shared.ts';

// Nothing is hashed before a test says so.
const gate = vi.hoisted(() => ({ opened: Promise.resolve(), open: () => {}, hashed: 0 }));
vi.mock('@node-rs/argon2', async (importOriginal) => {
  const real = await importOriginal<typeof import('@node-rs/argon2')>();
  const waited =
    <Rest extends unknown[], Result>(work: (...rest: Rest) => Promise<Result>) =>
    async (...rest: Rest) => {
      gate.hashed++;
      await gate.opened;
      return work(...rest);
    };
  return { ...real, hash: waited(real.hash), verify: waited(real.verify) };
});

// No new password is checked before a test says so.
const check = vi.hoisted(() => ({ opened: Promise.resolve(), open: () => {} }));
vi.mock('../../server/identity/password/password-fault.ts', async (importOriginal) => {
  const real = await importOriginal<typeof import('../../server/identity/password/password-fault.ts')>();
  return {
    ...real,
    async findPasswordFault(given: Parameters<typeof real.findPasswordFault>[0]) {
      await check.opened;
      return real.findPasswordFault(given);
    },
  };
});

const slots = hashingThreads * 26;
const password = 'local demo password';

const app = shared(openApp);
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl }));
beforeEach(async () => {
  await sql`truncate rate_limits`.execute(app.db);
  gate.opened = new Promise((done) => {
    gate.open = done;
  });
  gate.hashed = 0;
});
afterEach(() => {
  gate.open();
  check.open();
});

let guesses = 0;
const logIn = (email = `u${++guesses}@example.test`, typed = 'wrong') =>
  app.send('/login', { form: { email, password: typed }, from: `203.0.${guesses >> 8}.${guesses & 255}` });

const countTries = async () =>
  (
    await sql<{ tries: number }>`select coalesce(sum(points), 0)::int as tries from rate_limits`.execute(
      app.db,
    )
  ).rows[0]?.tries;

/** Starts as many logins as may wait, and returns when all of them wait. */
async function fillQueue() {
  const logins: Promise<Answer>[] = [];
  while (logins.length < slots) {
    // These are a few logins at the same time. A busy machine could not answer all of them in time.
    const more = Math.min(10, slots - logins.length);
    logins.push(...Array.from({ length: more }, () => logIn()));
    // Each login makes three counts: by IP address, by network and by account.
    await vi.waitFor(async () => expect(await countTries()).toBe(logins.length * 3), 10_000);
  }
  return logins;
}

it('a login that finds the queue for hashing full is refused at once, and counts nowhere', async () => {
  const logins = await fillQueue();
  const refused = await Promise.all(
    Array.from({ length: 16 }, () => logIn('merchant@example.test', password)),
  );
  for (const answer of refused) {
    expect(answer.status).toBe(503);
    expect(codeOf(answer)).toBe('unavailable');
    expectRetryAfter(answer, 2);
  }
  expect(await countTries()).toBe(slots * 3);
  expect(gate.hashed).toBe(hashingThreads);
  const { valueFor } = await scrape(app);
  expect(valueFor('identity_password_hashing_active')).toBe(hashingThreads);
  expect(valueFor('identity_password_hashing_waiting')).toBe(slots - hashingThreads);
  expect(valueFor('identity_password_hashing_refused_total')).toBe(16);
  expect(valueFor('identity_logins_total', { result: 'busy' })).toBe(16);
  const page = await app.send('/login', {
    form: { email: 'merchant@example.test', password },
    headers: { accept: 'text/html' },
  });
  expect(page.status).toBe(503);
  expect(textOf(page)).toContain('Too many people are logging in right now.');

  gate.open();
  for (const { status } of await Promise.all(logins)) expect(status).toBe(401);
  expect((await logIn('merchant@example.test', password)).status).toBe(303);
});

// Contract 9.155.
it('logins that are turned away get their answers at a pace that leaves the processor to others, in any spelling of the path', async () => {
  const logins = await fillQueue();
  const startedAt = performance.now();
  const turnedAway = Array.from({ length: 100 }, (_, n) =>
    app.send(n % 2 ? '/login' : '/%6Cogin', { form: { email: 'merchant@example.test', password } }),
  );
  // Other requests, such as health checks, wait for none of these logins.
  expect((await app.send('/healthz')).status).toBe(200);
  for (const answer of await Promise.all(turnedAway)) {
    expect([answer.status, codeOf(answer)]).toEqual([503, 'unavailable']);
    expect(answer.headers.get('connection')).toBe('close');
  }
  // 200 logins are turned away a second.
  expect(performance.now() - startedAt).toBeGreaterThan(400);
  gate.open();
  await Promise.all(logins);
});

// Contract 9.155.
it('the connection of a login that is turned away is closed', async () => {
  const listener = await listen(app.fetch, { host: '127.0.0.1', port: 0 });
  const logins = await fillQueue();
  const socket = connect(listener.port, '127.0.0.1');
  let got = '';
  socket.on('data', (data) => {
    got += data;
  });
  const ended = new Promise((done) => socket.once('end', done));
  socket.write('POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\na=b');
  await ended;
  expect(got).toMatch(/^HTTP\/1\.1 503 [\s\S]*"code":"unavailable"/);
  gate.open();
  await Promise.all(logins);
  await listener.close(0);
});

// Contract 9.155.
it('at most a thousand logins wait to be turned away, and more are turned away at once', async () => {
  const logins = await fillQueue();
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 1_010 }, async (_, n) => {
      expect((await logIn()).status).toBe(503);
      order.push(n);
    }),
  );
  // The last logins did not wait. They were answered before most of the logins that waited.
  expect(Math.max(...[1_000, 1_009].map((n) => order.indexOf(n)))).toBeLessThan(200);
  gate.open();
  await Promise.all(logins);
});

it('a login with a passkey, for which nothing is hashed, gets in while the queue is full', async () => {
  gate.open();
  const owner = await openBrowser(app.send);
  await owner.login('merchant@example.test');
  const phone = await addPasskey(owner, createAuthenticator());
  await sql`truncate rate_limits`.execute(app.db);
  gate.opened = new Promise((done) => {
    gate.open = done;
  });
  const logins = await fillQueue();
  const path = '/login?next=%2Fprofile%2Fdata';
  // Finds the path to which a page of login posts a passkey.
  const findPath = async (from: string) =>
    /action="([^"]*with=passkey[^"]*)"/.exec((await app.send(from)).text)?.[1]?.replaceAll('&amp;', '&') ??
    '';
  const marked = await findPath(path);
  expect(await findPath(marked)).toBe(marked);
  const answer = await logInByPasskey(openBrowser(app.send), phone, { path: marked });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/profile/data']);
  // A password does not get past the queue by the path for passkeys: the password is not even looked at (contract 9.387).
  const form = { email: 'merchant@example.test', password };
  const refused = await app.send(marked, { form });
  expect(refused.status).toBe(401);
  expect(refused.text).toMatch(
    /<form method="post" action="\/login\?next=%2Fprofile%2Fdata(?:&amp;refused=[\w-]+)?" class/,
  );
  gate.open();
  await Promise.all(logins);
});

it('a password that is set while the queue is full is refused, and its link still works', async () => {
  await other.call(({ passwordMail }) => passwordMail.request({ email: 'customer@example.test' }));
  const token = await readToken(other, 'customer@example.test', 'set_password');
  await sql`truncate rate_limits`.execute(app.db);
  const logins = await fillQueue();
  const set = () =>
    app.send(`/set-password?token=${token}`, { form: { newPassword: 'seven quiet lanterns' } });
  const refused = await set();
  expect([refused.status, codeOf(refused)]).toEqual([503, 'unavailable']);
  gate.open();
  await Promise.all(logins);
  expect((await set()).status).toBe(303);
});

async function askForLink(email: string): Promise<string> {
  await other.call(({ signUp }) => signUp.request({ name: 'Nia', email, isMeant: true }));
  return `/signup/confirm?token=${await readToken(other, email, 'sign_up')}`;
}
const setWeakly = (link: string, from = '192.0.2.7') =>
  app.send(link, { form: { name: 'Nia', newPassword: 'password1234' }, from });

// Contract 9.246.
it('a new password that is refused takes no place in the queue for hashing', async () => {
  const link = await askForLink('weak@example.test');
  await sql`truncate rate_limits`.execute(app.db);
  const logins = await fillQueue();
  const refused = await setWeakly(link);
  expect([refused.status, textOf(refused)]).toEqual([422, expect.stringContaining('too easy to guess')]);
  gate.open();
  await Promise.all(logins);
});

// Contract 9.246.
it('new passwords have a short queue of their own: one more is refused at once, counts nowhere, and logins go on', async () => {
  const links = await Promise.all(
    Array.from({ length: 7 }, (_, index) => askForLink(`queue-${index}@example.test`)),
  );
  await sql`truncate rate_limits`.execute(app.db);
  gate.open();
  check.opened = new Promise((done) => {
    check.open = done;
  });
  const set = (index: number) => setWeakly(links[index] ?? '', `192.0.2.${index}`);
  const expectFull = async (refused: Promise<Answer>[]) => {
    const before = await countTries();
    for (const answer of await Promise.all(refused)) {
      expect([answer.status, codeOf(answer)]).toEqual([503, 'unavailable']);
      expectRetryAfter(answer, 2);
    }
    expect(await countTries()).toBe(before);
  };
  // Each link has up to three requests at the same time. One request is checked, and the other sixteen wait.
  const waiting = Array.from({ length: 17 }, (_, index) => set(Math.floor(index / 3)));
  await vi.waitFor(async () => expect(await countTries()).toBe(17 * 2), 10_000);
  await expectFull(Array.from({ length: 5 }, () => set(0)));
  await expectFull(Array.from({ length: 5 }, () => set(6)));
  expect((await logIn('merchant@example.test', password)).status).toBe(303);
  check.open();
  for (const { status } of await Promise.all(waiting)) expect(status).toBe(422);
});

it('a login whose client has gone while it waited is not hashed, and counts nowhere', async () => {
  const busy = Array.from({ length: hashingThreads }, () => logIn());
  await vi.waitFor(() => expect(gate.hashed).toBe(hashingThreads), 10_000);
  const before = await countTries();
  const client = new AbortController();
  const gone = Array.from({ length: 16 }, (_, index) => {
    const { baseUrl } = app.config;
    const body = new URLSearchParams({ email: 'merchant@example.test', password });
    const { signal } = client;
    const request = new Request(`${baseUrl}/login`, {
      method: 'POST',
      body,
      headers: { origin: baseUrl },
      signal,
    });
    return app.fetch(request, { address: `198.51.${index}.1` });
  });
  await vi.waitFor(async () => expect(await countTries()).toBe((before ?? 0) + 16 * 3), 10_000);
  client.abort();
  gate.open();
  for (const { status } of await Promise.all(gone)) expect(status).toBe(400);
  await Promise.all(busy);
  expect(gate.hashed).toBe(hashingThreads);
  expect(await countTries()).toBe(before);
});
