import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCreditNotes } from '../../db/tables/documents.ts';
import { findBuyerOf, findInvoice } from '../../db/tables/invoices.ts';
import { digestBasis } from '../../server/acts/act.ts';
import { readPaidOn } from '../../server/billing/payments/paid-on.ts';
import { basisOfCredit } from '../../server/staff/payment-acts.ts';
import { type Answer, locationOf, openApp } from '../support/app/app.ts';
import { sendPatiently } from '../support/app/patience.ts';
import { textOf } from '../support/app/visitor.ts';
import {
  addContract,
  addEarlyRefund,
  addInvoice,
  addOldInvoice,
  buildPayment,
  buildRefund,
  findFaultsInBooks,
  issueNext,
  readInvoice,
  readUnallocated,
  renameBuyer,
  report,
} from '../support/billing/money.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import {
  addPerson,
  addSession,
  addStaff,
  call,
  formsOf,
  readData,
  readOutcome,
} from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

let admin: Awaited<ReturnType<typeof addStaff>>;
let manager: typeof admin;
const app = shared(openApp);
beforeAll(async () => {
  await setSettings(app.db);
  admin = await addStaff(app, 'admin');
  manager = await addStaff(app, 'manager');
});
afterAll(async () => {
  expect(await findFaultsInBooks(app.db)).toEqual([]);
});

const why = 'As the bank statement says';

async function addInvoiceToReissue(): Promise<string> {
  const number = await addInvoice(app.db);
  await renameBuyer(app.db, number);
  return number;
}

/** What a procedure of `admin.billing` answers: its data, or the refusal. */
async function ask(name: string, input: Record<string, unknown>, { cookie } = admin) {
  const answer = await call(app, `billing.${name}`, cookie, { why, ...input });
  return answer.status === 200 ? readData(answer) : readOutcome(answer);
}

/** For each procedure, makes what its form is about (such as an invoice), and returns the fields of the form. */
const cases: Record<string, () => Promise<Record<string, string>>> = {
  recordPayment: async () => ({ number: await addInvoice(app.db), amount: '34.51' }),
  credit: async () => ({ number: await addInvoice(app.db) }),
  reissue: async () => ({ number: await addInvoiceToReissue() }),
  allocate: async () => ({
    payment: (await report(app, buildPayment(100))).payment_id,
    number: await addInvoice(app.db),
  }),
  paidBack: async () => ({ payment: (await report(app, buildPayment(100))).payment_id }),
  cancelContract: async () => ({ contract: await addContract(app.db) }),
  endAtPeriodEnd: async () => ({ contract: await addContract(app.db) }),
};

it('the audit names the document that was issued', async () => {
  const number = await addInvoice(app.db);
  await ask('credit', { number });
  const [creditNote] = await listCreditNotes(app.db, (await findInvoice(app.db, number))?.id ?? 0);
  const answer = await call(app, 'audit.list', admin.cookie, { kind: 'credit_note.issued' }, true);
  expect(readData(answer).events[0].what).toBe(`A credit note was issued: ${creditNote?.number}`);
});

it('only one of sixteen part credits that two administrators send from the same page is done', async () => {
  const number = await addInvoice(app.db);
  const invoice = await findInvoice(app.db, number);
  const seen = invoice && digestBasis(basisOfCredit(invoice));
  const other = await addStaff(app, 'admin');
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, at) =>
      ask('credit', { number, amount: '1.00', seen }, at % 2 ? admin : other),
    ),
  );
  expect(answers.filter((answer) => typeof answer === 'object')).toHaveLength(1);
  expect(answers.filter((answer) => answer === '409 edited_meanwhile')).toHaveLength(15);
  expect(await readInvoice(app.db, number)).toMatchObject({ credited: 100 });
});

