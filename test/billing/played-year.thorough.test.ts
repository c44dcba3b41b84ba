// A year of two sellers in Berlin, played by the clock through everything that the service offers, and compared with books that
// `own-books.ts` keeps by the contract alone. `FAULTS=long` plays 14 months.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { arrangeSeller } from '../support/billing/customers.ts';
import { compileRules, hasRules, judge, notRun } from '../support/billing/document-tools.ts';
import { report as reportMoney } from '../support/billing/money.ts';
import * as own from '../support/billing/own-books.ts';
import { addDays, creditedOf, dayOf, openOf, startOf, statusOf } from '../support/billing/own-books.ts';
import { germanSettings, setBillingClock } from '../support/billing/settings.ts';
import { pushSignup } from '../support/crm/crm.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import { addFactor, addPerson, addSession, call, readData, readOutcome } from '../support/people/staff.ts';
import { createRandom, seed } from '../support/run/random.ts';
import { shared } from '../support/run/shared.ts';

// Both spans have changes of the clocks to winter and to summer, and 29 February.
const [perSeller, from, days, firstDays, lateDays, chargesEach] = byForm({
  short: [6, '2023-10-20', 166, 30, 20, 2] as const,
  long: [25, '2023-02-01', 425, 150, 150, 8] as const,
});
const timeout = byForm({ short: 180_000, long: 900_000 });
const last = addDays(from, days - 1);

const { tax, terms } = germanSettings;
// The last day of a period decides which rate it has (contract 7.63).
const newRate = { country: 'FR', rate: 2_110, category: 'S' as const, from: '2024-01-15' };
const rules = [...tax.rules, newRate];
const vatId = 'FR83404833048';
const buyers: (own.Buyer & { verdict?: 'checked' | 'refused' })[] = [
  { country: 'DE' },
  { country: 'FR' },
  { country: 'FR', vatId, verdict: 'checked' },
  { country: 'FR', vatId, verdict: 'refused' },
  // Nobody checks this VAT id.
  { country: 'FR', vatId },
  { country: 'US' },
];
const lives = ['late', 'trial', 'yearly', 'ends', 'cancels', 'ended', 'expires', 'changes'] as const;
const list = (text: string) => text.trim().split(/,\s+/);
const manners = list(
  'full, bank, parts, late, over, refund, credit in part, credit, over and back, by staff, bank',
);

const random = createRandom(seed);
const below = (bound: number) => Math.floor(random() * bound);
const oneOf = <T>(items: readonly T[]): T => items[below(items.length)] as T;
const decimal = (amount: number): string =>
  amount < 0
    ? `-${decimal(-amount)}`
    : `${Math.floor(amount / 100)}.${String(amount % 100).padStart(2, '0')}`;
const noon = 43_200_000;
const why = 'played';
const happened = new Map<string, number>();
let amounts = 0;
const xmls = new Map<string, string>();

