// The first guard of "exactly once" compares messages (webhook-id and body).
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { sweep } from '../../server/doors/jobs/sweep.ts';
import { type Answer, codeOf, openApp, type TestApp } from '../support/app/app.ts';
import { buildSignup, freshWebhookId, type SignupBody, sendSignup } from '../support/crm/crm.ts';
import { whileInsertsFail } from '../support/database/database.ts';
import { shared } from '../support/run/shared.ts';

const dayMs = 24 * 3_600_000;
const start = Date.now();
let clock = start;
const now = () => new Date(clock);

const app = shared(() => openApp({ now }));
const other = shared(() => app.startInstance());
afterEach(() => {
  clock = start;
});

/** Sends to one of two instances under one webhook id, so that a second send is a repeat. */
function openMessage() {
  const webhookId = freshWebhookId();
  return {
    webhookId,
    send: (signup: SignupBody | string, to: Pick<TestApp, 'send' | 'config'> = app) =>
      sendSignup(to, signup, { webhookId, at: now() }),
  };
}

const signupOf = (id: string, changes: Partial<SignupBody> = {}) => buildSignup(id, changes, now());
function expectReplay(again: Answer, first: Answer): void {
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(first.headers.get('idempotent-replayed')).toBeNull();
  expect([again.status, again.text]).toEqual([first.status, first.text]);
  for (const name of ['content-type', 'cache-control'])
    expect(again.headers.get(name)).toBe(first.headers.get(name));
}

const countRows = async (signupId: string) => {
  const { rows } = await sql<{ contracts: number; accounts: number; mails: number; events: number }>`
    select (select count(*)::int from service_contracts where signup_id = ${signupId}) as contracts,
      (select count(*)::int from accounts where name = ${`Account ${signupId}`}) as accounts,
      (select count(*)::int from mails where recipient = ${`${signupId}@example.test`}) as mails,
      (select count(*)::int from audit_events where details->>'signupId' = ${signupId}) as events`.execute(
    app.db,
  );
  return rows[0];
};
const once = { contracts: 1, accounts: 1, mails: 1, events: 1 };

describe('a signup message sent again', () => {
  it('gets the first status and the same bytes on every instance, and does nothing more (contract 7.18)', async () => {
    const { send } = openMessage();
    const signup = signupOf('again');
    const first = await send(signup);
    expect(first.status).toBe(201);
    for (const to of [app, other, app, await app.startInstance()])
      expectReplay(await send(signup, to), first);
    expect(await countRows('again')).toEqual(once);
  });

  it('gets the first answer even if that was a 200', async () => {
    const signup = signupOf('twice');
    await openMessage().send(signup);
    const { send } = openMessage();
    const second = await send(signup);
    expect([second.status, JSON.parse(second.text).contract.created]).toEqual([200, false]);
    expectReplay(await send(signup), second);
  });

  it('gets the first answer even after the contract changed, and changes nothing back', async () => {
    const signup = signupOf('changed');
    const { send } = openMessage();
    const first = await send(signup);
    const change = { occurred_at: now().toISOString(), contract: { plan: 'pro', status: 'active' } };
    const second = await openMessage().send({ ...signup, ...change });
    expect(JSON.parse(second.text).contract).toMatchObject({ plan: 'pro', status: 'active' });
    expectReplay(await send(signup), first);
    expect(JSON.parse((await openMessage().send(signup)).text).contract).toMatchObject({
      plan: 'pro',
      status: 'active',
    });
  });

  it('gets the answer of the version before as it was, without `applied`', async () => {
    const signup = signupOf('older_version');
    const { webhookId, send } = openMessage();
    const { text } = await send(signup);
    const given = text.replace('"applied":true,', '');
    expect(given).not.toBe(text);
    await sql`update webhook_requests set answer = ${given} where webhook_id = ${webhookId}`.execute(app.db);
    const again = await send(signup, other);
    expect([again.status, again.text]).toEqual([201, given]);
    // A new message with the same signup is examined, and changes nothing.
    expect(JSON.parse((await openMessage().send(signup)).text).applied).toBe(false);
  });

  it('16 times at once to two instances is processed once, and otherwise gets the answer or 409', async () => {
    const { send } = openMessage();
    const signup = signupOf('herd');
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) => send(signup, at % 2 ? app : other)),
    );
    const done = answers.filter(({ status }) => status === 201);
    expect(done.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect([answer.status, codeOf(answer)]).toEqual([409, 'request_in_progress']);
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    expect(await countRows('herd')).toEqual(once);
  });

  it('gets 409 at once while the first one is being processed', async () => {
    const { send } = openMessage();
    const signup = signupOf('in_flight');
    let first: Promise<Answer> | undefined;
    await app.db.transaction().execute(async (trx) => {
      await sql`lock table service_contracts in access exclusive mode`.execute(trx);
      first = send(signup);
      // Waits until the first request waits for the table.
      for (let waiting = 0; waiting === 0; ) {
        const { rows } = await sql<{ n: number }>`
          select count(*)::int as n from pg_locks where not granted and relation = 'service_contracts'::regclass`.execute(
          app.db,
        );
        waiting = rows[0]?.n ?? 0;
      }
      const second = await send(signup, other);
      expect([second.status, codeOf(second)]).toEqual([409, 'request_in_progress']);
      expect(second.headers.get('retry-after')).toBe('1');
    });
    expect((await first)?.status).toBe(201);
    expectReplay(await send(signup, other), (await first) as Answer);
  });
});

