import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Contract } from '../../db/tables/service-contracts.ts';
import { findEnd } from '../../server/billing/customers/cancel-contract.ts';
import { type Answer, locationOf, openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { type Browser, logIn, textOf } from '../support/app/visitor.ts';
import { arrangeSeller } from '../support/billing/customers.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
import { idOf as findId } from '../support/database/database.ts';
import { addStaff, call, formsOf, readData, readOutcome } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const owner = 'customer@example.test';
const page = '/profile/billing';
const clock = { at: new Date('2037-01-31T22:30:00Z') };

const app = shared(() => openApp({ now: () => clock.at }));
const customers = shared(() => arrangeSeller(app, clock));
beforeEach(async () => {
  await customers.setClock('2037-01-31T22:30:00.000Z');
  for (const table of ['rate_limits', 'mail_tokens', 'mails'])
    await sql`delete from ${sql.table(table)}`.execute(app.db);
});

const active = { status: 'active', trialEndsAt: null, cancelsAt: null };
const monthly = { price: { currency: 'EUR', unitAmount: 2_900, interval: 'month' }, billingAnchorDay: 31 };

describe('the end (contract 7.256)', () => {
  it.each([
    [
      'the period in progress is invoiced',
      { next: '2037-02-28T22:30:00Z' },
      '2037-02-10T00:00:00Z',
      '2037-02-28T22:30:00Z',
    ],
    ['the job is late', { next: '2037-01-31T22:30:00Z' }, '2037-02-10T00:00:00Z', '2037-02-28T22:30:00Z'],
    [
      'the job is months late',
      { next: '2037-01-31T22:30:00Z' },
      '2037-04-15T00:00:00Z',
      '2037-04-30T22:30:00Z',
    ],
    [
      'clocks were put forward in it',
      { next: '2037-03-31T22:30:00Z' },
      '2037-03-29T01:30:00Z',
      '2037-03-31T22:30:00Z',
    ],
    [
      'its last day is a leap day',
      { next: '2028-01-31T22:30:00Z' },
      '2028-02-01T00:00:00Z',
      '2028-02-29T22:30:00Z',
    ],
    [
      'a period begins at this instant',
      { next: '2037-02-28T22:30:00Z' },
      '2037-02-28T22:30:00Z',
      '2037-03-31T22:30:00Z',
    ],
    [
      'it is past due',
      { next: '2037-02-28T22:30:00Z', status: 'past_due' },
      '2037-05-02T00:00:00Z',
      '2037-05-31T22:30:00Z',
    ],
    [
      'there is no price any more',
      { next: '2037-01-31T22:30:00Z', price: null },
      '2037-02-10T00:00:00Z',
      '2037-02-10T00:00:00Z',
    ],
    ['there never was a price', { next: null, price: null }, '2037-02-10T00:00:00Z', '2037-02-10T00:00:00Z'],
    [
      'it is a trial',
      { next: null, status: 'trialing', trialEndsAt: new Date('2037-03-01Z') },
      '2037-02-10T00:00:00Z',
      '2037-02-10T00:00:00Z',
    ],
  ])('where %s', (_, { next, ...changes }, now, end) => {
    const nextPeriodStartsAt = next === null ? null : new Date(next);
    const contract = { ...active, ...monthly, ...changes, nextPeriodStartsAt } as Contract;
    expect(findEnd(contract, new Date(now))).toEqual(new Date(end));
  });
});

const open = () => logIn(app.send, owner);
const post = (browser: Browser, intent: string, contract: string, more = {}) =>
  browser.send(page, { form: { intent, contract, ...more } });
const savedOf = (answer: Awaited<ReturnType<typeof post>>) =>
  answer.status === 303 ? locationOf(answer).search : answer.status;

const read = async (id: string) =>
  (
    await sql<{ status: string; cancels_at: Date | null }>`select status, cancels_at from service_contracts
      where id = ${id}`.execute(app.db)
  ).rows[0];
const listMails = async () =>
  (
    await sql<{
      kind: string;
    }>`select kind from mails where kind like 'contract_%' and kind <> 'contract_added'
      order by created_at, id`.execute(app.db)
  ).rows.map(({ kind }) => kind);
const presentStatus = async (id: string) => {
  const client = openClient(app.send, await app.login(owner));
  return (await client.contracts.list.query()).find((contract) => contract.id === id)?.status;
};

const idOf = async (signupId: string, contract = {}): Promise<string> =>
  (await customers.report(signupId, { contract })).contract.id;

it('says first what canceling means, ends with the period, and is kept until then (contract 7.256, 7.258 and 7.259)', async () => {
  const id = await idOf('cancels');
  await customers.bill();
  await customers.setClock('2037-02-10T10:00:00.000Z');
  const browser = await open();
  expect(textOf(await browser.send(page))).toMatch(/The contract goes on until 27 February 2037/);
  expect(savedOf(await post(browser, 'cancel', id))).toBe('?saved=cancel');
  expect(await read(id)).toEqual({ status: 'active', cancels_at: new Date('2037-02-28T21:59:59.999Z') });
  const shown = await browser.send(`${page}?saved=cancel`);
  expect(textOf(shown)).toMatch(/The last day is 27 February 2037/);
  expect(shown.text).not.toContain('value="cancel"');
  // A second request changes nothing and mails nothing.
  expect(savedOf(await post(browser, 'cancel', id))).toBe('?saved=cancel');
  expect(await listMails()).toEqual(['contract_cancel_asked']);
  expect(savedOf(await post(browser, 'keep-contract', id))).toBe('?saved=keep-contract');
  expect(savedOf(await post(browser, 'keep-contract', id))).toBe('?saved=keep-contract');
  expect(await read(id)).toEqual({ status: 'active', cancels_at: null });
  expect(await listMails()).toEqual(['contract_cancel_asked', 'contract_kept']);
});

it('is canceled for everybody from that instant, however late the job, and no period begins (contract 7.257 and 7.258)', async () => {
  const id = await idOf('ends');
  await customers.bill();
  await customers.setClock('2037-02-10T10:00:00.000Z');
  await post(await open(), 'cancel', id);
  // The invoices are paid, so that the contract is not past due.
  for (const number of await customers.numbers()) await customers.pay(number).catch(() => undefined);
  await customers.setClock('2037-02-28T21:59:59.998Z');
  expect(await presentStatus(id)).toBe('active');
  await customers.setClock('2037-02-28T21:59:59.999Z');
  expect(await presentStatus(id)).toBe('canceled');
  const browser = await open();
  const kept = await post(browser, 'keep-contract', id);
  expect([kept.status, textOf(kept)]).toEqual([422, expect.stringContaining('has already ended')]);
  const canceled = await post(browser, 'cancel', id);
  expect([canceled.status, textOf(canceled)]).toEqual([422, expect.stringContaining('has already ended')]);
  const answer = await customers.report('ends');
  expect(answer).toMatchObject({ applied: false, reason: 'ended', contract: { status: 'canceled' } });
  await customers.bill();
  await customers.bill();
  expect(await read(id)).toMatchObject({ status: 'canceled' });
  const { rows } = await sql`select from invoices where contract_id = ${id}`.execute(app.db);
  expect(rows).toHaveLength(1);
});

it('goes on being canceled whatever the CRM reports until then (contract 7.257)', async () => {
  const id = await idOf('reported');
  await customers.bill();
  await customers.setClock('2037-02-10T10:00:00.000Z');
  await post(await open(), 'cancel', id);
  const price = { currency: 'EUR', unit_amount: 9_900, interval: 'year' };
  expect(await customers.report('reported', { contract: { plan: 'pro', price } })).toMatchObject({
    applied: true,
  });
  expect(await read(id)).toEqual({ status: 'active', cancels_at: new Date('2037-02-28T21:59:59.999Z') });
  // Before its last day is over, the contract ends only if the CRM reports its end.
  await customers.report('reported', { contract: { status: 'canceled' } });
  expect((await read(id))?.status).toBe('canceled');
});

it('that the CRM ends is kept only until then, and only if somebody ended it sooner (contract 7.525, 7.526 and 7.258)', async () => {
  const id = await idOf('ends-by-report');
  await customers.bill();
  await customers.setClock('2037-02-10T10:00:00.000Z');
  const reported = new Date('2037-06-01T00:00:00.000Z');
  await customers.report('ends-by-report', { contract: { cancels_at: reported.toISOString() } });
  const browser = await open();
  expect((await post(browser, 'keep-contract', id)).status).toBe(422);
  expect(savedOf(await post(browser, 'cancel', id))).toBe('?saved=cancel');
  const chosen = new Date('2037-02-28T21:59:59.999Z');
  expect(await read(id)).toEqual({ status: 'active', cancels_at: chosen });
  expect(savedOf(await post(browser, 'keep-contract', id))).toBe('?saved=keep-contract');
  expect(await read(id)).toEqual({ status: 'active', cancels_at: reported });
  // If the CRM reports an earlier end, that end counts, and the customer cannot take it back.
  await post(browser, 'cancel', id);
  const sooner = new Date('2037-02-20T00:00:00.000Z');
  await customers.setClock('2037-02-11T10:00:00.000Z');
  await customers.report('ends-by-report', { contract: { cancels_at: sooner.toISOString() } });
  expect(await read(id)).toEqual({ status: 'active', cancels_at: sooner });
  expect((await post(await open(), 'keep-contract', id)).status).toBe(422);
  await customers.setClock('2037-02-12T10:00:00.000Z');
  await customers.report('ends-by-report', { contract: {} });
  expect(await read(id)).toEqual({ status: 'active', cancels_at: chosen });
});

it('ends a trial at once, for good (contract 7.256)', async () => {
  const id = await idOf('trial', { status: 'trialing', trial_ends_at: '2037-02-14T00:00:00.000Z' });
  const browser = await open();
  expect(textOf(await browser.send(page))).toContain('Your trial ends at once');
  expect(savedOf(await post(browser, 'cancel', id))).toBe('?saved=cancel');
  expect(await read(id)).toEqual({ status: 'canceled', cancels_at: clock.at });
  expect((await post(browser, 'keep-contract', id)).status).toBe(422);
});

it('a contract is canceled once by 16 at once, and kept once by 16 at once', async () => {
  const id = await idOf('many');
  await customers.bill();
  const browser = await open();
  for (const [intent, mail] of [
    ['cancel', 'contract_cancel_asked'],
    ['keep-contract', 'contract_kept'],
  ] as const) {
    const answers = await Promise.all(Array.from({ length: 16 }, () => post(browser, intent, id)));
    expect(answers.map(savedOf)).toEqual(Array(16).fill(`?saved=${intent}`));
    expect((await listMails()).filter((kind) => kind === mail)).toEqual([mail]);
    const { rows } = await sql`select from audit_events where details ->> 'contractId' = ${id}
      and type = ${intent === 'cancel' ? 'contract.cancel_asked' : 'contract.kept'}`.execute(app.db);
    expect(rows).toHaveLength(1);
  }
});

it('past due and then canceled, what began before is invoiced at the end (contract 7.82 and 7.256)', async () => {
  // This test has a year of its own, because dates of documents never go back.
  await customers.setClock('2038-01-31T22:30:00.000Z');
  const id = await idOf('behind');
  await customers.bill();
  await customers.setClock('2038-03-05T10:00:00.000Z');
  await customers.bill();
  expect(await read(id)).toMatchObject({ status: 'past_due' });
  await post(await open(), 'cancel', id);
  expect(await read(id)).toEqual({ status: 'past_due', cancels_at: new Date('2038-03-31T21:59:59.999Z') });
  await customers.setClock('2038-04-20T10:00:00.000Z');
  await customers.bill();
  expect((await read(id))?.status).toBe('canceled');
  const { rows } = await sql<{ first_day: string }>`select d.first_day::text from documents d
    join invoices i on i.number = d.invoice where i.contract_id = ${id} order by 1`.execute(app.db);
  expect(rows.map(({ first_day }) => first_day)).toEqual(['2038-01-31', '2038-02-28']);
});

it('asks for a credential, after everything that is refused anyway (contract 7.255)', async () => {
  const id = await idOf('asks');
  const browser = await open();
  await sql`update sessions set auth_time = auth_time - interval '11 minutes'`.execute(app.db);
  for (const intent of ['cancel', 'keep-contract']) {
    const asked = await post(browser, intent, id);
    expect([asked.status, textOf(asked)]).toEqual([
      401,
      expect.stringMatching(/to (cancel|keep) the contract/),
    ]);
  }
  expect((await post(browser, 'cancel', '0190f5a0-0000-7000-8000-000000000000')).status).toBe(404);
  expect((await post(browser, 'cancel', 'x'.repeat(500))).status).toBe(404);
  expect(await read(id)).toMatchObject({ cancels_at: null });
  const confirmPassword = 'local demo password';
  expect(savedOf(await post(browser, 'cancel', id, { confirmPassword }))).toBe('?saved=cancel');
});

it('is for the account alone', async () => {
  const id = await idOf('own');
  for (const email of ['merchant@example.test', 'admin@example.test']) {
    const client = openClient(app.send, await app.login(email));
    for (const procedure of [client.contracts.cancel, client.contracts.keep])
      expect(await refusalOf(procedure.mutate({ contract: id }))).toMatchObject({
        httpStatus: 404,
        problem: 'not_found',
      });
  }
  const unproved = openClient(app.send, await app.login('unverified@example.test'));
  expect(await refusalOf(unproved.contracts.cancel.mutate({ contract: id }))).toMatchObject({
    httpStatus: 403,
    problem: 'email_unverified',
  });
  expect((await app.send(page, { form: { intent: 'cancel', contract: id } })).status).toBe(303);
  expect(await read(id)).toMatchObject({ cancels_at: null });
});

it('is not offered where the seller does not let customers cancel, who can still keep what they canceled (contract 7.255)', async () => {
  const id = await idOf('offered');
  const browser = await open();
  await post(browser, 'cancel', id);
  const other = await idOf('not-offered');
  await setSettings(app.db, {
    ...germanSettings,
    terms: { ...germanSettings.terms, customers_may_cancel: false },
  });
  const shown = await browser.send(page);
  expect([shown.text.includes('value="cancel"'), shown.text.includes('value="keep-contract"')]).toEqual([
    false,
    true,
  ]);
  const refused = await post(browser, 'cancel', other);
  expect([refused.status, textOf(refused)]).toEqual([
    403,
    expect.stringContaining('cannot be canceled here'),
  ]);
  expect(savedOf(await post(browser, 'keep-contract', id))).toBe('?saved=keep-contract');
  await setSettings(app.db);
});

it('cannot be asked for while there is no seller (contract 7.255)', async () => {
  const id = await idOf('no-seller');
  const browser = await open();
  await sql`update billing_settings set stopped_at = now()`.execute(app.db);
  expect((await post(browser, 'cancel', id)).status).toBe(403);
  expect(await read(id)).toMatchObject({ cancels_at: null });
  await setSettings(app.db);
});

it('can be done ten times a day, and undone as often (contract 7.260)', async () => {
  const id = await idOf('often');
  const browser = await open();
  for (let nth = 0; nth < 10; nth++) {
    expect((await post(browser, 'cancel', id)).status).toBe(303);
    expect((await post(browser, 'keep-contract', id)).status).toBe(303);
  }
  expect((await post(browser, 'cancel', id)).status).toBe(429);
});

describe('for a caller, by staff (contract 7.160, 7.425 to 7.427 and 7.593)', () => {
  const why = 'They called, and read us their invoice.';

  async function openStaff(role: 'admin' | 'manager' = 'admin', accountId?: string) {
    const staff = await addStaff(app, role, { authTime: clock.at });
    await sql`update sessions set created_at = ${clock.at}, last_seen_at = ${clock.at}
      where user_id = ${staff.id}`.execute(app.db);
    if (accountId)
      await sql`update users set account_id = ${accountId} where id = ${staff.id}`.execute(app.db);
    return staff;
  }
  const pageOf = async () => `/admin/people/${await findId(app.db, owner)}/billing`;
  const openPage = async ({ cookie }: { cookie: string }) => app.send(await pageOf(), { cookie });
  const send = async ({ cookie }: { cookie: string }, form: Record<string, string> | undefined) =>
    savedOf(await app.send(await pageOf(), { cookie, form: { why, ...form } }));
  async function ask(staff: { cookie: string }, name: string, contract: string) {
    const answer = await call(app, `billing.${name}`, staff.cookie, { contract, why });
    return answer.status === 200 ? readData(answer) : readOutcome(answer);
  }
  const listTold = async () =>
    (
      await sql<{ by: string | null }>`select details ->> 'by' as by from mails
        where kind = 'contract_cancel_asked' order by created_at, id`.execute(app.db)
    ).rows.map(({ by }) => by);
  const countActs = async (id: string) =>
    (
      await sql`select from audit_events where type = 'staff.cancel_contract'
        and details ->> 'contractId' = ${id} and why is not null`.execute(app.db)
    ).rows.length;
  const offersOn = (page: Answer, id: string) =>
    [...formsOf(page).keys()].filter((key) => key.endsWith(id)).map((key) => key.split(' ')[0]);

  it('it ends with the period, on the day that the form says, and its customer can keep it', async () => {
    const id = await idOf('staff-period');
    const admin = await openStaff();
    const page = await openPage(admin);
    expect(textOf(page)).toContain('Cancel at the end of the period (27 February 2037)');
    expect(textOf(page)).toContain('goes on until 27 February 2037, its last day');
    expect(offersOn(page, id)).toEqual(['cancel-at-period-end', 'cancel']);
    const form = formsOf(page).get(`cancel-at-period-end ${id}`);
    expect(await send(admin, form)).toBe('?saved=cancel-at-period-end');
    expect(await read(id)).toEqual({ status: 'active', cancels_at: new Date('2037-02-28T21:59:59.999Z') });
    expect(await listTold()).toEqual(['support']);
    expect(await countActs(id)).toBe(1);
    const after = await app.send(`${await pageOf()}?saved=cancel-at-period-end`, { cookie: admin.cookie });
    expect(textOf(after)).toContain('The contract is canceled. Its last day is below');
    expect(offersOn(after, id)).toEqual(['cancel']);
    expect(await ask(admin, 'endAtPeriodEnd', id)).toEqual({ done: false });
    expect(await listTold()).toEqual(['support']);
    expect(savedOf(await post(await open(), 'keep-contract', id))).toBe('?saved=keep-contract');
    expect(await read(id)).toEqual({ status: 'active', cancels_at: null });
  });

  it('it ends at once, also if it was to end later', async () => {
    const id = await idOf('staff-now');
    await customers.setClock('2037-02-10T10:00:00.000Z');
    const admin = await openStaff();
    expect(await ask(admin, 'endAtPeriodEnd', id)).toEqual({ done: true, lastDay: '2037-02-27' });
    clock.at = new Date(clock.at.getTime() + 1);
    const form = formsOf(await openPage(admin)).get(`cancel ${id}`);
    expect(await send(admin, form)).toBe('?saved=cancel');
    expect(await read(id)).toEqual({ status: 'canceled', cancels_at: clock.at });
    expect(await listTold()).toEqual(['support', 'support']);
    const page = await openPage(admin);
    expect(offersOn(page, id)).toEqual([]);
    expect(await ask(admin, 'endAtPeriodEnd', id)).toEqual({ done: false });
    expect(await ask(admin, 'cancelContract', id)).toEqual({ done: false });
    expect(await countActs(id)).toBe(2);
  });

  it.each(['endAtPeriodEnd', 'cancelContract'])(
    '%s is done once by 16 at once, with one mail',
    async (name) => {
      const id = await idOf(`staff-many-${name}`);
      const admin = await openStaff();
      const answers = await Promise.all(Array.from({ length: 16 }, () => ask(admin, name, id)));
      expect(answers.filter(({ done }) => done)).toHaveLength(1);
      expect(answers.filter(({ done }) => done === false)).toHaveLength(15);
      expect([await listTold(), await countActs(id)]).toEqual([['support'], 1]);
    },
  );

  it('a form is refused once its day is no longer true', async () => {
    const id = await idOf('staff-late');
    await customers.setClock('2037-02-28T21:55:00.000Z');
    const admin = await openStaff();
    const form = formsOf(await openPage(admin)).get(`cancel-at-period-end ${id}`);
    await customers.setClock('2037-02-28T22:00:00.000Z');
    expect(await send(admin, form)).toBe(409);
    expect(await read(id)).toMatchObject({ cancels_at: null });
  });

  it('a trial, which has no period, is only ended at once', async () => {
    const id = await idOf('staff-trial', { status: 'trialing', trial_ends_at: '2037-02-14T00:00:00.000Z' });
    const admin = await openStaff();
    expect(offersOn(await openPage(admin), id)).toEqual(['cancel']);
    expect(await ask(admin, 'endAtPeriodEnd', id)).toEqual({ done: true });
    expect(await read(id)).toEqual({ status: 'canceled', cancels_at: clock.at });
  });

  it('it is possible where customers may not cancel, without a seller, and more than ten times a day', async () => {
    const id = await idOf('staff-may');
    const admin = await openStaff();
    await setSettings(app.db, {
      ...germanSettings,
      terms: { ...germanSettings.terms, customers_may_cancel: false },
    });
    const customer = await open();
    for (let nth = 0; nth < 11; nth++) {
      expect(await ask(admin, 'endAtPeriodEnd', id)).toMatchObject({ done: true });
      clock.at = new Date(clock.at.getTime() + 1);
      expect((await post(customer, 'keep-contract', id)).status).toBe(303);
    }
    await sql`update billing_settings set stopped_at = now()`.execute(app.db);
    // Without a seller, days begin at midnight in UTC.
    expect(await ask(admin, 'endAtPeriodEnd', id)).toEqual({ done: true, lastDay: '2037-02-27' });
    await setSettings(app.db);
  });

  it('it is for administrators alone, and not in their own account', async () => {
    const id = await idOf('staff-rights');
    const admin = await openStaff();
    const form = formsOf(await openPage(admin)).get(`cancel-at-period-end ${id}`);
    const manager = await openStaff('manager');
    const { rows } = await sql<{ id: string }>`select account_id as id from users
      where email = ${owner}`.execute(app.db);
    const own = await openStaff('admin', rows[0]?.id);
    for (const [staff, status, outcome] of [
      [manager, 404, '404 not_found'],
      [own, 403, '403 not_allowed'],
    ] as const) {
      expect(offersOn(await openPage(staff), id)).toEqual([]);
      expect(await send(staff, form)).toBe(status);
      expect(await ask(staff, 'endAtPeriodEnd', id)).toBe(outcome);
    }
    await sql`delete from users where id = ${own.id}`.execute(app.db);
    expect(await read(id)).toMatchObject({ status: 'active', cancels_at: null });
  });
});

it('can also come at once, by command (contract 7.160)', async () => {
  const id = await idOf('by-command');
  await post(await open(), 'cancel', id);
  const { out } = await runCli(app.databaseUrl, ['contract:cancel', 'by-command']);
  expect(out).toBe('The contract is canceled.\n');
  expect((await read(id))?.status).toBe('canceled');
  expect(await listMails()).toEqual(['contract_cancel_asked', 'contract_cancel_asked']);
});