describe.each([
  { name: 'invoices contracts that are past due', waitsWhilePastDue: false, shift: 0 },
  { name: 'lets contracts wait that are past due', waitsWhilePastDue: true, shift: 3 },
])('a seller who $name', ({ waitsWhilePastDue, shift }) => {
  const clock = { at: new Date(startOf(from)) };
  const app = shared(() => openApp({ now: () => clock.at }));
  const choice = { invoice_while_past_due: !waitsWhilePastDue };
  const settings = { ...germanSettings, terms: { ...terms, ...choice }, tax: { ...tax, rules } };
  const customers = shared(() => arrangeSeller(app, clock, settings));
  const books = own.keepOwnBooks({ waitsWhilePastDue, rules, daysToPay: terms.days_to_pay });
  const { contracts, note } = books;
  const known = (signup: string) => contracts.get(signup) as own.Contract;
  const ids = new Map<string, { contract: { id: string }; user: { id: string } }>();
  let admin: { id: string };
  beforeAll(async () => {
    admin = await addPerson(app, { role: 'admin' });
    await addFactor(app.db, admin);
    // PDFs are not what this test is about, and take long.
    await sql`create function hold_document() returns trigger language plpgsql as
      'begin new.next_try_at := ''9999-01-01''; return new; end'`.execute(app.db);
    await sql`create trigger hold_document before insert on documents_to_make for each row
      execute function hold_document()`.execute(app.db);
  });

  /** Sets the database's clock first, because the service's own jobs may run before the other clock is set. */
  async function setClock(at: number): Promise<void> {
    await setBillingClock(app.db, new Date(at).toISOString());
    clock.at = new Date(at);
  }
  const cookieOf = async (id: string) => (await addSession(app, id, { authTime: clock.at })).cookie;
  async function act(name: string, input: object): Promise<void> {
    expect(readOutcome(await call(app, name, await cookieOf(admin.id), { ...input, why }))).toBe('200');
  }

  type Act = { signup: string; minute: number; act: (now: number) => Promise<unknown> };
  const acts = new Map<string, Act[]>();
  const plan = (on: string, signup: string, act: Act['act'], minute = 60 + below(1_200)) =>
    acts.set(on, [...(acts.get(on) ?? []), { signup, minute, act }]);

  async function report(signup: string, buyer: own.Buyer, said: own.Report, now: number): Promise<void> {
    const { plan, price, charges, endDay, trialEnd } = said;
    const address = { line1: '1 High Street', postcode: '10115', city: 'Town', country: buyer.country };
    const noonOf = (day: string) => new Date(startOf(day) + noon).toISOString();
    const contract = { plan, status: said.status, price: { currency: 'EUR', ...price }, charges };
    const ends = { cancels_at: endDay && noonOf(endDay), trial_ends_at: trialEnd && noonOf(trialEnd) };
    const body = {
      ...{ signup_id: signup, occurred_at: new Date(said.occurredAt).toISOString() },
      user: { email: `${signup}@example.test`, name: 'Somebody' },
      account: { name: signup, billing: { address, vat_id: buyer.vatId } },
      contract: JSON.parse(JSON.stringify({ ...contract, ...ends })),
    };
    const answer = await pushSignup(app, body, { at: clock.at });
    expect([signup, answer.applied, answer.reason]).toEqual([signup, true, undefined]);
    ids.set(signup, answer);
    books.report(signup, buyer, said, now);
  }

  let serial = 0;
  const amountsToDraw = [1, 3, 7, 99, 2_900, 3_333, 10_001, 999_999];
  const drawPrice = (interval: own.Price['interval']): own.Price => ({
    unit_amount: oneOf([...amountsToDraw, 1 + below(50_000)]),
    ...{ quantity: oneOf([1, 1, 1, 3, 7]), interval },
  });
  const drawCharge = (unit_amount: number, when = oneOf(['now', 'next'] as const)): own.Charge => {
    const id = `charge-${++serial}`;
    return { id, title: `Title of ${id}`, unit_amount, quantity: oneOf([1, 2, 13]), when };
  };

  /** Plans everything that the CRM, the customer and an administrator will do about a contract. */
  function planContract(nth: number): void {
    const life = lives[(nth + shift) % lives.length] as (typeof lives)[number];
    const { verdict, ...buyer } = buyers[(nth + shift) % buyers.length] as (typeof buyers)[number];
    const signup = `${life}-${nth}`;
    let begins = addDays(from, below(firstDays));
    if (nth % 2 === 0) while (Number(begins.slice(8)) < 29) begins = addDays(begins, 1);
    // In this night clocks go back.
    if (life === 'cancels') begins = '2023-10-29';
    const isTrial = life === 'trial' || life === 'expires';
    const terms = { plan: 'starter', price: drawPrice(life === 'yearly' ? 'year' : 'month') };
    const on = (after: number, act: Act['act'], minute?: number) =>
      plan(addDays(begins, after), signup, act, minute);

    const trialEnd = isTrial ? addDays(begins, 20) : undefined;
    const setup = nth % 3 ? [] : [drawCharge(5_000, 'now'), drawCharge(-333, 'now'), drawCharge(99, 'next')];
    const begin = async (occurredAt: number) => {
      const status = isTrial ? 'trialing' : 'active';
      await report(signup, buyer, { ...terms, status, trialEnd, charges: setup, occurredAt }, occurredAt);
      const { user } = ids.get(signup) ?? {};
      await sql`update users set email_verified_at = now() where id = ${user?.id}`.execute(app.db);
    };
    on(0, begin, oneOf([1, 30, 150, 720, -2, -30, -59]));
    let reportedAt = 0;
    const again =
      (more: Partial<own.Report> = {}) =>
      async (occurredAt: number) => {
        const { status, endDay } = known(signup);
        // A contract that is to end gets no further report, because a report without that end would undo the end.
        if (status === 'canceled' || status === 'expired' || endDay) return;
        reportedAt = occurredAt;
        const isStill = status === 'trialing' && !more.status;
        const said = { status: isStill ? 'trialing' : 'active', trialEnd: isStill ? trialEnd : undefined };
        await report(signup, buyer, { ...said, ...terms, occurredAt, ...more } as own.Report, occurredAt);
      };
    const change = (interval?: own.Price['interval']) => async (at: number) => {
      terms.price = drawPrice(interval ?? terms.price.interval);
      terms.plan = oneOf(['starter', 'pro']);
      note(interval ? 'a change of the interval' : 'a change of the price');
      await again()(at);
    };
    const priceNow = () => terms.price.unit_amount * terms.price.quantity;
    for (let count = 0; count < chargesEach && life !== 'ended'; count++)
      on(2 + below(days - 60), (at) =>
        again({ charges: [drawCharge(oneOf([10_000, 7, 5, -500])), drawCharge(11)] })(at),
      );
    const later = 70 + below(lateDays);

    if (verdict)
      on(3 + below(10), async () => {
        const { user } = ids.get(signup) ?? {};
        const cookie = await cookieOf(admin.id);
        const { seen } = readData(await call(app, 'people.get', cookie, { id: user?.id }, true));
        const checked = verdict === 'checked' ? 'yes' : 'no';
        await act('billing.checkVatId', { id: user?.id, vatId, checked, seen: seen['check-vat-id'] });
        known(signup).verdict = verdict;
        note(`a VAT id that is ${verdict}`);
      });
    if (life === 'trial') on(12, again({ status: 'active' }));
    if (life === 'late')
      on(8, (at) => {
        const discount = { ...drawCharge(-Math.ceil(priceNow() * 1.5), 'next'), quantity: 1 };
        return again({ charges: [discount] })(at);
      });
    if (life === 'late' || life === 'changes') on(62 + below(20), change());
    if (life === 'changes') on(95 + below(15), change('year'));
    if (life === 'ends')
      on(later, (at) => {
        note('an end that the CRM reports');
        return again({ endDay: addDays(dayOf(at), 3 + below(40)), charges: [drawCharge(123, 'next')] })(at);
      });
    if (life === 'cancels') {
      on(5, again({ charges: [drawCharge(10_000, 'now')] }));
      on(later, async () => {
        const { contract, user } = ids.get(signup) ?? {};
        const asked = { cookie: await cookieOf(user?.id ?? ''), json: { json: { contract: contract?.id } } };
        const answer = await app.send('/trpc/contracts.cancel', asked);
        expect(readOutcome(answer)).toBe('200');
        known(signup).endDay = known(signup).nextDay;
        note('canceled by its customer');
      });
    }
    if (life === 'ended') {
      for (let after = 20; after < later - 15; after += 30)
        on(after, again({ charges: [drawCharge(20_000, 'next')] }));
      // After a period is invoiced, but not paid, the CRM says that the contract ended before that period.
      const end = async (at: number): Promise<void> => {
        const { invoice, first = '' } = known(signup).periods.at(-1) ?? {};
        const occurredAt = first ? startOf(addDays(first, -3)) + noon : 0;
        const isOpen = invoice !== undefined && openOf(invoice) === invoice.total;
        if (known(signup).waiting.length > 0 || !isOpen || occurredAt <= reportedAt) {
          plan(addDays(dayOf(at), 1), signup, end);
          return;
        }
        const charges = [drawCharge(77, 'now')];
        await report(signup, buyer, { ...terms, status: 'canceled', occurredAt, charges }, at);
      };
      on(later, end);
    }
  }

  /** The payment provider reports a payment of an amount, or of what is open. */
  const pay = (invoice: own.Document, amount?: number) => async (now: number) => {
    const paid = amount ?? openOf(invoice);
    if (openOf(invoice) === 0) return undefined;
    const id = `pay-${++serial}`;
    const said = { payment_id: id, kind: 'payment' as const, invoice_number: invoice.number };
    const answer = await reportMoney(app, { ...said, ...moneyOf(paid) }, { at: clock.at });
    const payment = books.pay(id, invoice, paid, now);
    const { number } = invoice;
    expect(answer).toMatchObject({
      ...{ allocated: paid - payment.unallocated, unallocated: payment.unallocated },
      invoice: { number, status: statusOf(invoice), open: openOf(invoice) },
    });
    return payment;
  };
  const moneyOf = (unit_amount: number) => ({
    ...{ amount: { currency: 'EUR', unit_amount }, paid_at: clock.at.toISOString() },
  });
  const credit = (invoice: own.Document, amount?: number) => async (now: number) => {
    const left = invoice.total - creditedOf(invoice);
    if (left === 0 || (amount ?? 0) > left) return;
    const { number, contract } = invoice;
    await act('billing.credit', { number, amount: amount && decimal(amount) });
    books.credit(invoice, now, amount);
    books.step(contract, now);
  };

  let manner = shift;
  const toImport: own.Document[] = [];
  /** Plans how a new invoice is paid. */
  function planMoney(invoice: own.Document): void {
    const { contract, total, number, issued } = invoice;
    const isLate = /^(late|ended)/.test(contract.signup);
    const how = isLate ? 'late' : manners[manner++ % manners.length];
    note(`paid: ${how}`);
    const on = (after: number, act: Act['act']) => plan(addDays(issued, after), contract.signup, act);
    const part = (of: number) => Math.ceil(total / of);
    let payment: own.Payment | undefined;
    const payTooMuch = (more: number) => async (now: number) => {
      payment = await pay(invoice, total + more)(now);
    };
    if (how === 'full') on(1 + below(10), pay(invoice));
    if (how === 'bank') toImport.push(invoice);
    if (how === 'late') on(isLate ? 32 + below(8) : 17 + below(22), pay(invoice));
    if (how === 'parts') {
      on(3, pay(invoice, part(3)));
      on(9, pay(invoice));
    }
    if (how === 'over') {
      on(5, payTooMuch(777));
      // What is too much pays another invoice of the account, if there is one.
      on(30, async (now) => {
        const other = contract.invoices.find((each) => openOf(each) > 0 && each.number);
        if (!payment || !other || payment.unallocated === 0) return;
        await act('billing.allocate', { payment: payment.id, number: other.number });
        books.allocate(payment, other, now);
        note('allocated by staff');
      });
    }
    if (how === 'over and back') {
      on(5, payTooMuch(777));
      on(8, async () => {
        if (!payment) return;
        await act('billing.paidBack', { payment: payment.id });
        books.payBack(payment);
        note('paid back');
      });
    }
    if (how === 'refund') {
      on(4, payTooMuch(5));
      on(12 + below(8), async (now) => {
        if (!payment) return;
        const [id, amount] = [`refund-${++serial}`, part(2) + 5];
        const said = { payment_id: id, kind: 'refund' as const, of: payment.id, ...moneyOf(amount) };
        await reportMoney(app, said, { at: clock.at });
        books.refund(id, payment, amount, now);
        note('a refund');
      });
      on(24 + below(8), pay(invoice));
    }
    if (how === 'credit in part') {
      on(2, credit(invoice, part(7)));
      on(4, credit(invoice, part(11)));
      on(6, pay(invoice));
      if (below(2)) on(12, credit(invoice));
    }
    if (how === 'credit') {
      for (const after of [4, 5]) on(after, pay(invoice, part(2)));
      on(7, credit(invoice));
    }
    if (how === 'by staff')
      on(10, async (now) => {
        const [payment, amount] = [`staff-${++serial}`, openOf(invoice)];
        if (amount === 0) return;
        await act('billing.recordPayment', { number, payment, amount: decimal(amount) });
        books.pay(payment, invoice, amount, now);
      });
  }

  /** Uploads a statement of N26 with what customers have transferred, and accepts what matches exactly. */
  async function importStatement(now: number): Promise<void> {
    const due = toImport.splice(0).filter((invoice) => openOf(invoice) > 0);
    const day = dayOf(now);
    const line = (who: string, text: string, amount: string) =>
      `${day},${day},"${who}",DE00200000000000000002,Credit Transfer,"${text}",Main,${amount},,,`;
    const text = [
      '"Booking Date","Value Date","Partner Name","Partner Iban",Type,"Payment Reference","Account Name","Amount (EUR)","Original Amount","Original Currency","Exchange Rate"',
      line('Landlord', 'Rent', '-500.00'),
      line('Somebody', 'Thanks', '0.12'),
      ...due.map((invoice) => line('Payer', `Rg. ${invoice.number}`, decimal(openOf(invoice)))),
    ].join('\r\n');
    const cookie = await cookieOf(admin.id);
    const upload = new FormData();
    upload.append('statement', new File([text], 'n26.csv'));
    const request = new Request('http://localhost', { method: 'POST', body: upload });
    const body = new Uint8Array(await request.arrayBuffer());
    const type = request.headers.get('content-type') ?? '';
    const headers = { 'content-type': type, 'content-length': String(body.length) };
    const path = '/admin/billing/import';
    const shown = await app.send(path, { method: 'POST', cookie, body, headers });
    const lines = [...shown.text.matchAll(/name="(line-\d+)" value="([^"]*)"/g)];
    const fields = lines.map(([, name = '', value = '']) => [name, value.replaceAll('&quot;', '"')]);
    const form = { ...Object.fromEntries(fields), accept: 'all', why };
    const done = await app.send(path, { cookie, form });
    expect(done.status, done.text).toBe(200);
    for (const invoice of due) {
      const { rows } = await sql<{ id: string }>`select a.payment as id from allocations a join invoices i
        on i.number = a.invoice where i.document = ${invoice.number} order by a.id desc`.execute(app.db);
      books.pay(rows[0]?.id ?? 'none', invoice, openOf(invoice), now);
      note('a transfer on a statement');
    }
  }

  const numbers = new Set<string>();
  /** Compares what was issued on a day, and the states of all contracts. */
  async function compareDay(day: string): Promise<void> {
    const { rows } = await sql<{ number: string; said: string }>`
      select d.number, concat_ws(' ', d.kind, nullif(i.document, d.number), c.signup_id, issued_on, facts ->> 'due_on', first_day,
        last_day, category, rate, d.country, net, tax, total) as said
      from documents d join invoices i on i.number = d.invoice join service_contracts c on c.id = i.contract_id
      where d.number <> all(${[...numbers]}::text[]) order by d.kind desc`.execute(app.db);
    // Invoices come first, so that credit notes of the same day find their numbers.
    const fresh = books.fresh
      .splice(0)
      .sort((a, b) => Number(a.of !== undefined) - Number(b.of !== undefined));
    const missing: string[] = [];
    for (const made of fresh) {
      const { contract, of, issued, due, first, last, category, rate, net, tax, total } = made;
      const { signup, buyer } = contract;
      const about = of ? ['credit_note', of.number, signup, issued] : ['invoice', signup, issued, due];
      const said = [...about, first, last, category, rate, buyer.country, net, tax, total].join(' ');
      made.number = rows.find((row) => row.said === said && !numbers.has(row.number))?.number ?? '';
      if (made.number) numbers.add(made.number);
      else missing.push(said);
    }
    const unknown = rows.filter(({ number }) => !numbers.has(number)).map(({ said }) => said);
    expect({ missing, unknown }).toEqual({ missing: [], unknown: [] });
    const { rows: states } = await sql<{ said: string }>`
      select concat_ws(' ', ${day}::text, signup_id, status, (
        select count(*) from waiting_periods w where contract_id = c.id and ends_at > starts_at + interval '1 day')) as said
      from service_contracts c order by signup_id collate "C"`.execute(app.db);
    const all = [...contracts.values()].sort((a, b) => (a.signup < b.signup ? -1 : 1));
    expect(states.map(({ said }) => said)).toEqual(
      all.map(({ signup, status, waiting }) => `${day} ${signup} ${status} ${waiting.length}`),
    );
    for (const made of fresh) if (!made.of) planMoney(made);
  }

  it('issues, each day, what the contract says', { timeout }, async () => {
    for (let nth = 0; nth < perSeller; nth++) planContract(nth);
    const tick = async (at: number) => {
      await setClock(at);
      await customers.bill();
      for (const contract of contracts.values()) books.step(contract, at);
    };
    for (let day: string = from; day <= last; day = addDays(day, 1)) {
      const [start, end] = [startOf(day), startOf(addDays(day, 1))];
      if (end - start !== 24 * 3_600_000) note('a change of the clocks');
      const all = [...contracts.values()];
      const busy = new Set(all.filter((each) => books.isBusy(each, day)).map(({ signup }) => signup));
      // The time to pay is over at midnight, and periods begin later on that day.
      if (all.some(({ invoices }) => invoices.some((each) => own.pastDueOf(each) === day))) await tick(start);
      const at = ({ minute }: Act) => (minute < 0 ? end : start) + minute * 60_000;
      for (const each of (acts.get(day) ?? []).sort((a, b) => at(a) - at(b)))
        if (busy.has(each.signup)) plan(addDays(day, 1), each.signup, each.act, each.minute);
        else {
          busy.add(each.signup);
          await setClock(at(each));
          await each.act(at(each));
          await customers.bill();
        }
      // A period may begin in the last millisecond.
      await tick(end - 1);
      if (day.endsWith('5')) await importStatement(end - 1);
      await compareDay(day);
    }
    for (const [what, count] of books.happened) happened.set(what, (happened.get(what) ?? 0) + count);
  });

  const invoices = () => [...contracts.values()].flatMap((contract) => contract.invoices);
  const documents = () => invoices().flatMap((invoice) => [invoice, ...invoice.credits]);
  /** Compares rows of the service with our own, in any order. */
  function same(rows: object[], ours: unknown[][]): void {
    expect(rows.map((row) => Object.values(row).join()).sort()).toEqual(ours.map((row) => row.join()).sort());
    amounts += ours.flat().filter((value) => /^-?\d+(\.\d\d)?$/.test(String(value))).length;
  }
  const read = async (query: ReturnType<typeof sql<object>>) => (await query.execute(app.db)).rows;

  it('has the payments and open sums that the contract says', async () => {
    const rows = await read(
      sql`select document, unit_amount, credited, allocated, status, due_at, past_due_at from invoices`,
    );
    same(
      rows,
      invoices().map((each) => {
        const due = new Date(startOf(own.pastDueOf(each)));
        return [each.number, each.total, creditedOf(each), each.allocated, statusOf(each), due, due];
      }),
    );
    const name = sql`case kind when 'paid_back' then '' else id end`;
    const money = await read(sql`select ${name} as id, kind, of, amount, unallocated from payments`);
    same(
      money,
      books.payments.map(({ id, kind, of, amount, unallocated }) => [id, kind, of, amount, unallocated]),
    );
  });

  it('has numbers without a gap, and each day of a contract once', async () => {
    const { rows } = await sql<{ series: string; nth: number; year: number; issued: string }>`
      select left(number, -4) as series, right(number, 4)::int as nth, year, issued_on::text as issued
      from documents order by prefix, year, number`.execute(app.db);
    for (const [at, { series, nth, year, issued }] of rows.entries()) {
      const before = rows[at - 1];
      const isFirst = before?.series !== series;
      expect([series, nth]).toEqual([series, isFirst ? 1 : (before?.nth ?? 0) + 1]);
      expect(issued.startsWith(`${year}-`) && (isFirst || issued >= (before?.issued ?? ''))).toBe(true);
    }
    expect(rows).toHaveLength(documents().length);
    const { rows: periods } = await sql<{ signup: string; first: string; last: string }>`
      select signup_id as signup, first_day::text as first, last_day::text as last
      from documents d join invoices i on i.number = d.invoice join service_contracts c on c.id = i.contract_id
      where d.kind = 'invoice' and i.period_ends_at > i.period_starts_at + interval '1 day'`.execute(app.db);
    for (const { signup, status, waiting, periods: ours } of contracts.values()) {
      const free = ours.filter(({ invoice }) => invoice === undefined);
      const issued = periods.filter((each) => each.signup === signup);
      const all = [...issued, ...free, ...waiting].sort((a, b) => (a.first < b.first ? -1 : 1));
      for (const [at, { first }] of all.entries())
        expect([signup, first]).toEqual([signup, at === 0 ? first : addDays(all[at - 1]?.last ?? '', 1)]);
      if (status === 'active' || status === 'past_due')
        expect((all.at(-1)?.last ?? '') >= last, signup).toBe(true);
    }
  });

  it('exports the same books', async () => {
    const out = mkdtempSync(join(tmpdir(), 'played-'));
    const run = await runCli(app.databaseUrl, ['billing:export', '--from', from, '--to', last, '--out', out]);
    expect(run.code, run.err).toBe(0);
    const file = (name: string, columns: string) =>
      (parse(readFileSync(join(out, `${name}.csv`)), { columns: true }) as Record<string, string>[]).map(
        (row) => columns.split(' ').map((column) => row[column]),
      );
    const all = documents();
    const taxed = ({ category, rate }: own.Document) => [category, decimal(rate)];
    same(
      file(
        'documents',
        'number invoice signup_id country kind issued_on due_on period_first_day period_last_day category rate net tax total credited allocated open status',
      ),
      all.map((each) => {
        const { of, contract, number, issued, due, first, last, net, tax, total, allocated } = each;
        const about = [
          number,
          of?.number,
          contract.signup,
          contract.buyer.country,
          of ? 'credit_note' : 'invoice',
        ];
        const sums = [net, tax, total, ...(of ? [] : [creditedOf(each), allocated, openOf(each)])].map(
          decimal,
        );
        const state = of ? ['', '', '', ''] : [statusOf(each)];
        return [...about, issued, due, first, last, ...taxed(each), ...sums, ...state];
      }),
    );
    same(
      file('tax', 'number category rate net tax'),
      all.map((each) => [each.number, ...taxed(each), decimal(each.net), decimal(each.tax)]),
    );
    same(
      file('lines', 'number title quantity net'),
      all.flatMap(({ number, lines }) =>
        lines.map((line) => [number, line.title, line.quantity, decimal(line.amount)]),
      ),
    );
    same(
      file('money', 'kind of amount unallocated'),
      books.payments.map((each) => [each.kind, each.of, decimal(each.amount), decimal(each.unallocated)]),
    );
    /** Adds up rows that begin alike. A sum of 0 stays, as in the files. */
    const addUp = (rows: [key: string, ...sums: number[]][]) => {
      const added = new Map<string, number[]>();
      for (const [key, ...sums] of rows)
        added.set(
          key,
          sums.map((amount, at) => amount + (added.get(key)?.[at] ?? 0)),
        );
      return [...added].map(([key, sums]) => [key, ...sums.map(decimal)]);
    };
    const paid = file('allocations', 'payment number amount').map(
      ([id, number, amount = '']): [string, number] => [`${id},${number}`, Math.round(Number(amount) * 100)],
    );
    const ours = books.payments.flatMap(({ id, pays }) =>
      pays.map(({ invoice, amount }): [string, number] => [`${id},${invoice.number}`, amount]),
    );
    const isSome = ([, amount]: unknown[]) => amount !== '0.00';
    same(addUp(paid).filter(isSome), addUp(ours).filter(isSome));

    const quarterOf = (day: string) => `${day.slice(0, 4)}-Q${Math.ceil(Number(day.slice(5, 7)) / 3)}`;
    const abroad = (category: string) =>
      all.filter((each) => each.category === category && each.contract.buyer.country === 'FR');
    const signed = ({ of, net, tax }: own.Document) => [net, tax].map((amount) => (of ? -amount : amount));
    const oss = abroad('S').map((each): [string, ...number[]] => {
      const [now, then] = [each, each.of ?? each].map(({ issued }) => quarterOf(issued));
      return [[now, 'FR', decimal(each.rate), now === then ? '' : then].join(), ...signed(each)];
    });
    same(file('oss', 'quarter country rate corrected_quarter net tax'), addUp(oss));
    const reversed = abroad('AE').map((each): [string, ...number[]] => {
      return [[each.issued.slice(0, 7), vatId, 'FR'].join(), signed(each)[0] ?? 0];
    });
    same(file('ec_sales', 'month vat_id country net'), addUp(reversed));
    rmSync(out, { recursive: true });
  });

  it('has XML with the same sums', { timeout }, async () => {
    const cookie = await cookieOf(admin.id);
    for (const { number, of, net, tax, total, category, lines, isPeriod } of documents()) {
      const { status, text } = await app.send(`/admin/invoices/${number}.xml`, { cookie });
      expect(status, text).toBe(200);
      const sums = ['TaxBasisTotalAmount', 'TaxTotalAmount', 'GrandTotalAmount'].map(
        (name) => new RegExp(`<ram:${name}[^>]*>([^<]*)<`).exec(text)?.[1] ?? '0.00',
      );
      same([sums], [[net, tax, total].map(decimal)]);
      const least = Math.sign(Math.min(...lines.map(({ amount }) => amount)));
      const kind = [of ? 'credit note' : 'invoice', category, isPeriod && 'period', lines.length > 1, least];
      xmls.set(kind.join(), text);
    }
  });
});

