// Mails about documents, money and contracts (contract 7.270 to 7.282).
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findDueReminders } from '../../db/tables/billing-mails.ts';
import { billingMailKinds } from '../../db/tables/mail-kinds.ts';
import { retryFailedMails } from '../../db/tables/mails.ts';
import { insertRestore } from '../../db/tables/restores.ts';
import { lockContract, setCancelsAt, updateContract } from '../../db/tables/service-contracts.ts';
import { endsWithPerson } from '../../server/billing/customers/ends-with-person.ts';
import { deferContractMail } from '../../server/billing/invoices/mails.ts';
import {
  allocate,
  type Money,
  payOpen,
  type Recorder,
  recordMoney,
} from '../../server/billing/payments/allocate.ts';
import { creditInvoice, reissueInvoice } from '../../server/billing/payments/credit.ts';
import { eraseUser } from '../../server/identity/person/erase-user.ts';
import type { Message } from '../../server/mail/mailer.ts';
import { openBooks } from '../support/billing/books.ts';
import { addOldInvoice, copyDocuments, renameBuyer } from '../support/billing/money.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { shared } from '../support/run/shared.ts';

const archive = 'archive@example.test';
const start = '2027-01-31T10:00:00.000Z';

const books = shared(() => openBooks({ env: { BILLING_ARCHIVE_EMAIL: archive } }));
beforeEach(() => books.empty());

let serial = 0;
const next = (word: string) => `${word}${++serial}`;

const by = (): Recorder => ({ now: books.now(), recordedBy: 'payments' });
const inBooks = <T>(work: Parameters<typeof inTransaction<T>>[2]) =>
  inTransaction(books.db, { by: 'service', cause: 'test' }, work);
const record = (money: Partial<Money> & { invoiceNumber: string | null; amount: number }) =>
  inBooks((trx) =>
    recordMoney(
      trx,
      {
        ...{ id: next('pay_'), kind: 'payment', of: null, currency: 'EUR', paidAt: books.now() },
        ...{ method: null, reference: null, ...money },
      } as Money,
      by(),
    ),
  );

/** Adds a customer with an invoice of 34.51 EUR. */
async function bill(isProved = true) {
  await books.setClock(start);
  const contract = await books.report(next('Mail'), {}, { isProved });
  await books.bill();
  const [invoice] = await books.documentsOf(contract.id);
  return { ...contract, number: invoice?.number ?? '' };
}
async function billAndSend() {
  const billed = await bill();
  await books.makeFiles();
  await books.send();
  return billed;
}

/** Moves the clock on by that many minutes, so that mails that are due by then are tried again. */
const later = (minutes: number) => books.setClock(new Date(books.now().getTime() + minutes * 60_000));
const inDays = (days: number) => books.setClock(new Date(Date.parse(start) + days * 24 * 3_600_000));

const to = (email: string) => (mails: Message[]) =>
  mails.filter((mail) => mail.to === email).map(({ subject }) => subject.replace(/ – .*/, ''));

