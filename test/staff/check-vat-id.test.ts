// An administrator says that the VAT id of an account is checked (contract 7.246).
import { sql } from 'kysely';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { textOf } from '../support/app/visitor.ts';
import { addPerson, addStaff, type Person } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const vatId = 'FR83404833048';
let target: Person;
const cookies: Record<string, string> = {};
const app = shared(openApp);
beforeAll(async () => {
  target = await addPerson(app);
  for (const role of ['admin', 'manager'] as const) cookies[role] = (await addStaff(app, role)).cookie;
});
beforeEach(async () => {
  await sql`delete from billing_details`.execute(app.db);
  await sql`insert into billing_details (account_id, company, line1, postcode, city, country, vat_id)
    values (${target.accountId}, 'Fleurs SARL', '12 Rue', '75011', 'Paris', 'FR', ${vatId})`.execute(app.db);
});

const isChecked = async () =>
  (
    await sql<{ is: boolean }>`select vat_id = checked_vat_id as is from billing_details
      where account_id = ${target.accountId}`.execute(app.db)
  ).rows[0]?.is === true;

async function seen(role: string): Promise<string> {
  const person = await openClient(app.send, cookies[role]).admin.people.get.query({ id: target.id });
  return ('seen' in person && person.seen['check-vat-id']) || '';
}

const post = async (role: string, fields: Record<string, string>) =>
  app.send(`/admin/people/${target.id}`, {
    cookie: cookies[role],
    form: {
      intent: 'check-vat-id',
      why: 'looked it up',
      seen: fields.seen ?? (await seen(role)),
      vatId,
      checked: 'yes',
      ...fields,
    },
  });

it('shows the details, and marks the id by the form (contract 11.47)', async () => {
  const shown = await app.send(`/admin/people/${target.id}/billing`, { cookie: cookies.admin });
  expect(textOf(shown)).toMatch(/Company Fleurs SARL .* VAT ID FR83404833048 Not checked/);
  expect((await post('admin', {})).headers.get('location')).toContain('saved=check-vat-id');
  expect(await isChecked()).toBe(true);
  expect((await post('admin', { checked: 'no' })).status).toBe(303);
  expect(await isChecked()).toBe(false);
  const { rows } = await sql<{ checked: string }>`select details ->> 'checked' as checked from audit_events
    where type = 'staff.check_vat_id' order by at, id`.execute(app.db);
  expect(rows).toEqual([{ checked: 'yes' }, { checked: 'no' }]);
});

it('is for administrators only', async () => {
  const shown = await app.send(`/admin/people/${target.id}/billing`, { cookie: cookies.manager });
  expect(textOf(shown)).toContain('FR83404833048');
  expect(shown.text).not.toContain('data-intent="check-vat-id"');
  expect((await post('manager', {})).status).toBe(403);
  const client = openClient(app.send, cookies.manager);
  const asked = { id: target.id, why: 'looked it up', seen: '', vatId, checked: 'yes' };
  expect(await refusalOf(client.admin.billing.checkVatId.mutate(asked))).toMatchObject({ httpStatus: 403 });
  expect(await isChecked()).toBe(false);
});

it('refuses another id than the account has, and one that was changed meanwhile', async () => {
  const other = await post('admin', { vatId: 'FR23334175221' });
  expect([other.status, textOf(other)]).toEqual([409, expect.stringContaining('has changed since')]);
  const before = await seen('admin');
  await sql`update billing_details set vat_id = 'FR23334175221'`.execute(app.db);
  expect((await post('admin', { seen: before })).status).toBe(409);
  // Contract 11.113.
  expect((await post('admin', { checked: 'perhaps' })).status).toBe(422);
  expect(await isChecked()).toBe(false);
});

it('marks it once if 16 come at once', async () => {
  const made = await seen('admin');
  const count = async () =>
    (await sql`select from audit_events where type = 'staff.check_vat_id'`.execute(app.db)).rows.length;
  const before = await count();
  const answers = await Promise.all(Array.from({ length: 16 }, () => post('admin', { seen: made })));
  // On a busy machine, some requests may get 503.
  const others = answers.map(({ status }) => status).filter((status) => status !== 303);
  expect([...new Set(others)].filter((status) => status !== 503)).toEqual([409]);
  expect(others).toHaveLength(15);
  expect([await isChecked(), (await count()) - before]).toEqual([true, 1]);
});

it('sends the person no mail', async () => {
  expect((await post('admin', {})).status).toBe(303);
  const { rows } = await sql`select kind from mails where user_id = ${target.id}`.execute(app.db);
  expect(rows).toEqual([]);
});

it('is a command, too', async () => {
  const run = (...more: string[]) =>
    runCli(app.databaseUrl, ['vat-id:checked', target.email, ...more, '--why', 'looked it up']);
  expect(await run('fr 83 404 833 048')).toMatchObject({
    code: 0,
    out: expect.stringContaining('is checked.'),
  });
  expect(await isChecked()).toBe(true);
  expect(await run(vatId, '--json')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/"done": ?false,"intent": ?"check-vat-id"/),
  });
  expect(await run(vatId, '--no')).toMatchObject({
    code: 0,
    out: expect.stringContaining('is not checked.'),
  });
  expect(await isChecked()).toBe(false);
  expect(await run('FR23334175221')).toMatchObject({
    code: 1,
    err: expect.stringContaining('another VAT ID'),
  });
  expect((await runCli(app.databaseUrl, ['vat-id:checked', target.email, vatId])).code).toBe(2);
});
