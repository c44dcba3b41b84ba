// Tests the checker on which the chaos test relies: without the guards in the database, it must find the faults that arise.
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { openApp, reconnect, type TestApp } from '../support/app/app.ts';
import { checkSignups } from '../support/crm/signup-checker.ts';
import { buildLoad, type Load, type Message, sendLoad } from '../support/crm/signup-load.ts';

const dropSignupIdKey = 'alter table service_contracts drop constraint service_contracts_signup_id_key';
const dropEmailKey = 'drop index users_held_email_key';
const dropWebhookIdKey = 'alter table webhook_requests drop constraint webhook_requests_pkey';
// Postgres finds this function before its own. It always gives the lock.
const unlock = `create function public.pg_try_advisory_xact_lock(bigint) returns boolean return true;
  do $$ begin execute format('alter database %I set search_path = public, pg_catalog', current_database()); end $$`;

/** Opens a database, makes these changes to its guards, and sends each message `times` times to two instances. */
async function sendWith(changes: string[], times: number): Promise<{ app: TestApp; load: Load }> {
  const app = await openApp();
  onTestFinished(app.close);
  // The instances start before the changes, because none starts without the guards.
  const instances = [await app.startInstance(), await app.startInstance()];
  for (const change of changes) await sql.raw(change).execute(app.db);
  await reconnect(app);
  const load = buildLoad({ seed: 1, count: 100, sharing: 0.7 });
  load.sends = load.sends.flatMap((message) => Array<Message>(times).fill(message));
  expect(await sendLoad(load, instances, { atOnce: 64, hangUps: 0 })).toEqual([]);
  return { app, load };
}

it.each([
  ['without the lock on webhook ids, because their unique index is enough', [unlock]],
  ['without the unique index on webhook ids, because their lock is enough', [dropWebhookIdKey]],
])('the checker finds no fault %s', async (_, changes) => {
  const { app, load } = await sendWith(changes, 2);
  expect(await checkSignups(app.db, load.messages)).toEqual([]);
});

it.each([
  ['one contract for each signup id', [dropSignupIdKey], /^\d+ contracts of load_\d+$/],
  ['one user for each address', [dropEmailKey], /^\d+ users of load\.\d+@example\.test$/],
  ['one answer to each webhook id', [unlock, dropWebhookIdKey], /^\d+ answers kept of load_1_\d+$/],
])('the checker notices when nothing ensures %s', async (_, changes, fault) => {
  const { app, load } = await sendWith(changes, 3);
  const faults = await checkSignups(app.db, load.messages);
  // So far, every run had a dozen or more of these faults. If the checker finds none, it does not work.
  expect(faults.filter((text) => fault.test(text))).not.toEqual([]);
});

/** Damage that SQL does without the service, and how the checker reports it. */
const damages: [statement: string, fault: RegExp][] = [
  ["delete from service_contracts where signup_id = 'load_7'", /^0 contracts of load_7$/],
  [
    `update service_contracts set user_id = (select id from users where email = 'customer@example.test')
      where signup_id = 'load_7'`,
    /^the contract of load_7 is somebody else's$/,
  ],
  ["update service_contracts set plan = 'v0' where signup_id = 'load_7'", /^load_7 has v0, /],
  ["update service_contracts set signup_id = 'LOAD_7' where signup_id = 'load_7'", /^a contract of LOAD_7, /],
  [
    "update users set email = 'Load.0@example.test' where email = 'load.0@example.test'",
    /^a user of Load\.0@/,
  ],
  ["insert into accounts (id, name) values (gen_random_uuid(), 'Nobody')", /^an account of .+, which nobody/],
  ["delete from mails where recipient = 'load.0@example.test'", /^0 mails of /],
  [
    `insert into mails (id, kind, user_id, recipient, created_at, next_attempt_at) select gen_random_uuid(), kind,
      user_id, recipient, now(), 'infinity' from mails where recipient = 'load.0@example.test'`,
    /^2 mails of /,
  ],
  ["delete from webhook_requests where webhook_id = 'load_1_3'", /^0 answers kept of load_1_3$/],
  [
    'update webhook_requests set answer = replace(answer, \'"trialing"\', \'"active"\')',
    /^load_1_3 was answered 20. .+, kept is /,
  ],
  [
    'update webhook_requests set answer = replace(answer, \'"created":true\', \'"created":false\')',
    /^0 answers say that they made load\.\d+@example\.test$/,
  ],
  [
    'update webhook_requests set answer = replace(answer, \'"applied":false\', \'"applied":true\')',
    /^\d+ answers say that the newest of load_\d+ was applied$|^load_1_\d+ with v\d+ was shown /,
  ],
  [
    'update webhook_requests set answer = replace(answer, \'"applied":true\', \'"applied":false\')',
    /^0 answers say that the newest of load_\d+ was applied$/,
  ],
  ["delete from audit_events where details->>'webhookId' = 'load_1_3'", /^0 audit events of load_1_3$/],
  ['update webhook_requests set status = 201', /^\d+ answers say that they made load_\d+$/],
  ["update audit_events set reason = 'created'", /^the audit of load_1_\d+ tells /],
];

it('the checker notices every loss, duplicate and later change, and nothing else', async () => {
  const { app, load } = await sendWith([], 1);
  expect(await checkSignups(app.db, load.messages)).toEqual([]);
  for (const [statement, fault] of damages) {
    const undone = new Error('undone');
    const check = app.db.transaction().execute(async (trx) => {
      await sql.raw(statement).execute(trx);
      const faults = await checkSignups(trx, load.messages);
      expect(
        faults.filter((text) => fault.test(text)),
        `${statement}\n${faults[0]}`,
      ).not.toEqual([]);
      throw undone;
    });
    await expect(check).rejects.toBe(undone);
  }
  const [message] = load.messages;
  message?.answers.push({ status: 200, text: '{}' });
  expect(await checkSignups(app.db, load.messages)).toHaveLength(1);
});