describe('an invoice', () => {
  it('goes to its buyer and to the archive, once its PDF is made, with one link (contract 9.124)', async () => {
    const { email, number } = await bill();
    expect(await books.send()).toEqual([]);
    const { rows } = await sql<{ attempts: number; last_error: string | null }>`
      select attempts, last_error from mails where key = ${`invoice_issued:${number}`}`.execute(books.db);
    expect(rows).toEqual([{ attempts: 0, last_error: null }]);
    await books.makeFiles();
    await later(6);
    const sent = await books.send();
    expect(sent.map((mail) => mail.to).sort()).toEqual([archive, email].sort());
    for (const { to, subject, text, attachments } of sent) {
      expect(subject).toBe(`Invoice ${number} from Blumen GmbH – Identity`);
      // Nobody logs in as the archive (contract 7.460).
      const links = to === archive ? [] : [`http://localhost:3000/invoices/${number}`];
      expect(text.match(/https?:\S+/g)).toEqual([...links, 'http://localhost:3000']);
      // Contract 7.502.
      expect(text).toContain(
        `Total: EUR 34.51\nTo pay: EUR 34.51\nDue: 14 February 2027\nRecipient: Blumen GmbH\nIBAN: DE89 3704 0044 0532 0130 00\nBIC: COBADEFFXXX\nReference: ${number}\n`,
      );
      expect(text).toContain('Period: 31 January 2027 to 27 February 2027');
      expect(attachments?.map(({ name }) => name)).toEqual([`${number}.pdf`]);
      expect(new TextDecoder().decode(attachments?.[0]?.bytes)).toBe(`%PDF of ${number}`);
    }
    expect(sent.find((mail) => mail.to === archive)?.text).toContain('a copy of each invoice');
    await later(10);
    expect(await books.send()).toEqual([]);
  });

  // Contract 7.273.
  it('leaves a day after the issue without a PDF that has failed, and says so; its copy waits', async () => {
    const { number, email } = await bill();
    const { number: first } = await bill();
    await sql`update documents_to_make set tries = 1 where number = ${first}`.execute(books.db);
    await sql`update documents_to_make set tries = 5, last_error = 'The font lacks U+1F600' where number = ${number}`.execute(
      books.db,
    );
    await later(23 * 60);
    expect(await books.send()).toEqual([]);
    await later(2 * 60);
    const sent = await books.send();
    expect(sent.map((mail) => [mail.to, mail.attachments?.[0]])).toEqual([[email, undefined]]);
    expect(sent[0]?.text.replace(/\s+/g, ' ')).toContain(
      'No PDF is attached because it could not be made yet. Log in to see the invoice, and later to download the PDF.',
    );
    await books.makeFiles();
    await later(6 * 60);
    expect((await books.send()).map((mail) => [mail.to, mail.attachments?.[0]?.name])).toContainEqual([
      ...[archive, `${number}.pdf`],
    ]);
  });

  it('waits seconds for a PDF that is being made, and longer for one that has failed', async () => {
    const { number } = await bill();
    const waits = async () => {
      expect(await books.send()).toEqual([]);
      const { rows } = await sql<{ seconds: number }>`
        select extract(epoch from next_attempt_at - ${books.now()}::timestamptz)::int as seconds
        from mails where key = ${`invoice_issued:${number}`}`.execute(books.db);
      return rows[0]?.seconds;
    };
    const make = (error: string | null) =>
      sql`update documents_to_make set last_error = ${error}, next_try_at = ${books.now()}::timestamptz + interval '60 s'
        where number = ${number}`.execute(books.db);
    await make(null);
    expect(await waits()).toBe(5);
    await later(1);
    await make('no font');
    expect(await waits()).toBe(60);
  });

  it('goes to the address for invoices, once that is proved', async () => {
    const { email, accountId, number } = await bill();
    const invoices = `${next('books')}@example.test`;
    const set = (provedAt: Date | null) =>
      sql`insert into billing_details (account_id, invoice_email, invoice_email_proved_at, edited_here)
        values (${accountId}, ${invoices}, ${provedAt}, '{invoiceEmail}') on conflict (account_id)
        do update set invoice_email_proved_at = excluded.invoice_email_proved_at`.execute(books.db);
    await set(null);
    await books.makeFiles();
    expect(to(email)(await books.send())).toEqual([`Invoice ${number} from Blumen GmbH`]);
    await set(books.now());
    await record({ invoiceNumber: number, amount: 1 });
    const sent = await books.send();
    expect([to(email)(sent), to(invoices)(sent)]).toEqual([
      [],
      [`Payment received for invoice ${number} from Blumen GmbH`],
    ]);
    expect(sent[0]?.text).toContain('this is the address for invoices of an account');
    // Contract 7.460.
    expect(sent[0]?.text).not.toContain('/invoices/');
    await sql`update users set email = ${invoices} where email = ${email}`.execute(books.db);
    await record({ invoiceNumber: number, amount: 1 });
    expect((await books.send())[0]?.text).toContain(`/invoices/${number}`);
    await sql`update users set email = ${email} where email = ${invoices}`.execute(books.db);
    const { rows } = await sql`select recipient from mails where recipient = ${invoices}`.execute(books.db);
    expect(rows).toHaveLength(2);
  });

  it.each([true, false])(
    'goes to the person too while nobody has said that a signup’s address is to stay, proved: %s (contract 7.401)',
    async (isProved) => {
      const { email, accountId, number } = await bill(isProved);
      await books.makeFiles();
      await inDays(3);
      await books.send();
      const invoices = `${next('books')}@example.test`;
      await sql`insert into billing_details (account_id, invoice_email, invoice_email_proved_at)
        values (${accountId}, ${invoices}, now())`.execute(books.db);
      const subject = `Payment received for invoice ${number} from Blumen GmbH`;
      await record({ invoiceNumber: number, amount: 1 });
      const sent = await books.send();
      expect([to(email)(sent), to(invoices)(sent)]).toEqual([[subject], [subject]]);
      const own = sent.find((mail) => mail.to === email);
      expect(own?.text).not.toContain('this is the address for invoices');
      expect(own?.attachments?.[0] !== undefined).toBe(isProved);
      // If the person has chosen to keep the invoice email address, they get no copy, not even a copy that waits to be sent.
      await record({ invoiceNumber: number, amount: 1 });
      await sql`update billing_details set edited_here = '{invoiceEmail}' where account_id = ${accountId}`.execute(
        books.db,
      );
      const later = await books.send();
      expect([to(email)(later), to(invoices)(later)]).toEqual([[], [subject]]);
      await record({ invoiceNumber: number, amount: 1 });
      const { rows } = await sql`select from mails where recipient = ${email} and sent_at is null`.execute(
        books.db,
      );
      expect(rows).toEqual([]);
      // If the invoice email address is removed before the mails leave, both mails go to the person.
      await sql`update billing_details set edited_here = '{}' where account_id = ${accountId}`.execute(
        books.db,
      );
      await record({ invoiceNumber: number, amount: 1 });
      await sql`update billing_details set invoice_email = null, invoice_email_proved_at = null
        where account_id = ${accountId}`.execute(books.db);
      expect(to(email)(await books.send())).toEqual([subject, subject]);
    },
  );

  // Contract 7.401.
  it.each([
    ['the mail has left', 'own', 'the mail', ['person']],
    ['the mail has left', 'keep', 'the mail', []],
    ['the mail has left', 'change', 'the mail', ['other']],
    ['its copy has left', 'own', 'its copy', []],
    ['its copy has left', 'keep', 'its copy', ['invoices']],
    ['its copy has left', 'change', 'its copy', ['other']],
    ['neither has left', 'own', 'neither', ['person']],
    ['neither has left', 'keep', 'neither', ['invoices']],
  ])(
    'once %s and somebody says “%s”, goes to each whom it is for, once',
    async (_, answer, first, expected) => {
      const { email, accountId, number } = await billAndSend();
      const invoices = `${next('books')}@example.test`;
      const other = `${next('books')}@example.test`;
      await sql`insert into billing_details (account_id, invoice_email, invoice_email_proved_at)
      values (${accountId}, ${invoices}, now())`.execute(books.db);
      await inDays(24);
      await books.bill();
      await sql`delete from mails where sent_at is null and key not like ${`invoice_reminder_1:${number}%`}`.execute(
        books.db,
      );
      const hold = (which: string) =>
        sql`update mails set next_attempt_at = ${books.now()}::timestamptz + case
        when sent_at is null and (key like '%:copy') = (${which} <> 'its copy') or ${which} = 'neither'
          then interval '1 minute' else interval '0' end`.execute(books.db);
      await hold(first);
      const before = await books.send();
      expect(before.map(({ to }) => to)).toEqual(
        { 'the mail': [invoices], 'its copy': [email], neither: [] }[first],
      );
      const emailNow = { own: null, keep: invoices, change: other }[answer];
      await sql`update billing_details set invoice_email = ${emailNow ?? null}, edited_here = '{invoiceEmail}',
      invoice_email_proved_at = case when ${emailNow ?? null}::text is not null then now() end where account_id = ${accountId}`.execute(
        books.db,
      );
      await later(2);
      const sent = [...(await books.send()), ...(await books.send())];
      const names = new Map([
        [email, 'person'],
        [invoices, 'invoices'],
        [other, 'other'],
      ]);
      expect(sent.map(({ to }) => names.get(to))).toEqual(expected);
      // Neither of the two mails that were not needed is written again.
      await books.bill();
      await later(2);
      expect(await books.send()).toEqual([]);
    },
  );

  it('goes to the address for invoices though its user is erased, while others have the account', async () => {
    const { accountId, userId, email, number } = await bill();
    const invoices = `${next('books')}@example.test`;
    await sql`insert into billing_details (account_id, invoice_email, invoice_email_proved_at, edited_here)
      values (${accountId}, ${invoices}, now(), '{invoiceEmail}')`.execute(books.db);
    const other = await books.report(next('Other'));
    await sql`update users set account_id = ${accountId} where id = ${other.userId}`.execute(books.db);
    await inBooks((trx) =>
      eraseUser(trx, { now: () => books.now(), endsWithPerson }, userId ?? '', { by: 'cli', onlyDue: false }),
    );
    await books.makeFiles();
    const sent = await books.send();
    expect(to(invoices)(sent)).toEqual([`Invoice ${number} from Blumen GmbH`]);
    expect(to(email)(sent).filter((subject) => subject.startsWith('Invoice'))).toEqual([]);
    const { rows } =
      await sql`select from mails where recipient = ${email} and kind <> 'account_deleted'`.execute(books.db);
    expect(rows).toEqual([]);
    // When the last person of the account is erased, the mails to the invoice email address are deleted, too.
    await record({ invoiceNumber: number, amount: 1 });
    await inBooks((trx) =>
      eraseUser(trx, { now: () => books.now(), endsWithPerson }, other.userId ?? '', {
        by: 'cli',
        onlyDue: false,
      }),
    );
    expect(to(invoices)(await books.send())).toEqual([]);
    const left = await sql`select from mails where recipient = ${invoices}`.execute(books.db);
    expect(left.rows).toEqual([]);
  });

  it('goes to the address that its buyer has when it leaves', async () => {
    const { email, userId, number } = await bill();
    await sql`update users set email = ${`new-${email}`} where id = ${userId}`.execute(books.db);
    await books.makeFiles();
    expect(to(`new-${email}`)(await books.send())).toEqual([`Invoice ${number} from Blumen GmbH`]);
  });

  it.each([
    [
      'frozen',
      (id: string) =>
        sql`update users set frozen_at = now(), suspended_at = now() where id = ${id}`.execute(books.db),
    ],
    [
      'erased',
      (id: string) =>
        inBooks((trx) =>
          eraseUser(trx, { now: () => books.now(), endsWithPerson }, id, { by: 'cli', onlyDue: false }),
        ),
    ],
  ])('does not go to somebody who is %s by then, nor does a reminder', async (_, change) => {
    const { email, userId } = await bill();
    await change(userId);
    await books.makeFiles();
    await later(6);
    const hasLeft = ({ subject }: Message) => !subject.startsWith('Your account has been deleted');
    expect((await books.send()).filter(hasLeft).map((mail) => mail.to)).toEqual([archive]);
    await inDays(40);
    await books.bill();
    await books.makeFiles();
    expect(to(email)(await books.send())).toEqual([]);
    const { rows } = await sql`select key from mails where key is not null and recipient = ${email}`.execute(
      books.db,
    );
    expect(rows).toEqual([]);
  });

  it('goes to somebody who is suspended: they owe it all the same', async () => {
    const { email, userId, number } = await bill();
    await sql`update users set suspended_at = now() where id = ${userId}`.execute(books.db);
    await books.makeFiles();
    expect(to(email)(await books.send())).toEqual([`Invoice ${number} from Blumen GmbH`]);
  });

  it('has no text that its buyer typed, except their name in the greeting, and neither has any other mail', async () => {
    const { accountId, id, number } = await bill();
    await books.report(next('Typed'));
    // The CRM may pass on what a customer typed. This charge has an invoice of its own.
    const charge = {
      id: 'evil',
      title: 'EVIL http://evil.example',
      unit_amount: 1_000,
      when: 'now',
    } as const;
    const charged = next('Charged');
    await books.report(charged);
    await books.bill();
    await later(1);
    await books.report(charged, { charges: [charge] });
    await books.bill();
    await sql`update accounts set name = 'EVIL account'`.execute(books.db);
    await sql`insert into billing_details (account_id, company, line1, postcode, city, country, vat_id)
      values (${accountId}, 'EVIL http://evil.example', 'EVIL', 'EVIL', 'EVIL', 'FR', 'FREVIL')`.execute(
      books.db,
    );
    await record({ invoiceNumber: number, amount: 1, method: 'EVIL', reference: 'EVIL' });
    await inBooks((trx) => reissueInvoice(trx, number, by()));
    const contract = { id };
    await inBooks(async (trx) =>
      deferContractMail(trx, 'contract_cancel_asked', contract, { now: books.now() }),
    );
    await books.makeFiles();
    await later(6);
    const sent = await books.send();
    expect(sent.length).toBeGreaterThan(4);
    for (const { subject, text, html } of sent) expect(`${subject} ${text} ${html}`).not.toMatch(/evil/i);
  });

  // Contract 7.421 and 7.553.
  it('has in its archive copy what to resume with after a restore, if it has a period', async () => {
    const charged = next('Charged');
    const charge = { id: 'setup', title: 'Setup', unit_amount: 1_000, when: 'now' } as const;
    await books.setClock(start);
    const { id } = await books.report(charged);
    await books.bill();
    await later(1);
    await books.report(charged, { charges: [charge] });
    await books.bill();
    await books.makeFiles();
    await later(6);
    const lost = (await books.send()).flatMap(({ to, text }) =>
      to === archive ? (text.match(/--lost .*/) ?? ['']) : [],
    );
    const [invoice] = await books.documentsOf(id);
    expect(lost.sort()).toEqual(['', `--lost ${invoice?.number}:${charged}:2027-01-31`]);
  });

  it('keeps its Message-ID from try to try', async () => {
    const { email } = await bill();
    await books.makeFiles();
    const tried: string[] = [];
    const refuse = (message: Message) => {
      if (message.to !== email || !message.attachments?.[0]) return;
      tried.push(message.id);
      throw Object.assign(new Error('not now'), { responseCode: 451 });
    };
    await books.send(refuse);
    await later(5);
    await books.send(refuse);
    await later(60);
    const sent = (await books.send()).filter((mail) => mail.to === email && mail.attachments?.[0]);
    expect(sent).toHaveLength(1);
    expect(tried).toEqual([sent[0]?.id, sent[0]?.id]);
  });

  it('is not held back, even if its mailbox gets many mails', async () => {
    await books.setClock(start);
    const email = `${next('many')}@example.test`;
    for (let count = 0; count < 65; count++) await books.report(next('Many'), {}, { email });
    await books.bill();
    await books.makeFiles();
    expect(to(email)(await books.send()).filter((subject) => subject.startsWith('Invoice'))).toHaveLength(65);
  });
});

