// What customers see of billing: what is open and how to pay it, their documents, and nothing of anybody else
// (contract 7.247 to 7.251 and 7.264).
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { selectOwnDocuments } from '../../db/tables/own-documents.ts';
import { allocate, payBack, recordMoney } from '../../server/billing/payments/allocate.ts';
import { openApp } from '../support/app/app.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { arrangeSeller, price } from '../support/billing/customers.ts';
import { addOldInvoice, copyDocuments } from '../support/billing/money.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { shared } from '../support/run/shared.ts';

const owner = 'customer@example.test';
const stranger = 'merchant@example.test';
const page = '/profile/billing';
const clock = { at: new Date('2037-02-01T12:00:00Z') };

let customers: Awaited<ReturnType<typeof arrangeSeller>>;
/** Numbers: of an invoice that is paid and partly credited, an open one, another customer's, and the credit note. */
let paid = '';
let open = '';
let others = '';
let credit = '';
const app = shared(() => openApp({ now: () => clock.at }));
beforeAll(async () => {
  customers = await arrangeSeller(app, clock, {
    ...germanSettings,
    payment: {
      ...germanSettings.payment,
      link: 'https://pay.example.test/{number}?a={amount}&c={currency}&n={number}',
    },
    numbers: { invoice: 'R-', credit_note: 'K-' },
  });
  await customers.setClock('2037-02-01T12:00:00.000Z');
  await customers.giveDetails(owner, 'Fleurs & <Cie>');
  await customers.report('mine');
  await customers.bill();
  [paid = ''] = await customers.numbers();
  await customers.setClock('2037-02-01T12:01:00.000Z');
  await customers.credit(paid, 480);
  await customers.pay(paid);
  [credit = ''] = await customers.numbers('credit_note');
  await customers.setClock('2037-03-01T12:00:00.000Z');
  await customers.bill();
  [, open = ''] = await customers.numbers();
  await customers.report('theirs', { email: stranger });
  await customers.bill();
  [, , others = ''] = await customers.numbers();
});

const openOf = (text: string, number: string) =>
  new RegExp(`data-document="${number}"[\\s\\S]*?data-open="(\\d+)"`).exec(text)?.[1];

describe('the page', () => {
  it('has each document with what is open of it in minor units, and where its files are', async () => {
    const { text } = await (await logIn(app.send, owner)).send(page);
    expect([...text.matchAll(/data-document="([^"]+)"/g)].map(([, number]) => number)).toEqual([
      open,
      credit,
      paid,
    ]);
    expect([openOf(text, open), openOf(text, paid)]).toEqual(['3480', '0']);
    for (const number of [open, paid, credit])
      for (const end of ['', '.pdf', '.xml']) expect(text).toContain(`href="/invoices/${number}${end}"`);
    expect(text).not.toContain(others);
  });

  it('says how to pay, with a link whose placeholders are percent-encoded', async () => {
    const answer = await (await logIn(app.send, owner)).send(page);
    expect(answer.text).toContain(`href="https://pay.example.test/${open}?a=34.80&amp;c=EUR&amp;n=${open}"`);
    expect(textOf(answer)).toMatch(
      new RegExp(
        `How to pay Please transfer to our account. Recipient Blumen GmbH IBAN DE89\\s3704.* Reference ${open}`,
      ),
    );
  });

  it('says when the next charge is, and over how much with tax', async () => {
    const answer = await (await logIn(app.send, owner)).send(page);
    expect(textOf(answer)).toMatch(
      /Starter The starter plan EUR\s29\.00 a month Next invoice on 1 April 2037 : EUR\s34\.80 with 20% VAT/,
    );
  });

  it('says of an overdue invoice on every page of the account, to nobody else, and only while it is', async () => {
    const overdue = async (email: string, path: string) =>
      textOf(await (await logIn(app.send, email)).send(path)).includes('You have an overdue invoice');
    const paths = [
      '/profile',
      '/profile/security',
      '/profile/products',
      page,
      '/profile/activity',
      '/profile/data',
      `/invoices/${paid}`,
    ];
    expect(await overdue(owner, '/profile')).toBe(false);
    await customers.setClock('2037-03-15T22:59:59.000Z');
    expect(await overdue(owner, '/profile')).toBe(false);
    // In Berlin this is the end of the last day to pay.
    await customers.setClock('2037-03-15T23:00:00.000Z');
    for (const path of paths) expect([path, await overdue(owner, path)]).toEqual([path, true]);
    const profile = await (await logIn(app.send, owner)).send('/profile');
    expect(profile.text).toMatch(
      /You have an overdue invoice\.[^<]*(<!-- -->)?\s*<a href="\/profile\/billing">/,
    );
    for (const email of ['manager@example.test', 'unverified@example.test'])
      expect(await overdue(email, '/profile')).toBe(false);
    expect(textOf(await app.send('/login'))).not.toContain('overdue');
  });

  it('shows nothing of it before the address is proved', async () => {
    await sql`update users set email_verified_at = null where email = ${owner}`.execute(app.db);
    try {
      const browser = await logIn(app.send, owner);
      const { text } = await browser.send(page);
      for (const secret of [open, paid, credit, 'IBAN', 'Starter', 'overdue'])
        expect(text).not.toContain(secret);
      expect((await browser.send(`/invoices/${open}`)).status).toBe(404);
      expect(textOf(await browser.send('/profile'))).not.toContain('overdue');
    } finally {
      await sql`update users set email_verified_at = now() where email = ${owner}`.execute(app.db);
    }
  });
});

