// A new country that changes the tax waits until an administrator has decided (contract 7.394 to 7.399 and 7.592).
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findBillingDetails } from '../../db/tables/billing-details.ts';
import { openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { type Browser, fieldOf, openBrowser, textOf } from '../support/app/visitor.ts';
import { address, arrangeSeller } from '../support/billing/customers.ts';
import { germanSettings } from '../support/billing/settings.ts';
import { idOf } from '../support/database/database.ts';
import { addFactor, addPerson, addSession } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const page = '/profile/billing';
const clock = { at: new Date('2036-03-10T10:00:00Z') };
const american = { line1: '1 Main Street', postcode: '10001', city: 'New York', country: 'US' };
const german = { line1: 'Weg 1', postcode: '10115', city: 'Berlin', country: 'DE' };

const cookies: Record<string, string> = {};
const staff: Record<string, string> = {};
const app = shared(() => openApp({ now: () => clock.at }));
// With a year to pay, no open invoice holds up the next document.
const terms = { ...germanSettings.terms, days_to_pay: 365 };
const customers = shared(() => arrangeSeller(app, clock, { ...germanSettings, terms }));
beforeAll(async () => {
  for (const role of ['admin', 'manager'] as const) {
    const person = await addPerson(app, { role });
    await addFactor(app.db, person);
    staff[role] = person.id;
  }
});
beforeEach(async () => {
  await customers.setClock('2036-03-10T10:00:00Z');
  await sql`delete from rate_limits`.execute(app.db);
  await sql`delete from billing_details`.execute(app.db);
  await logInStaff();
});

/** Logs staff in at the time of the clock, because their sessions get old after 12 hours. */
async function logInStaff(): Promise<void> {
  for (const [role, id] of Object.entries(staff)) cookies[role] = (await enter(id)).cookie;
}
const enter = (id: string) => addSession(app, id, { authTime: clock.at });
async function setClock(instant: string): Promise<void> {
  await customers.setClock(instant);
  await logInStaff();
}

let count = 0;
async function arrive(billing?: unknown, contract = {}) {
  const nth = ++count;
  const [email, signupId] = [`mover-${nth}@example.test`, `mover-${nth}`];
  await customers.report(signupId, { email, billing, contract });
  await sql`update users set email_verified_at = now() where email = ${email}`.execute(app.db);
  const id = await idOf(app.db, email);
  return { email, signupId, id, browser: openBrowser(app.send, (await enter(id)).cookie) };
}

async function read(email: string) {
  const { rows } = await sql<{
    id: string;
  }>`select account_id as id from users where email = ${email}`.execute(app.db);
  return findBillingDetails(app.db, rows[0]?.id ?? '');
}

const empty = {
  ...{ company: '', line1: '', line2: '', postcode: '', city: '', country: '' },
  ...{ vatId: '', invoiceEmail: '' },
};
async function save(browser: Browser, fields: Record<string, string>): Promise<void> {
  const answer = await browser.send(page, { form: { intent: 'details', ...empty, ...fields } });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, `${page}?saved=details`]);
}

/** The tax of each document, and the country of its buyer. */
async function bill(signupId: string): Promise<string[]> {
  await customers.bill();
  const { rows } = await sql<{ said: string }>`
    select concat_ws(' ', d.category, d.rate, d.facts #>> '{buyer,address,country}', d.facts #>> '{buyer,vat_id}') as said
    from documents d join invoices i on i.number = d.invoice join service_contracts c on c.id = i.contract_id
    where signup_id = ${signupId} order by d.issued_at, i.number`.execute(app.db);
  return rows.map(({ said }) => said);
}