describe('a reminder', () => {
  it('goes once 7 days after the day to pay and once after 14, no matter which instance runs the job', async () => {
    const { email, number } = await billAndSend();
    const remind = async (days: number) => {
      await inDays(days);
      await Promise.all(Array.from({ length: 16 }, books.bill));
      await books.makeFiles();
      await later(6);
      return to(email)(await books.send()).filter((subject) => subject.includes('eminder'));
    };
    expect(await remind(21)).toEqual([]);
    expect(await remind(22)).toEqual([`Reminder: invoice ${number} from Blumen GmbH is overdue`]);
    expect(await remind(28)).toEqual([]);
    expect(await remind(29)).toEqual([`Second reminder: invoice ${number} from Blumen GmbH is overdue`]);
    expect(await remind(60)).toEqual([]);
  });

  it('is only the later, if both days have passed; and says what is open', async () => {
    const { email, number } = await billAndSend();
    await record({ invoiceNumber: number, amount: 1_000 });
    await inDays(30);
    await books.bill();
    await books.makeFiles();
    const sent = (await books.send()).filter((mail) => mail.subject.includes('eminder') && mail.to === email);
    expect(sent.map(({ subject }) => subject)).toEqual([
      `Second reminder: invoice ${number} from Blumen GmbH is overdue – Identity`,
    ]);
    expect(sent[0]?.text).toContain('Still to pay: EUR 24.51');
    expect(sent[0]?.text).toContain(
      `IBAN: DE89 3704 0044 0532 0130 00\nBIC: COBADEFFXXX\nReference: ${number}\n`,
    );
    expect(sent[0]?.attachments?.[0]?.name).toBe(`${number}.pdf`);
  });

  it('goes by the days of the settings that its invoice was issued with', async () => {
    const { email, number } = await billAndSend();
    const { terms } = germanSettings;
    await setSettings(books.db, { ...germanSettings, terms: { ...terms, reminder_days: [1, 60] } });
    const remind = async (days: number) => {
      await inDays(days);
      await books.bill();
      return to(email)(await books.send());
    };
    expect(await remind(16)).toEqual([]);
    expect(await remind(22)).toEqual([`Reminder: invoice ${number} from Blumen GmbH is overdue`]);
    expect(await remind(29)).toEqual([`Second reminder: invoice ${number} from Blumen GmbH is overdue`]);
    await setSettings(books.db);
  });

  it('has the bank account in force, not that of its invoice (contract 7.461)', async () => {
    await billAndSend();
    const changed = { name: 'Blumen AG', iban: 'FR7630006000011234567890189' };
    await setSettings(books.db, { ...germanSettings, seller: { ...germanSettings.seller, ...changed } });
    await inDays(22);
    await books.bill();
    const reminder = (await books.send()).find(isReminder);
    expect(reminder?.text).toContain('Recipient: Blumen AG\nIBAN: FR76 3000 6000 0112 3456 7890 189');
    // Contract 7.503.
    expect(reminder?.replyTo).toBe('billing@example.test');
    await setSettings(books.db);
  });

  it('comes six days after the first at least, however late that was', async () => {
    const { email, number } = await billAndSend();
    const remind = async (days: number) => {
      await inDays(days);
      await books.bill();
      return to(email)(await books.send()).filter((subject) => subject.includes(`invoice ${number}`));
    };
    expect(await remind(28)).toEqual([`Reminder: invoice ${number} from Blumen GmbH is overdue`]);
    expect(await remind(30)).toEqual([]);
    expect(await remind(35)).toEqual([`Second reminder: invoice ${number} from Blumen GmbH is overdue`]);
  });

  const isReminder = ({ subject }: Message) => subject.includes('eminder');
  const away = () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNECTION' });
  };

  const openReminding = (email: string) => async (days: number, fail?: () => void) => {
    await inDays(days);
    await books.bill();
    return to(email)((await books.send(fail)).filter(isReminder));
  };

  it('comes six days after the first has left, if the mail server was away for days', async () => {
    const { email, number } = await billAndSend();
    const remind = openReminding(email);
    expect(await remind(22, away)).toEqual([]);
    expect(await remind(24, away)).toEqual([]);
    expect(await remind(24.9)).toEqual([`Reminder: invoice ${number} from Blumen GmbH is overdue`]);
    expect(await remind(29)).toEqual([]);
    expect(await remind(30.8)).toEqual([]);
    expect(await remind(31)).toEqual([`Second reminder: invoice ${number} from Blumen GmbH is overdue`]);
    expect(await remind(60)).toEqual([]);
  });

  it('is only the second, if the first has not left by its day', async () => {
    const { email, number } = await billAndSend();
    const remind = openReminding(email);
    for (const days of [22, 25, 28.5]) expect(await remind(days, away)).toEqual([]);
    expect(await remind(29)).toEqual([`Second reminder: invoice ${number} from Blumen GmbH is overdue`]);
    // An operator can retry mails that were given up, too.
    await retryFailedMails(books.db, books.now());
    for (const days of [29.1, 40, 60]) expect(await remind(days)).toEqual([]);
  });

  it('waits for a first that is on its way when its day comes', async () => {
    const { email, number } = await billAndSend();
    // The second mail is due at midnight in Berlin, 28 days and 13 hours after the start. The test looks just before and after.
    const midnight = 28 + 13 / 24;
    await inDays(midnight - 0.0003);
    await books.bill();
    let isUnderWay = true;
    const sent = await books.send(async ({ subject }) => {
      if (!subject.startsWith('Reminder')) return;
      await inDays(midnight + 0.0001);
      await books.bill();
      expect(to(email)((await books.send()).filter(isReminder))).toEqual([]);
      isUnderWay = false;
    });
    expect([isUnderWay, ...to(email)(sent.filter(isReminder))]).toEqual([
      false,
      `Reminder: invoice ${number} from Blumen GmbH is overdue`,
    ]);
    await inDays(midnight + 5.9);
    expect((await books.send()).filter(isReminder)).toEqual([]);
    await inDays(midnight + 6.1);
    expect(to(email)((await books.send()).filter(isReminder))).toEqual([
      `Second reminder: invoice ${number} from Blumen GmbH is overdue`,
    ]);
  });

  it('does not leave once all is paid, and comes back after a refund', async () => {
    const { email, number } = await billAndSend();
    await inDays(22);
    await books.bill();
    const id = next('pay_');
    await record({ id, invoiceNumber: number, amount: 3_451 });
    const about = (mails: Message[]) =>
      to(email)(mails).filter((subject) => subject.includes(`invoice ${number}`));
    expect(about(await books.send())).toEqual([`Payment received for invoice ${number} from Blumen GmbH`]);
    await record({ kind: 'refund', of: id, invoiceNumber: null, amount: 3_451 });
    await books.bill();
    expect(about(await books.send())).toEqual([`Reminder: invoice ${number} from Blumen GmbH is overdue`]);
    await inDays(100);
    await books.bill();
    expect(about(await books.send())).toEqual([
      `Second reminder: invoice ${number} from Blumen GmbH is overdue`,
    ]);
  });

  it('is looked for by settings that are read once, not for each invoice: they are large', async () => {
    const plans = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [`p${n}`, { title: randomBytes(75).toString('hex') }]),
    );
    await setSettings(books.db, { ...germanSettings, plans });
    const { number } = await billAndSend();
    await inDays(15);
    const pagesRead = () =>
      books.db.connection().execute(async (db) => {
        const count = async () => {
          await sql`select pg_stat_force_next_flush()`.execute(db);
          const { rows } = await sql<{ pages: string }>`
            select toast_blks_read + toast_blks_hit as pages from pg_statio_all_tables
            where relid = 'billing_settings'::regclass`.execute(db);
          return Number(rows[0]?.pages);
        };
        const before = await count();
        expect(await findDueReminders(db, { now: books.now(), limit: 100 })).toEqual([]);
        return (await count()) - before;
      });
    const forOne = await pagesRead();
    expect(forOne).toBeGreaterThan(0);
    await books.db.connection().execute(async (db) => {
      await sql`set session_replication_role = replica`.execute(db);
      await copyDocuments(
        db,
        sql`jsonb_build_object('number', d.number || '-' || n, 'invoice', d.invoice + n)`,
        sql`, generate_series(1, 200) n where d.number = ${number}`,
      );
      await sql`
        insert into invoices select (jsonb_populate_record(i, jsonb_build_object('number', i.number + n,
          'document', i.document || '-' || n, 'period_starts_at', i.period_starts_at - n * interval '1 day'))).*
        from invoices i, generate_series(1, 200) n where i.document = ${number}`.execute(db);
      await sql`reset session_replication_role`.execute(db);
    });
    expect(await pagesRead()).toBe(forOne);
    await setSettings(books.db);
  });

  it('is never sent about an invoice from before there was a seller', async () => {
    const old = await openBooks({ settings: null });
    try {
      const { id, email } = await old.report('Old');
      await addOldInvoice(old.db, id, { issuedAt: old.now() });
      await sql`insert into billing_settings (version, settings, counts_from, made_by, why)
        select 1, '{}', '2027-02-01', 'test', 'test'`.execute(old.db);
      await old.setClock('2027-02-27T10:00:00.000Z');
      await old.bill();
      expect((await old.send()).filter((mail) => mail.to === email)).toEqual([]);
    } finally {
      await old.close();
    }
  });
});