describe.each(Object.keys(cases))('%s', (name) => {
  it('is for administrators alone, with a credential and a reason (contract 7.152)', async () => {
    const input = (await cases[name]?.()) ?? {};
    const customer = await addPerson(app);
    expect(await ask(name, input, { ...customer, ...(await addSession(app, customer.id)) })).toBe(
      '404 not_found',
    );
    expect(await ask(name, input, { ...admin, cookie: '' })).toBe('401 login_required');
    expect(await ask(name, input, manager)).toBe('404 not_found');
    const authTime = new Date(Date.now() - 11 * 60_000);
    const stale = { ...admin, ...(await addSession(app, admin.id, { authTime })) };
    expect(await ask(name, input, stale)).toBe('401 login_required');
    expect(await ask(name, { ...input, why: 'x' })).toBe('422 validation_failed');
    const nothing = { number: 'none', payment: 'none', contract: 'none', amount: '1' };
    expect(await ask(name, nothing, manager)).toBe('404 not_found');
    expect(await ask(name, { ...input, seen: '0'.repeat(64) })).toBe('409 edited_meanwhile');
    expect(typeof (await ask(name, input))).toBe('object');
  });

  it('is in the audit with who did it and why (contract 7.159)', async () => {
    const input = (await cases[name]?.()) ?? {};
    const said = `${why}, ${crypto.randomUUID()}`;
    await ask(name, { ...input, why: said });
    const { rows } = await sql<{ type: string; actor: string; by: string }>`
      select type, actor_id as actor, details ->> 'by' as by from audit_events where why = ${said} order by type`.execute(
      app.db,
    );
    const types: Record<string, string[]> = {
      recordPayment: ['payment.recorded'],
      credit: ['credit_note.issued'],
      reissue: ['credit_note.issued', 'invoice.issued'],
      allocate: ['payment.allocated'],
      paidBack: ['payment.refunded'],
      cancelContract: ['contract.moved', 'staff.cancel_contract'],
      endAtPeriodEnd: ['staff.cancel_contract'],
    };
    expect(rows).toEqual(types[name]?.map((type) => ({ type, actor: admin.id, by: 'staff' })));
  });
});

it('nothing is done about an invoice or contract of one’s own account', async () => {
  const contract = await addContract(app.db, { email: admin.email });
  const number = (await issueNext(app.db, contract)) ?? '';
  const { payment_id: payment } = await report(app, buildPayment(100));
  for (const [name, input] of Object.entries({
    recordPayment: { number, amount: '1.00' },
    credit: { number },
    reissue: { number },
    allocate: { payment, number },
    cancelContract: { contract },
    endAtPeriodEnd: { contract },
  }))
    expect(await ask(name, input), name).toBe('403 not_allowed');
  const page = await app.send(`/admin/invoices/${number}`, { cookie: admin.cookie });
  expect(textOf(page)).toContain('This invoice is of your own account');
  expect(page.text).not.toContain('<form method="post" data-intent');
});

