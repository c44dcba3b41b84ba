import { getEventListeners } from 'node:events';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createMailer } from '../../server/mail/mailer.ts';
import { sendDueMails } from '../../server/mail/outbox.ts';
import { openApp, type TestApp } from '../support/app/app.ts';
import { openBackend, type TestBackend } from '../support/app/backend.ts';
import { openClient } from '../support/app/trpc.ts';
import { buildSignup, pushSignup, sendSignup } from '../support/crm/crm.ts';
import { linkIn, type MailServer, startMailServer, tokenIn } from '../support/people/mail-server.ts';

const baseUrl = 'https://id.localhost';

let mailServer: MailServer;
let app: TestApp;
/** A backend on the same database, for mails that no request of this test causes. */
let other: TestBackend;
beforeAll(async () => {
  mailServer = await startMailServer();
  const env = {
    IDENTITY_ISSUER: baseUrl,
    IDENTITY_NAME: 'Château ID',
    SMTP_URL: mailServer.url,
    MAIL_FROM: 'Identité <identity@example.test>',
  };
  app = await openApp({ env });
  other = await openBackend({ env, databaseUrl: app.databaseUrl });
});
afterAll(async () => {
  await other.close();
  await app.close();
  await mailServer.close();
});

const linksOf = (html = '') => [...html.matchAll(/href="([^"]*)"/g)].map(([, link]) => link);

async function countMails(recipient: string): Promise<number> {
  const { rows } = await sql`select 1 from mails where recipient = ${recipient}`.execute(app.db);
  return rows.length;
}

async function dumpDatabase(): Promise<string> {
  const tables = await sql<{ name: string }>`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`.execute(
    app.db,
  );
  const rows = await Promise.all(
    tables.rows.map(({ name }) => sql`select to_jsonb(t) from ${sql.raw(name)} t`.execute(app.db)),
  );
  return JSON.stringify(rows.map((table) => table.rows));
}