const client = (role = 'admin') => openClient(app.send, cookies[role]);
const seenOf = async (id: string) => {
  const person = await client().admin.people.get.query({ id });
  return 'seen' in person ? person.seen['accept-country'] : undefined;
};
const decide = async (
  { id }: { id: string },
  fields: Record<string, string> = {},
  { role = 'admin', seen }: { role?: string; seen?: string } = {},
) =>
  app.send(`/admin/people/${id}/billing`, {
    cookie: cookies[role],
    form: {
      intent: 'accept-country',
      ...{ country: 'US', accepted: 'yes', why: 'saw the register' },
      seen: seen ?? (await seenOf(id)) ?? '',
      ...fields,
    },
  });
const listCountries = async () => (await client().admin.billing.summary.query()).countries;
const countNow = async () => {
  const { now } = await client().admin.overview.get.query({});
  return [now.countries, now.overdueCountries];
};

describe('a customer who types the address of another country', () => {
  it('keeps the earlier address and tax until an administrator finds the new one in the overview and accepts it (contract 11.47)', async () => {
    const mover = await arrive({ address });
    expect(await bill(mover.signupId)).toEqual(['S 2000 FR']);
    await save(mover.browser, american);
    expect(await read(mover.email)).toMatchObject({
      address,
      country: 'FR',
      waiting: { address: american, country: 'US', vatId: null, since: clock.at },
    });
    const shown = await mover.browser.send(page);
    expect(textOf(shown)).toContain(
      'Your new country, United States, changes the tax on your invoices, so we check it first.',
    );
    // The form shows what the person typed. So saving the form a second time does not take the request back.
    const edited = await mover.browser.send(`${page}?edit=details`);
    expect(fieldOf(edited, 'line1').value).toBe(american.line1);
    expect(await countNow()).toEqual([1, 0]);
    expect((await app.send('/admin', { cookie: cookies.admin })).text).toMatch(/data-now="countries">1</);
    expect((await app.send('/admin/billing', { cookie: cookies.admin })).text).toContain('data-country="US"');
    await setClock('2036-03-24T10:00:00Z');
    expect(await countNow()).toEqual([1, 0]);
    await setClock('2036-03-24T10:00:01Z');
    expect(await countNow()).toEqual([1, 1]);
    expect(textOf(await app.send('/admin/billing', { cookie: cookies.admin }))).toMatch(
      /FR to US, since .*Overdue: it has waited for over 14 days\./,
    );
    // Nothing changes until an administrator decides.
    await setClock('2036-04-10T10:00:01Z');
    expect(await bill(mover.signupId)).toEqual(['S 2000 FR', 'S 2000 FR']);
    const done = await decide(mover);
    expect([done.status, done.headers.get('location')]).toEqual([
      303,
      `/admin/people/${mover.id}/billing?saved=accept-country`,
    ]);
    expect(await read(mover.email)).toMatchObject({ address: american, country: 'US', waiting: null });
    await setClock('2036-05-10T10:00:01Z');
    expect(await bill(mover.signupId)).toEqual(['S 2000 FR', 'S 2000 FR', 'O 0 US']);
    const { rows } =
      await sql`select reason, why, details->>'country' as country, details->>'accepted' as accepted
      from audit_events where type = 'staff.accept_country' and user_id = ${mover.id}`.execute(app.db);
    expect(rows).toEqual([{ reason: null, why: 'saw the register', country: 'US', accepted: 'yes' }]);
  });

  it('stays as they were if an administrator refuses it', async () => {
    const mover = await arrive({ address });
    await save(mover.browser, american);
    expect((await decide(mover, { accepted: 'no' })).status).toBe(303);
    expect(await read(mover.email)).toMatchObject({ address, country: 'FR', waiting: null });
    expect(await listCountries()).toEqual([]);
    expect(await bill(mover.signupId)).toEqual(['S 2000 FR']);
    // The person may ask a second time, and has to wait for a decision again.
    await save(mover.browser, american);
    expect(await listCountries()).toMatchObject([{ country: 'FR', asked: 'US' }]);
    // The database dates what happened by its own clock.
    clock.at = new Date();
    expect(textOf(await mover.browser.send('/profile/activity'))).toContain('refused the new country');
  });

  it('waits from the first change on, until the tax is as it was', async () => {
    const mover = await arrive({ address });
    const since = clock.at;
    await save(mover.browser, american);
    await setClock('2036-03-10T10:05:00Z');
    await save(mover.browser, german);
    await save(mover.browser, { ...german, company: 'Weg GmbH' });
    expect(await read(mover.email)).toMatchObject({
      company: 'Weg GmbH',
      address,
      waiting: { country: 'DE', address: german, since },
    });
    // The decision is about the US, but the person no longer asks for the US.
    expect((await decide(mover, { country: 'US' })).status).toBe(409);
    await save(mover.browser, { ...address, line1: '13 Rue des Fleurs' });
    expect(await read(mover.email)).toMatchObject({ address: { line1: '13 Rue des Fleurs' }, waiting: null });
    expect(await listCountries()).toEqual([]);
  });

  it('need not wait if the tax is the same', async () => {
    const mover = await arrive({ address: american });
    const swiss = { ...american, country: 'CH' };
    await save(mover.browser, swiss);
    expect(await read(mover.email)).toMatchObject({ address: swiss, waiting: null });
  });

  it('waits although they took the address away first', async () => {
    const mover = await arrive({ address });
    await save(mover.browser, {});
    await save(mover.browser, american);
    expect(await read(mover.email)).toMatchObject({
      address: null,
      country: 'FR',
      waiting: { country: 'US' },
    });
    expect(await bill(mover.signupId)).toEqual(['S 2000']);
  });

  it('waits with the VAT id that was given with it, which is unchecked once both count', async () => {
    const mover = await arrive({ address, vat_id: 'FR83404833048' });
    await sql`update billing_details set checked_vat_id = vat_id`.execute(app.db);
    expect(await bill(mover.signupId)).toEqual(['AE 0 FR FR83404833048']);
    await save(mover.browser, { ...german, vatId: 'DE136695976' });
    await setClock('2036-04-10T10:00:01Z');
    expect((await bill(mover.signupId))[1]).toBe('AE 0 FR FR83404833048');
    expect((await decide(mover, { country: 'DE' })).status).toBe(303);
    expect(await read(mover.email)).toMatchObject({ vatId: 'DE136695976', hasCheckedVatId: false });
    await setClock('2036-05-10T10:00:01Z');
    expect((await bill(mover.signupId))[2]).toBe('S 1900 DE DE136695976');
  });
});