describe('recordPayment (contract 7.157)', () => {
  it('takes decimal amounts and days, and counts once by its id', async () => {
    const number = await addInvoice(app.db);
    const input = { number, payment: 'bank-1', amount: '10,5', paidAt: '2026-02-28', method: 'transfer' };
    const answer = { payment_id: 'bank-1', applied: true, allocated: 1_050, unallocated: 0 };
    expect(await ask('recordPayment', input)).toEqual({
      ...answer,
      invoice: { number, status: 'open', open: 2_401 },
    });
    expect(await ask('recordPayment', input)).toMatchObject({ ...answer, applied: false });
    expect(await ask('recordPayment', { ...input, amount: '10.51' })).toBe('422 validation_failed');
    const { rows } = await sql`select paid_at, recorded_by, method from payments where id = 'bank-1'`.execute(
      app.db,
    );
    // Payments of a day count at noon in Berlin.
    expect(rows).toEqual([
      { paid_at: new Date('2026-02-28T11:00:00Z'), recorded_by: 'staff', method: 'transfer' },
    ]);
  });

  it.each([
    ['an amount of nothing', { amount: '0.00' }],
    ['a comma between thousands', { amount: '1,000' }],
    ['three digits of cents', { amount: '1.500' }],
    ['a minus', { amount: '-1.00' }],
    ['too much', { amount: '10000000000.01' }],
    ['no amount', { amount: '' }],
    ['a day of 1999', { paidAt: '1999-12-31' }],
    ['a day that there is not', { paidAt: '2026-02-30' }],
    ['tomorrow', { paidAt: new Date(Date.now() + 2 * 24 * 3_600_000).toISOString().slice(0, 10) }],
    ['no day', { paidAt: 'today' }],
    ['an id with a space', { payment: 'a b' }],
    ['a method of 61 characters', { method: 'x'.repeat(61) }],
  ])('refuses %s', async (_, changes) => {
    const number = await addInvoice(app.db);
    const input = { number, amount: '10.00', ...changes };
    expect(await ask('recordPayment', input)).toBe('422 validation_failed');
    expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 0 });
  });

  it.each([
    // In Berlin it is already 2 March.
    ['2026-03-02', '2026-03-01T23:00:00Z', '2026-03-02T11:00:00Z'],
    ['2026-03-02', '2026-03-01T22:59:59Z', undefined],
    ['2026-07-01', '2026-12-01T00:00:00Z', '2026-07-01T10:00:00Z'],
    ['2000-01-01', '2026-12-01T00:00:00Z', '2000-01-01T11:00:00Z'],
    [undefined, '2026-03-01T23:00:00Z', '2026-03-02T11:00:00Z'],
  ])('takes the day %s at %s as %s', async (day, now, instant) => {
    expect(await readPaidOn(app.db, day, new Date(now))).toEqual(instant && new Date(instant));
  });

  it('takes yen without digits', async () => {
    const number = await addInvoice(app.db, { price: { currency: 'JPY', unitAmount: 2_900 } }).catch(
      () => '',
    );
    // A period is blocked if its invoice would have tax in another currency than the seller's.
    expect(number).toBe('');
  });
});

describe('credit', () => {
  it('is a part or the rest, never more than is left, and frees what was paid (contract 7.80, 7.155 and 7.158)', async () => {
    const number = await addInvoice(app.db);
    const { payment_id: id } = await report(app, buildPayment(3_451, { invoice_number: number }));
    expect(await ask('credit', { number, amount: '34.52' })).toBe('422 validation_failed');
    expect(await ask('credit', { number, amount: '10.00' })).toEqual({
      creditNote: expect.stringMatching(/^CN-/),
    });
    expect(await readInvoice(app.db, number)).toMatchObject({
      credited: 1_000,
      allocated: 2_451,
      status: 'paid',
    });
    expect(await readUnallocated(app.db, id)).toBe(1_000);
    await ask('credit', { number });
    expect(await readInvoice(app.db, number)).toMatchObject({
      credited: 3_451,
      allocated: 0,
      status: 'void',
    });
    expect(await ask('credit', { number })).toBe('409 already_settled');
    expect(await readUnallocated(app.db, id)).toBe(3_451);
  });
});

it('cancelContract ends a contract at once and for good, and once (contract 7.160)', async () => {
  const contract = await addContract(app.db);
  expect(await ask('cancelContract', { contract })).toEqual({ done: true });
  const { rows } = await sql`select status from service_contracts where id = ${contract}`.execute(app.db);
  expect(rows).toEqual([{ status: 'canceled' }]);
  expect(await ask('cancelContract', { contract })).toEqual({ done: false });
  expect(await issueNext(app.db, contract)).toBeUndefined();
});