it('without a seller no trial is told of, and without an archive a document goes to its buyer alone', async () => {
  const plain = await openBooks({ settings: null });
  try {
    const ends = { status: 'trialing', trial_ends_at: '2027-02-14T10:00:00.000Z' } as const;
    await plain.report('PlainTrial', ends);
    await plain.setClock('2027-02-12T10:00:00.000Z');
    await plain.bill();
    expect(await plain.send()).toEqual([]);
    const old = await plain.report('PlainOld', { status: 'trialing', trial_ends_at: '2099-01-01T00:00:00Z' });
    const number = await addOldInvoice(plain.db, old.id);
    await setSettings(plain.db);
    // The payment of an invoice without a document brings no mail of thanks.
    await inTransaction(plain.db, { by: 'service', cause: 'test' }, (trx) =>
      payOpen(
        trx,
        { number, id: 'pays-old', paidAt: plain.now() },
        { now: plain.now(), recordedBy: 'payments' },
      ),
    );
    expect(to(old.email)(await plain.send())).toEqual([]);
    const { email } = await plain.report('Plain');
    await plain.bill();
    await plain.makeFiles();
    const sent = await plain.send();
    expect(sent.filter(({ subject }) => subject.startsWith('Invoice')).map((mail) => mail.to)).toEqual([
      email,
    ]);
    await plain.setClock('2027-02-12T10:06:00.000Z');
    expect((await plain.send()).map((mail) => mail.to)).toEqual([]);
  } finally {
    await plain.close();
  }
});