describe('a first country', () => {
  it('counts at once before there is a document', async () => {
    // The contract has no price, so nothing is issued while the country waits.
    const mover = await arrive(undefined, { price: null });
    await save(mover.browser, american);
    expect(await read(mover.email)).toMatchObject({ country: 'US', waiting: null });
    await customers.report(mover.signupId, { email: mover.email });
    await setClock('2036-03-10T10:00:01Z');
    expect(await bill(mover.signupId)).toEqual(['O 0 US']);
  });

  it('waits after the first document, if it changes the tax', async () => {
    const mover = await arrive();
    expect(await bill(mover.signupId)).toEqual(['S 1900']);
    await save(mover.browser, american);
    expect(await read(mover.email)).toMatchObject({
      address: null,
      country: null,
      waiting: { country: 'US' },
    });
    await save(mover.browser, german);
    expect(await read(mover.email)).toMatchObject({ address: german, waiting: null });
  });
});

it.each(['the page', 'the CRM'])(
  'a country that could not be read holds what it held while another waits, said by %s',
  async (by) => {
    const mover = await arrive();
    expect(await bill(mover.signupId)).toEqual(['S 1900']);
    // The row is as an earlier version left it.
    await sql`insert into billing_details (account_id, ignored)
    select account_id, '{/account/billing/address}' from users where id = ${mover.id}`.execute(app.db);
    if (by === 'the page') await save(mover.browser, american);
    else await customers.report(mover.signupId, { email: mover.email, billing: { address: american } });
    await setClock('2036-04-10T10:00:01Z');
    expect(await bill(mover.signupId)).toEqual(['S 1900']);
    expect((await decide(mover)).status).toBe(303);
    await setClock('2036-04-10T10:01:02Z');
    expect(await bill(mover.signupId)).toEqual(['S 1900', 'O 0 US']);
  },
);

