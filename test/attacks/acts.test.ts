// Requests for acts that no form of the service sends (contract 7.154, 12.14, 12.123, 12.190 and 12.191).
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { runCli } from '../support/app/cli.ts';
import { germanSettings, setSettings, settingsFrom } from '../support/billing/settings.ts';
import { openBilling } from '../support/crm/billing.ts';
import {
  addPerson,
  addSession,
  addStaff,
  askFor,
  call,
  readData,
  readOutcome,
  why,
} from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

type Who = Awaited<ReturnType<typeof addStaff>>;
let admin: Who;
let manager: Who;
let number: string;
const billing = shared(() => openBilling({ settings: null }));
beforeAll(async () => {
  await setSettings(billing.app.db, settingsFrom('2020-01-01'));
  await billing.report('crm_open');
  await billing.bill();
  admin = await addStaff(billing.app);
  manager = await addStaff(billing.app, 'manager');
  number =
    (await sql<{ n: string }>`select document as n from invoices limit 1`.execute(billing.app.db)).rows[0]
      ?.n ?? '';
}, 120_000);
const ask = (name: string, input: unknown, { cookie } = admin) => call(billing.app, name, cookie, input);
const cli = (...args: string[]) => runCli(billing.app.databaseUrl, args);

it('payment:record refuses an empty --id (contract 12.191)', async () => {
  const codes = [];
  for (let at = 0; at < 2; at++)
    codes.push((await cli('payment:record', number, '--amount', '1', '--id', '')).code);
  expect([codes, (await sql`select id from payments`.execute(billing.app.db)).rows.length]).toEqual([
    [2, 2],
    0,
  ]);
});

it('invoice:credit refuses an empty --amount', async () => {
  const { code, out } = await cli('invoice:credit', number, '--amount', '', '--yes');
  expect([code, out]).toEqual([2, '']);
});

it('a stop without seen is refused', async () => {
  const settings = {
    ...germanSettings,
    seller: { ...germanSettings.seller, iban: 'DE89370400440532013000', bic: undefined },
  };
  const { seen } = readData(await call(billing.app, 'billing.settings', admin.cookie, undefined, true));
  await ask('billing.setSettings', { why, seen, settings });
  expect(readOutcome(await ask('billing.stopSettings', { why }))).toBe('409 edited_meanwhile');
});

it.each(['recordPayment', 'credit', 'reissue', 'paidBack', 'allocate'])(
  'billing.%s takes U+0000 for no number',
  async (name) => {
    expect(
      readOutcome(await ask(`billing.${name}`, { number: 'I\0', payment: 'I\0', amount: '1', why })),
    ).toBe('404 not_found');
  },
);

it('the form says so, too', async () => {
  const { app } = billing;
  const { status } = await app.send('/admin/billing/unallocated', {
    cookie: admin.cookie,
    form: { intent: 'paid-back', payment: 'I\0', why, seen: 'x' },
    headers: { origin: new URL(app.config.issuer).origin, accept: 'text/html' },
  });
  expect(status).toBe(404);
});

it('a manager gets 404 for all acts about money', async () => {
  for (const input of [undefined, { number: [] }])
    expect(readOutcome(await ask('billing.credit', input, manager))).toBe('404 not_found');
});

it('a session that has expired cannot be ended', async () => {
  const victim = await addPerson(billing.app);
  const { sessionId } = await addSession(billing.app, victim.id);
  await sql`update sessions set created_at = now() - interval '400 days', last_seen_at = now() - interval '400 days' where id = ${sessionId}`.execute(
    billing.app.db,
  );
  const asked = await askFor(billing.app, 'people.endSession', victim);
  expect(readData(await ask('people.endSession', { ...asked, session: sessionId }))).toBe('nothing');
});

it('thaw refuses what is neither yes nor no', async () => {
  const victim = await addPerson(billing.app);
  await sql`update users set suspended_at = now(), frozen_at = now() where id = ${victim.id}`.execute(
    billing.app.db,
  );
  const asked = await askFor(billing.app, 'people.thaw', victim);
  expect(readOutcome(await ask('people.thaw', { ...asked, removeFactors: 'true' }))).toBe(
    '422 validation_failed',
  );
});
