// Contract section 10, `contract.updated`: the CRM app hears of each new contract and each change, as its list says it.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openApp, type TestApp } from '../support/app.ts';
import { runCli } from '../support/cli.ts';
import { buildSignup, sendSignup } from '../support/crm.ts';
import { bearerOf, latestOf, readOn } from '../support/events.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openApp();
});
afterAll(() => app.close());

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
    expect((await sendSignup(app, signup)).status).toBe(201);
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

it('comes of each change once, whoever makes it, and of nothing else', async () => {
  const contract = { plan: 'starter', status: 'active', price };
  const report = (seconds: number, plan: string) =>
    sendSignup(app, buildSignup('moves', { occurred_at: at(seconds), contract: { ...contract, plan } }));
  const change = (what: ReturnType<typeof sql>) =>
    sql`update service_contracts set ${what} where signup_id = 'moves'`.execute(app.db);
  const plansAndStates = async (work: () => Promise<unknown>) =>
    (await during(work)).map(({ contract: told }) => `${told?.plan} ${told?.status}`);

  expect(await plansAndStates(() => report(-60, 'starter'))).toEqual(['starter active']);
  expect(await plansAndStates(() => report(-50, 'pro'))).toEqual(['pro active']);
  // An older report, billing, and the list's own order.
  expect(await plansAndStates(() => report(-55, 'starter'))).toEqual([]);
  expect(
    await plansAndStates(() => change(sql`next_period_starts_at = now(), arrival_number = null`)),
  ).toEqual([]);
  expect(await plansAndStates(listContracts)).toEqual([]);
  expect(await plansAndStates(() => change(sql`status = 'past_due'`))).toEqual(['pro past_due']);
  expect(await plansAndStates(() => change(sql`status = 'active'`))).toEqual(['pro active']);
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
  await sendSignup(app, buildSignup('short', { occurred_at: at(-60), contract }));
  await new Promise((done) => setTimeout(done, Date.parse(contract.trial_ends_at) + 100 - Date.now()));
  await sql`update service_contracts set plan = 'pro' where signup_id = 'short'`.execute(app.db);
  const told = (await readOn(app, 'crm_app', before)).map(
    ({ contract: each }) => `${each?.plan} ${each?.status}`,
  );
  // Also where the end of the trial is stored, and told, by itself.
  expect([told[0], told.at(-1)]).toEqual(['starter trialing', 'pro expired']);
});

it('bears a time without end that was set by hand', async () => {
  expect((await sendSignup(app, buildSignup('endless'))).status).toBe(201);
  const heard = await during(() =>
    sql`update service_contracts set status = 'trialing', trial_ends_at = 'infinity'
      where signup_id = 'endless'`.execute(app.db),
  );
  expect(heard).toMatchObject([{ signup_id: 'endless', contract: { trial_ends_at: null } }]);
  expect(await listContracts()).toContainEqual(
    expect.objectContaining({ signup_id: 'endless', status: 'trialing', trial_ends_at: null }),
  );
  await sql`update service_contracts set trial_ends_at = null, status = 'active'
    where signup_id = 'endless'`.execute(app.db);
});