describe('a payment', () => {
  it('is thanked for if it paid something, and the mail says what is left', async () => {
    const { email, number } = await billAndSend();
    await record({ invoiceNumber: number, amount: 1_000 });
    const [part] = await books.send();
    // Contract 7.502.
    expect(part?.text).toContain(
      `Received: EUR 10.00\nStill to pay: EUR 24.51\nDue: 14 February 2027\nRecipient: Blumen GmbH\nIBAN: DE89 3704 0044 0532 0130 00\nBIC: COBADEFFXXX\nReference: ${number}\n`,
    );
    await record({ invoiceNumber: number, amount: 9_000 });
    const [rest] = await books.send();
    expect(rest?.text).toContain(
      'Received: EUR 90.00, of which EUR 24.51 pays this invoice\nStill to pay: nothing\n',
    );
    expect(rest?.text).not.toContain('IBAN');
    await record({ invoiceNumber: number, amount: 500 });
    await record({ invoiceNumber: 'nobody knows', amount: 500 });
    expect(to(email)(await books.send())).toEqual([]);
  });

  it('that an administrator puts to invoices is thanked for once for each of them', async () => {
    const [one, other] = [await billAndSend(), await billAndSend()];
    const { payment } = await record({ invoiceNumber: null, amount: 4_000 });
    expect(await books.send()).toEqual([]);
    for (const { number } of [one, other])
      await inBooks((trx) => allocate(trx, { paymentId: payment.id, number }, by()));
    const sent = await books.send();
    for (const [{ email, number }, received] of [
      [one, 'EUR 40.00, of which EUR 34.51 pays this invoice'],
      [other, 'EUR 40.00, of which EUR 5.49 pays this invoice'],
    ] as const) {
      expect(to(email)(sent)).toEqual([`Payment received for invoice ${number} from Blumen GmbH`]);
      expect(sent.find((mail) => mail.to === email)?.text).toContain(`Received: ${received}\n`);
    }
    expect(sent).toHaveLength(2);
  });

  it('is not thanked for if it went back before', async () => {
    const { email, number } = await billAndSend();
    const id = next('pay_');
    await record({ id, invoiceNumber: number, amount: 3_451 });
    await record({ kind: 'refund', of: id, invoiceNumber: null, amount: 3_451 });
    expect(to(email)(await books.send())).toEqual([]);
  });
});