describe('the page of a document', () => {
  it('has all that an invoice says, and what became of it', async () => {
    const answer = await (await logIn(app.send, owner)).send(`/invoices/${paid}`);
    expect(answer.status).toBe(200);
    expect(textOf(answer)).toMatch(
      /From Blumen GmbH Hauptstraße 1 10115 Berlin Germany VAT ID DE136695976 Tax number 27\/123\/45678 billing@example.test To Fleurs & <Cie> 12 Rue des Fleurs 75011 Paris France/,
    );
    expect(textOf(answer)).toMatch(
      new RegExp(
        `Invoice number ${paid} Date of issue 1 February 2037 Period 1 February 2037 to 28 February 2037 Due 15 February 2037 Status Paid`,
      ),
    );
    expect(textOf(answer)).toMatch(
      /Net EUR\s29\.00 Tax, 20% EUR\s5\.80 Total EUR\s34\.80 Credited -EUR\s4\.80 Paid -EUR\s30\.00 Left to pay EUR\s0\.00/,
    );
    expect(textOf(answer)).not.toContain('Not a tax invoice');
    expect(textOf(answer)).not.toContain('How to pay');
    expect(openOf(answer.text, paid)).toBe('0');
    // Our internal ids say nothing to the reader.
    expect(answer.text).not.toMatch(/account_id|contract_id|settings_version/);
  });

  it('of a credit note names the invoice that it corrects', async () => {
    const answer = await (await logIn(app.send, owner)).send(`/invoices/${credit}`);
    expect(textOf(answer)).toMatch(new RegExp(`Corrects Invoice ${paid} of 1 February 2037`));
    expect(textOf(answer)).toMatch(/Net EUR\s4\.00 Tax, 20% EUR\s0\.80 Total EUR\s4\.80/);
    expect(textOf(answer)).not.toContain('Due');
    const client = openClient(app.send, await app.login(owner));
    expect(await client.invoices.get.query({ number: credit })).toMatchObject({
      kind: 'credit_note',
      document: { total: 480, invoice: { number: paid } },
    });
  });

  it('of an open one says how to pay it', async () => {
    const answer = await (await logIn(app.send, owner)).send(`/invoices/${open}`);
    expect(openOf(answer.text, open)).toBe('3480');
    expect(textOf(answer)).toMatch(new RegExp(`How to pay .* Reference ${open}`));
  });

  it('is 404 for everybody else, as if there were none', async () => {
    for (const number of [open, credit]) {
      const { status, text } = await (await logIn(app.send, stranger)).send(`/invoices/${number}`, {
        headers: { accept: 'application/json' },
      });
      expect([status, text.includes('not_found')]).toEqual([404, true]);
      expect((await openBrowser(app.send).send(`/invoices/${number}`)).status).toBe(303);
      const client = openClient(app.send, await app.login('admin@example.test'));
      expect(await refusalOf(client.invoices.get.query({ number }))).toMatchObject({ httpStatus: 404 });
    }
  });

  it('has no XML without the buyer’s address', async () => {
    const { text } = await (await logIn(app.send, stranger)).send(page);
    expect(text).toContain(`href="/invoices/${others}.pdf"`);
    expect(text).not.toContain(`${others}.xml`);
    expect(text).toContain('Your address is not on your invoices yet');
    const staff = openClient(app.send, await app.login('admin@example.test'));
    const { incomplete, ignored } = await staff.admin.billing.summary.query();
    expect([incomplete.map(({ number }) => number), ignored]).toEqual([[others], []]);
  });
});

