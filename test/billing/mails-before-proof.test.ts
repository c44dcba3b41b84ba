// Mails about documents to people who have not proved their email address or set a password yet (contract 7.500, 7.501, 9.385
// and 9.386).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { claimMails, postponeMail } from '../../db/tables/mails.ts';
import { lockUser } from '../../db/tables/users.ts';
import { creditInvoice } from '../../server/billing/payments/credit.ts';
import { endWhatMailsOpened, findPasswordMail } from '../../server/identity/address/password-by-mail.ts';
import type { Message } from '../../server/mail/mailer.ts';
import { openBooks } from '../support/billing/books.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { shared } from '../support/run/shared.ts';

const start = '2027-01-31T10:00:00.000Z';
const hourMs = 3_600_000;

const books = shared(() => openBooks());
beforeEach(() => books.empty());

let serial = 0;
const next = (word: string) => `${word}${++serial}`;
const inHours = (hours: number) => books.setClock(new Date(Date.parse(start) + hours * hourMs));

/** Adds a customer without a password, with an invoice whose PDF is made. */
async function bill() {
  await books.setClock(start);
  const contract = await books.report(next('Newcomer'), {}, { isProved: false });
  await books.bill();
  await books.makeFiles();
  const [invoice] = await books.documentsOf(contract.id);
  return { ...contract, userId: contract.userId ?? '', number: invoice?.number ?? '' };
}

const prove = (userId: string) =>
  sql`update users set email_verified_at = ${books.now()} where id = ${userId}`.execute(books.db);
const setPassword = (userId: string) =>
  sql`update users set email_verified_at = ${books.now()}, password_hash = 'a hash' where id = ${userId}`.execute(
    books.db,
  );
const proveInvoiceEmail = (accountId: string | null, email: string) =>
  sql`insert into billing_details (account_id, invoice_email, invoice_email_proved_at)
    values (${accountId}, ${email}, now())`.execute(books.db);

const to = (email: string) => (mails: Message[]) => mails.filter((mail) => mail.to === email);
const sendTo = async (email: string) => to(email)(await books.send());
const tokenIn = (mail: Message | undefined) =>
  /\/set-password\?token=([\w-]{43})\n/.exec(mail?.text ?? '')?.[1];
const works = async (token: string | undefined) =>
  token !== undefined && (await findPasswordMail(books.deps, token)) !== undefined;

