// GET /integrations/payments/invoices: what a payment provider reads (contract 7.520 to 7.523).
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { retryWhileBusy } from '../support/app/patience.ts';
import { addInvoice, buildPayment, buildRefund, report } from '../support/billing/money.ts';
import { setSettings } from '../support/billing/settings.ts';
import { signMessage } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
beforeAll(() => setSettings(app.db));

type Page = { invoices: { number: string; status: string; open: number; amount: number }[]; next: string };

const ask = (query: string, { body = '', at }: { body?: string; at?: Date } = {}) =>
  app.send(`/integrations/payments/invoices${query}`, {
    headers: signMessage(app.config.paymentsSecrets?.[0] ?? '', body, { at }),
  });

async function read(query = ''): Promise<Page> {
  const { status, text } = await retryWhileBusy(() => ask(query));
  expect([status, text]).toEqual([200, expect.any(String)]);
  return JSON.parse(text);
}

/** Reads pages until the cursor stays the same. */
async function readAll(state = '', from = ''): Promise<Page> {
  const invoices: Page['invoices'] = [];
  for (let after = from; ; ) {
    const page = await read(`?limit=2${state}${after && `&after=${after}`}`);
    invoices.push(...page.invoices);
    if (page.next === after) return { invoices, next: page.next };
    after = page.next;
  }
}

it('says of each invoice who pays what until when, and which contract it is of', async () => {
  const number = await addInvoice(app.db);
  const { invoices } = await readAll('&state=open');
  const { rows } = await sql<{ signupId: string; accountId: string; name: string }>`
    select c.signup_id as "signupId", c.account_id as "accountId", i.buyer_name as name
    from invoices i join service_contracts c on c.id = i.contract_id where document = ${number}`.execute(
    app.db,
  );
  expect(invoices.find((each) => each.number === number)).toEqual({
    ...{ number, status: 'open', currency: 'EUR', amount: 3_451, open: 3_451, buyer: rows[0]?.name },
    ...{ due_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), signup_id: rows[0]?.signupId },
    account_id: rows[0]?.accountId,
  });
});

it('lists again what has changed since, each once, and only what is open if asked', async () => {
  const [one, two, three] = [await addInvoice(app.db), await addInvoice(app.db), await addInvoice(app.db)];
  const { invoices, next } = await readAll();
  expect(invoices.map(({ number }) => number)).toEqual(expect.arrayContaining([one, two, three]));
  expect(new Set(invoices.map(({ number }) => number)).size).toBe(invoices.length);
  expect(await read(`?after=${next}`)).toEqual({ invoices: [], next });
  const whole = buildPayment(3_451, { invoice_number: two });
  await report(app, whole);
  await report(app, buildPayment(1_000, { invoice_number: one }));
  expect(
    (await readAll('', next)).invoices.map(({ number, status, open }) => [number, status, open]),
  ).toEqual([
    [one, 'open', 2_451],
    [two, 'paid', 0],
  ]);
  const open = await readAll('&state=open', next);
  expect(open.invoices.map(({ number }) => number)).toEqual([one]);
  await report(app, buildRefund(whole.payment_id, 51));
  expect((await readAll('&state=open', open.next)).invoices).toMatchObject([{ number: two, open: 51 }]);
});

it('skips nothing while sixteen payments come and sixteen readers ask', async () => {
  const numbers: string[] = [];
  for (let at = 0; at < 8; at++) numbers.push(await addInvoice(app.db));
  const { next } = await readAll();
  const [pages] = await Promise.all([
    Promise.all(Array.from({ length: 16 }, () => readAll('', next))),
    Promise.all(
      numbers.flatMap((number) =>
        [1, 2].map((amount) => report(app, buildPayment(amount, { invoice_number: number }))),
      ),
    ),
  ]);
  for (const page of pages) {
    const rest = await readAll('', page.next);
    const last = new Map([...page.invoices, ...rest.invoices].map(({ number, open }) => [number, open]));
    expect([...last].sort()).toEqual(numbers.map((number) => [number, 3_448]).sort());
  }
});

it('waits for another reader no longer than a request may wait for a lock', async () => {
  const held = sql`select pg_advisory_xact_lock(hashtextextended('invoice changes', 0)), pg_sleep(4)`.execute(
    app.db,
  );
  await new Promise((done) => setTimeout(done, 200));
  expect((await ask('')).status).toBe(503);
  await held;
});

it('says nothing of who an erased account was', async () => {
  const number = await addInvoice(app.db);
  await sql`update service_contracts set account_id = null, user_id = null
    where id = (select contract_id from invoices where document = ${number})`.execute(app.db);
  const { invoices } = await readAll();
  expect(invoices.find((each) => each.number === number)).toMatchObject({ buyer: null, account_id: null });
});

it.each([
  ['?state=paid', 'state'],
  ['?state=', 'state'],
  ['?limit=0', 'limit'],
  ['?limit=1001', 'limit'],
  ['?after=', 'after'],
  ['?after=1-1', 'after'],
  ['?after=0-999999', 'after'],
  ['?after=x', 'after'],
  ['?after=0-1&after=0-1', 'after'],
])('refuses %s', async (query, name) => {
  const { status, text } = await ask(query);
  expect([status, JSON.parse(text)]).toMatchObject([
    400,
    { code: 'invalid_request', errors: [{ pointer: `/${name}` }] },
  ]);
});

it('refuses an old cursor after a restore, and after a second one of the same backup', async () => {
  const { next } = await readAll();
  await sql`insert into restores default values`.execute(app.db);
  expect((await ask(`?after=${next}`)).status).toBe(400);
  const { next: later } = await readAll();
  expect(await read(`?after=${later}`)).toEqual({ invoices: [], next: later });
  // The backup was made before the first restore, so it does not record that restore.
  await sql`delete from restores`.execute(app.db);
  await sql`insert into restores default values`.execute(app.db);
  expect((await ask(`?after=${later}`)).status).toBe(400);
});

it('wants a signature of now, over an empty body, with the secret of payments', async () => {
  expect((await app.send('/integrations/payments/invoices')).status).toBe(401);
  expect((await ask('', { body: '{}' })).status).toBe(401);
  expect((await ask('', { at: new Date(Date.now() - 400_000) })).status).toBe(401);
  const headers = signMessage(app.config.crmSignupsSecrets?.[0] ?? '', '');
  expect((await app.send('/integrations/payments/invoices', { headers })).status).toBe(401);
});
