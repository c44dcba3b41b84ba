// An address may hold whatever contract section 9 allows: its mail goes to exactly that address, or visibly to
// nobody.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readEmailAddress } from '../../server/identity/email-address.ts';
import { createMailer } from '../../server/mail/mailer.ts';
import { readConfig } from '../../server/settings/config.ts';
import { openApp, type TestApp } from '../support/app.ts';
import { buildSignup, sendSignup } from '../support/crm.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';

// With what the mail server gets: odd addresses as a quoted string (RFC 5321 section 4.1.2), which means the same.
const addresses: [address: string, told: string | undefined][] = [
  ['plus+tag@example.test', 'plus+tag@example.test'],
  ["miles.o'neil@example.test", "miles.o'neil@example.test"],
  ['!#$%&*/=?^_`{|}~@example.test', '!#$%&*/=?^_`{|}~@example.test'],
  ['x%0d%0arcpt@example.test', 'x%0d%0arcpt@example.test'],
  ['zoë@example.test', 'zoë@example.test'],
  ['岸@example.test', '岸@example.test'],
  ['post@bücher.example', 'post@bücher.example'],
  ['zoë@bücher.example', 'zoë@bücher.example'],
  ['one,two@example.test', '"one,two"@example.test'],
  ['one;two@example.test', '"one;two"@example.test'],
  ['group:one@example.test', '"group:one"@example.test'],
  ['(comment)one@example.test', '"(comment)one"@example.test'],
  ['[one]@example.test', '"[one]"@example.test'],
  ['"one"@example.test', '"one"@example.test'],
  ['on"e@example.test', '"on\\"e"@example.test'],
  ['one\\@example.test', '"one\\\\"@example.test'],
  ['.one@example.test', '".one"@example.test'],
  // These belong to nobody.
  ['<victim@example.test', undefined],
  ['victim>@example.test', undefined],
  ['<victim>@example.test', undefined],
  ['>victim@example.test', undefined],
  ['one<two@example.test', undefined],
  ['one>notify=never<two@example.test', undefined],
];

describe('a mail to', () => {
  let mailServer: MailServer;
  let app: TestApp;
  beforeAll(async () => {
    mailServer = await startMailServer();
    app = await openApp({ env: { SMTP_URL: mailServer.url, MAIL_FROM: 'identity@example.test' } });
    for (const [index, [email]] of addresses.entries()) {
      const user = { email, name: 'Odd' };
      const answer = await sendSignup(app, buildSignup(`crm_${index}`, { user }));
      expect(answer.status, `${email}: ${answer.text}`).toBe(201);
    }
    await vi.waitFor(async () => {
      const { rows } = await sql`select 1 from mails where sent_at is null and last_error is null`.execute(
        app.db,
      );
      expect(rows).toEqual([]);
    }, 15_000);
  });
  afterAll(async () => {
    await app.close();
    await mailServer.close();
  });

  it.each(addresses.filter(([, told]) => told))('%s goes to the mail server as %s', expectDelivery);

  it.each(addresses.filter(([, told]) => !told))('%s goes nowhere', expectDelivery);

  async function expectDelivery(address: string, told: string | undefined) {
    const { rows } = await sql<{ id: string; sent_at: Date | null }>`
      select id, sent_at from mails where recipient = ${readEmailAddress(address)}`.execute(app.db);
    const arrived = mailServer.received.filter(({ messageId }) => messageId?.includes(rows[0]?.id ?? '-'));
    expect(arrived.map(({ envelope }) => envelope.to)).toEqual(told ? [[told]] : []);
    expect(rows).toMatchObject([{ sent_at: told ? expect.any(Date) : null }]);
    // The header names it too: a reply to all must not reach a stranger.
    for (const { to, cc, bcc } of arrived) {
      expect(to).toEqual([
        { name: '', address: expect.toBeOneOf([address, readEmailAddress(address), told]) },
      ]);
      expect([cc, bcc]).toEqual([undefined, undefined]);
    }
  }

  it.each([
    'a\r\nRCPT TO:<b.example.test>@example.test',
    'a@example.test\r\nBcc: b',
    'a\n@example.test',
    'a\u0000@example.test',
    'a b@example.test',
    'a@example.test,b@example.test',
    'a@example.test>',
    'a@[127.0.0.1]',
  ])('%j is refused, because it is no address', async (email) => {
    const user = { email, name: 'Odd' };
    const answer = await sendSignup(app, buildSignup(`crm_bad`, { user }));
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.text).errors).toMatchObject([{ pointer: '/user/email' }]);
  });
});

describe('a mail server', () => {
  const servers: MailServer[] = [];
  const start: typeof startMailServer = async (options) => {
    const server = await startMailServer(options);
    servers.push(server);
    return server;
  };
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  const send = async (smtpUrl: string) => {
    const { mail, baseUrl } = readConfig({ SMTP_URL: smtpUrl, MAIL_FROM: 'identity@example.test' });
    if (!mail) throw new Error('no mail settings');
    const mailer = createMailer(mail, baseUrl);
    try {
      await mailer.send({ id: 'one', to: 'zoe@example.test', subject: 'One', text: 'Two' });
    } finally {
      mailer.close();
    }
  };

  it('gets the decoded name and password of SMTP_URL over TLS', async () => {
    const server = await start({ tls: 'implicit', login: 'mail@id:p/ss w:rd%' });
    await send(`${server.url}?tls.rejectUnauthorized=false`);
    expect(server.logins).toEqual(['mail@id:p/ss w:rd%']);
    expect(server.received).toMatchObject([{ envelope: { to: ['zoe@example.test'] }, subject: 'One' }]);
  });

  it('that refuses the password fails the mail', async () => {
    const server = await start({ tls: 'implicit', login: 'right:right' });
    const wrong = server.url.replace('right:right', 'right:wrong');
    await expect(send(`${wrong}?tls.rejectUnauthorized=false`)).rejects.toMatchObject({ code: 'EAUTH' });
    expect(server.received).toEqual([]);
  });

  it.each(['implicit', 'starttls'] as const)(
    'with an untrusted certificate gets neither password nor mail over %s TLS',
    async (tls) => {
      const server = await start({ tls, login: 'right:right' });
      await expect(send(server.url)).rejects.toThrow(/certificate/);
      expect([server.logins, server.received]).toEqual([[], []]);
    },
  );
});