const inBooks = <T>(work: Parameters<typeof inTransaction<T>>[2]) =>
  inTransaction(app.db, { by: 'operator', cause: 'test' }, work);
const bookkeeper = () => ({ now: clock.at, recordedBy: 'operator' as const });

it('shows what a customer paid that pays no invoice, by currency, to that customer only', async () => {
  const said = async (email: string) =>
    textOf(await (await logIn(app.send, email)).send(page)).replaceAll(/\s/g, ' ');
  const owed = async (email: string) =>
    [...(await said(email)).matchAll(/We have (.{8,9}) from you/g)].map(([, amount]) => amount);
  expect([await owed(owner), await owed(stranger)]).toEqual([[], []]);
  const pay = (id: string, amount: number, invoiceNumber: string | null, currency = 'EUR') =>
    inBooks((trx) =>
      recordMoney(
        trx,
        {
          ...{ id, kind: 'payment', of: null, currency, amount, invoiceNumber, paidAt: clock.at },
          ...{ method: null, reference: null },
        },
        bookkeeper(),
      ),
    );
  await pay('too-much', 600, paid.toLowerCase());
  await pay('dollars', 500, paid, 'USD');
  await pay('of-nobody', 900, null);
  await pay('unknown', 900, 'R-1999-0001');
  expect([await owed(owner), await owed(stranger)]).toEqual([['EUR 6.00', 'USD 5.00'], []]);
  // Money that a credit note frees counts, whatever invoice number the money named.
  await customers.report('freed', { contract: { price: { ...price, interval: 'year' } } });
  await customers.bill();
  const freed = (await customers.numbers()).at(-1) ?? '';
  await pay('by-hand', 3_480, null);
  await inBooks((trx) => allocate(trx, { paymentId: 'by-hand', number: freed }, bookkeeper()));
  expect(await owed(owner)).toEqual(['EUR 6.00', 'USD 5.00']);
  await customers.credit(freed);
  await pay('others', 100_000, others);
  expect(await owed(owner)).toEqual(['EUR 40.80', 'USD 5.00']);
  expect(await said(stranger)).toContain('We have EUR 965.49 from you');
  // This money paid another customer's invoice before.
  await sql`insert into allocations (payment, invoice, amount, recorded_at)
    select 'too-much', number, n, now() from invoices, unnest(array[1, -1]) n where document = ${others}`.execute(
    app.db,
  );
  expect(await owed(owner)).toEqual(['EUR 34.80', 'USD 5.00']);
  await inBooks((trx) => payBack(trx, { paymentId: 'by-hand', id: 'back', paidAt: clock.at }, bookkeeper()));
  expect(await owed(owner)).toEqual(['USD 5.00']);
  expect(await said(owner)).toContain('EUR 29.00 a year Next invoice on 16 March 2038 : EUR 34.80');
});