describe('a webhook id sent again with another body', () => {
  it('is refused on every instance, and the first body still gets its answer (contract 7.20)', async () => {
    const { send } = openMessage();
    const signup = signupOf('reused');
    const first = await send(signup);
    const others = [
      signupOf('reused_other'),
      { ...signup, occurred_at: now().toISOString() },
      `${JSON.stringify(signup)} `,
      JSON.stringify(signup, null, 1),
    ];
    for (const body of others) {
      for (const to of [app, other]) {
        const answer = await send(body, to);
        expect([answer.status, codeOf(answer)]).toEqual([422, 'idempotency_key_reused']);
        expect(answer.headers.get('idempotent-replayed')).toBeNull();
      }
    }
    expectReplay(await send(signup), first);
    expect(await countRows('reused')).toEqual(once);
    expect(await countRows('reused_other')).toMatchObject({ contracts: 0, accounts: 0 });
  });
});

describe('a signup can be corrected under the same webhook id (contract 7.22)', () => {
  it.each<[number, string, (signup: SignupBody) => { body: string; headers?: Record<string, string> }]>([
    [
      401,
      'invalid_webhook_signature',
      (it) => ({ body: JSON.stringify(it), headers: { 'webhook-signature': 'v1,x' } }),
    ],
    [
      415,
      'unsupported_media_type',
      (it) => ({ body: JSON.stringify(it), headers: { 'content-type': 'text/plain' } }),
    ],
    [400, 'malformed_json', (it) => ({ body: JSON.stringify(it).slice(1) })],
    [413, 'body_too_large', (it) => ({ body: JSON.stringify(it).padEnd(65_537) })],
    [422, 'validation_failed', (it) => ({ body: JSON.stringify({ ...it, account: { name: '' } }) })],
  ])('after %i %s', async (status, code, spoil) => {
    const { webhookId, send } = openMessage();
    const signup = signupOf(`corrected_${status}`);
    const { body, headers } = spoil(signup);
    for (const _ of [1, 2]) {
      const answer = await sendSignup(app, body, { webhookId, headers, at: now() });
      expect([answer.status, codeOf(answer)]).toEqual([status, code]);
    }
    const corrected = await send(signup);
    expect(corrected.status).toBe(201);
    expectReplay(await send(signup), corrected);
  });

  const tables = ['accounts', 'users', 'service_contracts', 'mails', 'audit_events', 'webhook_requests'];
  const faults = { P0001: [500, 'internal_error'], '53100': [503, 'unavailable'] } as const;

  it.each(tables)('after 500 and 503 from a failed insert into %s, which leaves nothing', async (table) => {
    for (const [sqlState, [status, code]] of Object.entries(faults)) {
      const id = `fails_${table}_${status}`;
      const { send } = openMessage();
      const body = `raise exception 'no' using errcode = '${sqlState}'`;
      const failed = await whileInsertsFail(app.db, table, { body }, () => send(signupOf(id)));
      expect([failed.status, codeOf(failed)]).toEqual([status, code]);
      if (status === 503) expect(Number(failed.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await countRows(id)).toEqual({ contracts: 0, accounts: 0, mails: 0, events: 0 });
      const done = await send(signupOf(id), other);
      expect([done.status, done.headers.get('idempotent-replayed')]).toEqual([201, null]);
      expect(await countRows(id)).toEqual(once);
    }
  });
});

it('the answer to a webhook id is kept for 30 days, and then swept (contract 7.18)', async () => {
  const { send } = openMessage();
  const signup = signupOf('kept');
  const first = await send(signup);
  clock = start + 30 * dayMs;
  const age = (interval: string) =>
    sql`update webhook_requests set created_at = now() - ${interval}::interval`.execute(app.db);
  await age('30 days -1 minute');
  await sweep({ db: app.db } as Parameters<typeof sweep>[0]);
  expectReplay(await send(signup), first);
  expect((await send(`${JSON.stringify(signup)} `)).status).toBe(422);
  await age('30 days 1 second');
  await sweep({ db: app.db } as Parameters<typeof sweep>[0]);
  const later = await send(signup);
  expect([later.status, later.headers.get('idempotent-replayed')]).toEqual([200, null]);
  expect(JSON.parse(later.text).contract).toMatchObject({
    ...JSON.parse(first.text).contract,
    status: 'expired',
    created: false,
  });
  expect(await countRows('kept')).toMatchObject({ contracts: 1, accounts: 1 });
});
