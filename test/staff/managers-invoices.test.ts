// Managers read customers' documents and payments, and do nothing with money (contract 7.151, 7.440 and 12.200).
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { listCreditNotes } from '../../db/tables/documents.ts';
import { findInvoice } from '../../db/tables/invoices.ts';
import { openApp } from '../support/app/app.ts';
import { textOf } from '../support/app/visitor.ts';
import { addContract, addInvoice, addOldInvoice, buildPayment, report } from '../support/billing/money.ts';
import { setSettings } from '../support/billing/settings.ts';
import {
  addPerson,
  addStaff,
  call,
  digestAll,
  formsOf,
  type Person,
  readData,
} from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

type Member = Awaited<ReturnType<typeof addStaff>>;

const why = 'They called, and read the number of their invoice.';
const app = shared(openApp);
let admin: Member;
let manager: Member;
let customer: Person;
/** A customer in an account that a manager belongs to. */
let colleague: Person;

beforeAll(async () => {
  await setSettings(app.db);
  admin = await addStaff(app, 'admin');
  manager = await addStaff(app, 'manager');
  customer = await addPerson(app);
  const { accountId } = await addPerson(app, { role: 'manager' });
  colleague = await addPerson(app, { accountId });
});

const open = (path: string, { cookie } = manager) => app.send(path, { cookie });
const openInvoice = (number: string, by = manager) => open(`/admin/invoices/${number}`, by);
const act = (name: string, input: object) => call(app, `billing.${name}`, admin.cookie, { why, ...input });

const looksOf = async ({ id }: Pick<Member, 'id'>) =>
  (
    await sql<{ whom: string }>`select user_id as whom from audit_events
      where type = 'staff.looked' and actor_id = ${id}`.execute(app.db)
  ).rows.map(({ whom }) => whom);

/** Leaves out what jobs of the service change during the test. */
async function readBooks() {
  const { users, invoices, payments, allocations, documents, service_contracts } = await digestAll(app.db);
  return { users, invoices, payments, allocations, documents, service_contracts };
}

async function addCredited(email: string) {
  const number = await addInvoice(app.db, { email });
  await act('credit', { number, amount: '4.51' });
  const [note] = await listCreditNotes(app.db, (await findInvoice(app.db, number))?.id ?? 0);
  return { number, credit: note?.number ?? '' };
}