describe('a credit note', () => {
  it('goes to the buyer and the archive', async () => {
    const { email, number } = await billAndSend();
    await inBooks((trx) => creditInvoice(trx, number, 1_000, by()));
    await books.makeFiles();
    const credited = await books.send();
    expect(credited.map((mail) => mail.to).sort()).toEqual([archive, email].sort());
    expect(credited[0]?.text).toMatch(/Credit note: CN-2027-\d+\nInvoice: INV-2027-\d+\nTotal: EUR 10\.00\n/);
    // Contract 7.272.
    expect(credited[0]?.text).toContain(
      'Still to pay: EUR 24.51\nDue: 14 February 2027\nRecipient: Blumen GmbH\n',
    );
    await inBooks((trx) => creditInvoice(trx, number, 2_451, by()));
    await books.makeFiles();
    expect((await books.send())[0]?.text).toContain('Total: EUR 24.51\nStill to pay: nothing\n');
  });

  // Contract 7.464.
  describe('and the invoice in place of the canceled one', () => {
    async function reissue(paid = 3_451) {
      const { email, number } = await billAndSend();
      if (paid > 0) await record({ invoiceNumber: number, amount: paid });
      await books.send();
      await renameBuyer(books.db, number);
      return { email, number, ...(await inBooks((trx) => reissueInvoice(trx, number, by()))) };
    }
    const namesOf = (sent: Message[]) =>
      sent.map(({ attachments }) => attachments?.map(({ name }) => name.replace('.pdf', '')));

    it('are one mail to the buyer, however many send, and one each to the archive (contract 7.555)', async () => {
      const { email, number, creditNote, invoice } = await reissue();
      // Both mails wait for their PDFs.
      expect(await books.send()).toEqual([]);
      await books.makeFiles();
      await inDays(6 / (24 * 3_600));
      const sent = (await Promise.all(Array.from({ length: 16 }, () => books.send()))).flat();
      const mine = sent.filter((mail) => mail.to === email);
      expect(namesOf(mine)).toEqual([[invoice, creditNote]]);
      expect(to(email)(mine)).toEqual([`Invoice ${invoice} from Blumen GmbH replaces invoice ${number}`]);
      expect(mine[0]?.text).toContain(
        `Blumen GmbH has corrected invoice ${number} for Starter. Credit note ${creditNote} cancels it, and invoice ${invoice} replaces it.\n\nInvoice: ${invoice}\nTakes the place of: ${number}\nCredit note: ${creditNote}\nPeriod: 31 January 2027 to 27 February 2027\nTotal: EUR 34.51\nTo pay: nothing\n\nThere is nothing to pay for invoice ${invoice}.\n\nThe credit note and the new invoice are attached as PDFs.\n`,
      );
      expect(namesOf(sent.filter((mail) => mail.to === archive)).sort()).toEqual([[creditNote], [invoice]]);
      await inDays(1);
      expect(to(email)(await books.send())).toEqual([]);
    });

    it('are both listed with the address that got them, if that changed before they left', async () => {
      const { email, creditNote, invoice } = await reissue();
      const renewed = `new-${email}`;
      await sql`update users set email = ${renewed} where email = ${email}`.execute(books.db);
      await books.makeFiles();
      await later(1);
      const sent = await books.send();
      expect(namesOf(sent.filter((mail) => mail.to === renewed))).toEqual([[invoice, creditNote]]);
      const { rows } = await sql<{ recipient: string }>`select recipient from mails
        where key in (${`invoice_issued:${invoice}`}, ${`credit_note_issued:${creditNote}`})`.execute(
        books.db,
      );
      expect(rows).toEqual([{ recipient: renewed }, { recipient: renewed }]);
    });

    it('say of an invoice that was canceled before its mail left not to pay it (contract 7.272)', async () => {
      const { email, number, invoice } = await reissue(0);
      await renameBuyer(books.db, invoice);
      await inBooks((trx) => reissueInvoice(trx, invoice, by()));
      await books.makeFiles();
      const sent: Message[] = [];
      for (const days of [0.01, 0.1, 1]) {
        await inDays(days);
        sent.push(...(await books.send()).filter((mail) => mail.to === email));
      }
      const [first, ...more] = sent.filter(({ subject }) => subject.includes(`replaces invoice ${number}`));
      expect(more).toEqual([]);
      expect(first?.text).toContain(`Invoice ${invoice} has been canceled since. Do not pay it:`);
      expect(sent.filter(({ text }) => text.includes('canceled since'))).toEqual([first]);
    });

    it('say how to pay what is open, and not to pay the canceled one (contract 7.502)', async () => {
      const { email, number, invoice } = await reissue(1_000);
      await books.makeFiles();
      const [mail] = (await books.send()).filter((each) => each.to === email);
      expect(mail?.text).toContain(
        `Please pay EUR 24.51 for invoice ${invoice} by 14 February 2027. Do not pay invoice ${number}.`,
      );
      expect(mail?.text).toContain(
        `To pay: EUR 24.51\nDue: 14 February 2027\nRecipient: Blumen GmbH\nIBAN: DE89 3704 0044 0532 0130 00\nBIC: COBADEFFXXX\nReference: ${invoice}\n`,
      );
    });

    it('are one mail after the mail server has refused it, too', async () => {
      const { email, creditNote, invoice } = await reissue();
      await books.makeFiles();
      const refused: Message[] = [];
      await books.send((mail) => {
        if (mail.to !== email) return;
        refused.push(mail);
        throw Object.assign(new Error('later'), { responseCode: 451 });
      });
      expect(namesOf(refused)).toEqual([[invoice, creditNote]]);
      await inDays(1);
      expect(namesOf((await books.send()).filter((mail) => mail.to === email))).toEqual([
        [invoice, creditNote],
      ]);
    });

    it('are the same mail again after a worker was killed that had sent it (contract 7.281)', async () => {
      const { email, creditNote, invoice } = await reissue();
      await books.makeFiles();
      // As if the worker was killed before it marked the second of both mails.
      await sql`create function fail_once() returns trigger language plpgsql as $$ begin raise 'killed'; end $$`.execute(
        books.db,
      );
      await sql
        .raw(`create trigger fail_once before update of sent_at on mails for each row
          when (new.sent_at is not null and new.key = 'invoice_issued:${invoice}') execute function fail_once()`)
        .execute(books.db);
      const sent: Message[] = [];
      const keep = (mail: Message) => void (mail.to === email && sent.push(mail));
      await expect(books.send(keep)).rejects.toThrow('killed');
      await sql`drop function fail_once() cascade`.execute(books.db);
      await later(3);
      await books.send(keep);
      expect(namesOf(sent)).toEqual([
        [invoice, creditNote],
        [invoice, creditNote],
      ]);
      expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
      await inDays(1);
      expect(to(email)(await books.send())).toEqual([]);
    });

    it.each([
      [
        'credit_note',
        'The invoice is attached as a PDF. The PDF of the credit note could not be made yet. Log in',
      ],
      [
        'invoice',
        'The credit note is attached as a PDF. The PDF of the invoice could not be made yet. Log in',
      ],
      ['both', 'No PDF is attached because it could not be made yet. Log in'],
    ])('are one mail after a day if the PDF of %s cannot be made (contract 7.273)', async (which, words) => {
      const { email, creditNote, invoice } = await reissue();
      const [failed = [], made = []] =
        which === 'credit_note'
          ? [[creditNote], [invoice]]
          : which === 'invoice'
            ? [[invoice], [creditNote]]
            : [[creditNote, invoice], []];
      await sql`update documents_to_make set tries = 5, last_error = 'The font lacks U+1F600'
        where number = any(${failed})`.execute(books.db);
      await books.makeFiles(made);
      await later(6);
      expect(to(email)(await books.send())).toEqual([]);
      await inDays(1.1);
      const mine = (await books.send()).filter((mail) => mail.to === email);
      expect(namesOf(mine)).toEqual([made]);
      expect(mine[0]?.text).toContain(words);
      await inDays(2);
      expect(to(email)(await books.send())).toEqual([]);
    });

    it.each(['credit_note', 'invoice'])('come alone if the version before has sent the %s', async (kind) => {
      const { email, creditNote, invoice } = await reissue();
      await books.makeFiles();
      const number = kind === 'invoice' ? invoice : creditNote;
      await sql`update mails set sent_at = ${books.now()} where key = ${`${kind}_issued:${number}`}`.execute(
        books.db,
      );
      const [mail, ...more] = (await books.send()).filter(({ to }) => to === email);
      expect([namesOf(mail ? [mail] : []), more]).toEqual([
        [[kind === 'invoice' ? creditNote : invoice]],
        [],
      ]);
      expect(mail?.text).not.toContain('are attached');
    });
  });
});

