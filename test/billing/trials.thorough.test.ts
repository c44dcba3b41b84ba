// A trial that is over counts as expired for everybody from that moment. The billing job stores it as expired.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBilling } from '../../server/billing/invoices/invoicing.ts';
import { recordLog } from '../support/app/log.ts';
import { openBilling } from '../support/crm/billing.ts';
import { connect } from '../support/database/postgres.ts';
import { shared } from '../support/run/shared.ts';

const start = '2026-01-31T10:00:00.000Z';
const end = '2026-02-14T10:00:00.000Z';
const trial = { status: 'trialing', trial_ends_at: end };
const moved = ['contract.moved expire'];

const billing = shared(() => openBilling());
beforeEach(() => billing.setClock(start));
afterEach(() => expect(billing.takeFaults()).toEqual([]));

describe('the billing job stores that a trial is over', () => {
  it('from the moment on, once, and changes nothing else', async () => {
    const contractId = await billing.report('ends', trial);
    const before = await readRow(contractId);
    await billing.setClock('2026-02-14T09:59:59.999Z');
    await billing.bill();
    expect(await readRow(contractId)).toEqual(before);
    await billing.setClock(end);
    await billing.bill();
    await billing.bill();
    expect(await readRow(contractId)).toEqual({ ...before, status: 'expired' });
    expect(await billing.eventsOf({ contractId })).toEqual(moved);
  });

  it('once when it runs sixteen times at once, beside two instances', async () => {
    const { app } = billing;
    await app.startInstance();
    const other = connect(app.databaseUrl, { poolSize: 8 });
    const ids: string[] = [];
    for (const at of [0, 1, 2, 3]) ids.push(await billing.report(`at-once-${at}`, trial));
    await billing.setClock(end);
    await Promise.all(Array.from({ length: 16 }, (_, at) => billing.bill(at % 2 ? app.db : other.db)));
    await other.close();
    for (const contractId of ids) {
      expect(await billing.statusOf(contractId)).toBe('expired');
      expect(await billing.eventsOf({ contractId })).toEqual(moved);
    }
  });

  it('and not of one that goes on: extended, active or canceled in time', async () => {
    const extended = await billing.report('extended', trial);
    const active = await billing.report('active', trial);
    const canceled = await billing.report('canceled', trial);
    await billing.setClock('2026-02-14T09:59:59.999Z');
    await billing.report('extended', { ...trial, trial_ends_at: '2026-02-20T10:00:00.000Z' });
    await billing.report('active', { trial_ends_at: end });
    await billing.report('canceled', { status: 'canceled', trial_ends_at: end });
    await billing.setClock('2026-02-14T12:00:00.000Z');
    await billing.bill();
    const statuses = await Promise.all([extended, active, canceled].map(billing.statusOf));
    expect(statuses).toEqual(['trialing', 'active', 'canceled']);
    await billing.setClock('2026-02-20T10:00:00.000Z');
    await billing.bill();
    expect(await billing.statusOf(extended)).toBe('expired');
  });

  it('and the report that extends it in the last moment counts as a whole, or not at all', async () => {
    const ids: string[] = [];
    for (let at = 0; at < 16; at++) ids.push(await billing.report(`race-${at}`, trial));
    const longer = { ...trial, trial_ends_at: '2026-03-14T10:00:00.000Z' };
    await billing.setClock('2026-02-14T09:59:59.999Z');
    const { log } = recordLog();
    const atEnd = { db: billing.app.db, now: () => new Date(end), log };
    await Promise.all([runBilling(atEnd), ...ids.map((_, at) => billing.report(`race-${at}`, longer))]);
    for (const contractId of ids) {
      const { status, trial_ends_at } = await readRow(contractId);
      expect([status, trial_ends_at.toISOString()]).toEqual(
        status === 'expired' ? ['expired', end] : ['trialing', longer.trial_ends_at],
      );
    }
  });

  it('of more trials than it takes at a time, whichever of them fails', async () => {
    const first = await billing.report('many', trial);
    await sql`
      insert into service_contracts (id, user_id, account_id, signup_id, plan, status, trial_ends_at, occurred_at)
      select gen_random_uuid(), user_id, account_id, 'many-' || n, case n when 1 then 'stuck' else plan end, status,
        trial_ends_at - interval '1 hour', occurred_at
      from service_contracts, generate_series(1, 250) n where id = ${first}`.execute(billing.app.db);
    await sql`create function refuse() returns trigger language plpgsql as
      'begin raise exception ''refused''; end'`.execute(billing.app.db);
    await sql`create trigger refuse before update on service_contracts for each row
      when (new.plan = 'stuck') execute function refuse()`.execute(billing.app.db);
    await billing.setClock(end);
    await billing.bill();
    expect(billing.takeFaults()).toMatchObject([{ err: { message: 'refused' } }]);
    const left = () =>
      sql`select plan, status from service_contracts
        where signup_id like 'many%' and status <> 'expired'`.execute(billing.app.db);
    expect((await left()).rows).toEqual([{ plan: 'stuck', status: 'trialing' }]);
    await sql`drop trigger refuse on service_contracts`.execute(billing.app.db);
    await billing.bill();
    expect((await left()).rows).toEqual([]);
  });
});

async function readRow(contractId: string) {
  const { rows } = await sql<{ status: string; trial_ends_at: Date }>`
    select * from service_contracts where id = ${contractId}`.execute(billing.app.db);
  if (!rows[0]) throw new Error('there is no such contract');
  return rows[0];
}