describe('the mail with the first invoice', () => {
  it('waits until its address is proved, and leaves at once then, with the PDF (contract 7.500 and 7.501)', async () => {
    const { email, userId, number } = await bill();
    for (const hours of [0, 0.1, 30, 71.9]) {
      await inHours(hours);
      expect(await sendTo(email)).toEqual([]);
    }
    await setPassword(userId);
    const [mail, ...more] = await sendTo(email);
    expect([mail?.attachments?.[0]?.name, more]).toEqual([`${number}.pdf`, []]);
    expect(mail?.text).toContain(`/invoices/${number}\n`);
    await inHours(200);
    expect(await sendTo(email)).toEqual([]);
  });

  it('leaves after three days without the PDF, with a link to set a password (contract 7.500 and 9.385)', async () => {
    const { email, number } = await bill();
    await books.send();
    await inHours(72);
    const [mail, ...more] = await sendTo(email);
    expect([mail?.attachments?.[0], more]).toEqual([undefined, []]);
    expect(mail?.text).toContain(`To pay: EUR 34.51\nDue: 14 February 2027\nRecipient: Blumen GmbH\n`);
    expect(mail?.text).toContain(`\nReference: ${number}\n`);
    expect(mail?.text).toContain(
      'Set a password to see the invoice. The PDF is not attached because this email address is not verified yet: setting a password verifies it.',
    );
    expect(mail?.text).not.toContain('/invoices/');
    expect(await works(tokenIn(mail))).toBe(true);
  });

  // The last day to pay ends at midnight in Berlin, and the day of the issue 13 hours after the start.
  it.each([
    [0, 0],
    [1, 13],
    [2, 13 + 24],
    [4, 72],
  ])(
    'leaves a day before it is due, with %i days to pay after %i hours (contract 7.500)',
    async (days, hours) => {
      const terms = { ...germanSettings.terms, days_to_pay: days };
      await setSettings(books.db, { ...germanSettings, terms });
      const { email } = await bill();
      await setSettings(books.db);
      for (const early of hours > 0 ? [0, hours - 0.01] : []) {
        await inHours(early);
        expect(await sendTo(email)).toEqual([]);
      }
      await inHours(hours);
      expect(await sendTo(email)).toHaveLength(1);
    },
  );

  it('is the only one that waits: an invoice of the next month leaves at once (contract 7.500)', async () => {
    const { email } = await bill();
    await inHours(29 * 24);
    await books.send();
    await books.bill();
    const sent = await sendTo(email);
    expect(sent.filter(({ subject }) => subject.startsWith('Invoice'))).toHaveLength(1);
  });

  it('and a credit note wait together, and thanks for a payment do not', async () => {
    const { email, userId, number } = await bill();
    const by = { now: books.now(), recordedBy: 'payments' } as const;
    await inTransaction(books.db, { by: 'service', cause: 'test' }, (trx) =>
      creditInvoice(trx, number, 1_000, by),
    );
    await books.makeFiles();
    await books.send();
    await inHours(1);
    expect(await sendTo(email)).toEqual([]);
    await prove(userId);
    expect((await sendTo(email)).map(({ attachments }) => attachments?.[0]?.name.slice(0, 3)).sort()).toEqual(
      [...['CN-', 'INV']],
    );
  });

  it('goes to an address for invoices that is proved meanwhile, and its copy to the customer (contract 7.401 and 7.501)', async () => {
    const { email, accountId, number } = await bill();
    await books.send();
    await inHours(1);
    const accounts = `${next('accounts')}@example.test`;
    await proveInvoiceEmail(accountId, accounts);
    const sent = await books.send();
    expect(sent.map((mail) => [mail.to, mail.attachments?.[0]?.name])).toEqual([[accounts, `${number}.pdf`]]);
    // The reader of the invoice email address gets no way into the account (contract 9.386).
    expect(sent[0]?.text).not.toContain('password');
    await inHours(72);
    const copies = await books.send();
    expect(copies.map((mail) => [mail.to, mail.attachments?.[0]])).toEqual([[email, undefined]]);
    expect(await works(tokenIn(copies[0]))).toBe(true);
    await inHours(200);
    expect(await books.send()).toEqual([]);
  });

  it('leaves once, 16 times, if workers take it while its address is proved', async () => {
    const bought = [];
    for (let n = 0; n < 16; n++) bought.push(await bill());
    const sent = await Promise.all([
      ...bought.map(() => books.send()),
      ...bought.map(({ userId }) => prove(userId).then(() => [])),
    ]);
    // A mail that a worker held at that moment is due again when the worker's lease is over.
    await inHours(0.05);
    const all = [...sent.flat(), ...(await books.send())];
    for (const { email, number } of bought)
      expect(to(email)(all).map(({ attachments }) => attachments?.[0]?.name)).toEqual([`${number}.pdf`]);
  });

  it('leaves at once after the proof, even if a worker that had it was killed before', async () => {
    const { email, userId } = await bill();
    const now = books.now();
    const leaseEndsAt = new Date(now.getTime() + 120_000);
    await claimMails(books.db, { lane: 'other', now, leaseEndsAt, limit: 10 });
    await inHours(0.05);
    // Another worker postpones the mail for three days.
    expect(await sendTo(email)).toEqual([]);
    await inHours(1);
    await prove(userId);
    expect(await sendTo(email)).toHaveLength(1);
  });

  it('is not postponed by a worker that has looked before the proof', async () => {
    const { email, userId } = await bill();
    const now = books.now();
    const leaseEndsAt = new Date(now.getTime() + 120_000);
    const claimed = await claimMails(books.db, { lane: 'other', now, leaseEndsAt, limit: 10 });
    const mine = claimed.find((mail) => mail.recipient === email && mail.kind === 'invoice_issued');
    await prove(userId);
    await postponeMail(books.db, mine?.id ?? '', {
      leaseEndsAt,
      until: new Date(now.getTime() + 72 * hourMs),
    });
    // No other worker sends the mail while this worker may still send it.
    expect(await sendTo(email)).toEqual([]);
    await inHours(0.05);
    expect(await sendTo(email)).toHaveLength(1);
  });
});

