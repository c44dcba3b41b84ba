// An email address may have any form that contract 9.10 allows. Mails to it go to exactly that address.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readEmailAddress } from '../../server/identity/ground/email-address.ts';
import { buildTransportUrl, createMailer } from '../../server/mail/mailer.ts';
import { readConfig } from '../../server/settings/config.ts';
import { openApp, type TestApp } from '../support/app/app.ts';
import { buildSignup, sendSignup } from '../support/crm/crm.ts';
import { type MailServer, startMailServer } from '../support/people/mail-server.ts';

// Each address, and the spelling that the mail server gets. An odd address becomes a quoted string (RFC 5321 section 4.1.2).
const addresses: [address: string, told: string][] = [
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
  ['one\\@example.test', '"one\\\\"@example.test'],
  ['.one@example.test', '".one"@example.test'],
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

  it.each(addresses)('%s goes to the mail server as %s', async (address, told) => {
    const { rows } = await sql<{ id: string; sent_at: Date | null }>`
      select id, sent_at from mails where recipient = ${readEmailAddress(address)}`.execute(app.db);
    const arrived = mailServer.received.filter(({ messageId }) => messageId?.includes(rows[0]?.id ?? '-'));
    expect(arrived.map(({ envelope }) => envelope.to)).toEqual([[told]]);
    expect(rows).toMatchObject([{ sent_at: expect.any(Date) }]);
    // The To header names this address alone, because a reply to all must not reach a stranger.
    for (const { to, cc, bcc } of arrived) {
      expect(to).toEqual([
        { name: '', address: expect.toBeOneOf([address, readEmailAddress(address), told]) },
      ]);
      expect([cc, bcc]).toEqual([undefined, undefined]);
    }
  });

  it('each of them is taken by the forms, too (contract 9.281)', async () => {
    for (const [index, [email]] of addresses.entries()) {
      const from = `192.0.2.${index + 1}`;
      const login = await app.send('/login', { form: { email, password: 'not the password' }, from });
      expect([login.status, email]).toEqual([401, email]);
      const asked = await app.send('/forgot-password', { form: { email }, from });
      expect([asked.status, email]).toEqual([303, email]);
    }
    const { text } = await app.send('/login');
    const [input = ''] = /<input[^>]* name="email"[^>]*>/.exec(text) ?? [];
    expect(input).toMatch(/type="text" inputMode="email" autoCapitalize="none" spellcheck="false"/);
  });

  it.each([
    'a\r\nRCPT TO:<b.example.test>@example.test',
    'a@example.test\r\nBcc: b',
    'a\n@example.test',
    'a\u0000@example.test',
    'a b@example.test',
    'a@example.test,b@example.test',
    'a@example.test>',
    '"one"@example.test',
    'on"e@example.test',
    '<victim@example.test',
    'victim>@example.test',
    '<victim>@example.test',
    'one>notify=never<two@example.test',
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

  const send = async (smtpUrl: string, to = 'zoe@example.test') => {
    const { mail, baseUrl } = readConfig({ SMTP_URL: smtpUrl, MAIL_FROM: 'identity@example.test' });
    if (!mail) throw new Error('no mail settings');
    const mailer = createMailer(mail, baseUrl);
    try {
      await mailer.send({ id: 'one', to, subject: 'One', text: 'Two', html: '<p>Two</p>' });
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

  it.each(['<victim@example.test', 'victim>@example.test', 'one>notify=never<two@example.test'])(
    'never gets a mail to %s, which an older database may hold',
    async (address) => {
      const server = await start();
      await expect(send(server.url, address)).rejects.toThrow(/cannot be sent to this address/);
      expect(server.connections).toBe(0);
    },
  );

  // 0.0.0.0 leads to this machine, but the service takes it for another machine.
  const elsewhere = (url: string) => url.replace('127.0.0.1', '0.0.0.0');

  it('on another machine gets neither password nor mail without TLS', async () => {
    const server = await start({ login: 'right:right' });
    for (const query of ['', '?requireTLS=false', '?ignoreTLS=true', '?opportunisticTLS=true'])
      await expect(send(elsewhere(server.url) + query), query).rejects.toMatchObject({ code: 'ETLS' });
    expect([server.logins, server.received]).toEqual([[], []]);
  });

  it('on another machine gets them over STARTTLS (contract 8.17)', async () => {
    const server = await start({ tls: 'starttls', login: 'right:right' });
    await send(`${elsewhere(server.url)}?tls.rejectUnauthorized=false`);
    expect([server.logins, server.received.length]).toEqual([['right:right'], 1]);
  });

  it('gets them without TLS on this machine, and where SMTP_URL says tls=off (contract 8.17)', async () => {
    const server = await start();
    await send(server.url);
    await send(`${elsewhere(server.url)}?tls=off`);
    expect(server.received).toHaveLength(2);
  });

  it.each([
    ['smtp://mail.example.test', 'smtp://mail.example.test?requireTLS=true'],
    ['smtp://u:p%40@mail.example.test:587', 'smtp://u:p%40@mail.example.test:587?requireTLS=true'],
    ['smtp://mail.example.test?requireTLS=false', 'smtp://mail.example.test?requireTLS=true'],
    ['smtp:mail.example.test', 'smtp:mail.example.test?requireTLS=true'],
    ['smtp://localhost.example.test', 'smtp://localhost.example.test?requireTLS=true'],
    ['smtp://mail.example.test?tls=off', 'smtp://mail.example.test'],
    ['smtp://localhost:1025', 'smtp://localhost:1025'],
    ['smtp://127.0.0.1:1025', 'smtp://127.0.0.1:1025'],
    ['smtp://[::1]:1025', 'smtp://[::1]:1025'],
    ['smtps://mail.example.test', 'smtps://mail.example.test'],
  ])('at %s is reached as %s', (smtpUrl, url) => {
    expect(buildTransportUrl(smtpUrl)).toBe(url);
  });

  it('gets addresses with letters beyond ASCII by SMTPUTF8, and the fault says so where it has none', async () => {
    // Contract 9.281.
    const [server, old] = [await start(), await start({ hasSmtputf8: false })];
    await send(server.url, 'jörg@example.test');
    expect(server.received).toMatchObject([{ envelope: { to: ['jörg@example.test'] } }]);
    await expect(send(old.url, 'jörg@example.test')).rejects.toMatchObject({
      code: 'EENVELOPE',
      message: expect.stringContaining('take a mail server with SMTPUTF8 (RFC 6531)'),
      response: expect.stringMatching(/SMTPUTF8.*553 Mailbox name not allowed/),
    });
    await send(old.url, 'zoe@example.test');
    expect(old.received).toHaveLength(1);
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