describe('the welcome mail of a signup', () => {
  const welcome = async (id: string, changes = {}) => {
    const signup = buildSignup(id, changes);
    await pushSignup(app, signup);
    const [mail] = await mailServer.waitFor(signup.user.email);
    if (!mail) throw new Error('no mail');
    return mail;
  };

  it('arrives unharmed in any script', async () => {
    const mail = await welcome('crm_zoe', {
      user: { email: 'zoe@example.test', name: 'Zoë O’Neil' },
      account: { name: 'Zoë’s Flowers & 花屋 <b>' },
    });
    expect(mail.envelope).toEqual({ from: 'identity@example.test', to: ['zoe@example.test'] });
    expect(mail.from).toEqual({ name: 'Identité', address: 'identity@example.test' });
    expect(mail.to).toEqual([{ name: '', address: 'zoe@example.test' }]);
    expect([mail.cc, mail.bcc, mail.attachments]).toEqual([undefined, undefined, []]);
    expect(mail.subject).toBe('Set a password for your new account – Château ID');
    // Anybody can type a name, so the mail does not show it.
    expect(mail.source).not.toMatch(/Zo=|Zoë|Flowers|花屋/);
    expect(mail.text).toMatch(/\nSent by Château ID: https:\/\/id\.localhost\n+$/);
    expect(mail.html).toContain('Château ID');
    expect(mail.source).toMatch(/^Content-Type: multipart\/alternative;\r$/m);
    expect(mail.source).toMatch(/^Content-Type: text\/html; charset=utf-8\r$/m);
    expect(mail.source).toMatch(/^Content-Type: text\/plain; charset=utf-8\r$/m);
    // Lines of this length pass through every server unchanged (RFC 5322 section 2.1.1).
    expect(mail.source.split('\r\n').filter((line) => line.length > 76)).toEqual([]);
    expect(Math.abs(Date.now() - Date.parse(mail.date ?? ''))).toBeLessThan(60_000);
  });

  it('has a link to the page that sets a password, at the base URL', async () => {
    const mail = await welcome('crm_link');
    const { href } = linkIn(mail, '/set-password');
    expect(href).toMatch(/^https:\/\/id\.localhost\/set-password\?token=[\w-]{43}$/);
    // The mail has its link as a button and as text. Its foot links to this service.
    expect(linksOf(mail.html)).toEqual([href, href, baseUrl]);
  });

  it('has a message id of its own, and is marked as automatic', async () => {
    const [first, second] = [await welcome('crm_first'), await welcome('crm_second')];
    const { rows } = await sql<{ id: string }>`select id from mails where recipient in
      ('crm_first@example.test', 'crm_second@example.test') order by created_at`.execute(app.db);
    expect([first.messageId, second.messageId]).toEqual(rows.map(({ id }) => `<${id}@id.localhost>`));
    expect(first.headers).toContainEqual(
      expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
    );
  });

  it('is sent once, however often the signup is', async () => {
    const signup = buildSignup('crm_again');
    const answers = await Promise.all(Array.from({ length: 16 }, () => sendSignup(app, signup)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    await mailServer.waitFor(signup.user.email);
    expect(await countMails(signup.user.email)).toBe(1);
  });

  it('is not sent to somebody who has a login already, who is told of the contract', async () => {
    const user = { email: 'customer@example.test', name: 'Somebody' };
    await pushSignup(app, buildSignup('crm_known', { user }));
    const [mail] = await mailServer.waitFor(user.email);
    expect(mail?.subject).toBe('A contract has been added to your account – Château ID');
    expect(await countMails(user.email)).toBe(1);
  });

  it('is stored together with the signup or not at all', async () => {
    const signup = buildSignup('crm_undone');
    await sql`alter table webhook_requests add constraint nothing check (false) not valid`.execute(app.db);
    const refused = await sendSignup(app, signup, { webhookId: 'msg_undone' });
    await sql`alter table webhook_requests drop constraint nothing`.execute(app.db);
    expect(refused.status).toBe(500);
    expect(await countMails(signup.user.email)).toBe(0);

    await pushSignup(app, signup, { webhookId: 'msg_undone' });
    await mailServer.waitFor(signup.user.email);
  });

  it('is the only place where its token appears, and neither the database nor the log has it', async () => {
    const token = tokenIn(await welcome('crm_secret'), '/set-password');
    await vi.waitFor(async () => {
      const { rows } = await sql`select 1 from mails where sent_at is null`.execute(app.db);
      expect(rows).toEqual([]);
    }, 15_000);
    const dump = await dumpDatabase();
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
    expect(dump).toContain(Buffer.from(digest).toString('hex'));
    const bytes = Buffer.from(token, 'base64url');
    const spellings = [
      token,
      Buffer.from(token).toString('hex'),
      Buffer.from(token).toString('base64').slice(0, 40),
      bytes.toString('hex'),
      bytes.toString('base64'),
    ];
    for (const spelling of spellings) {
      expect(dump.toLowerCase()).not.toContain(spelling.toLowerCase());
      expect(JSON.stringify(app.logged)).not.toContain(spelling);
    }
  });
});

describe('a mail on request', () => {
  it('has a link that sets a password', async () => {
    await other.call(({ passwordMail }) => passwordMail.request({ email: 'Merchant@Example.test' }));
    const [mail] = await mailServer.waitFor('merchant@example.test');
    expect(mail?.subject).toBe('Set a new password – Château ID');
    const token = tokenIn(mail ?? {}, '/set-password');
    expect((await other.call(({ passwordMail }) => passwordMail.find({ token })))?.email).toBe(
      'merchant@example.test',
    );
  });

  it.each(['nobody@example.test', 'suspended@example.test'])(
    'is not sent to %s, which the answer does not reveal',
    async (email) => {
      expect(await other.call(({ passwordMail }) => passwordMail.request({ email: email }))).toBeUndefined();
      expect(await countMails(email)).toBe(0);
    },
  );

  it.each(['', 'x', 'a b@example.test', 'a\r\nBcc: b@example.test', '\u202ea@example.test'])(
    'is refused for %j, which is no address',
    async (email) => {
      await expect(
        other.call(({ passwordMail }) => passwordMail.request({ email: email })),
      ).rejects.toMatchObject({
        status: 422,
        code: 'validation_failed',
        errors: [{ pointer: '/email' }],
      });
    },
  );

  it('has a link that verifies the address and goes on, but never to another site (contract 9.119)', async () => {
    const client = openClient(app.send, await app.login('unverified@example.test'), { origin: baseUrl });
    const nexts = ['/sso/launch/crm_app?state=a%26b&return_to=%2Fx', 'https://evil.example/', undefined];
    for (const next of nexts) await client.email.requestVerification.mutate({ next });
    const mails = await mailServer.waitFor('unverified@example.test', nexts.length);
    const links = mails.map((mail) => linkIn(mail, '/verify-email/confirm'));
    for (const { origin, searchParams } of links) {
      expect(origin).toBe(baseUrl);
      expect(searchParams.get('token')).toMatch(/^[\w-]{43}$/);
    }
    expect(links.map(({ searchParams }) => searchParams.get('next')).sort()).toEqual(
      ['/sso/launch/crm_app', null, null].sort(),
    );
    expect(mails[0]?.subject).toBe('Verify your email address – Château ID');
  });

  it('is not sent to verify an address that is verified already', async () => {
    const client = openClient(app.send, await app.login('manager@example.test'), { origin: baseUrl });
    await client.email.requestVerification.mutate({});
    expect(await countMails('manager@example.test')).toBe(0);
  });
});

it('each of 100 waiting mails goes out once, from two instances and 16 more workers', async () => {
  await app.startInstance();
  const { deps: services } = other.backend;
  const settings = { smtpUrl: mailServer.url, from: 'identity@example.test' };
  const mailers = Array.from({ length: 16 }, () => createMailer(settings, baseUrl));
  const { signal } = new AbortController();
  const working = await app.db.transaction().execute(async (trx) => {
    await sql`insert into mails (id, kind, user_id, recipient, details, created_at, next_attempt_at)
      select gen_random_uuid(), 'set_password', u.id, 'many-' || n || '@example.test', '{}', now(), now()
      from generate_series(1, 100) n, users u where u.email = 'customer@example.test'`.execute(trx);
    // When this transaction commits, all workers want the same mails at the same moment.
    await sql`lock table mails in share mode`.execute(trx);
    const workers = mailers.map((mailer) => sendDueMails(services, mailer, signal));
    await vi.waitFor(async () => {
      const { rows } = await sql`select 1 from pg_locks where not granted and relation = 'mails'::regclass
        and database = (select oid from pg_database where datname = current_database())`.execute(trx);
      expect(rows.length).toBeGreaterThanOrEqual(16);
    }, 4_000);
    return workers;
  });
  await Promise.all(working);
  // The signal of a job lives as long as the service. If a mail left a listener on it, the listener would stay in memory.
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  const waiting = sql`select 1 from mails where recipient like 'many-%' and sent_at is null`;
  await vi.waitFor(async () => expect((await waiting.execute(app.db)).rows).toEqual([]), 15_000);
  for (const mailer of mailers) mailer.close();

  const expected = Array.from({ length: 100 }, (_, index) => `many-${index + 1}@example.test`);
  const arrived = mailServer.received.flatMap(({ envelope }) => envelope.to);
  expect(arrived.filter((address) => address.startsWith('many-')).sort()).toEqual(expected.sort());
  const { rows } = await sql`select distinct attempts from mails where recipient like 'many-%'`.execute(
    app.db,
  );
  expect(rows).toEqual([{ attempts: 1 }]);
});