it('a customer reads in the activity that our support team canceled a contract, and its last day (contract 7.429)', async () => {
  const contract = await addContract(app.db);
  await ask('endAtPeriodEnd', { contract });
  const page = await app.send('/profile/activity', { cookie: await app.login('customer@example.test') });
  expect(textOf(page)).toContain('Our support team canceled a contract');
  expect(textOf(page)).toContain('Last day of the contract: 31 December 2099');
  expect(page.text).not.toContain(admin.email);
});

describe('reissue', () => {
  it('moves what was paid of it to a new invoice of the same period and price, and nothing more', async () => {
    const number = await addInvoiceToReissue();
    const { payment_id: id } = await report(app, buildPayment(4_000, { invoice_number: number }));
    const { creditNote, invoice } = await ask('reissue', { number });
    expect([creditNote, invoice]).toEqual([expect.stringMatching(/^CN-/), expect.stringMatching(/^INV-/)]);
    expect(await readInvoice(app.db, number)).toMatchObject({ status: 'void', allocated: 0 });
    expect(await readInvoice(app.db, invoice)).toMatchObject({
      total: 3_451,
      allocated: 3_451,
      status: 'paid',
    });
    expect(await readUnallocated(app.db, id)).toBe(549);
    const { rows } = await sql`
      select count(distinct (period_starts_at, period_ends_at, plan))::int as n from invoices
      where document in (${number}, ${invoice})`.execute(app.db);
    expect(rows).toEqual([{ n: 1 }]);
    expect(await ask('reissue', { number })).toBe('409 already_settled');
  });

  it('keeps the price where another tax is due: what is too much then waits', async () => {
    const number = await addInvoice(app.db);
    const { payment_id: id } = await report(app, buildPayment(3_451, { invoice_number: number }));
    const [, ...others] = germanSettings.tax.rules;
    const seven = { country: 'DE', rate: 700, category: 'S' as const, from: '2020-01-01' };
    await setSettings(app.db, {
      ...germanSettings,
      tax: { ...germanSettings.tax, rules: [seven, ...others] },
    });
    const { invoice } = await ask('reissue', { number });
    await setSettings(app.db);
    expect(await readInvoice(app.db, invoice)).toMatchObject({
      total: 3_103,
      allocated: 3_103,
      status: 'paid',
    });
    expect(await readUnallocated(app.db, id)).toBe(348);
  });

  it('is refused for an invoice that is credited in part', async () => {
    const number = await addInvoice(app.db);
    await ask('credit', { number, amount: '1.00' });
    expect(await ask('reissue', { number })).toBe('409 already_settled');
  });
});

it('an invoice from before there was a seller is paid in part, and only credited whole, without a credit note (contract 7.472)', async () => {
  const number = await addOldInvoice(app.db, await addContract(app.db));
  await ask('recordPayment', { number, amount: '9.00' });
  expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 900, status: 'open' });
  expect(await ask('credit', { number, amount: '1.00' })).toBe('422 validation_failed');
  expect(await ask('reissue', { number })).toBe('403 not_allowed');
  expect(await ask('credit', { number })).toEqual({ creditNote: null });
  expect(await readInvoice(app.db, number)).toMatchObject({ credited: 2_900, allocated: 0, status: 'void' });
});

