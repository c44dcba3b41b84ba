// The second guard of "exactly once" compares signups (signup_id). Also tests what a report changes.
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import type { ContractStatus } from '../../db/tables/service-contracts.ts';
import { runBilling } from '../../server/billing/invoices/invoicing.ts';
import { openApp, type TestInstance } from '../support/app/app.ts';
import { recordLog } from '../support/app/log.ts';
import { retryWhileBusy } from '../support/app/patience.ts';
import { openClient } from '../support/app/trpc.ts';
import { buildSignup, sendSignup } from '../support/crm/crm.ts';
import { shuffle } from '../support/run/random.ts';
import { shared } from '../support/run/shared.ts';

const start = Date.now();
let clock = start;
const now = () => new Date(clock);
/** Returns the time that is `seconds` after the start of the test, as a message states it. */
const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();
const trialEnd = at(3_600);

const app = shared(() => openApp({ now }));
afterEach(() => {
  clock = start;
});

const email = 'customer@example.test';
const trialing = { plan: 'starter', status: 'trialing', trial_ends_at: trialEnd };
const active = { plan: 'pro', status: 'active' };
const canceled = { plan: 'pro', status: 'canceled' };

/** Sends a report, signed with the time of the test's clock, under a new webhook id. */
async function report(
  signupId: string,
  occurredAt: string,
  contract: ReturnType<typeof buildSignup>['contract'],
  changes: object = {},
  to: TestInstance = app,
) {
  const signup = buildSignup(signupId, {
    occurred_at: occurredAt,
    contract,
    user: { email, name: 'Casey' },
    ...changes,
  });
  const { status, text } = await retryWhileBusy(() => sendSignup(to, signup, { at: now() }));
  if (status >= 300) throw new Error(`a report was answered ${status}: ${text}`);
  return { httpStatus: status, ...JSON.parse(text) };
}

async function readContract(signupId: string) {
  const { rows } = await sql<{
    plan: string;
    status: string;
    trial_ends_at: Date | null;
    occurred_at: Date;
    price: (string | number | null)[];
    next_period_starts_at: Date | null;
    billing_anchor_day: number | null;
  }>`
    select plan, status, trial_ends_at, occurred_at, next_period_starts_at, billing_anchor_day,
      jsonb_build_array(price_currency, price_unit_amount, price_interval) as price
    from service_contracts where signup_id = ${signupId}`.execute(app.db);
  expect(rows).toHaveLength(1);
  return rows[0];
}

const setStatus = (signupId: string, status: ContractStatus) =>
  sql`update service_contracts set status = ${status} where signup_id = ${signupId}`.execute(app.db);

