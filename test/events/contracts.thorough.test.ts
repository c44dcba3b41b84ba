// Contract 10.12, `contract.updated`: the CRM app is told of each new contract and each change, in the form of the list of
// contracts.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { buildSignup, pushSignup, sendSignup } from '../support/crm/crm.ts';
import { bearerOf, latestOf, readOn, type WireEvent } from '../support/events/events.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const price = { currency: 'EUR', unit_amount: 2_900, interval: 'month' };
const start = Date.now();
const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();

async function during(work: () => Promise<unknown>) {
  const clients = ['crm_app', 'marketplace'] as const;
  const [crm = 0, market = 0] = await Promise.all(clients.map((client) => latestOf(app, client)));
  await work();
  expect(await readOn(app, 'marketplace', market)).toEqual([]);
  return readOn(app, 'crm_app', crm);
}

async function listContracts(): Promise<Record<string, unknown>[]> {
  const { text } = await app.send('/integrations/crm/contracts?limit=1000', {
    headers: bearerOf(app, 'crm_app'),
  });
  return JSON.parse(text).contracts;
}

it('carries what the list of contracts says, and brings no other event about that user', async () => {
  const contract = { plan: 'starter', status: 'trialing', trial_ends_at: at(3_600), price };
  const signup = buildSignup('told', { occurred_at: at(-60), contract });
  const heard = await during(async () => {
    await pushSignup(app, signup);
    await sql`update users set name = 'Unknown to the CRM app' where email = 'told@example.test'`.execute(
      app.db,
    );
  });
  const listed = (await listContracts()).find(({ signup_id }) => signup_id === 'told');
  expect(listed).toMatchObject({ status: 'trialing', price });
  expect(heard).toEqual([
    {
      seq: expect.any(Number),
      type: 'contract.updated',
      occurred_at: expect.any(String),
      user_id: listed?.user_id,
      signup_id: 'told',
      contract: listed,
    },
  ]);
});

it('is sent once for each change, no matter who makes it, and for nothing else', async () => {
  const contract = { plan: 'starter', status: 'active', price };
  const report = (seconds: number, plan: string) =>
    sendSignup(app, buildSignup('moves', { occurred_at: at(seconds), contract: { ...contract, plan } }));
  const change = (what: ReturnType<typeof sql>) =>
    sql`update service_contracts set ${what} where signup_id = 'moves'`.execute(app.db);
  const plansAndStates = async (work: () => Promise<unknown>) =>
    (await during(work)).map(({ contract: told }) => `${told?.plan} ${told?.status}`);

  expect(await plansAndStates(() => report(-60, 'starter'))).toEqual(['starter active']);
  expect(await plansAndStates(() => report(-50, 'pro'))).toEqual(['pro active']);
  // An older report makes no event. Neither does a change by billing, nor a change of the order in the list.
  expect(await plansAndStates(() => report(-55, 'starter'))).toEqual([]);
  expect(
    await plansAndStates(() => change(sql`next_period_starts_at = now(), arrival_number = null`)),
  ).toEqual([]);
  expect(await plansAndStates(listContracts)).toEqual([]);
  expect(await plansAndStates(() => change(sql`status = 'past_due'`))).toEqual(['pro past_due']);
  expect(await plansAndStates(() => change(sql`status = 'active'`))).toEqual(['pro active']);
  const ends = at(3_600);
  for (const cancelsAt of [ends, null])
    expect(await during(() => change(sql`cancels_at = ${cancelsAt}`))).toMatchObject([
      { type: 'contract.updated', contract: { status: 'active', cancels_at: cancelsAt } },
    ]);
  const cancel = async () =>
    expect(await runCli(app.databaseUrl, ['contract:cancel', 'moves'])).toMatchObject({ code: 0 });
  expect(await plansAndStates(cancel)).toEqual(['pro canceled']);
});

it('says of a trial what it was at that moment', async () => {
  const contract = {
    plan: 'starter',
    status: 'trialing',
    trial_ends_at: new Date(Date.now() + 4_000).toISOString(),
  };
  const before = await latestOf(app, 'crm_app');
  await pushSignup(app, buildSignup('short', { occurred_at: at(-60), contract }));
  await new Promise((done) => setTimeout(done, Date.parse(contract.trial_ends_at) + 100 - Date.now()));
  await sql`update service_contracts set plan = 'pro' where signup_id = 'short'`.execute(app.db);
  const told = (await readOn(app, 'crm_app', before)).map(
    ({ contract: each }) => `${each?.plan} ${each?.status}`,
  );
  // Between these two events there may be one that tells only the end of the trial.
  expect([told[0], told.at(-1)]).toEqual(['starter trialing', 'pro expired']);
});

