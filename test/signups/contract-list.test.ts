// GET /integrations/crm/contracts: what the CRM reads back (contract 7.34 to 7.38).
import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Answer, codeOf, openApp, type TestInstance } from '../support/app/app.ts';
import { retryWhileBusy } from '../support/app/patience.ts';
import { production } from '../support/app/settings.ts';
import { buildSignup, freshWebhookId, pushSignup, sendSignup } from '../support/crm/crm.ts';
import { patienceMs } from '../support/faults/away.ts';
import { shared } from '../support/run/shared.ts';

const secrets = ['the-first-secret-of-the-crm-app', 'the-second-secret-of-the-crm-app'];
const start = Date.now();
let clock = start;
const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();

const env = { SSO_CRM_SECRET: secrets.join(','), SSO_MARKETPLACE_SECRET: 'the-secret-of-the-marketplace' };
const app = shared(() => openApp({ env, now: () => new Date(clock) }));
const other = shared(() => app.startInstance());
beforeEach(async () => {
  clock = start;
  await sql`delete from service_contracts`.execute(app.db);
});

const tokenOf = (secret = '', client = 'crm_app') =>
  createHmac('sha256', secret).update(`identity events v1 ${client}`).digest('hex');
const authorization = `Bearer ${tokenOf(secrets[0])}`;
const ask = (query = '', headers: Record<string, string> = { authorization }, instance: TestInstance = app) =>
  instance.send(`/integrations/crm/contracts${query}`, { headers });

type Page = { contracts: { signup_id: string; id: string }[]; next: string | null };
async function read(query = '', instance?: TestInstance): Promise<Page> {
  let { status, text } = await ask(query, undefined, instance);
  // Asks again after a 503, as clients do while a machine is busy.
  for (let tries = 1; status === 503 && tries < 5; tries++)
    ({ status, text } = await ask(query, undefined, instance));
  if (status !== 200) throw new Error(`the list answered ${status} ${text}`);
  return JSON.parse(text);
}

/** Returns the signup ids of all pages from `after` on, and the cursor after the last page. */
async function readOn(limit: number, after = '', instance?: TestInstance) {
  const ids: string[] = [];
  for (let cursor = after; ; ) {
    const query = `?limit=${limit}${cursor && `&after=${cursor}`}`;
    const { contracts, next } = await read(query, instance);
    expect(contracts.length).toBeLessThanOrEqual(limit);
    expect(next).toBe(contracts.at(-1)?.id ?? null);
    if (next === null) return { ids, cursor };
    ids.push(...contracts.map(({ signup_id }) => signup_id));
    cursor = next;
  }
}