describe('a document of a customer', () => {
  it('is opened by a search for its number, by whom may open it (contract 12.62)', async () => {
    const { number, credit } = await addCredited(customer.email);
    const search = async (q: string, by: Member) =>
      (await open(`/admin/people?q=${encodeURIComponent(q)}`, by)).headers.get('location');
    for (const by of [admin, manager])
      for (const found of [number, credit])
        expect(await search(` ${found.toLowerCase()} `, by)).toBe(`/admin/invoices/${found}`);
    const ofColleague = await addInvoice(app.db, { email: colleague.email });
    expect(await search(ofColleague, manager)).toBe(`/admin/people/${colleague.id}`);
    expect(await search(ofColleague, admin)).toBe(`/admin/invoices/${ofColleague}`);
    // Postgres accepts no text with U+0000. After the words are indexed, they find the colleague.
    expect([200, 303]).toContain((await open(`/admin/people?q=${colleague.email}%00`, admin)).status);
  });

  it('leads to the money that may have paid it, and the forms there name it (contract 7.177)', async () => {
    const number = await addInvoice(app.db, { email: customer.email });
    await report(app, buildPayment(700, { reference: 'Without a number' }));
    const path = `/admin/billing/unallocated?number=${number}`;
    expect((await openInvoice(number, admin)).text).toContain(`href="${path}"`);
    const values = ({ text }: { text: string }) =>
      [...text.matchAll(/<input[^>]*name="number"[^>]*>/g)].map(
        ([field]) => /value="([^"]*)"/.exec(field)?.[1],
      );
    const suggested = values(await open(path, admin));
    expect([suggested.length > 0, new Set(suggested)]).toEqual([true, new Set([number])]);
    expect(values(await open('/admin/billing/unallocated', admin))).toContain('');
    const paid = await addInvoice(app.db, { email: customer.email });
    await report(app, buildPayment(3_451, { invoice_number: paid }));
    expect(values(await open(`/admin/billing/unallocated?number=${paid}`, admin))).not.toContain(paid);
  });

  it('says what it says to administrators, with its payments, and has no form', async () => {
    const { number, credit } = await addCredited(customer.email);
    const { payment_id: payment } = await report(
      app,
      buildPayment(1_000, { invoice_number: number, reference: 'Order of May' }),
    );
    const page = await openInvoice(number);
    expect(page.status).toBe(200);
    for (const part of [
      `data-document="${number}"`,
      'data-open="2000"',
      payment,
      `/admin/invoices/${credit}"`,
    ])
      expect(page.text).toContain(part);
    expect(textOf(page)).toContain('Order of May');
    expect(textOf(page)).toContain('Ask an administrator to record a payment');
    expect([...formsOf(page)]).toEqual([]);
    expect(page.text).not.toMatch(/href="\/admin\/(billing|contracts|invoices")/);
    expect((await openInvoice(credit)).text).toContain(`data-document="${credit}"`);
    expect([...formsOf(await openInvoice(number, admin)).keys()].length).toBeGreaterThan(0);

    const person = await open(`/admin/people/${customer.id}/billing`);
    expect(person.text).toContain(`href="/admin/invoices/${number}"`);
  });

  it('counts as a look at the buyer, which is audited once an hour', async () => {
    const by = await addStaff(app, 'manager');
    const { number, credit } = await addCredited(customer.email);
    for (const each of [number, credit, number]) expect((await openInvoice(each, by)).status).toBe(200);
    expect(await looksOf(by)).toEqual([customer.id]);
  });

  it('is refused to a manager who has looked at 300 people within an hour', async () => {
    const by = await addStaff(app, 'manager');
    const number = await addInvoice(app.db, { email: customer.email });
    await sql`insert into audit_events (id, type, actor_id, user_id)
      select gen_random_uuid(), 'staff.looked', ${by.id}, gen_random_uuid() from generate_series(1, 300)`.execute(
      app.db,
    );
    const { status, headers } = await openInvoice(number, by);
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
  });

  it.each(['pay', 'credit', 'reissue', 'allocate', 'suspend'])(
    'cannot be changed by a manager who posts the form %s',
    async (intent) => {
      const number = await addInvoice(app.db, { email: customer.email });
      const forms = formsOf(await openInvoice(number, admin));
      const form = {
        ...forms.values().next().value,
        ...[...forms.values()].find((each) => each.intent === intent),
      };
      const before = await readBooks();
      const answer = await app.send(`/admin/invoices/${number}`, {
        cookie: manager.cookie,
        form: { ...form, intent, why, amount: '1.00', credits: 'part', paidAt: '2026-02-01', number },
      });
      expect(answer.status).toBe(['allocate', 'suspend'].includes(intent) ? 400 : 404);
      expect(await readBooks()).toEqual(before);
    },
  );
});

describe('a document of an account that staff belong to', () => {
  it('is not there for managers, and no look is counted, even if the buyer is a customer', async () => {
    const own = await addPerson(app, { accountId: manager.accountId });
    const staff = await addPerson(app, { role: 'admin' });
    for (const { id, email } of [colleague, own, staff]) {
      const { number, credit } = await addCredited(email);
      for (const path of [number, credit, `${number}.pdf`, `${credit}.pdf`, `${number}.xml`])
        expect((await openInvoice(path)).status, path).toBe(404);
      expect(await looksOf(manager)).not.toContain(id);
      expect((await openInvoice(number, admin)).status).toBe(200);
      const person = await open(`/admin/people/${id}/billing`);
      expect(person.text).not.toContain(`href="/admin/invoices/${number}"`);
    }
  });

  it('is there until somebody of the account becomes staff', async () => {
    const buyer = await addPerson(app);
    const other = await addPerson(app, { accountId: buyer.accountId });
    const number = await addInvoice(app.db, { email: buyer.email });
    expect((await openInvoice(number)).status).toBe(200);
    await sql`update users set role = 'manager' where id = ${other.id}`.execute(app.db);
    expect((await openInvoice(number)).status).toBe(404);
  });
});

it('lists and unallocated payments stay with administrators, and their texts are on no page of a manager', async () => {
  await report(app, buildPayment(700, { invoice_number: 'INV-1999-7', reference: 'Text of a stranger' }));
  const number = await addInvoice(app.db, { email: customer.email });
  for (const path of ['/admin/billing', '/admin/billing/unallocated', '/admin/invoices', '/admin/contracts'])
    expect((await open(path)).status, path).toBe(404);
  for (const path of [`/admin/invoices/${number}`, `/admin/people/${customer.id}`, '/admin/audit'])
    expect(textOf(await open(path))).not.toContain('Text of a stranger');
});

