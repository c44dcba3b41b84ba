// When a mail is tried, tried again and given up. In this test, the mail server is a function.
import { sql } from 'kysely';
import { beforeEach, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { notifyWithTakeBack } from '../../server/identity/ground/notices.ts';
import type { Mailer, Message } from '../../server/mail/mailer.ts';
import { sendDueMails } from '../../server/mail/outbox.ts';
import { openBackend } from '../support/app/backend.ts';
import { idOf } from '../support/database/database.ts';
import { emptyTables } from '../support/database/empty-tables.ts';
import { tokenIn } from '../support/people/mail-server.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';
const second = 1_000;
const hour = 60 * 60 * second;
const day = 24 * hour;

let now: Date;
const test = shared(() => openBackend({ now: () => now }));
beforeEach(async () => {
  now = new Date('2030-01-01T00:00:00.000Z');
  await emptyTables(test.db, 'mails', 'mail_tokens', 'rate_limits', 'take_back_changes');
  test.logged.length = 0;
});

type Send = (message: Message) => Promise<void> | void;

function buildMailer(send: Send = () => undefined): Mailer & { given: Message[] } {
  const given: Message[] = [];
  return {
    given,
    async send(message) {
      given.push(message);
      await send(message);
    },
    close: () => undefined,
  };
}

const work = (mailer: Mailer | undefined, { signal } = new AbortController()) =>
  sendDueMails(test.backend.deps, mailer, signal);

const askFor = (address = email) => test.call(({ passwordMail }) => passwordMail.request({ email: address }));

type Row = {
  attempts: number;
  created_at: Date;
  next_attempt_at: Date;
  sent_at: Date | null;
  given_up_at: Date | null;
  last_error: string | null;
};
async function readMail(recipient = email): Promise<Row> {
  const { rows } = await sql<Row>`select * from mails where recipient = ${recipient}`.execute(test.db);
  if (!rows[0]) throw new Error('no mail');
  return rows[0];
}

/** Rejects as a mail server does if it quotes the mail. */
const refuse: Send = ({ to, text }) => {
  throw Object.assign(new Error(`550 5.1.1 <${to}> is nobody here: ${text}`), { responseCode: 550 });
};

/** Tries a mail until it is given up. Returns the pauses between the tries. */
async function exhaust(mailer: ReturnType<typeof buildMailer>): Promise<number[]> {
  const pauses: number[] = [];
  for (;;) {
    await work(mailer);
    const { given_up_at, next_attempt_at } = await readMail();
    if (given_up_at) return pauses;
    pauses.push(next_attempt_at.getTime() - now.getTime());
    now = new Date(next_attempt_at.getTime() - 1);
    await work(mailer);
    expect(mailer.given).toHaveLength(pauses.length);
    now = next_attempt_at;
  }
}

it('a mail is tried at once, and then after growing pauses for three days', async () => {
  await askFor();
  const pauses = await exhaust(buildMailer(refuse));
  const longest = Math.max(...pauses);
  expect(pauses[0]).toBeLessThanOrEqual(60 * second);
  expect(longest).toBeLessThanOrEqual(12 * hour);
  for (const [index, pause] of pauses.entries()) {
    const previous = pauses[index - 1] ?? 0;
    expect(pause).toBeGreaterThanOrEqual(Math.min(previous + 1, longest));
  }
  const { created_at, given_up_at, attempts } = await readMail();
  const age = Number(given_up_at) - Number(created_at);
  expect(age).toBeGreaterThanOrEqual(3 * day);
  expect(age).toBeLessThanOrEqual(3 * day + longest);
  expect(attempts).toBe(pauses.length + 1);
});

it('a mail that is given up is logged once, without its text or recipient, and never tried again', async () => {
  await askFor();
  const mailer = buildMailer(refuse);
  const pauses = await exhaust(mailer);
  const errors = test.logged.filter(({ level }) => level === 'error');
  expect(errors.map(({ message }) => message)).toEqual(['mail given up']);
  expect(errors[0]?.fields).toMatchObject({
    mailId: mailer.given[0]?.id,
    kind: 'set_password',
    attempts: pauses.length + 1,
    responseCode: 550,
  });
  const log = JSON.stringify(test.logged);
  expect(log).not.toMatch(/example\.test|is nobody here|Maya/);
  for (const message of mailer.given) expect(log).not.toContain(tokenIn(message, '/set-password'));

  const willing = buildMailer();
  for (const days of [1, 7, 60]) {
    now = new Date(now.getTime() + days * day);
    await work(willing);
  }
  expect(willing.given).toEqual([]);
});

it('a mail has a working link however late it arrives, and is not sent again after that', async () => {
  await askFor();
  await work(buildMailer(refuse));
  expect((await readMail()).last_error).toMatch(/^550/);
  now = new Date(now.getTime() + 2 * day);
  const willing = buildMailer();
  await work(willing);
  expect(await readMail()).toMatchObject({ attempts: 2, sent_at: now, last_error: null, given_up_at: null });
  const token = tokenIn(willing.given[0] ?? {}, '/set-password');
  now = new Date(now.getTime() + hour - 1);
  expect((await test.call(({ passwordMail }) => passwordMail.find({ token })))?.email).toBe(email);
  await work(willing);
  expect(willing.given).toHaveLength(1);
});

// For example, a spam filter may quote a link to which it objects.
it('a mail does not leave its token in the database, even if the mail server quotes it', async () => {
  await askFor();
  const mailer = buildMailer(refuse);
  await work(mailer);
  const { last_error } = await readMail();
  expect(last_error).not.toContain(tokenIn(mailer.given[0] ?? {}, '/set-password'));
});

const addMails = (count: number) =>
  sql`insert into mails (id, kind, user_id, recipient, details, created_at, next_attempt_at)
    select gen_random_uuid(), 'set_password', u.id, 'n' || n || '@example.test', '{}', ${now}, ${now}
    from generate_series(1, ${count}::int) n, users u where u.email = ${email}`.execute(test.db);

it('a mail is not held up by others that fail', async () => {
  await addMails(35);
  const mailer = buildMailer((message) => {
    if (message.to.startsWith('n2')) refuse(message);
  });
  await work(mailer);
  expect(mailer.given).toHaveLength(35);
  const { rows } = await sql<{ recipient: string }>`
    select recipient from mails where sent_at is null order by length(recipient), recipient`.execute(test.db);
  expect(rows.map(({ recipient }) => recipient)).toEqual(
    ['2', '20', '21', '22', '23', '24', '25', '26', '27', '28', '29'].map((n) => `n${n}@example.test`),
  );
});

it('a mail waits untried after a few others find the mail server unreachable', async () => {
  await addMails(35);
  const down = buildMailer(() => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ESOCKET' });
  });
  await work(down);
  expect(down.given).toHaveLength(10);
  const { rows } = await sql`select 1 from mails where attempts = 0 and next_attempt_at = ${now}`.execute(
    test.db,
  );
  expect(rows).toHaveLength(25);
  const up = buildMailer();
  await work(up);
  expect(up.given).toHaveLength(25);
});