describe('the list of contracts', () => {
  it('is empty at first', async () => {
    const { headers, text } = await ask();
    expect(text).toBe('{"contracts":[],"next":null}');
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('tells the CRM what it may know about each contract, and its present state', async () => {
    const price = { currency: 'EUR', unit_amount: 2_900, interval: 'month', quantity: 1 };
    const trial = { plan: 'starter', status: 'trialing', trial_ends_at: at(60), price };
    const first = await pushSignup(app, buildSignup('first', { occurred_at: at(-60), contract: trial }));
    const active = { plan: 'pro', status: 'active' };
    const second = await pushSignup(app, buildSignup('second', { occurred_at: at(-30), contract: active }));
    const told = [
      {
        signup_id: 'first',
        id: first.contract.id,
        user_id: first.user.id,
        status: 'trialing',
        plan: 'starter',
        trial_ends_at: at(60),
        cancels_at: null,
        price,
        occurred_at: at(-60),
      },
      {
        signup_id: 'second',
        id: second.contract.id,
        user_id: second.user.id,
        status: 'active',
        plan: 'pro',
        trial_ends_at: null,
        cancels_at: null,
        price: null,
        occurred_at: at(-30),
      },
    ];
    expect(await read()).toEqual({ contracts: told, next: second.contract.id });
    clock = start + 60_000;
    expect((await read('?limit=1')).contracts).toEqual([{ ...told[0], status: 'expired' }]);
  });

  it('says when a contract ends that its customer has ended, and that it is canceled from that instant', async () => {
    await pushSignup(
      app,
      buildSignup('ends', { occurred_at: at(-60), contract: { plan: 'pro', status: 'active' } }),
    );
    await sql`update service_contracts set cancels_at = ${at(60)} where signup_id = 'ends'`.execute(app.db);
    const told = async () => (await read()).contracts[0];
    clock = start + 59_999;
    expect(await told()).toMatchObject({ status: 'active', cancels_at: at(60) });
    clock = start + 60_000;
    expect(await told()).toMatchObject({ status: 'canceled', cancels_at: at(60) });
  });

  it('has 100 contracts a page unless asked, and at most 1000', async () => {
    const { contract } = await pushSignup(app, buildSignup('many'));
    await sql`
      insert into service_contracts (id, user_id, account_id, signup_id, plan, status, occurred_at)
      select gen_random_uuid(), user_id, account_id, 'copy-' || n, plan, 'active', occurred_at
      from service_contracts, generate_series(1, 1100) n where id = ${contract.id}`.execute(app.db);
    expect((await read()).contracts).toHaveLength(100);
    expect((await read('?limit=1000')).contracts).toHaveLength(1_000);
    expect(new Set((await readOn(400)).ids).size).toBe(1_101);
  });

  it('keeps a contract in its place when it changes', async () => {
    for (const id of ['a', 'b']) await pushSignup(app, buildSignup(id));
    const { ids, cursor } = await readOn(1);
    await pushSignup(app, buildSignup('a', { occurred_at: new Date().toISOString() }));
    expect(await readOn(1, cursor)).toEqual({ ids: [], cursor });
    expect((await readOn(1)).ids).toEqual(ids);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=', 'limit'],
    ['limit=x', 'limit'],
    ['limit=1&limit=1', 'limit'],
    ['after=', 'after'],
    ['after=1', 'after'],
    [`after=${crypto.randomUUID()}`, 'after'],
    ['after=1&after=1', 'after'],
  ])('refuses ?%s', async (query, name) => {
    const { status, text } = await ask(`?${query}`);
    expect([status, JSON.parse(text).code]).toEqual([400, 'invalid_request']);
    expect(JSON.parse(text).errors).toMatchObject([{ pointer: `/${name}` }]);
  });

  it('refuses a cursor that lost its place, as a restore of the database makes it', async () => {
    const { contract } = await pushSignup(app, buildSignup('restored'));
    await read();
    await sql`update service_contracts set arrival_number = null`.execute(app.db);
    expect(codeOf(await ask(`?after=${contract.id}`))).toBe('invalid_request');
  });
});

describe('while new contracts come, the list skips and repeats none', () => {
  it('with 64 signups at once, and 16 readers on two instances that read one by one', async () => {
    const wanted = Array.from({ length: 64 }, (_, at) => `busy-${at}`);
    let isOver = false;
    const follow = async (instance: TestInstance) => {
      const seen: string[] = [];
      for (let after = '', isLast = false; ; ) {
        const { ids, cursor } = await readOn(1, after, instance);
        seen.push(...ids);
        after = cursor;
        if (isLast) return seen;
        isLast = isOver;
      }
    };
    const readers = Array.from({ length: 16 }, (_, at) => follow(at % 2 ? other : app));
    await Promise.all(wanted.map((id, at) => pushSignup(at % 2 ? other : app, buildSignup(id))));
    isOver = true;
    const [first = [], ...others] = await Promise.all(readers);
    expect([...first].sort()).toEqual([...wanted].sort());
    for (const seen of others) expect(seen).toEqual(first);
  });

  it('even where one that began first is committed last', async () => {
    const webhookId = freshWebhookId();
    const late = await app.db.transaction().execute(async (trx) => {
      // A signup writes this row last. So the signup below inserts its contract, and then waits for the row.
      await sql`
        insert into webhook_requests (webhook_id, body_hash, status, answer, created_at)
        values (${webhookId}, sha256(''), 201, '', now())`.execute(trx);
      const body = buildSignup('began-first');
      const signup = retryWhileBusy(() => sendSignup(app, body, { webhookId }));
      await vi.waitFor(async () => {
        const waiting = await sql`select 1 from pg_locks where not granted`.execute(trx);
        expect(waiting.rows).toHaveLength(1);
      }, patienceMs);
      await pushSignup(other, buildSignup('committed-first'));
      const { ids, cursor } = await readOn(1);
      expect(ids).toEqual(['committed-first']);
      await sql`delete from webhook_requests where webhook_id = ${webhookId}`.execute(trx);
      // An async function would await a bare promise. The object keeps the answer from being awaited until the row is released.
      return { signup, cursor };
    });
    expect((await late.signup).status).toBe(201);
    expect((await readOn(1, late.cursor)).ids).toEqual(['began-first']);
  });
});

describe('the token for the list', () => {
  it.each(secrets)('may be made from either secret of a rotation: %s', async (secret) => {
    expect((await ask('', { authorization: `Bearer ${tokenOf(secret)}` })).status).toBe(200);
    expect((await ask('', { authorization: `bearer ${tokenOf(secret)}` })).status).toBe(200);
  });

  const right = tokenOf(secrets[0]);
  it.each<[about: string, headers: Record<string, string>]>([
    ['missing', {}],
    ['empty', { authorization: '' }],
    ['only its scheme', { authorization: 'Bearer ' }],
    ['without its scheme', { authorization: right }],
    ['in another scheme', { authorization: `Basic ${right}` }],
    ['in capitals', { authorization: `Bearer ${right.toUpperCase()}` }],
    ['cut short', { authorization: `Bearer ${right.slice(1)}` }],
    ['with a character too many', { authorization: `Bearer ${right}0` }],
    ['one of two', { authorization: `Bearer ${right}, Bearer ${right}` }],
    ['the signing secret itself', { authorization: `Bearer ${secrets[0]}` }],
    ['of nobody', { authorization: `Bearer ${tokenOf(secrets[0], 'crm')}` }],
    [
      'of another product',
      { authorization: `Bearer ${tokenOf('the-secret-of-the-marketplace', 'marketplace')}` },
    ],
    [
      'of crm_app with the secret of another product',
      { authorization: `Bearer ${tokenOf('the-secret-of-the-marketplace')}` },
    ],
  ])('opens nothing where it is %s', async (_, headers) => {
    await pushSignup(app, buildSignup('hidden'));
    const answer = await ask('?limit=nonsense', headers);
    expect([answer.status, codeOf(answer)]).toEqual([401, 'invalid_token']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.text).not.toContain('hidden');
  });

  it('is not the login of a person, not even of an administrator', async () => {
    const cookie = await app.login('admin@example.test');
    const answer: Answer = await app.send('/integrations/crm/contracts', { cookie });
    expect(answer.status).toBe(401);
  });

  it('does not let anybody write', async () => {
    const answer = await app.send('/integrations/crm/contracts', {
      method: 'POST',
      headers: { authorization },
    });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('opens nothing where the service does not know the CRM app', async () => {
    const env = { ...production, SSO_CRM_CALLBACK_URL: '', SSO_CRM_SECRET: '' } as Record<string, string>;
    const without = await openApp({ env });
    const marketplace = tokenOf(env.SSO_MARKETPLACE_SECRET, 'marketplace');
    for (const token of [marketplace, tokenOf(env.SSO_MARKETPLACE_SECRET), tokenOf('x', 'undefined')])
      expect((await ask('', { authorization: `Bearer ${token}` }, without)).status).toBe(401);
    await without.close();
  });
});