describe('the page of an invoice (contract 7.153)', () => {
  const open = (number: string, { cookie } = admin) => app.send(`/admin/invoices/${number}`, { cookie });
  const post = (number: string, form: Record<string, string>, { cookie } = admin): Promise<Answer> =>
    app.send(`/admin/invoices/${number}`, { cookie, form: { why, ...form } });
  const formOn = (page: Answer, intent: string) =>
    [...formsOf(page).values()].find((form) => form.intent === intent) ?? {};
  const seenOn = ({ text }: Answer) => /name="seen" value="(\w{64})"/.exec(text)?.[1] ?? '';

  it('shows what it says and what is open, and records a payment once (contract 11.70)', async () => {
    const number = await addInvoice(app.db);
    const page = await open(number);
    expect(page.status).toBe(200);
    expect(page.text).toContain(`data-document="${number}"`);
    expect(page.text).toContain('data-open="3451"');
    expect(textOf(page)).toContain('Blumen GmbH');
    const payment = /name="payment" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const form = {
      intent: 'pay',
      seen: seenOn(page),
      payment,
      amount: '20.00',
      paidAt: '2026-02-01',
      method: '',
    };
    const answers = await sendPatiently(Array.from({ length: 16 }, () => () => post(number, form)));
    // All requests but the first were made from an old state.
    expect(answers.map(({ status }) => status).sort()).toEqual([
      303,
      ...Array.from({ length: 15 }, () => 409),
    ]);
    const done = answers.find(({ status }) => status === 303) as Answer;
    expect(locationOf(done).search).toBe('?saved=pay');
    expect((await open(number)).text).toContain('data-open="1451"');
    const untouched = await addInvoice(app.db);
    const list = await app.send('/admin/invoices?state=open', { cookie: admin.cookie });
    const rowOf = (which: string) =>
      textOf({
        ...list,
        text: list.text.split('<tr role="row"').find((row) => row.includes(`/${which}"`)) ?? '',
      });
    expect(rowOf(number)).toMatch(/EUR 34\.51 EUR 14\.51 open/);
    expect(rowOf(untouched)).toContain('EUR 34.51');
    expect(rowOf(untouched)).not.toContain('open');
  });

  it('credits and issues anew (contract 11.70)', async () => {
    const number = await addInvoice(app.db);
    const first = await open(number);
    const part = { intent: 'credit', credits: 'part', amount: '4.51' };
    expect((await post(number, { ...formOn(first, 'credit'), ...part })).status).toBe(303);
    const second = await open(number);
    expect(second.text).toContain('data-open="3000"');
    expect(second.text).not.toContain('data-intent="reissue"');
    const all = { intent: 'credit', credits: 'all', amount: '' };
    expect((await post(number, { ...formOn(second, 'credit'), ...all })).status).toBe(303);
    expect((await open(number)).text).not.toContain('data-intent="credit"');
    const other = await addInvoiceToReissue();
    expect((await post(other, formOn(await open(other), 'reissue'))).status).toBe(303);
    expect(await readInvoice(app.db, other)).toMatchObject({ status: 'void' });
    const [, renewed = ''] = /issued again as <a href="\/admin\/invoices\/(INV-[^"]+)"/.exec(
      (await open(other)).text.replaceAll('<!-- -->', '').replaceAll(/\s+/g, ' '),
    ) ?? ['', ''];
    expect(await readInvoice(app.db, renewed)).toMatchObject({ status: 'open', total: 3_451 });
    expect((await open(renewed)).text).not.toContain('issued again as');
    expect((await open(number)).text).not.toContain('issued again as');
  });

  it('credits nothing until it is said whether all that is left or a part (contract 7.432 and 7.588)', async () => {
    const number = await addInvoice(app.db);
    await ask('credit', { number, amount: '4.51' });
    const page = await open(number);
    expect(textOf(page)).toContain('Credit all that is left: EUR 30.00');
    const choices = page.text.matchAll(
      /<details class="disclosure"([^>]*)>(?:(?!<details).)*?name="credits" value="(\w+)"/gs,
    );
    expect([...choices].map(([, open, credits]) => [credits, open])).toEqual([
      ['all', ''],
      ['part', ''],
    ]);
    const { credits: _chosen, ...credit } = formOn(page, 'credit');
    for (const [typed, words] of [
      [{}, 'Choose one.'],
      [{ amount: '' }, 'Choose one.'],
      [{ amount: '10.00' }, 'Choose one.'],
      [{ credits: 'rest', amount: '10.00' }, 'Choose one.'],
      [{ credits: 'part', amount: '' }, 'Enter an amount above zero'],
      [{ credits: 'all', amount: '10.00' }, 'Leave the amount empty, or choose a part.'],
    ] as const) {
      const answer = await post(number, { ...credit, ...typed });
      expect([answer.status, textOf(answer)], JSON.stringify(typed)).toEqual([
        422,
        expect.stringContaining(words),
      ]);
    }
    expect(await readInvoice(app.db, number)).toMatchObject({ credited: 451 });
    expect((await post(number, { ...credit, credits: 'part', amount: '10.00' })).status).toBe(303);
    expect(await readInvoice(app.db, number)).toMatchObject({ credited: 1_451 });
    const rest = formOn(await open(number), 'credit');
    expect((await post(number, { ...rest, credits: 'all', amount: '' })).status).toBe(303);
    expect(await readInvoice(app.db, number)).toMatchObject({ credited: 3_451, status: 'void' });
  });

  it('shows the old and the new buyer, and issues nothing again while they are the same (contract 7.431)', async () => {
    const number = await addInvoice(app.db);
    const same = await open(number);
    expect(same.text).not.toContain('data-sides');
    expect((await post(number, { intent: 'reissue', seen: '0'.repeat(64) })).status).toBe(409);
    const refused = await post(number, formOn(same, 'reissue'));
    expect([refused.status, textOf(refused)]).toEqual([
      409,
      expect.stringContaining('Buyer and tax would be the same, so nothing was issued.'),
    ]);
    expect(await ask('reissue', { number })).toBe('409 already_settled');
    expect(await readInvoice(app.db, number)).toMatchObject({ credited: 0, status: 'open' });

    await renameBuyer(app.db, number, 'Blüten AG');
    const changed = await open(number);
    const [, sides = ''] = /<div class="parties" data-sides="[^"]*">(.*?)<\/form>/s.exec(changed.text) ?? [];
    const [before = '', after = ''] = sides.split('On the new one');
    expect([before.includes('Blüten AG'), after.includes('Blüten AG')]).toEqual([false, true]);
    const form = formOn(changed, 'reissue');
    // The customer changes the name once more, so the new invoice would say what nobody has seen.
    await renameBuyer(app.db, number, 'Knospen AG');
    expect((await post(number, form)).status).toBe(409);
    expect(await readInvoice(app.db, number)).toMatchObject({ credited: 0, status: 'open' });
    expect((await post(number, formOn(await open(number), 'reissue'))).status).toBe(303);
    expect(await readInvoice(app.db, number)).toMatchObject({ status: 'void' });
  });

  it('says how much of a payment came in, how much went back, and how much is for others', async () => {
    const number = await addInvoice(app.db);
    const { payment_id: id } = await report(app, buildPayment(5_000, { invoice_number: number }));
    expect(textOf(await open(number))).toMatch(
      /EUR.50\.00 came in\. EUR.15\.49 of it is not for this invoice\./,
    );
    await report(app, buildRefund(id, 2_500));
    const page = textOf(await open(number));
    expect(page).toMatch(/EUR.50\.00 came in\. EUR.25\.00 of it went back\. EUR.25\.00/);
    await report(app, buildRefund(id, 2_500));
    expect(textOf(await open(number))).toMatch(/EUR.50\.00 came in\. EUR.50\.00 of it went back\. EUR.0\.00/);
  });

  it('says what is wrong, and does nothing without seen, or for another intent (contract 7.152)', async () => {
    const number = await addInvoice(app.db);
    const seen = seenOn(await open(number));
    const wrong = await post(number, { intent: 'pay', seen, amount: 'much', paidAt: '2026-02-01' });
    expect([wrong.status, textOf(wrong)]).toEqual([
      422,
      expect.stringContaining('Enter an amount above zero'),
    ]);
    expect((await post(number, { intent: 'credit', credits: 'all' })).status).toBe(409);
    expect((await post(number, { intent: 'allocate', seen })).status).toBe(400);
    expect((await post(number, { intent: 'else', seen })).status).toBe(400);
    expect(await readInvoice(app.db, number)).toMatchObject({ allocated: 0, credited: 0 });
  });

  it('leads to its files and credit notes, whose pages have no forms', async () => {
    const number = await addInvoice(app.db);
    const form = { ...formOn(await open(number), 'credit'), credits: 'all' };
    expect((await post(number, form)).status).toBe(303);
    const { text } = await open(number);
    expect(text).toContain(`href="/admin/invoices/${number}.pdf"`);
    // Without the buyer's postal address there is no XML.
    expect(text).not.toContain(`${number}.xml`);
    const credit = /href="\/admin\/invoices\/(CN-\d{4}-\d{4})"/.exec(text)?.[1] ?? '';
    const page = await open(credit);
    expect(textOf(page)).toContain(`Credit note ${credit}`);
    expect(page.text).toContain(`data-document="${credit}"`);
    expect(page.text).toContain(`href="/admin/invoices/${number}"`);
    expect(page.text).toContain(`href="/admin/invoices/${credit}.pdf"`);
    expect(page.text).not.toContain('data-intent');
    expect((await post(credit, { intent: 'pay', seen: '0'.repeat(64) })).status).toBe(404);
  });

  it('is not there for an unknown number', async () => {
    expect((await open('INV-1999-0001')).status).toBe(404);
  });
});

