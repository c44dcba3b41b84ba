// A document on its way over real SMTP: issued, made by the service's own job, and accepted by a mail server.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Answer, openApp, type TestApp } from '../support/app/app.ts';
import { sendPatiently } from '../support/app/patience.ts';
import { openBrowser } from '../support/app/visitor.ts';
import { price } from '../support/billing/books.ts';
import { addInvoice } from '../support/billing/money.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import {
  linkIn,
  type MailServer,
  type ReceivedMail,
  startMailServer,
} from '../support/people/mail-server.ts';
import { call, readData, readOutcome } from '../support/people/staff.ts';

const buyer = 'customer@example.test';
const archive = 'archive@example.test';
const baseUrl = 'https://id.localhost';

let mailServer: MailServer;
let app: TestApp;
beforeAll(async () => {
  mailServer = await startMailServer();
  app = await openApp({
    env: {
      IDENTITY_ISSUER: baseUrl,
      SMTP_URL: mailServer.url,
      MAIL_FROM: 'billing@example.test',
      BILLING_ARCHIVE_EMAIL: archive,
    },
  });
  await setSettings(app.db);
});
afterAll(async () => {
  await app.close();
  await mailServer.close();
});

async function download(path: string): Promise<Uint8Array> {
  const headers = { cookie: await app.login(buyer) };
  const answer = await app.fetch(new Request(baseUrl + path, { headers }), { address: '192.0.2.1' });
  expect(answer.status).toBe(200);
  return new Uint8Array(await answer.arrayBuffer());
}

const attachmentsOf = ({ attachments }: ReceivedMail) =>
  attachments.map(({ content, ...said }) => ({ ...said, bytes: new Uint8Array(content as ArrayBuffer) }));

it('an invoice arrives at its buyer and in the archive with the bytes of its PDF', async () => {
  const number = await addInvoice(app.db);
  // The first document takes longer, because everything that makes documents has to be loaded.
  await vi.waitFor(() => app.db.selectFrom('document_files').select('number').executeTakeFirstOrThrow(), {
    timeout: 30_000,
    interval: 100,
  });
  const [[toBuyer], [toArchive]] = await Promise.all([
    mailServer.waitFor(buyer),
    mailServer.waitFor(archive),
  ]);
  if (!toBuyer || !toArchive) throw new Error('no mail');
  const pdf = await download(`/invoices/${number}.pdf`);
  expect(String.fromCharCode(...pdf.slice(0, 5))).toBe('%PDF-');
  const { rows } = await sql<{ id: string; key: string }>`select id, key from mails
    where key in (${`invoice_issued:${number}`}, ${`invoice_issued:${number}:archive`}) order by key`.execute(
    app.db,
  );
  expect([toBuyer.messageId, toArchive.messageId]).toEqual(rows.map(({ id }) => `<${id}@id.localhost>`));
  for (const mail of [toBuyer, toArchive]) {
    expect(mail.subject).toBe(`Invoice ${number} from Blumen GmbH – Identity`);
    // Contract 7.503.
    expect(mail.replyTo).toEqual([{ name: '', address: 'billing@example.test' }]);
    const [attached, ...more] = attachmentsOf(mail);
    expect(more).toEqual([]);
    expect(attached).toMatchObject({
      filename: `${number}.pdf`,
      mimeType: 'application/pdf',
      disposition: 'attachment',
    });
    // `toEqual` would take seconds to compare thousands of bytes.
    expect(Buffer.compare(attached?.bytes ?? new Uint8Array(), pdf)).toBe(0);
    // The foot of the mail links to this service. Only the buyer has a login for the document (contract 7.460).
    const expected = [...(mail === toBuyer ? [`${baseUrl}/invoices/${number}`] : []), baseUrl];
    expect(mail.text?.match(/https?:\S+/g)).toEqual(expected);
    const links = [...(mail.html ?? '').matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
    expect([...new Set(links)]).toEqual(expected);
    expect(mail.source.split('\r\n').filter((line) => line.length > 76)).toEqual([]);
  }
  expect(toArchive.text).toContain('a copy of each invoice and credit note goes to this address');
});

it('a credit note and the invoice in its place arrive in one mail, with both PDFs, however often it is asked for (contract 7.464)', async () => {
  const number = await addInvoice(app.db);
  const cookie = await app.login('admin@example.test');
  const asked = { number, company: 'Casey & Sons', why: 'Called back' };
  const answers = await sendPatiently(
    Array.from({ length: 16 }, () => () => call(app, 'billing.reissue', cookie, asked)),
  );
  expect(answers.map(readOutcome).sort()).toEqual(['200', ...Array(15).fill('409 already_settled')]);
  const aboutIt = (address: string) =>
    mailServer.received.filter(
      ({ envelope, text }) => envelope.to.includes(address) && text?.includes(number) && text.includes('CN-'),
    );
  await vi.waitFor(
    async () => {
      const { rows } = await sql`select from mails where sent_at is null`.execute(app.db);
      expect([rows.length, aboutIt(buyer).length]).toEqual([0, 1]);
    },
    { timeout: 60_000, interval: 200 },
  );
  const { creditNote, invoice } = readData(answers.find(({ status }) => status === 200) as Answer);
  expect(attachmentsOf(aboutIt(buyer)[0] as ReceivedMail)).toMatchObject(
    [invoice, creditNote].map((each) => ({ filename: `${each}.pdf`, mimeType: 'application/pdf' })),
  );
  expect(aboutIt(archive)).toHaveLength(2);
});

it('a new customer’s first invoice arrives once the password is set by the welcome, with its PDF (contract 7.500)', async () => {
  await setSettings(app.db, {
    ...germanSettings,
    seller: { ...germanSettings.seller, email: 'büro@example.test' },
  });
  const email = 'first@example.test';
  const contract = { plan: 'starter', status: 'active', price } as const;
  await pushSignup(app, buildSignup('crm_first', { user: { email, name: 'First' }, contract }));
  const [welcome] = await mailServer.waitFor(email);
  await vi.waitFor(
    async () => {
      const { rows } = await sql`select from mails where recipient = ${email} and kind = 'invoice_issued'
        and next_attempt_at > now() + interval '2 days'`.execute(app.db);
      expect(rows).toHaveLength(1);
    },
    { timeout: 30_000, interval: 100 },
  );
  const link = linkIn(welcome ?? { text: '' }, '/set-password');
  const set = await openBrowser(app.send).send(`${link.pathname}${link.search}`, {
    form: { newPassword: 'a long new password' },
  });
  expect(set.status).toBe(303);
  const invoice = await vi.waitFor(
    () => {
      const mails = mailServer.received.filter(({ envelope }) => envelope.to.includes(email));
      const found = mails.find(({ subject }) => subject?.startsWith('Invoice'));
      if (!found) throw new Error('no invoice yet');
      return found;
    },
    { timeout: 30_000, interval: 100 },
  );
  expect(attachmentsOf(invoice)).toMatchObject([{ mimeType: 'application/pdf' }]);
  expect(invoice.text).toMatch(/\/invoices\/INV-/);
  // A header with letters beyond ASCII would need SMTPUTF8 (contract 7.503).
  expect(invoice.replyTo).toBeUndefined();
});