it('a mail that another worker is just taking does not hold up a worker', async () => {
  await askFor();
  const mailer = buildMailer();
  await test.db.transaction().execute(async (trx) => {
    await sql`select 1 from mails for update`.execute(trx);
    await work(mailer);
    expect(mailer.given).toEqual([]);
  });
  await work(mailer);
  expect(mailer.given).toHaveLength(1);
});

it('a mail whose worker died goes to another worker when the lease is over', async () => {
  await askFor();
  const dying = new AbortController();
  const hanging = buildMailer(() => new Promise(() => undefined));
  const died = work(hanging, dying);
  await vi.waitFor(() => expect(hanging.given).toHaveLength(1), 15_000);
  const lease = await readMail();
  // The lease lasts longer than the time that the service gives a mail server for one mail.
  expect(Number(lease.next_attempt_at) - now.getTime()).toBeGreaterThan(90 * second);
  const next = buildMailer();
  await work(next);
  dying.abort();
  await died;
  now = new Date(lease.next_attempt_at.getTime() - 1);
  await work(next);
  expect(next.given).toEqual([]);

  now = lease.next_attempt_at;
  await Promise.all(Array.from({ length: 16 }, () => work(next)));
  expect(next.given).toMatchObject([{ id: hanging.given[0]?.id, to: email }]);
  expect(await readMail()).toMatchObject({ attempts: 2, sent_at: now });
});

it('a summary mail takes nothing in while it is being sent: that is in the next one, with its link', async () => {
  const id = await idOf(test.db, email);
  const addPasskey = () =>
    inTransaction(test.db, { by: 'service' }, (trx) =>
      notifyWithTakeBack(trx, { now: () => now }, { id, email, holdsEmail: true }, 'passkey_added', {
        at: now,
      }),
    );
  for (let n = 0; n < 21; n++) await addPasskey();
  let accept = () => {};
  const slow = buildMailer(({ subject }) =>
    subject.startsWith('More') ? new Promise((done) => (accept = done)) : undefined,
  );
  const working = work(slow);
  await vi.waitFor(() => expect(slow.given).toHaveLength(21), 15_000);
  await addPasskey();
  accept();
  await working;
  now = new Date(now.getTime() + hour - 1);
  await work(slow);
  expect(slow.given).toHaveLength(21);
  now = new Date(now.getTime() + 1);
  const next = buildMailer();
  await work(next);
  expect(next.given).toHaveLength(1);
  const token = tokenIn(next.given[0] ?? {}, '/take-back');
  const { rows } = await sql`select c.id from mail_tokens t join take_back_changes c on c.id = t.change_id
    where t.token_hash = sha256(${token}::text::bytea) and c.id = (select max(id::text)::uuid from take_back_changes)`.execute(
    test.db,
  );
  expect(rows).toHaveLength(1);
});

it('a mail is not taken by a worker that has to stop', async () => {
  await askFor();
  const stopping = new AbortController();
  stopping.abort();
  await work(buildMailer(), stopping);
  expect(await readMail()).toMatchObject({ attempts: 0, sent_at: null });
});

it.each([
  ['during the hand-over', (stop: () => void) => stop()],
  ['a little later', (stop: () => void) => void setTimeout(stop, 100)],
])('a mail that hangs does not keep a worker from stopping, if told %s', async (_when, arrange) => {
  await askFor();
  const stopping = new AbortController();
  const hanging = buildMailer(() => {
    arrange(() => stopping.abort());
    return new Promise(() => undefined);
  });
  const outcome = await Promise.race([
    work(hanging, stopping).then(() => 'stopped'),
    new Promise((done) => setTimeout(() => done('waits'), 15_000)),
  ]);
  expect(outcome).toBe('stopped');
  expect(await readMail()).toMatchObject({ sent_at: null, last_error: null });
});