// Only the long form does this, because it takes a minute.
it.runIf(hasRules && byForm({ short: false, long: true }))(
  `${notRun(hasRules, '../shared/en16931')}CEN finds nothing wrong with each kind of document`,
  { timeout: 900_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'rules-'));
    const compiled = compileRules(folder);
    expect(xmls.size).toBeGreaterThan(10);
    for (const [kind, xml] of xmls) expect([kind, judge(compiled, xml).faults]).toEqual([kind, []]);
    rmSync(folder, { recursive: true });
  },
);

it('every kind of case has happened', () => {
  const cases =
    list(`S 1900, S 2000, S 2110, O 0, AE 0, a VAT id that is checked, a VAT id that is refused, nobody looked,
    a month, a year, a trial that became active, a trial that expired, a change of the clocks, charges alone,
    charges on a period, a deduction, a part of a deduction, a period with nothing to pay, a change of the price,
    a change of the interval, canceled by its customer, an end that the CRM reports, past due, active again,
    waits while past due, a credited period whose charges stay, charges after the last period, a credit in full,
    a credit in part, money that a credit frees, a refund, paid back, a transfer on a statement`);
  cases.push(...manners.map((how) => `paid: ${how}`), ...byForm({ short: [], long: ['allocated by staff'] }));
  expect(cases.filter((each) => !happened.has(each))).toEqual([]);
  noteFigures('a played year', { amounts, kinds: xmls.size, ...Object.fromEntries(happened) });
});