it('promises neither day nor amount of a next invoice that is held or waits for a payment (contract 7.478)', async () => {
  await setSettings(app.db, {
    ...germanSettings,
    terms: { ...germanSettings.terms, invoice_while_past_due: false },
  });
  const said = async () => textOf(await (await logIn(app.send, stranger)).send(page)).replaceAll(/\s/g, ' ');
  const held = 'a month Your next invoice is being prepared. We cannot say its date and amount yet.';
  await customers.report('in-dollars', {
    email: stranger,
    contract: { price: { ...price, currency: 'USD' } },
  });
  expect(await said()).toContain(`USD 29.00 ${held}`);
  await customers.bill();
  await customers.setClock('2037-04-02T12:00:00.000Z');
  await customers.bill();
  expect(await said()).toContain(`USD 29.00 ${held}`);
  await customers.setClock('2037-04-20T12:00:00.000Z');
  await customers.bill();
  const once = 'a month You get the next invoice once the overdue one is paid.';
  expect(await said()).toContain(once);
  expect(await said()).not.toMatch(/Next invoice on|period/);
  await customers.setClock('2037-05-20T12:00:00.000Z');
  await customers.bill();
  const waits = /periods? waits?: EUR [\d.]+ before tax\./;
  expect(await said()).toMatch(waits);
  const staff = await logIn(app.send, 'admin@example.test');
  expect(textOf(await staff.send('/admin/billing')).replaceAll(/\s/g, ' ')).toMatch(waits);
});

describe('the contracts of a customer', () => {
  const link = 'https://crm.example/buy?plan=pro&x="';
  const plans = { pro: { title: 'Pro & more', link }, none: { title: 'None' } };

  it('come first, and ended ones last among them (contract 7.469)', async () => {
    const isolated = await openApp({ now: () => clock.at });
    try {
      const some = await arrangeSeller(isolated, clock, { ...germanSettings, plans });
      const report = (name: string, contract: object) => some.report(name, { email: owner, contract });
      await report('ended', { plan: 'ended', status: 'canceled' });
      await report('pays', { plan: 'none' });
      await some.bill();
      const answer = await (await logIn(isolated.send, owner)).send(page);
      const places = ['id="contracts"', 'None', '>ended<', 'id="to-pay"', 'id="documents"', 'id="details"'];
      const found = places.map((each) => answer.text.indexOf(each, answer.text.indexOf('<main')));
      expect(found.every((at, index) => at > (found[index - 1] ?? 0))).toBe(true);
    } finally {
      await isolated.close();
    }
  });
});

