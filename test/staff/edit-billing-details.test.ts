// An administrator changes the billing details of an account for its customers (contract 7.441 and 7.442).
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { retryWhileBusy, sendPatiently } from '../support/app/patience.ts';
import { textOf } from '../support/app/visitor.ts';
import { addInvoice } from '../support/billing/money.ts';
import { setSettings } from '../support/billing/settings.ts';
import {
  addPerson,
  addSession,
  addStaff,
  call,
  formsOf,
  type Person,
  readOutcome,
} from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const why = 'Called back at the number on the contract';
const vatId = 'FR83404833048';
let target: Person;
let other: Person;
const staff = {} as Record<'admin' | 'manager', Awaited<ReturnType<typeof addStaff>>>;
const app = shared(openApp);
beforeAll(async () => {
  await setSettings(app.db);
  target = await addPerson(app);
  other = await addPerson(app, { accountId: target.accountId });
  for (const role of ['admin', 'manager'] as const) staff[role] = await addStaff(app, role);
});
beforeEach(async () => {
  await sql`delete from mails`.execute(app.db);
  await sql`delete from rate_limits`.execute(app.db);
  await sql`delete from audit_events where type = 'staff.edit_billing_details'`.execute(app.db);
  await sql`delete from billing_details`.execute(app.db);
  await sql`insert into billing_details
      (account_id, company, line1, postcode, city, country, tax_country, vat_id, checked_vat_id, invoice_email,
        invoice_email_proved_at)
    values (${target.accountId}, 'Fleurs SARL', '12 Rue', '75011', 'Paris', 'FR', 'FR', ${vatId}, ${vatId},
      'books@fleurs.example', now())`.execute(app.db);
});

const read = async () =>
  (
    await sql<
      Record<string, unknown>
    >`select company, line1, city, country, vat_id, vat_id = checked_vat_id as checked,
      invoice_email, invoice_email_proved_at is not null as proved, waiting ->> 'country' as waits, ignored
      from billing_details where account_id = ${target.accountId}`.execute(app.db)
  ).rows[0];

const events = async () =>
  (
    await sql<{ changed: unknown }>`select details -> 'changed' as changed from audit_events
      where type = 'staff.edit_billing_details' and user_id = ${target.id} and actor_id = ${staff.admin.id}
        and why = ${why}`.execute(app.db)
  ).rows.map(({ changed }) => changed);

/** Stores these details as faulty, as if a signup had named them wrongly. */
const ignore = (...pointers: string[]) =>
  sql`update billing_details set ignored = ${pointers}`.execute(app.db);

const open = (by: 'admin' | 'manager' = 'admin') =>
  app.send(`/admin/people/${target.id}/billing`, { cookie: staff[by].cookie });

/** The fields that a browser sends if nothing in the form was changed. */
const fields = {
  ...{ company: 'Fleurs SARL', line1: '12 Rue', line2: '', postcode: '75011', city: 'Paris', country: 'FR' },
  vatId,
};

async function post(changes: Record<string, string>, by: 'admin' | 'manager' = 'admin'): Promise<Answer> {
  const form = formsOf(await open()).get('edit-billing-details') ?? {};
  return app.send(`/admin/people/${target.id}/billing`, {
    cookie: staff[by].cookie,
    form: { ...form, ...fields, why, ...changes },
  });
}