describe('a signup that brings another country', () => {
  it('waits, whole or not, and does not wait again once it was refused', async () => {
    const mover = await arrive({ address });
    const report = (given: unknown) =>
      customers.report(mover.signupId, { email: mover.email, billing: { address: given } });
    expect(await report(american)).not.toHaveProperty('ignored');
    expect(await read(mover.email)).toMatchObject({ address, waiting: { address: american } });
    expect(await report({ ...american, city: null })).toMatchObject({
      ignored: ['/account/billing/address'],
    });
    expect(await read(mover.email)).toMatchObject({ address, waiting: { address: american, country: 'US' } });
    await report({ country: 'CA' });
    expect(await read(mover.email)).toMatchObject({ address, waiting: { address: null, country: 'CA' } });
    expect((await decide(mover, { country: 'CA', accepted: 'no' })).status).toBe(303);
    await report(american);
    expect(await read(mover.email)).toMatchObject({ address, waiting: null });
    expect(await bill(mover.signupId)).toEqual(['S 2000 FR']);
  });
});

describe('the decision', () => {
  it('is for administrators, with a reason, about what they saw', async () => {
    const mover = await arrive({ address });
    await save(mover.browser, american);
    const seen = (await seenOf(mover.id)) ?? '';
    expect((await decide(mover, {}, { role: 'manager', seen })).status).toBe(403);
    expect(
      (await app.send(`/admin/people/${mover.id}/billing`, { cookie: cookies.manager })).text,
    ).not.toContain('data-intent="accept-country"');
    expect((await decide(mover, { why: 'x' }, { seen })).status).toBe(422);
    expect((await decide(mover, { accepted: 'maybe' }, { seen })).status).toBe(422);
    await save(mover.browser, { ...american, line1: '2 Main Street' });
    expect((await decide(mover, {}, { seen })).status).toBe(409);
    expect(await read(mover.email)).toMatchObject({ address, waiting: { country: 'US' } });
  });

  it('counts once of 16 at once', async () => {
    const mover = await arrive({ address });
    await save(mover.browser, american);
    const seen = (await seenOf(mover.id)) ?? '';
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, nth) =>
        decide(mover, { accepted: nth % 2 ? 'yes' : 'no' }, { seen }).then(({ status }) => status),
      ),
    );
    // On a busy machine some requests are turned away.
    expect(answers.filter((status) => status === 303)).toHaveLength(1);
    expect(answers.every((status) => [303, 409, 503].includes(status))).toBe(true);
    expect(await read(mover.email)).toMatchObject({ waiting: null });
  });

  it('is a procedure and a command, too', async () => {
    const one = await arrive({ address });
    const other = await arrive({ address });
    for (const { browser } of [one, other]) await save(browser, american);
    const asked = {
      ...{ id: one.id, why: 'saw the register', seen: (await seenOf(one.id)) ?? '' },
      ...{ country: 'US', accepted: 'yes' as const },
    };
    await client().admin.billing.acceptCountry.mutate(asked);
    expect(await read(one.email)).toMatchObject({ country: 'US', waiting: null });
    expect(await refusalOf(client('manager').admin.billing.acceptCountry.mutate(asked))).toMatchObject({
      httpStatus: 403,
    });
    const run = (...more: string[]) =>
      runCli(app.databaseUrl, ['country:accept', other.email, ...more, '--why', 'saw the register']);
    expect((await run('CH')).code).toBe(1);
    expect(await run('us', '--no', '--json')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/"done": ?true,"intent": ?"accept-country"/),
    });
    expect(await read(other.email)).toMatchObject({ country: 'FR', waiting: null });
  });
});