describe('a signup sent again under another webhook id', () => {
  it('updates the plan, the price and the end of the trial if it is newer (contract 7.13 and 7.23)', async () => {
    const first = await report('update', at(-60), {
      ...trialing,
      price: { currency: 'EUR', unit_amount: 2_900, interval: 'month' },
    });
    const second = await report('update', at(-59.999), {
      plan: 'pro',
      status: 'trialing',
      trial_ends_at: at(7_200),
      price: { currency: 'USD', unit_amount: 0, interval: 'year' },
    });
    expect(second).toEqual({
      httpStatus: 200,
      signup_id: 'update',
      applied: true,
      user: { id: first.user.id, created: false },
      account: { id: first.account.id, created: false },
      contract: {
        id: first.contract.id,
        status: 'trialing',
        plan: 'pro',
        trial_ends_at: at(7_200),
        cancels_at: null,
        price: { currency: 'USD', unit_amount: 0, interval: 'year', quantity: 1 },
        charges: [],
        created: false,
      },
    });
    expect(await readContract('update')).toMatchObject({
      plan: 'pro',
      occurred_at: new Date(start - 59_999),
      price: ['USD', 0, 'year'],
    });
  });

  it('removes the price and the end of the trial if it leaves them out', async () => {
    await report('removes', at(-60), {
      ...trialing,
      price: { currency: 'EUR', unit_amount: 0, interval: 'month' },
    });
    expect((await report('removes', at(-50), active)).contract).toMatchObject({ trial_ends_at: null });
    expect(await readContract('removes')).toMatchObject({ trial_ends_at: null, price: [null, null, null] });
  });

  it.each([
    ['as old', -60],
    ['older', -61],
    ['older by a millisecond', -60.001],
    ['much older', -1_000_000],
  ])('changes nothing if it is %s (contract 7.14 and 7.23)', async (why, seconds) => {
    const id = `old_${why.replaceAll(' ', '_')}`;
    const first = await report(id, at(-60), trialing);
    const before = await readContract(id);
    const second = await report(id, at(seconds), {
      ...active,
      price: { currency: 'USD', unit_amount: 1, interval: 'year' },
    });
    expect(second.contract).toEqual({ ...first.contract, created: false });
    expect([second.httpStatus, second.applied]).toEqual([200, false]);
    expect(second.reason).toBe(why === 'as old' ? 'same_time' : 'older');
    expect(await readContract(id)).toEqual(before);
  });

  it('leaves one contract with the newest of 16 reports at once', async () => {
    const seconds = shuffle(Array.from({ length: 16 }, (_, index) => index));
    const reports = await Promise.all(
      seconds.map((second) => report('shuffled', at(second - 100), { ...trialing, plan: `plan_${second}` })),
    );
    expect(reports.filter(({ contract }) => contract.created)).toHaveLength(1);
    expect(new Set(reports.map(({ contract }) => contract.id)).size).toBe(1);
    expect(await readContract('shuffled')).toMatchObject({ plan: 'plan_15' });
  });

  it('stays with its user and account, even if it names somebody else now', async () => {
    const first = await report('stays', at(-60), trialing);
    const counts = () =>
      sql`select (select count(*) from users), (select count(*) from accounts) as accounts,
        (select count(*) from mails) as mails`.execute(app.db);
    const before = (await counts()).rows;
    for (const [index, other] of ['merchant@example.test', 'stranger@example.test'].entries()) {
      const changes = { user: { email: other, name: 'Other' }, account: { name: 'Other' } };
      const second = await report('stays', at(index - 50), { ...trialing, plan: `other_${index}` }, changes);
      expect(second).toMatchObject({
        user: { id: first.user.id, created: false },
        account: { id: first.account.id, created: false },
        contract: { id: first.contract.id, plan: `other_${index}` },
      });
    }
    expect((await counts()).rows).toEqual(before);
    const { rows } = await sql`select name from users where email in (${email}, 'merchant@example.test')
      union all select name from accounts where name = 'Other' order by 1`.execute(app.db);
    expect(rows).toEqual([{ name: 'Casey Customer' }, { name: 'Maya Merchant' }]);
  });
});