describe('the form', () => {
  it('has the details as they are, and saves what is changed in it (contract 11.47)', async () => {
    const page = await open();
    expect(page.text).toMatch(/name="line1"[^>]* value="12 Rue"/);
    expect(page.text).toMatch(/<option value="FR" selected="">/);
    expect((await post({ company: 'Fleurs & Fils', city: 'Lyon' })).headers.get('location')).toContain(
      'saved=edit-billing-details',
    );
    expect(await read()).toMatchObject({
      company: 'Fleurs & Fils',
      line1: '12 Rue',
      city: 'Lyon',
      checked: true,
    });
    expect(await events()).toEqual([['company', 'address']]);
  });

  it('emails everybody in the account, in our words, and never where invoices go', async () => {
    await post({ company: 'Call 0800 123 now' });
    const { rows } = await sql<{ whom: string; row: string }>`
      select user_id as whom, to_jsonb(m)::text as row from mails m where kind = 'billing_details_changed'`.execute(
      app.db,
    );
    expect(rows.map(({ whom }) => whom).sort()).toEqual([target.id, other.id].sort());
    for (const { row } of rows) expect(row).not.toMatch(/0800|books@|Called back/);
    const activity = await app.send('/profile/activity', {
      cookie: (await addSession(app, target.id)).cookie,
    });
    expect(textOf(activity)).toContain('Our support team changed the billing details');
    expect(activity.text).not.toContain(why);
  });

  it('leaves the address for invoices alone, even if one is posted', async () => {
    expect((await post({ company: 'Fleurs', invoiceEmail: 'thief@example.com' })).status).toBe(303);
    expect(await read()).toMatchObject({ invoice_email: 'books@fleurs.example', proved: true });
    expect((await open()).text).not.toContain('name="invoiceEmail"');
  });

  it('takes another VAT ID as not checked, and lets a country that changes the tax wait', async () => {
    await addInvoice(app.db, { email: target.email });
    expect((await post({ vatId: 'FR23334175221' })).status).toBe(303);
    expect(await read()).toMatchObject({ vat_id: 'FR23334175221', checked: null });
    expect((await post({ country: 'DE', vatId: '' })).status).toBe(303);
    expect(await read()).toMatchObject({ country: 'FR', vat_id: 'FR23334175221', waits: 'DE' });
  });

  it('says everything that is wrong, and changes nothing', async () => {
    const before = await read();
    const answer = await post({ line1: '', vatId: 'DE136695976', company: 'x'.repeat(201) });
    expect(answer.status).toBe(422);
    expect(answer.text.match(/role="alert"/g)?.length).toBeGreaterThanOrEqual(3);
    const wrong: Record<string, string>[] = [{ why: 'x' }, { country: 'XX' }, { company: 'a\u202eb' }];
    for (const changes of wrong) expect([changes, (await post(changes)).status]).toEqual([changes, 422]);
    expect(await read()).toEqual(before);
    expect(await events()).toEqual([]);
  });

  it('does nothing if nothing is changed in it (contract 12.20)', async () => {
    await ignore('/account/billing/vat_id');
    expect((await post({})).status).toBe(303);
    expect(await events()).toEqual([]);
    expect((await sql`select from mails`.execute(app.db)).rows).toEqual([]);
    expect(await read()).toMatchObject({ ignored: ['/account/billing/vat_id'] });
  });

  it('decides only about the details that are changed in it (contract 7.240)', async () => {
    await ignore('/account/billing/vat_id', '/account/billing');
    expect((await post({ company: 'Fleurs' })).status).toBe(303);
    // If one detail is decided, the entry for all of `account.billing` is removed.
    expect(await read()).toMatchObject({ ignored: ['/account/billing/vat_id'] });
    expect((await post({ company: 'Fleurs', vatId: 'FR23334175221' })).status).toBe(303);
    expect(await read()).toMatchObject({ ignored: [] });
  });

  it('is for administrators only, and not for their own account', async () => {
    expect((await open('manager')).text).not.toContain('data-intent="edit-billing-details"');
    const before = await read();
    expect((await post({ company: 'Mine' }, 'manager')).status).toBe(403);
    const asked = { id: target.id, why, seen: 'x', company: 'Mine' };
    const refused = await call(app, 'billing.editDetails', staff.manager.cookie, asked);
    expect(readOutcome(refused)).toBe('403 not_allowed');
    const own = await addPerson(app, { accountId: staff.admin.accountId });
    const ofOwn = await call(app, 'billing.editDetails', staff.admin.cookie, { ...asked, id: own.id });
    expect(readOutcome(ofOwn)).toBe('403 not_allowed');
    expect(await read()).toEqual(before);
  });

  it('is done once if 16 come at once, and not if the customer has changed something since', async () => {
    const form = { ...formsOf(await open()).get('edit-billing-details'), ...fields, why, company: 'Once' };
    const send = () => app.send(`/admin/people/${target.id}/billing`, { cookie: staff.admin.cookie, form });
    const answers = await sendPatiently(Array.from({ length: 16 }, () => send));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(15).fill(409)]);
    expect(await events()).toEqual([['company']]);
    const stale = formsOf(await open()).get('edit-billing-details');
    await sql`update billing_details set city = 'Nice'`.execute(app.db);
    const late = await retryWhileBusy(() =>
      app.send(`/admin/people/${target.id}/billing`, {
        cookie: staff.admin.cookie,
        form: { ...form, ...stale },
      }),
    );
    expect(late.status).toBe(409);
    expect(await read()).toMatchObject({ company: 'Once', city: 'Nice' });
  });
});

it('is there for customers without details, and for nobody who has nothing to do with billing', async () => {
  await sql`delete from billing_details`.execute(app.db);
  await addInvoice(app.db, { email: target.email });
  expect(textOf(await open())).toContain('There are no billing details yet.');
  expect((await open()).text).toContain('data-intent="edit-billing-details"');
  const stranger = await addPerson(app);
  const page = await app.send(`/admin/people/${stranger.id}/billing`, { cookie: staff.admin.cookie });
  expect(page.text).not.toContain('data-intent="edit-billing-details"');
});

it('is a command, too, and what a program or command omits stays', async () => {
  const run = (...more: string[]) =>
    runCli(app.databaseUrl, ['billing-details:edit', target.email, ...more, '--why', why]);
  expect(await run('--company', 'Fleurs SA', '--city', 'Lille')).toMatchObject({
    code: 0,
    out: expect.stringContaining('have changed.'),
  });
  expect(await read()).toMatchObject({ company: 'Fleurs SA', line1: '12 Rue', city: 'Lille', vat_id: vatId });
  expect(await run('--company', 'Fleurs SA', '--json')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/"done": ?false,"intent": ?"edit-billing-details"/),
  });
  for (const [option, value] of [
    ['--vat-id', 'DE136695976'],
    ['--country', 'XX'],
    ['--company', ''],
  ] as const)
    expect([option, (await run(option, value)).code]).toEqual([option, 2]);
  expect((await runCli(app.databaseUrl, ['billing-details:edit', target.email, '--city', 'Metz'])).code).toBe(
    2,
  );
  const { seen = '' } = formsOf(await open()).get('edit-billing-details') ?? {};
  const asked = { id: target.id, why, seen, vatId: 'FR23334175221' };
  expect(readOutcome(await call(app, 'billing.editDetails', staff.admin.cookie, asked))).toBe('200');
  expect(await read()).toMatchObject({ company: 'Fleurs SA', city: 'Lille', vat_id: 'FR23334175221' });
});
