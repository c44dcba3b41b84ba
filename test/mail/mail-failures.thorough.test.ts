import { sql } from 'kysely';
import { afterAll, expect, inject, it, vi } from 'vitest';
import { type AppOptions, openApp, type TestApp } from '../support/app/app.ts';
import { scrape } from '../support/app/metrics.ts';
import { buildSignup, sendSignup } from '../support/crm/crm.ts';
import { cloneDatabase } from '../support/database/postgres.ts';
import { type MailServer, type MailServerMode, startMailServer } from '../support/people/mail-server.ts';

const second = 1_000;
const hour = 60 * 60 * second;
// How long a test waits at most. The service gives a mail server less time.
const patienceMs = 20 * second;

// All tests here wait for jobs and timeouts, so they run at the same time. Each has its own database and mail server.
const opened: { close: () => Promise<void> }[] = [];
afterAll(async () => {
  for (const { close } of opened.reverse()) await close();
});

async function startServer(mode: MailServerMode | 'down'): Promise<MailServer> {
  const server = await startMailServer();
  opened.push(server);
  if (mode === 'down') await server.down();
  else server.mode = mode;
  return server;
}

async function open(server: MailServer, options: AppOptions = {}): Promise<TestApp> {
  const env = { SMTP_URL: server.url, MAIL_FROM: 'identity@example.test' };
  return openApp({ env, ...options });
}

async function signUpSome(app: TestApp, count: number): Promise<string[]> {
  const signups = Array.from({ length: count }, (_, index) => buildSignup(`crm_${index + 1}`));
  const answers = await Promise.all(signups.map((signup) => sendSignup(app, signup)));
  expect(answers.map(({ status }) => status)).toEqual(Array(count).fill(201));
  return signups.map(({ user }) => user.email);
}

const recipientsOf = ({ received }: MailServer) => received.flatMap(({ envelope }) => envelope.to).sort();

/** Waits until each of these addresses got exactly one mail. */
async function expectArrived(server: MailServer, emails: string[]): Promise<void> {
  await vi.waitFor(() => expect(recipientsOf(server)).toEqual(emails.sort()), patienceMs);
}

it.concurrent.each<[string, MailServerMode | 'down', code: string | number]>([
  ['is down', 'down', 'ESOCKET'],
  ['refuses the sender for now', { refuse: 'MAIL', code: 451 }, 451],
  ['refuses the recipient for good', { refuse: 'RCPT', code: 550 }, 550],
  ['refuses the mail for now', { refuse: 'DATA', code: 452 }, 452],
  ['refuses the mail for good', { refuse: 'DATA', code: 554 }, 554],
  ['never answers', 'hang', 'ETIMEDOUT'],
])('a mail server that %s loses no mail: it arrives when the server recovers', async (_what, mode, code) => {
  let later = 0;
  const server = await startServer(mode);
  const app = await open(server, { now: () => new Date(Date.now() + later) });
  opened.push(app);
  const emails = await signUpSome(app, 3);
  await vi.waitFor(async () => {
    const { rows } = await sql`select 1 from mails where last_error is not null`.execute(app.db);
    expect(rows).toHaveLength(emails.length);
  }, patienceMs);
  expect(server.received).toEqual([]);
  const readTold = () => app.logged.filter(({ message }) => message === 'mail not sent yet');
  // The log line comes right after the row.
  await vi.waitFor(() => expect(readTold()).toHaveLength(emails.length), patienceMs);
  expect(readTold().map(({ fields }) => fields.responseCode ?? fields.code)).toEqual(emails.map(() => code));
  // The log has the answer of the server without the address that it quoted.
  const answer = typeof code === 'number' ? `${code} … is not welcome` : undefined;
  expect(readTold().map(({ fields }) => fields.answer)).toEqual(emails.map(() => answer));
  expect(JSON.stringify(app.logged)).not.toContain('@example.test');

  if (mode === 'down') await server.up();
  server.mode = 'accept';
  later = hour;
  await expectArrived(server, emails);
});

it.concurrent('a mail that is not sent is counted, and its line in the log has the trace of its request', async () => {
  const server = await startServer({ refuse: 'DATA', code: 452 });
  const app = await open(server);
  opened.push(app);
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  await app.send('/forgot-password', { form: { email: 'customer@example.test' }, headers });
  const findLine = () => app.logged.find(({ message }) => message === 'mail not sent yet');
  await vi.waitFor(() => expect(findLine()).toBeDefined(), patienceMs);
  expect(findLine()?.fields).toMatchObject({ traceId, kind: 'set_password', responseCode: 452 });
  expect((await scrape(app)).valueFor('identity_mails_total', { result: 'refused' })).toBe(1);
});

it.concurrent('a slow mail server gets each mail once', async () => {
  const server = await startServer('slow');
  const app = await open(server);
  opened.push(app);
  const emails = await signUpSome(app, 3);
  await app.startInstance();
  await expectArrived(server, emails);
  await vi.waitFor(async () => {
    const { rows } = await sql`select distinct attempts from mails where sent_at is not null`.execute(app.db);
    expect(rows).toEqual([{ attempts: 1 }]);
  }, patienceMs);
  await expectArrived(server, emails);
});

it.concurrent('a mail server that hangs delays no request and no shutdown, and another instance sends the mail', async () => {
  const database = await cloneDatabase(inject('templateUrl'));
  const { url: databaseUrl } = database;
  opened.push({ close: database.drop });
  const server = await startServer('hang');
  const first = await open(server, { databaseUrl });
  // Sends only one mail. The connection for a second mail could come after the server has recovered.
  const [early = ''] = await signUpSome(first, 1);
  await vi.waitFor(() => expect(server.connections).toBe(1), patienceMs);
  // Expects an answer before the service gives up waiting for a silent mail server.
  const inTime = async <T>(work: Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const result = await work;
    expect(performance.now() - startedAt).toBeLessThan(5 * second);
    return result;
  };
  expect((await inTime(sendSignup(first, buildSignup('crm_late')))).status).toBe(201);
  await inTime(first.close());

  server.mode = 'accept';
  // The service never tried one of the mails. The lease of the first instance on the other mail is over, because the new clock
  // is an hour ahead.
  opened.push(await open(server, { databaseUrl, now: () => new Date(Date.now() + hour) }));
  await expectArrived(server, [early, 'crm_late@example.test']);
});