describe('the status of a contract (contract 7.14, 7.28, 7.32 and 7.43)', () => {
  const reports = { trialing, active, canceled };

  // The stored status, the reported one, the status after it, and whether the report changes the contract.
  it.each<[ContractStatus, keyof typeof reports, ContractStatus, boolean]>([
    ['trialing', 'trialing', 'trialing', true],
    ['trialing', 'active', 'active', true],
    ['trialing', 'canceled', 'canceled', true],
    ['active', 'active', 'active', true],
    ['active', 'trialing', 'active', false],
    ['active', 'canceled', 'canceled', true],
    ['past_due', 'active', 'active', true],
    ['past_due', 'trialing', 'past_due', false],
    ['past_due', 'canceled', 'canceled', true],
    ['canceled', 'trialing', 'canceled', false],
    ['canceled', 'active', 'canceled', false],
    ['canceled', 'canceled', 'canceled', false],
    ['expired', 'trialing', 'expired', false],
    ['expired', 'active', 'expired', false],
    ['expired', 'canceled', 'expired', false],
  ])('that is %s and reported as %s is then %s', async (from, reported, to, isChanged) => {
    const id = `state_${from}_${reported}`;
    await report(id, at(-60), trialing);
    await setStatus(id, from);
    const before = await readContract(id);
    const answer = await report(id, at(-50), { ...reports[reported], plan: 'reported' });
    expect([answer.httpStatus, answer.applied, answer.contract.status]).toEqual([200, isChanged, to]);
    const why = ['canceled', 'expired'].includes(from) ? 'ended' : 'not_allowed';
    expect(answer.reason).toBe(isChanged ? undefined : why);
    // In any state, the first reason to refuse a report is that it is not newer.
    for (const [seconds, reason] of [
      [-50, isChanged ? 'same_time' : why],
      [-60, isChanged ? 'older' : 'same_time'],
      [-61, 'older'],
    ] as const)
      expect(await report(id, at(seconds), reports[reported])).toMatchObject({ applied: false, reason });
    expect(answer.contract.plan).toBe(isChanged ? 'reported' : 'starter');
    const after = await readContract(id);
    if (isChanged) expect(after).toMatchObject({ status: to, plan: 'reported' });
    else expect(after).toEqual(before);
  });

  it('is expired from the instant the trial ends, for the CRM and for its user (contract 7.30)', async () => {
    const { contract } = await report('ends', at(-60), trialing);
    const client = openClient(app.send, await app.login(email));
    const statusNow = async () => {
      const { contract: told } = await report('ends', at(-60), trialing);
      const seen = (await client.contracts.list.query()).find(({ id }) => id === contract.id);
      expect(seen?.status).toBe(told.status);
      return told.status;
    };
    clock = Date.parse(trialEnd) - 1;
    expect(await statusNow()).toBe('trialing');
    clock = Date.parse(trialEnd);
    expect(await statusNow()).toBe('expired');
    clock += 24 * 3_600_000;
    expect(await statusNow()).toBe('expired');
  });

  it('stays expired after the trial has ended, despite any report for any time', async () => {
    await report('late', at(-60), trialing);
    const before = await readContract('late');
    clock = Date.parse(trialEnd);
    const reported = [active, canceled, { ...trialing, trial_ends_at: at(100_000) }];
    const sendAll = async () => {
      for (const contract of reported) {
        for (const occurredAt of [at(0), trialEnd, at(3_601)]) {
          const answer = await report('late', occurredAt, contract);
          expect([answer.httpStatus, answer.applied, answer.contract]).toMatchObject([
            200,
            false,
            { status: 'expired', plan: 'starter', trial_ends_at: trialEnd },
          ]);
        }
      }
    };
    await sendAll();
    await runBilling({ db: app.db, now, log: recordLog().log });
    await sendAll();
    expect(await readContract('late')).toEqual({ ...before, status: 'expired' });
  });

  it('stays active if the trial became active in its last millisecond', async () => {
    await report('in_time', at(-60), trialing);
    clock = Date.parse(trialEnd) - 1;
    await report('in_time', at(0), { ...active, trial_ends_at: trialEnd });
    clock = Date.parse(trialEnd) + 1;
    const again = await report('in_time', at(0), active);
    expect(again.contract).toMatchObject({ status: 'active', trial_ends_at: trialEnd });
  });

  it('is expired at once if the first report is of a trial that is over (contract 7.15)', async () => {
    const contract = { ...trialing, trial_ends_at: at(0) };
    const answer = await report('over', at(-7_200), contract);
    expect(answer).toMatchObject({
      httpStatus: 201,
      applied: true,
      contract: { status: 'expired', created: true },
    });
    expect(await readContract('over')).toMatchObject({ status: 'expired' });
  });

  it('is canceled at once if the first report says so, and the customer is made all the same (contract 7.15)', async () => {
    const price = { currency: 'EUR', unit_amount: 2_900, interval: 'month' };
    const user = { email: 'gone-already@example.test', name: 'Gone' };
    const answer = await report('gone', at(-7_200), { ...canceled, price }, { user });
    expect(answer).toMatchObject({
      httpStatus: 201,
      applied: true,
      user: { created: true },
      account: { created: true },
      contract: { status: 'canceled', plan: 'pro', trial_ends_at: null, created: true },
    });
    const { rows } = await sql`select kind from mails where recipient = ${user.email}`.execute(app.db);
    expect(rows).toEqual([{ kind: 'welcome' }]);
    await runBilling({ db: app.db, now, log: recordLog().log });
    expect(await readContract('gone')).toMatchObject({ status: 'canceled', next_period_starts_at: null });
    const late = await report('gone', at(-60), active);
    expect(late).toMatchObject({ httpStatus: 200, applied: false, contract: { status: 'canceled' } });
  });

  it('follows reports that repeat the end of a trial for good, and never expires by it', async () => {
    await report('whole', at(-60), trialing);
    clock = Date.parse(trialEnd) - 1;
    const { trial_ends_at } = trialing;
    await report('whole', at(3_590), { ...active, trial_ends_at });
    clock += 90 * 24 * 3_600_000;
    const seconds = (clock - start) / 1_000;
    await report('whole', at(seconds - 2), { ...active, plan: 'larger', trial_ends_at });
    expect(await readContract('whole')).toMatchObject({ status: 'active', plan: 'larger' });
    await runBilling({ db: app.db, now, log: recordLog().log });
    expect(await readContract('whole')).toMatchObject({ status: 'active' });
    // Only a report that says `trialing` makes a trial.
    const again = await report('whole', at(seconds - 1), { ...trialing, trial_ends_at: at(seconds + 60) });
    expect(again).toMatchObject({ applied: false, contract: { status: 'active', trial_ends_at } });
    const end = await report('whole', at(seconds), { ...canceled, trial_ends_at });
    expect(end).toMatchObject({ applied: true, contract: { status: 'canceled', trial_ends_at } });
  });

  it('stays expired even if a report repeats or moves the end', async () => {
    await report('over_and_out', at(-60), trialing);
    clock = Date.parse(trialEnd) + 24 * 3_600_000;
    for (const [index, trial_ends_at] of [trialEnd, at(-120), at(10 * 24 * 3_600)].entries()) {
      const answer = await report('over_and_out', at(3_700 + index), { ...active, trial_ends_at });
      expect(answer).toMatchObject({
        applied: false,
        contract: { status: 'expired', trial_ends_at: trialEnd },
      });
    }
  });

  it('may be reported canceled with an end of the trial, or without', async () => {
    await report('ends_trial', at(-60), trialing);
    await report('ends_trial', at(-50), { ...canceled, trial_ends_at: trialEnd });
    expect(await readContract('ends_trial')).toMatchObject({ status: 'canceled', plan: 'pro' });
  });

  it('is canceled once of 16 reports at once, on two instances', async () => {
    const other = await app.startInstance();
    for (const seconds of [Array(16).fill(-50), Array.from({ length: 16 }, (_, index) => index - 50)]) {
      const id = `herd_${new Set(seconds).size}`;
      await report(id, at(-60), active);
      const answers = await Promise.all(
        shuffle(seconds).map((second, index) =>
          report(id, at(second), { ...canceled, plan: `plan_${second + 50}` }, {}, index % 2 ? app : other),
        ),
      );
      const [applied, ...more] = answers.filter((answer) => answer.applied);
      expect(more).toEqual([]);
      expect(answers.map(({ contract }) => contract.status)).toEqual(Array(16).fill('canceled'));
      // The contract keeps the values of the report that was applied.
      expect(await readContract(id)).toMatchObject({ status: 'canceled', plan: applied?.contract.plan });
      const told = new Set(answers.map(({ contract }) => contract.plan));
      expect([...told]).toEqual([applied?.contract.plan]);
    }
  });
});