describe('a trial', () => {
  const trial = (days: number) => ({
    status: 'trialing',
    trial_ends_at: new Date(Date.parse(start) + days * 24 * 3_600_000).toISOString(),
  });
  const tell = async (days: number) => {
    await inDays(days);
    await Promise.all(Array.from({ length: 16 }, books.bill));
    return books.send();
  };

  it('is announced once, three days before it ends, and again if its end moves to another day', async () => {
    await books.setClock(start);
    const id = next('Trial');
    const { email } = await books.report(id, trial(14));
    expect(to(email)(await tell(10.9))).toEqual([]);
    const [mail] = await tell(11);
    expect(mail?.subject).toBe('Your trial ends on 14 February 2027 – Identity');
    expect(mail?.text).toContain('Price if you go on: EUR 29.00 a month, before tax');
    expect(mail?.text).toContain('Your trial of Starter from Blumen GmbH ends by itself');
    expect(mail?.text).toContain('To go on after the trial, ask Blumen GmbH: billing@example.test.');
    expect(mail?.text).toContain('http://localhost:3000/profile/billing');
    expect(to(email)(await tell(12))).toEqual([]);
    await books.report(id, trial(20));
    expect(to(email)(await tell(13))).toEqual([]);
    expect(to(email)(await tell(18))).toEqual(['Your trial ends on 20 February 2027']);
  });

  it('leads to where the plan’s customers go on, if the settings say it (contract 7.462 and 7.463)', async () => {
    await books.setClock(start);
    const link = 'https://shop.example.test/starter?from=trial';
    const plans = { starter: { title: 'Starter', link } };
    await setSettings(books.db, { ...germanSettings, plans });
    await books.report(next('Trial'), trial(14));
    const [mail] = await tell(11);
    expect(mail?.text).toContain(`Go on after the trial:\n${link}\n`);
    expect(mail?.text).not.toContain('/profile/billing');
    await setSettings(books.db);
  });

  it('of four days to the millisecond is told of', async () => {
    await books.setClock(start);
    const { email } = await books.report(next('Trial'), trial(4));
    expect(to(email)(await tell(1))).toEqual(['Your trial ends on 4 February 2027']);
  });

  it('that was canceled is not told of, whether before the mail was written or after', async () => {
    await books.setClock(start);
    const [before, after] = [next('Trial'), next('Trial')];
    await books.report(before, trial(14));
    await books.report(after, trial(14));
    await inDays(10);
    await books.report(before, { ...trial(14), status: 'canceled' });
    await inDays(11);
    await books.bill();
    await later(1);
    await books.report(after, { ...trial(14), status: 'canceled' });
    expect((await books.send()).map(({ subject }) => subject)).toEqual([]);
  });

  it.each([
    ['of less than four days', 3.9, 'trialing'],
    ['that is over, or goes on as a contract, when the mail would leave', 14, 'active'],
  ])('is not told of: one %s', async (_, days, status) => {
    await books.setClock(start);
    const id = next('Trial');
    const { email } = await books.report(id, trial(days));
    await inDays(days - 2);
    await books.bill();
    await books.report(id, status === 'active' ? { status } : trial(days));
    expect(to(email)(await books.send())).toEqual([]);
  });
});