it.each([
  'infinity',
  '10000-01-01T00:00:00Z',
  // In UTC this is a time of the year 10000.
  '9999-12-31T23:59:59-05:00',
])('bears a time that was set by hand, and that nobody can read: %s', async (time) => {
  const signup = `endless-${time.replace(/[^\w.:-]/g, '-')}`;
  await pushSignup(app, buildSignup(signup));
  const heard = await during(() =>
    sql`update service_contracts set status = 'trialing', trial_ends_at = ${time}
      where signup_id = ${signup}`.execute(app.db),
  );
  // The service may be storing the end of another trial, so this looks at one signup.
  const ofSignup = (events: WireEvent[]) => events.filter((event) => event.signup_id === signup);
  expect(ofSignup(heard)).toMatchObject([{ contract: { trial_ends_at: null } }]);
  expect(await listContracts()).toContainEqual(
    expect.objectContaining({ signup_id: signup, status: 'trialing', trial_ends_at: null }),
  );
  const { out } = await runCli(
    app.databaseUrl,
    ['reconcile', '-', '--json'],
    JSON.stringify({ signup_id: signup, trial_ends_at: null }),
  );
  expect(out).toContain('"equal":1');
});

it.each([
  'infinity',
  '-infinity',
  '10000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-05:00',
  '0001-12-31T00:00:00Z BC',
])('a report that occurred at a time that nobody can read, set by hand, breaks nothing: %s', async (time) => {
  const signup = `timeless-${time.replace(/[^\w.:-]/g, '-')}`;
  const contract = { plan: 'starter', status: 'active', price };
  await pushSignup(app, buildSignup(signup, { occurred_at: at(-60), contract }));
  const setTime = () =>
    sql`update service_contracts set occurred_at = ${time} where signup_id = ${signup}`.execute(app.db);
  const told = await during(setTime);
  expect(told.filter((event) => event.signup_id === signup)).toMatchObject([
    { contract: { occurred_at: expect.stringMatching(/^2\d{3}-/) } },
  ]);
  const listed = (await listContracts()).find(({ signup_id }) => signup_id === signup);
  const { rows } = await sql<{ at: Date }>`
    select created_at as at from service_contracts where signup_id = ${signup}`.execute(app.db);
  expect(listed).toMatchObject({ status: 'active', occurred_at: rows[0]?.at.toISOString() });
  const { out } = await runCli(
    app.databaseUrl,
    ['reconcile', '-', '--json'],
    JSON.stringify({ signup_id: signup, status: 'active', occurred_at: listed?.occurred_at }),
  );
  expect(out).toContain('"equal":1');
  // Billing and the next report treat the contract as if its `occurred_at` were the time when it was made.
  const occurred_at = at((Date.now() - start) / 1_000 + 60);
  const report = { ...contract, plan: 'larger' };
  const answer = await sendSignup(app, buildSignup(signup, { occurred_at, contract: report }));
  expect(JSON.parse(answer.text)).toMatchObject({ applied: true, contract: { plan: 'larger' } });
  await setTime();
  expect((await runCli(app.databaseUrl, ['contract:cancel', signup])).out).toBe(
    'The contract is canceled.\n',
  );
  expect(await listContracts()).toContainEqual(
    expect.objectContaining({ signup_id: signup, status: 'canceled' }),
  );
});

it('a trial that ended at a time that nobody can read is the same in the list and for reconcile', async () => {
  await pushSignup(app, buildSignup('ended-never'));
  await sql`update service_contracts set trial_ends_at = '-infinity' where signup_id = 'ended-never'`.execute(
    app.db,
  );
  const { signup_id, status, trial_ends_at } =
    (await listContracts()).find((each) => each.signup_id === 'ended-never') ?? {};
  const view = JSON.stringify({ signup_id, status, trial_ends_at });
  const { out } = await runCli(app.databaseUrl, ['reconcile', '-', '--json'], view);
  expect(out).toContain('"equal":1');
});
