import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { type Answer, codeOf, openApp, type TestInstance } from '../support/app/app.ts';
import { sendPatiently } from '../support/app/patience.ts';
import { buildSignup, freshWebhookId, type SignupBody, sendSignup } from '../support/crm/crm.ts';
import { findEmptyAccounts } from '../support/database/database.ts';
import { patienceMs } from '../support/faults/away.ts';
import { handOver } from '../support/marketplace/marketplace.ts';
import { shuffle } from '../support/run/random.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const instances: TestInstance[] = [app, shared(() => app.startInstance())];

const sendAll = (signups: (SignupBody | string)[], webhookId?: string) =>
  sendPatiently(
    signups.map(
      (signup, at) => () => sendSignup(instances[at % 2] ?? app, signup, webhookId ? { webhookId } : {}),
    ),
  );

/** Repeats a message until it is no longer in progress, as a CRM does. */
async function sendUntilSettled(signup: SignupBody | string, webhookId: string): Promise<Answer> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const answer = await sendSignup(app, signup, { webhookId });
    if (answer.status !== 409) return answer;
    await new Promise((done) => setTimeout(done, 10));
  }
  throw new Error('still in progress');
}

/** Holds the request up at a table when it is half done, and runs `event`. Then lets the request finish. */
const whileTableHeld = (table: string, send: () => Promise<Answer>, event: () => Promise<void>) =>
  app.db.transaction().execute(async (trx) => {
    await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(trx);
    const first = send();
    await vi.waitFor(async () => {
      const waiting = await sql`select 1 from pg_locks
        where not granted and relation = ${table}::regclass`.execute(trx);
      expect(waiting.rows).toHaveLength(1);
    }, patienceMs);
    await event();
    // An async function would await a bare promise. The object keeps the answer from being awaited until the lock is released.
    return { first };
  });

const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status).sort();

const countRows = async (email: string) => {
  const { rows } = await sql`
    with found as (select id, account_id from users where email like ${email})
    select (select count(*)::int from found) as users,
      (select count(*)::int from accounts where id in (select account_id from found)) as accounts,
      (select count(*)::int from service_contracts where user_id in (select id from found)
        and account_id in (select account_id from found)) as contracts,
      (select count(*)::int from mails where user_id in (select id from found) and kind = 'welcome') as mails
    `.execute(app.db);
  return rows[0];
};
const one = { users: 1, accounts: 1, contracts: 1, mails: 1 };

describe('many signups at once', () => {
  it.each([
    ['a new user', 'herd@example.test', one],
    ['an existing user', 'customer@example.test', { ...one, mails: 0 }],
  ])('with one signup id and 50 webhook ids make one contract for %s', async (kind, email, rows) => {
    const signup = buildSignup(`herd_${kind.length}`, { user: { email, name: 'Zoë' } });
    const answers = await sendAll(Array(50).fill(signup));
    expect(statusesOf(answers)).toEqual([...Array(49).fill(200), 201]);
    const ids = answers.map(({ text }) => JSON.parse(text).contract.id);
    expect(new Set(ids).size).toBe(1);
    for (const { status, text, headers } of answers) {
      expect(JSON.parse(text).contract.created).toBe(status === 201);
      expect(headers.get('idempotent-replayed')).toBeNull();
    }
    expect(await countRows(email)).toEqual(rows);
    expect(await findEmptyAccounts(app.db)).toEqual([]);
  });

  // The database keeps one spelling of each address (contract 9.11).
  const spellings = ['zoë', 'ZOË', 'Zoë', 'zOË'].flatMap((local) =>
    [
      'bücher.example.test',
      'BÜCHER.Example.TEST',
      'xn--bcher-kva.example.test',
      'XN--BCHER-KVA.example.test',
    ].map((domain) => `${local}@${domain}`),
  );
  it.each([
    ['50 signups with one address', Array<string>(50).fill('twin@example.test'), 'twin@example.test'],
    ['16 spellings of one address', spellings, 'zoë@xn--bcher-kva.example.test'],
  ])('make one user and one account from %s', async (kind, emails, stored) => {
    const answers = await sendAll(
      emails.map((email, at) => buildSignup(`${kind.slice(0, 2)}_${at}`, { user: { email, name: 'Zoë' } })),
    );
    expect(statusesOf(answers)).toEqual(Array(emails.length).fill(201));
    const bodies = answers.map(({ text }) => JSON.parse(text));
    expect(bodies.filter(({ user }) => user.created)).toHaveLength(1);
    expect(bodies.filter(({ account }) => account.created)).toHaveLength(1);
    expect(new Set(bodies.map(({ user, account }) => `${user.id} ${account.id}`)).size).toBe(1);
    expect(await countRows(stored)).toEqual({ ...one, contracts: emails.length });
    expect(await findEmptyAccounts(app.db)).toEqual([]);
  });

  it('make one user, even if the marketplace hands over the same address meanwhile', async () => {
    for (let round = 0; round < 5; round++) {
      const id = `both_${round}`;
      const [signups, handOffs] = await Promise.all([
        sendAll(Array(16).fill(buildSignup(id))),
        sendPatiently(Array(16).fill(() => handOver(app, { id }))),
      ]);
      expect(statusesOf(signups)).toEqual([...Array(15).fill(200), 201]);
      expect(statusesOf(handOffs)).toEqual(Array(16).fill(303));
      const { mails, ...rows } = (await countRows(`${id}@%`)) as typeof one;
      expect(rows).toEqual({ users: 1, accounts: 1, contracts: 1 });
      const isNew = signups.some(({ text }) => JSON.parse(text).user.created);
      expect(mails).toBe(isNew ? 1 : 0);
    }
    expect(await findEmptyAccounts(app.db)).toEqual([]);
  });

  it('end with the newest of 10 shuffled updates, in each of 10 rounds', async () => {
    const start = Date.now() - 24 * 3_600_000;
    const at = (version: number) => new Date(start + version).toISOString();
    const build = (version: number) => {
      const { contract, ...signup } = buildSignup('updates', { occurred_at: at(version) });
      return { ...signup, contract: { ...contract, plan: `version-${version}` } };
    };
    expect((await sendSignup(app, build(0))).status).toBe(201);
    for (let round = 0; round < 10; round++) {
      const versions = Array.from({ length: 10 }, (_, step) => 1 + round * 10 + step);
      const shuffled = shuffle(versions);
      const answers = await sendAll(shuffled.map(build));
      expect(statusesOf(answers)).toEqual(Array(10).fill(200));
      for (const [index, { text }] of answers.entries()) {
        // The answer shows the plan of its own report, or of a newer report that arrived before it.
        const shown = Number(JSON.parse(text).contract.plan.slice('version-'.length));
        expect(shown).toBeGreaterThanOrEqual(shuffled[index] ?? 0);
      }
      const { rows } = await sql`
        select plan, occurred_at from service_contracts where signup_id = 'updates'`.execute(app.db);
      const newest = (round + 1) * 10;
      expect(rows).toEqual([{ plan: `version-${newest}`, occurred_at: new Date(at(newest)) }]);
    }
  });
});

