// reconcile finds losses, extras and stale rows among many contracts, in little memory, and ordinary signups mend them.
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { runReconcile } from '../support/app/reconcile.ts';
import { type SignupBody, sendSignup } from '../support/crm/crm.ts';
import { connect } from '../support/database/postgres.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import { shuffle } from '../support/run/random.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const total = byForm({ short: 20_000, long: 1_000_000 });
// This padding makes the file too large for the heap in the short form, too.
const padding = 'x'.repeat(byForm({ short: 4_000, long: 200 }));
const heapMegabytes = 64;
const maxPeakMegabytes = 200;

const email = 'customer@example.test';
const trial_ends_at = '2999-01-01T00:00:00.000Z';

type Terms = SignupBody['contract'];

function termsOf(n: number): Terms {
  const price = { currency: 'EUR', unit_amount: 100 + (n % 50), interval: 'month' };
  const terms = { plan: `plan_${n % 7}`, ...(n % 3 > 0 && { price }) };
  if (n % 10 === 0) return { ...terms, status: 'canceled' };
  return n % 10 < 4 ? { ...terms, status: 'trialing', trial_ends_at } : { ...terms, status: 'active' };
}
const idOf = (n: number) => `bulk_${n}`;
const occurredAtOf = (n: number) => new Date(Date.parse('2025-01-01T00:00:00.000Z') + n).toISOString();

// These contracts have not ended, because no later signup can change a contract that has ended.
const numbers = Array.from({ length: total }, (_, at) => at + 1).filter((n) => n % 10 > 0);
const chosen = shuffle(numbers).slice(0, 100);
const lost = chosen.slice(0, 34);
const extra = new Set(chosen.slice(34, 67));
const stale = chosen.slice(67);

const app = shared(openApp);
const folder = await sharedFolder();
beforeAll(() => populate(), 600_000);

/** Adds what the CRM has pushed, except for the reports that were lost on the way. */
async function populate() {
  const { db, close } = connect(app.databaseUrl, { statementTimeoutMs: 0 });
  await db.transaction().execute(async (trx) => {
    // Triggers are off, because they would write rows for each contract.
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`
      insert into service_contracts (id, user_id, account_id, signup_id, plan, status, trial_ends_at, price_currency,
        price_unit_amount, price_interval, occurred_at)
      select gen_random_uuid(), u.id, u.account_id, 'bulk_' || n, 'plan_' || n % 7,
        case when n % 10 = 0 then 'canceled' when n % 10 < 4 then 'trialing' else 'active' end,
        case when n % 10 between 1 and 3 then ${trial_ends_at}::timestamptz end,
        case when n % 3 > 0 then 'EUR' end, case when n % 3 > 0 then 100 + n % 50 end,
        case when n % 3 > 0 then 'month' end,
        '2025-01-01T00:00:00Z'::timestamptz + n * interval '1 millisecond'
      from users u, generate_series(1, ${total}::int) n
      where u.email = ${email} and n <> all (${lost}::int[])`.execute(trx);
    await sql`
      update service_contracts
      set plan = 'old', status = 'trialing', trial_ends_at = ${trial_ends_at}, occurred_at = '2024-12-31T00:00:00Z'
      where signup_id = any (${stale.map(idOf)})`.execute(trx);
  });
  await sql`analyze service_contracts`.execute(db);
  await close();
}

function* writeView(isCsv: boolean, of: (n: number) => Terms | undefined): Generator<string> {
  if (isCsv) yield 'note,signup_id,status,plan,trial_ends_at,currency,unit_amount,interval,occurred_at\r\n';
  for (let at = 0; at < total; at++) {
    // The factor and the total have no common divisor, so the loop makes each number exactly one time.
    const n = ((at * 7_919) % total) + 1;
    const terms = of(n);
    if (!terms) continue;
    const { status, plan, trial_ends_at: end = null, price = null } = terms;
    const id = idOf(n);
    const occurred_at = occurredAtOf(n);
    const ofPrice = [price?.currency, price?.unit_amount, price?.interval];
    yield isCsv
      ? `"${padding}",${[id, status, plan, end, ...ofPrice, occurred_at].join(',')}\r\n`
      : `${JSON.stringify({ signup_id: id, status, plan, trial_ends_at: end, price, occurred_at, padding })}\n`;
  }
}

async function reconcile(name: string, of: (n: number) => Terms | undefined) {
  const file = join(folder, name);
  await pipeline(Readable.from(writeView(name.endsWith('.csv'), of)), createWriteStream(file));
  const run = await runReconcile(app.databaseUrl, ['--json', file], { heapMegabytes });
  const found = run.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  noteFigures(`reconcile ${total} ${name}`, { seconds: run.seconds, 'peak MB': run.peakMegabytes });
  expect(run.peakMegabytes).toBeLessThan(maxPeakMegabytes);
  return { code: run.code, err: run.err, found, summary: found.pop() };
}

it(`100 faults among ${total} contracts are found, and mended by sending signups`, {
  timeout: 600_000,
}, async () => {
  const before = await reconcile('before.ndjson', (n) => (extra.has(n) ? undefined : termsOf(n)));
  expect([before.code, before.err]).toEqual([1, '']);
  const idsOf = (kind: string) =>
    before.found.filter((each) => each.kind === kind).map(({ signup_id }) => signup_id);
  expect(idsOf('missing')).toEqual(lost.map(idOf).sort());
  expect(idsOf('extra')).toEqual([...extra].map(idOf).sort());
  expect(idsOf('different')).toEqual(stale.map(idOf).sort());
  expect(before.found).toHaveLength(100);
  for (const { kind, members } of before.found)
    if (kind === 'different')
      expect(Object.keys(members)).toEqual(expect.arrayContaining(['plan', 'occurred_at']));
  expect(before.summary).toMatchObject({
    lines: total - extra.size,
    equal: total - 100,
    bad: 0,
    repeated: 0,
  });

  // The CRM sends lost and stale signups a second time, and takes over the signups that only this service has.
  const mends = [...lost, ...stale, ...extra];
  for (const n of mends) {
    const signup = {
      signup_id: idOf(n),
      occurred_at: occurredAtOf(n),
      user: { email, name: 'Casey' },
      account: { name: 'Casey' },
      contract: termsOf(n),
    };
    const answer = await sendSignup(app, signup);
    expect([answer.status, JSON.parse(answer.text).applied]).toEqual(
      lost.includes(n) ? [201, true] : [200, !extra.has(n)],
    );
  }
  const after = await reconcile('after.csv', termsOf);
  expect([after.code, after.err, after.found]).toEqual([0, '', []]);
  expect(after.summary).toMatchObject({ lines: total, equal: total });
});