describe('the page of unallocated payments (contract 7.156)', () => {
  const path = '/admin/billing/unallocated';
  const open = () => app.send(path, { cookie: admin.cookie });
  const seenOf = ({ text }: Answer, payment: string) =>
    new RegExp(`name="payment" value="${payment}"/?><input type="hidden" name="seen" value="(\\w+)"`).exec(
      text,
    )?.[1] ?? '';
  const post = (form: Record<string, string>) =>
    app.send(path, { cookie: admin.cookie, form: { why, ...form } });

  it('puts one to an invoice, and records one as paid back (contract 11.70)', async () => {
    const number = await addInvoice(app.db);
    const { payment_id: payment } = await report(app, buildPayment(4_000, { invoice_number: 'INV-2O26-1' }));
    const page = await open();
    expect(textOf(page)).toMatch(/It names invoice INV-2O26-1 ?, which does not exist\./);
    const form = { payment, seen: seenOf(page, payment) };
    const unknown = await post({ ...form, intent: 'allocate', number: 'INV-2026-9999' });
    expect([unknown.status, textOf(unknown)]).toEqual([
      422,
      expect.stringContaining('There is no invoice with this number'),
    ]);
    expect((await post({ ...form, intent: 'allocate', number: ` ${number} ` })).status).toBe(303);
    expect(await readInvoice(app.db, number)).toMatchObject({ status: 'paid' });
    expect((await post({ ...form, intent: 'paid-back' })).status).toBe(409);
    const seen = seenOf(await open(), payment);
    expect((await post({ payment, seen, intent: 'paid-back' })).status).toBe(303);
    expect(await readUnallocated(app.db, payment)).toBe(0);
    expect((await open()).text).not.toContain(payment);
  });

  it('says why each payment waits', async () => {
    const credited = await addInvoice(app.db);
    await ask('credit', { number: credited });
    const paid = await addInvoice(app.db);
    await report(app, buildPayment(3_451, { invoice_number: paid }));
    const unpaid = await addInvoice(app.db);
    const dollars = { currency: 'USD', unit_amount: 500 };
    const spent = buildPayment(100);
    await report(app, spent);
    const late = buildPayment(400, { invoice_number: 'INV-of-later' });
    const waiting = [
      [buildPayment(500), 'It was recorded without an invoice.'],
      [buildPayment(500, { invoice_number: unpaid, amount: dollars }), 'which is in another currency.'],
      [buildPayment(500, { invoice_number: credited }), 'which is void.'],
      [buildPayment(500, { invoice_number: paid }), 'or that invoice was already paid.'],
      [late, 'which does not exist.'],
      [buildRefund(spent.payment_id, 500), 'More was refunded than was paid.'],
    ] as const;
    for (const [each] of waiting) await report(app, each);
    await addEarlyRefund(app.db, buildRefund('pay_of_later', 500));
    // The page says from which invoice the money was freed, even if the money names another number.
    const freed = buildPayment(4_000, { invoice_number: 'INV-wrong' });
    await report(app, freed);
    const partly = await addInvoice(app.db);
    await ask('allocate', { payment: freed.payment_id, number: partly });
    await ask('credit', { number: partly, amount: '10.00' });
    const { text } = await open();
    expect(text).toContain('A refund of a payment that we do not know yet.');
    const rows = text.split('data-unallocated=').slice(0, -1);
    for (const [each, why] of waiting) {
      const row = rows.find((part) => part.includes(`<code>${each.payment_id}</code>`));
      expect([each.payment_id, row?.includes(why)]).toEqual([each.payment_id, true]);
    }
    const { name: buyer } = await findBuyerOf(app.db, { id: (await findInvoice(app.db, paid))?.id ?? 0 });
    const over = rows.find((part) => part.includes(`<code>${waiting[3][0].payment_id}</code>`)) ?? '';
    expect(over.replaceAll(/<[^>]*>/g, '')).toContain(`That invoice is to ${buyer}.`);
    const row = rows.find((part) => part.includes(`<code>${freed.payment_id}</code>`)) ?? '';
    const said = row.slice(row.lastIndexOf('Freed')).replaceAll(/<[^>]*>/g, '');
    expect(said).toContain(`Freed: invoice ${partly} was credited.It names invoice INV-wrong, which`);
    expect(row).toContain(`<a href="/admin/invoices/${partly}">`);
    // All unallocated money of this payment was freed by the credit: the reissue has used the rest for the new invoice.
    await ask('allocate', { payment: freed.payment_id, number: await addInvoice(app.db) });
    const whole = buildPayment(3_451, { invoice_number: await addInvoice(app.db) });
    await report(app, whole);
    await ask('credit', { number: whole.invoice_number });
    const after = (await open()).text.split('data-unallocated=');
    const rest = after.find((part) => part.includes(`<code>${whole.payment_id}</code>`)) ?? '';
    expect(rest).toMatch(/Freed: .* was credited\./);
    expect(rest).not.toContain('which is void');
    expect(after.join('')).not.toContain(`<code>${freed.payment_id}</code>`);
    // The oldest payment comes first.
    const places = waiting.map(([each]) => text.indexOf(`<code>${each.payment_id}</code>`));
    expect(places).toEqual([...places].sort((one, other) => one - other));
  });

  it('has the oldest hundred', async () => {
    await sql`insert into payments (id, kind, currency, amount, paid_at, recorded_at, recorded_by, unallocated)
      select 'of-2001-' || to_char(n, 'FM000'), 'payment', 'EUR', 5, now(), '2001-01-01'::timestamptz + n * interval '1 s',
        'payments', 5 from generate_series(1, 101) n`.execute(app.db);
    const page = await open();
    const shown = [...page.text.matchAll(/<code>(of-2001-\d+)<\/code>/g)].map(([, id]) => id);
    expect(shown).toEqual(
      Array.from({ length: 100 }, (_, at) => `of-2001-${String(at + 1).padStart(3, '0')}`),
    );
    expect(textOf(page)).toContain('The 100 that have waited longest');
    await sql`update payments set unallocated = 0 where id like 'of-2001-%'`.execute(app.db);
    // The money is paid back, so that the books balance.
    await sql`insert into payments (id, kind, of, currency, amount, paid_at, recorded_at, recorded_by, unallocated)
      select id || '-back', 'paid_back', id, 'EUR', 5, now(), now(), 'staff', 0 from payments where id like 'of-2001-%'`.execute(
      app.db,
    );
  });
});