describe('one signup message', () => {
  it('sent 50 times at once is processed once, and gets the same bytes each time in the end', async () => {
    for (let round = 0; round < 5; round++) {
      const [body, webhookId] = [JSON.stringify(buildSignup(`again_${round}`)), freshWebhookId()];
      const answers = await sendAll(Array(50).fill(body), webhookId);
      const done = answers.filter(({ status }) => status === 201);
      for (const answer of answers.filter((answer) => !done.includes(answer))) {
        expect(answer.status).toBe(409);
        expect(codeOf(answer)).toBe('request_in_progress');
        expect(answer.headers.get('retry-after')).toBe('1');
      }
      expect(done.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);

      const settled = await Promise.all(answers.map(() => sendUntilSettled(body, webhookId)));
      for (const { status, headers } of settled) {
        expect(status).toBe(201);
        expect(headers.get('idempotent-replayed')).toBe('true');
      }
      expect(new Set([...done, ...settled].map(({ text }) => text)).size).toBe(1);
      expect(await countRows(`again\\_${round}@%`)).toEqual(one);
    }
  });

  it('sent 50 times at once after it was processed gets its answer 50 times', async () => {
    const [body, webhookId] = [JSON.stringify(buildSignup('done_before')), freshWebhookId()];
    const { text } = await sendSignup(app, body, { webhookId });
    const other = JSON.stringify(buildSignup('another_body'));
    const [same, refused] = [Array(50).fill(body), Array(16).fill(other)];
    const answers = await sendAll([...same, ...refused], webhookId);
    expect(answers.map(({ status }) => status)).toEqual([...Array(50).fill(201), ...Array(16).fill(422)]);
    expect(new Set(answers.slice(0, 50).map((answer) => answer.text))).toEqual(new Set([text]));
  });

  it('sent at once with two bodies, 16 times each, is accepted with only one of them', async () => {
    for (let round = 0; round < 5; round++) {
      const webhookId = freshWebhookId();
      const bodies = ['a', 'b'].map((name) => JSON.stringify(buildSignup(`two_bodies_${round}${name}`)));
      const sent = Array.from({ length: 32 }, (_, at) => bodies[(at >> 1) % 2] ?? '');
      const answers = await sendAll(sent, webhookId);
      const winners = new Set(sent.filter((_, at) => answers[at]?.status === 201));
      expect(winners.size).toBe(1);
      for (const [at, answer] of answers.entries()) {
        const allowed = winners.has(sent[at] ?? '')
          ? [undefined, 'request_in_progress']
          : ['idempotency_key_reused', 'request_in_progress'];
        expect(allowed).toContain(codeOf(answer));
      }
      for (const body of bodies) {
        const answer = await sendUntilSettled(body, webhookId);
        expect(answer.status).toBe(winners.has(body) ? 201 : 422);
        if (answer.status === 422) expect(codeOf(answer)).toBe('idempotency_key_reused');
      }
      expect(await countRows(`two\\_bodies\\_${round}_@%`)).toEqual(one);
    }
  });

  it('is in progress until its commit, and gets 409 on every instance, with either body', async () => {
    const [webhookId, body] = [freshWebhookId(), JSON.stringify(buildSignup('in_flight'))];
    const send = () => sendSignup(app, body, { webhookId });
    const { first } = await whileTableHeld('audit_events', send, async () => {
      const others = await sendAll([body, body, JSON.stringify(buildSignup('other_body'))], webhookId);
      for (const answer of others) {
        expect(answer.status).toBe(409);
        expect(codeOf(answer)).toBe('request_in_progress');
        expect(answer.headers.get('retry-after')).toBe('1');
      }
      expect(await countRows('in\\_flight@%')).toMatchObject({ users: 0 });
    });
    const { status, text } = await first;
    expect(status).toBe(201);
    expect(await send()).toMatchObject({ status, text });
    expect(await countRows('in\\_flight@%')).toEqual(one);
  });
});
