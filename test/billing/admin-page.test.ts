// What administrators see of billing (contract 7.191 to 7.198).
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { type BillingApp, openBilling } from '../support/crm/billing.ts';
import { addFactor, addPerson, addSession, call, readData, readOutcome } from '../support/people/staff.ts';

let billing: BillingApp;
let admin: string;
beforeAll(async () => {
  billing = await openBilling();
  const { tax } = germanSettings;
  await setSettings(billing.app.db, {
    ...germanSettings,
    tax: { ...tax, rules: tax.rules.map((rule) => ({ ...rule, from: '2020-01-01' })) },
  });
  await billing.report('crm_open');
  await billing.report('crm_held', { price: { currency: 'USD', unit_amount: 100, interval: 'month' } });
  await billing.bill();
  await sql`insert into documents_to_make (number, tries, next_try_at, last_error)
    select number, 3, '9999-01-01', 'The font has no such letter' from documents
    on conflict (number) do update set tries = 3, next_try_at = '9999-01-01', last_error = excluded.last_error`.execute(
    billing.app.db,
  );
  await sql`insert into payments (id, kind, currency, amount, paid_at, recorded_at, recorded_by, unallocated)
    values ('lost', 'payment', 'EUR', 5, now(), now(), 'payments', 5)`.execute(billing.app.db);
  admin = await logInAs('admin');
});
afterAll(() => billing.app.close());

async function logInAs(role: 'admin' | 'manager' | 'user'): Promise<string> {
  const person = await addPerson(billing.app, { role });
  await addFactor(billing.app.db, person);
  return (await addSession(billing.app, person.id)).cookie;
}

it('shows what is open, held, incomplete, unallocated and without a file', async () => {
  const { status, text } = await billing.app.send('/admin/billing', { cookie: admin });
  expect(status).toBe(200);
  for (const part of [
    'Not due yet',
    'EUR\u00a034.51',
    'data-held="tax_currency"',
    'crm_held',
    'It has no address of its buyer, <bdi class="name">Casey’s account</bdi>.',
    'The font has no such letter',
  ])
    expect(text.replaceAll('&nbsp;', '\u00a0').replaceAll('<!-- -->', '')).toContain(part);
  // What waits is one step away.
  const [number] = /INV-\d{4}-\d{4}/.exec(text) ?? [];
  expect(text.match(new RegExp(`href="/admin/invoices/${number}"`, 'g'))).toHaveLength(2);
});

it('leads to the other pages of billing, and says which one is open', async () => {
  const paths = ['/admin/billing', '/admin/billing/unallocated', '/admin/billing/settings'];
  for (const path of paths) {
    const { text } = await billing.app.send(path, { cookie: admin });
    const [nav = ''] = /<nav class="tabs" aria-label="Billing">.*?<\/nav>/.exec(text) ?? [];
    expect([...nav.matchAll(/href="([^"]+)"/g)].map(([, to]) => to)).toEqual(paths);
    expect(/href="([^"]+)" aria-current="page"/.exec(nav)?.[1]).toBe(path);
  }
});

it('is there for administrators alone', async () => {
  for (const [role, status] of [
    ['manager', 404],
    ['user', 404],
  ] as const) {
    const cookie = await logInAs(role);
    expect([role, (await billing.app.send('/admin/billing', { cookie })).status]).toEqual([role, status]);
    expect(readOutcome(await call(billing.app, 'billing.summary', cookie, undefined, true))).toBe(
      '404 not_found',
    );
  }
  const { text } = await billing.app.send('/admin/people', { cookie: await logInAs('manager') });
  expect(text).not.toContain('/admin/billing');
});

it('previews a contract', async () => {
  const ask = (signup: string) => call(billing.app, 'billing.preview', admin, { signup, months: 2 }, true);
  const { documents, held } = readData(await ask('crm_open'));
  expect([held, documents.length, documents[0].total]).toEqual([null, 2, 3_451]);
  expect(readData(await ask('crm_held'))).toEqual({ documents: [], held: 'tax_currency' });
  expect(readOutcome(await ask('crm_none'))).toBe('404 not_found');
});