it('in the audit a manager sees events about documents and payments of customers, and of no others (contract 12.200)', async () => {
  const staff = await addPerson(app, { role: 'admin' });
  const erased = await addPerson(app);
  await sql`delete from audit_events`.execute(app.db);
  const numbers: Record<string, string> = {};
  for (const [who, { email }] of Object.entries({ customer, colleague, staff, erased })) {
    const { number } = await addCredited(email);
    const { payment_id: payment } = await report(app, buildPayment(500, { invoice_number: number }));
    await report(app, buildPayment(900, { payment_id: `waits-${who}`, invoice_number: null }));
    await act('allocate', { payment: `waits-${who}`, number });
    await report(app, {
      ...buildPayment(100, { invoice_number: number }),
      ...{ payment_id: `back-${who}`, kind: 'refund', of: payment },
    });
    await act('credit', { number });
    numbers[who] = number;
  }
  await report(app, buildPayment(300, { payment_id: 'stranger', invoice_number: 'INV-1999-8' }));
  await act('paidBack', { payment: 'stranger' });
  // An invoice from before there was a seller has only its bare number.
  const bare = await addOldInvoice(app.db, await addContract(app.db, { email: customer.email }));
  const bareOfStaff = await addOldInvoice(app.db, await addContract(app.db, { email: colleague.email }));
  await act('credit', { number: bare });
  await act('credit', { number: bareOfStaff });
  await sql`update service_contracts set account_id = null, user_id = null
    where account_id = ${erased.accountId}`.execute(app.db);

  type Event = { type: string; details: Record<string, string> };
  const kinds = [
    ...['credit_note.issued', 'invoice.issued', 'invoice.void'],
    ...['payment.allocated', 'payment.recorded', 'payment.refunded'],
  ];
  async function list({ cookie }: Member): Promise<Event[]> {
    const pages = kinds.map((kind) => call(app, 'audit.list', cookie, { kind }, true));
    return (await Promise.all(pages)).flatMap((page) => readData(page).events);
  }
  const of = ({ details }: Event) => String(details.invoice ?? details.number);
  const [seen, all] = [await list(manager), await list(admin)];
  const isOfCustomer = (event: Event) => [numbers.customer, String(bare)].includes(of(event));
  expect(seen).toHaveLength(all.filter(isOfCustomer).length);
  expect(seen.filter((event) => !isOfCustomer(event))).toEqual([]);
  expect(seen.map(({ type }) => type).sort()).toEqual([
    ...['credit_note.issued', 'credit_note.issued', 'invoice.issued', 'invoice.void'],
    ...['payment.allocated', 'payment.recorded', 'payment.refunded'],
  ]);
  expect(JSON.stringify(seen)).not.toMatch(/stranger|waits-(?!customer)|"(address|device|place)":"/);
  for (const number of [numbers.colleague, numbers.staff, numbers.erased, String(bareOfStaff)])
    expect(all.map(of)).toContain(number);
  expect(textOf(await open('/admin/audit'))).toContain(`An invoice was issued: ${numbers.customer}`);
});

it('in the audit a manager sees no lost document, and a recovered one only of a customer (contract 12.200)', async () => {
  const number = await addInvoice(app.db, { email: customer.email });
  const ofStaff = await addInvoice(app.db, { email: colleague.email });
  for (const [type, named] of [
    ['document.lost', 'INV-2026-0901 to INV-2026-0903'],
    ['document.recovered', number],
    ['document.recovered', ofStaff],
  ])
    await sql`insert into audit_events (id, type, details)
      values (gen_random_uuid(), ${type}, ${JSON.stringify({ number: named, by: 'cli' })})`.execute(app.db);
  const list = async ({ cookie }: Member, kind: string) =>
    readData(await call(app, 'audit.list', cookie, { kind }, true)).events.map(
      ({ details }: { details: { number: string } }) => details.number,
    );
  expect([await list(manager, 'document.lost'), await list(manager, 'document.recovered')]).toEqual([
    [],
    [number],
  ]);
  expect([await list(admin, 'document.lost'), (await list(admin, 'document.recovered')).sort()]).toEqual([
    ['INV-2026-0901 to INV-2026-0903'],
    [number, ofStaff].sort(),
  ]);
});