it('every document can be reached, and the open ones that were due first are shown', async () => {
  const many = await openApp({ now: () => clock.at });
  try {
    const before = await arrangeSeller(many, clock);
    await before.report('many');
    await before.bill();
    const [number = ''] = await before.numbers();
    const expected = Array.from({ length: 130 }, (_, at) => String(1_000 + at));
    await sql`alter table invoices disable trigger invoices_settle_from_before`.execute(many.db);
    // Each pair of invoices has the same `issued_at`.
    await sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount,
        status, issued_at, due_at)
      select 1000 + n, id, 'old', timestamptz '2000-01-01' + n * interval '1 day', timestamptz '2000-01-02' + n * interval '1 day',
        'EUR', 100, 'open', timestamptz '2000-01-01' + (n / 2) * interval '0.000001 s', timestamptz '2000-01-01' + n * interval '1 day'
      from service_contracts, generate_series(0, 129) n`.execute(many.db);
    await copyDocuments(
      many.db,
      sql`jsonb_build_object('number', 'CN-2001-' || 1000 + n, 'kind', 'credit_note',
        'issued_at', timestamptz '2001-01-01' + n * interval '0.000001 s')`,
      sql`, generate_series(0, 129) n where number = ${number}`,
    );
    expected.push(...expected.map((each) => `CN-2001-${each}`), number);
    const browser = await logIn(many.send, owner);
    const found: string[] = [];
    const sizes: number[] = [];
    let next: string | undefined = page;
    while (next) {
      const { text } = await browser.send(next);
      const listed = [...text.matchAll(/data-document="([^"]+)"/g)].map(([, each]) => each ?? '');
      sizes.push(listed.length);
      found.push(...listed);
      expect(text.match(/>Pay |Unpaid|Overdue/g)?.length).toBeGreaterThanOrEqual(100);
      expect(text.match(/Back to the first/g)?.length ?? 0).toBe(next === page ? 0 : 1);
      next = /href="(\/profile\/billing\?before=[^"#]+)#documents"/.exec(text)?.[1];
    }
    expect(found).toEqual(expected.reverse());
    expect(sizes).toEqual([50, 50, 50, 50, 50, 11]);
    const oldest: string[] = [];
    for (let at: string | undefined = `${page}?sort=issued`; at; ) {
      const { text } = await browser.send(at);
      oldest.push(...[...text.matchAll(/data-document="([^"]+)"/g)].map(([, each]) => each ?? ''));
      at = /href="(\/profile\/billing\?sort=issued&amp;before=[^"#]+)#documents"/
        .exec(text)?.[1]
        ?.replace('&amp;', '&');
    }
    // Contract 7.451.
    expect(oldest).toEqual([...found].reverse());
    expect((await browser.send(`${page}?sort=`)).status).toBe(200);
    expect((await browser.send(`${page}?sort=amount`)).status).toBe(422);
    const first = textOf(await browser.send(page));
    expect(first).toContain('These 100 were due first.');
    expect(first).toContain('Invoice 1000 ');
    expect(first).not.toContain('Invoice 1100 ');
    // Another person's documents look as if they did not exist.
    const none = await (await logIn(many.send, stranger)).send(`${page}?before=${number}`);
    expect([none.status, textOf(none).includes('There is nothing more.')]).toEqual([200, true]);
    const plan = await many.db.transaction().execute(async (trx) => {
      await sql`set local enable_seqscan = off`.execute(trx);
      await sql`set local enable_bitmapscan = off`.execute(trx);
      const { rows } = await sql<{
        accountId: string;
      }>`select account_id as "accountId" from service_contracts`.execute(trx);
      const asked = selectOwnDocuments({
        accountId: rows[0]?.accountId ?? '',
        sort: '-issued',
        limit: 51,
        last: { at: 'now', number },
      });
      const lines = await sql<{ 'QUERY PLAN': string }>`explain ${asked}`.execute(trx);
      return lines.rows.map((line) => line['QUERY PLAN']).join('\n');
    });
    expect(plan).toMatch(
      /Index Scan Backward using documents_contract_id_issued_at_number_idx on documents d.*\n *Index Cond: .*ROW\(issued_at, number\) </,
    );
  } finally {
    await many.close();
  }
});

it('an invoice from before there was a seller is a row without a page, and payable (contract 7.472)', async () => {
  const plain = await openApp({ now: () => clock.at });
  try {
    const { report } = await arrangeSeller(plain, clock);
    const trial = { status: 'trialing', trial_ends_at: '2099-01-01T00:00:00.000Z' };
    const { contract } = await report('old', { contract: trial });
    const number = await addOldInvoice(plain.db, contract.id);
    const browser = await logIn(plain.send, owner);
    const listed = await browser.send(page);
    expect(openOf(listed.text, number)).toBe('2900');
    expect(textOf(listed)).toContain(`Pay EUR 29.00 now for invoice ${number}`);
    expect(listed.text).not.toMatch(/\.pdf|href="\/invoices/);
    expect((await browser.send(`/invoices/${number}`)).status).toBe(404);
  } finally {
    await plain.close();
  }
});

it('a trial ends by itself, and the page says how to go on, before its end and after (contract 7.462)', async () => {
  const plain = await openApp({ now: () => clock.at });
  try {
    const seller = await arrangeSeller(plain, clock);
    await seller.setClock('2037-04-01T12:00:00.000Z');
    await seller.report('trial', {
      contract: { status: 'trialing', trial_ends_at: '2037-04-15T12:00:00.000Z' },
    });
    const look = async () => (await logIn(plain.send, owner)).send(page);
    expect(textOf(await look())).toMatch(
      /Your trial ends by itself on 15 April 2037 \. Nothing is charged after that\. If you go on, it costs EUR\s29\.00 a month before tax\. To go on after the trial, ask Blumen GmbH : billing@example\.test/,
    );
    const link = 'https://shop.example.test/starter';
    await setSettings(plain.db, { ...germanSettings, plans: { starter: { title: 'Starter', link } } });
    for (const now of ['2037-04-02T12:00:00.000Z', '2037-04-16T12:00:00.000Z']) {
      await seller.setClock(now);
      const answer = await look();
      expect(answer.text).toMatch(new RegExp(`<a [^>]*href="${link}" rel="noreferrer">`));
      expect(textOf(answer)).toContain('Go on with Starter');
    }
  } finally {
    await plain.close();
  }
});