describe('the link to set a password in a mail about money', () => {
  const remind = async () => {
    await books.send();
    await inHours(22 * 24);
    await books.bill();
    return books.send();
  };

  it('is a new one in each mail, and ends no other; each works for seven days (contract 9.385 and 9.386)', async () => {
    const { email } = await bill();
    await books.send();
    const tokens: (string | undefined)[] = [];
    for (const hours of [72, 22 * 24, 22 * 24 + 1]) {
      await inHours(hours);
      await books.bill();
      const sent = await sendTo(email);
      tokens.push(...sent.filter(({ subject }) => /invoice/i.test(subject)).map(tokenIn));
    }
    expect(tokens.length).toBeGreaterThanOrEqual(2);
    expect(new Set(tokens).size).toBe(tokens.length);
    await inHours(3 * 24 + 7 * 24 - 1);
    expect(await works(tokens[0])).toBe(true);
    await inHours(3 * 24 + 7 * 24);
    expect(await works(tokens[0])).toBe(false);
  });

  it.each([
    ['has a password', sql`password_hash = 'a hash'`],
    ['had a password once', sql`password_hash = '!'`],
    ['has a passkey', sql`has_passkey = true`],
    ['is suspended', sql`suspended_at = now()`],
  ])('is not for somebody who %s', async (_, change) => {
    const { email, userId, number } = await bill();
    await sql`update users set ${change} where id = ${userId}`.execute(books.db);
    const [mail] = to(email)((await remind()).filter(({ subject }) => subject.startsWith('Reminder')));
    expect(mail?.text).toContain(`/invoices/${number}\n`);
    expect(tokenIn(mail)).toBeUndefined();
  });

  it('is not for somebody who comes from the marketplace: their connection would sleep', async () => {
    const { email, userId, number } = await bill();
    await sql`insert into external_links (provider, external_id, user_id)
      values ('marketplace', ${userId}, ${userId})`.execute(books.db);
    const [mail] = to(email)((await remind()).filter(({ subject }) => subject.startsWith('Reminder')));
    expect(mail?.text).toContain(`/invoices/${number}\n`);
    expect(tokenIn(mail)).toBeUndefined();
  });

  it('ends if a password is set while the mail is being sent', async () => {
    const { email, userId } = await bill();
    await books.send();
    await inHours(72);
    let sending: Promise<Message[]> | undefined;
    await inTransaction(books.db, { by: 'service', cause: 'test' }, async (trx) => {
      await lockUser(trx, { id: userId });
      await sql`update users set password_hash = 'a hash' where id = ${userId}`.execute(trx);
      await endWhatMailsOpened(trx, books.deps, userId, 'password_set');
      sending = sendTo(email);
      // The worker waits for the user that this transaction has locked.
      await expect
        .poll(
          async () => {
            const { rows } = await sql<{
              waiting: number;
            }>`select count(*)::int as waiting from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`.execute(books.db);
            return rows[0]?.waiting;
          },
          { timeout: 10_000 },
        )
        .toBe(1);
    });
    const [mail] = (await sending) ?? [];
    expect(mail?.text).toContain('Log in to see the invoice.');
    const { rows } = await sql`select from mail_tokens where user_id = ${userId} and ended is null`.execute(
      books.db,
    );
    expect(rows).toEqual([]);
  });
});