describe('a contract', () => {
  async function end(id: string, cancelsAt: string | null) {
    await inBooks(async (trx) => {
      const contract = await lockContract(trx, { id });
      await setCancelsAt(trx, id, cancelsAt === null ? null : new Date(cancelsAt));
      const kind = cancelsAt === null ? 'contract_kept' : 'contract_cancel_asked';
      if (contract) deferContractMail(trx, kind, contract, { now: books.now() });
    });
  }

  it('that is canceled or kept is told of each time, with its last day', async () => {
    const { email, id } = await billAndSend();
    await end(id, '2027-02-28T10:00:00.000Z');
    const [canceled] = await books.send();
    expect(canceled?.to).toBe(email);
    expect(canceled?.text).toContain('Last day: 27 February 2027');
    expect(canceled?.text).toContain('Until the last day you can keep the contract under Billing.');
    await later(1);
    await end(id, null);
    expect(to(email)(await books.send())).toEqual(['Your cancellation has been withdrawn']);
    await later(1);
    await end(id, '2027-02-28T10:00:00.000Z');
    expect(to(email)(await books.send())).toEqual(['Your contract has been canceled']);
  });

  it('that is canceled or kept is told of to its person, whatever the address for invoices is', async () => {
    const { email, id, accountId } = await billAndSend();
    const invoices = `${next('books')}@example.test`;
    await sql`insert into billing_details (account_id, invoice_email, invoice_email_proved_at, edited_here)
      values (${accountId}, ${invoices}, now(), '{invoiceEmail}')`.execute(books.db);
    for (const cancelsAt of ['2027-02-28T10:00:00.000Z', null]) {
      await later(1);
      await end(id, cancelsAt);
      const { rows } = await sql`select from mails where recipient = ${email} and sent_at is null`.execute(
        books.db,
      );
      expect(rows).toHaveLength(1);
      const sent = await books.send();
      expect(sent.map((mail) => mail.to)).toEqual([email]);
      expect(sent[0]?.text).not.toContain('this is the address for invoices');
    }
    // Documents still go to the invoice email address.
    await inDays(29);
    await books.bill();
    await books.makeFiles();
    expect(to(invoices)(await books.send()).length).toBeGreaterThan(0);
  });

  it('that our support team cancels or ends is told of in words that are true (contract 7.279)', async () => {
    const { id } = await billAndSend();
    const tell = async (cancelsAt: Date | null, isEnded = false) => {
      await inBooks(async (trx) => {
        const contract = await lockContract(trx, { id });
        await setCancelsAt(trx, id, cancelsAt);
        if (contract && isEnded) await updateContract(trx, id, { ...contract, status: 'canceled' });
        const by = { now: books.now(), isBySupport: true };
        if (contract) deferContractMail(trx, 'contract_cancel_asked', contract, by);
      });
      return (await books.send())[0]?.text;
    };
    const asked = await tell(new Date('2027-02-28T10:00:00.000Z'));
    expect(asked).toContain('At your request, our support team has canceled your Starter contract.');
    expect(asked).toContain('Last day: 27 February 2027');
    expect(asked).not.toContain('set a new password');
    await later(1);
    const ended = await tell(null, true);
    expect(ended).toContain('Our support team has ended your Starter contract.');
    expect(ended).toContain('Nothing more will be charged. If an invoice is open, it still has to be paid.');
    expect(ended).not.toContain('Last day');
  });

  it('that is kept before the mail leaves is not said to be canceled', async () => {
    const { email, id } = await billAndSend();
    await end(id, '2027-02-28T10:00:00.000Z');
    await later(1);
    await end(id, null);
    expect(to(email)(await books.send())).toEqual(['Your cancellation has been withdrawn']);
  });
});

it.each(billingMailKinds)(
  '%s waits while billing does, written before or then (contract 7.340)',
  async (kind) => {
    const write = async () => {
      const id = crypto.randomUUID();
      await sql`insert into mails (id, kind, recipient, details, created_at, next_attempt_at)
      values (${id}, ${kind}, 'books@example.test', '{}', now(), now() + interval '1 hour')`.execute(
        books.db,
      );
      return id;
    };
    const before = await write();
    await insertRestore(books.db);
    try {
      const { rows } = await sql<{ waits: boolean }>`select next_attempt_at > '9000-01-01' as waits from mails
      where id in (${before}, ${await write()})`.execute(books.db);
      expect(rows).toEqual([{ waits: true }, { waits: true }]);
    } finally {
      await sql`delete from restores`.execute(books.db);
    }
  },
);
