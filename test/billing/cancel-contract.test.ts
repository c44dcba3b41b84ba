import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Contract } from '../../db/tables/service-contracts.ts';
import { findEnd } from '../../server/billing/customers/cancel-contract.ts';
import { locationOf, openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { type Browser, logIn, textOf } from '../support/app/visitor.ts';
import { arrangeSeller } from '../support/billing/customers.ts';
import { germanSettings, setSettings } from '../support/billing/settings.ts';
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
  expect(await read(id)).toEqual({ status: 'active', cancels_at: new Date('2037-02-28T22:30:00Z') });
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
  await customers.setClock('2037-02-28T22:29:59.999Z');
  expect(await presentStatus(id)).toBe('active');
  await customers.setClock('2037-02-28T22:30:00.000Z');
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
  expect(await read(id)).toEqual({ status: 'active', cancels_at: new Date('2037-02-28T22:30:00Z') });
  // Before that time, only a report that the contract is over ends it.
  await customers.report('reported', { contract: { status: 'canceled' } });
  expect((await read(id))?.status).toBe('canceled');
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
  expect(await read(id)).toEqual({ status: 'past_due', cancels_at: new Date('2038-03-31T22:30:00Z') });
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

it('can also come at once, by command (contract 7.160)', async () => {
  const id = await idOf('by-command');
  await post(await open(), 'cancel', id);
  const { out } = await runCli(app.databaseUrl, ['contract:cancel', 'by-command']);
  expect(out).toContain('The contract is canceled.');
  expect((await read(id))?.status).toBe('canceled');
});
