// Many expired rows at the same time: the sweep holds up no request, and deletes each row one time.
import { appendFileSync } from 'node:fs';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../db/postgres/client.ts';
import { demoPassword, seedDemoUsers } from '../../server/doors/demo/demo-users.ts';
import { sweep } from '../../server/doors/jobs/sweep.ts';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import { openApp, type TestApp } from '../support/app/app.ts';
import { countRows, openFreshDatabase } from '../support/database/database.ts';
import { connect } from '../support/database/postgres.ts';
import { byForm } from '../support/faults/faults.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const rowsOfEach = byForm({ short: 20_000, long: 1_000_000 });
const calmMs = byForm({ short: 1_000, long: 10_000 });
const longestLoadMs = 50_000;
const batchSize = 1_000;

const user = sql`(select id from users where email = 'customer@example.test')`;
const token = sql`sha256(n::text::bytea)`;
const series = sql`generate_series(1, ${sql.lit(rowsOfEach)}::int) n`;
const past = (days: number) => sql`now() - make_interval(days => ${sql.lit(days)}, secs => n)`;

/** SQL for `n` rows of each table. */
const old: Record<string, ReturnType<typeof sql>> = {
  nonces: sql`select 'inbound:marketplace', 'old-' || lpad(n::text, 20, '0'), ${past(1)}`,
  audit_events: sql`select gen_random_uuid(), ${past(401)}, 'old'`,
  sessions: sql`select gen_random_uuid(), ${token}, ${user}, ${past(31)}, ${past(30)}, null, '192.0.2.1', 'old'`,
  mails: sql`select gen_random_uuid(), 'welcome', ${user}, 'old@example.test', '{}', ${past(31)}, 1, ${past(31)}, null,
    ${past(31)}`,
};
const tables = Object.keys(old);

const client = shared(openFreshDatabase);
beforeAll(async () => {
  await seedDemoUsers(client.db, await hashPassword(demoPassword), new Date());
  const patient = connect(client.url, { statementTimeoutMs: 0 });
  for (const [table, rows] of Object.entries(old)) {
    await sql`insert into ${sql.table(table)} ${rows} from ${series}`.execute(patient.db);
    await sql`analyze ${sql.table(table)}`.execute(patient.db);
  }
  await patient.close();
  await recordDeletions(client.db);
}, 900_000);
const app = shared(() => openApp({ databaseUrl: client.url }));
const other = shared(() => app.startInstance());

/** Notes each statement that deletes: from which table, how many rows, and on which connection. */
async function recordDeletions(db: Database): Promise<void> {
  await sql`create table deletions (source text, n integer, pid integer default pg_backend_pid())`.execute(
    db,
  );
  await sql`create function note_deletion() returns trigger language plpgsql as ${sql.lit(`
    begin
      insert into deletions select tg_table_name, count(*) from gone having count(*) > 0;
      return null;
    end`)}`.execute(db);
  for (const table of tables) {
    await sql`create trigger note_deletion after delete on ${sql.table(table)} referencing old table as gone
      for each statement execute function note_deletion()`.execute(db);
  }
}

const readDeletions = async () =>
  (
    await sql<{ source: string; n: number; most: number; hands: number }>`
      select source, sum(n)::int as n, max(n) as most, count(distinct pid)::int as hands
      from deletions group by source order by source`.execute(client.db)
  ).rows;

const countDeadlocks = async () =>
  (
    await sql<{ n: number }>`select deadlocks::int as n from pg_stat_database
      where datname = current_database()`.execute(client.db)
  ).rows[0]?.n;

/** Sends requests that use the swept tables. Returns the time that each request took. */
async function visit(isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  const cookies = await Promise.all([app, other].map(({ login }) => login('merchant@example.test')));
  const comeAgain = async (send: TestApp['send'], cookie: string | undefined, visitor: number) => {
    for (let n = 0; !isOver(); n++) {
      const path = [
        () => '/sso/profile',
        () => '/sso/launch/marketplace',
        // This uses up a nonce, and adds an audit event.
        () => buildHandOff(app, { id: `visitor-${visitor}` }),
      ][n % 3];
      const request = (await path?.()) ?? '';
      const startedAt = performance.now();
      const { status } = await send(request, { cookie });
      times.push(performance.now() - startedAt);
      expect([200, 303]).toContain(status);
    }
  };
  await Promise.all(
    [app, other, app, other].map(({ send }, visitor) => comeAgain(send, cookies[visitor % 2], visitor)),
  );
  return times.sort((one, another) => one - another);
}

const during = (ms: number) => {
  const endsAt = performance.now() + ms;
  return () => performance.now() >= endsAt;
};

const at = (share: number, times: number[]) => times[Math.floor(times.length * share)] ?? Number.NaN;

it(`sweeping ${rowsOfEach} old rows in each of ${tables.length} tables holds up no request`, async () => {
  await visit(during(500));
  const before = await visit(during(calmMs));
  const counts = await Promise.all(tables.map((table) => countRows(client.db, table)));
  const young = counts.map((count) => count - rowsOfEach);
  const deadlocks = await countDeadlocks();

  // The two sweepers stand for two instances, each with a connection of its own.
  const sweepers = [connect(client.url), connect(client.url)];
  let isSwept = false;
  const sweeping = Promise.all(sweepers.map(({ db }) => sweep({ db }))).then(() => {
    isSwept = true;
  });
  const isLongEnough = during(longestLoadMs);
  const busy = await visit(() => isSwept || isLongEnough());
  await sweeping;
  await Promise.all(sweepers.map(({ close }) => close()));

  const after = await visit(during(calmMs));

  report({ before, busy, after });
  expect(busy.length).toBeGreaterThan(30);
  const calm = (share: number) => Math.max(at(share, before), at(share, after));
  // The short form does not check times, because other tests run on this machine beside it.
  if (byForm({ short: false, long: true })) {
    // The limits are generous, because the sweepers and the requests share two cores.
    expect(at(0.5, busy)).toBeLessThan(calm(0.5) * 4 + 20);
    expect(at(0.99, busy)).toBeLessThan(calm(0.99) * 5 + 200);
  }

  const deletions = await readDeletions();
  expect(deletions.map(({ source }) => source)).toEqual([...tables].sort());
  for (const { source, n, most } of deletions) {
    expect(n, source).toBe(rowsOfEach);
    expect(most, source).toBeLessThanOrEqual(batchSize);
  }
  expect(Math.max(...deletions.map(({ hands }) => hands))).toBeGreaterThanOrEqual(2);
  for (const [place, table] of tables.entries())
    expect(await countRows(client.db, table), table).toBeGreaterThanOrEqual(young[place] ?? Number.NaN);
  expect(await countDeadlocks()).toBe(deadlocks);
}, 900_000);

it('a sweep stops at once when its instance does, and the next one goes on', async () => {
  const many = 10_000;
  await sql`insert into nonces ${old.nonces} from generate_series(1, ${sql.lit(many)}) n`.execute(client.db);
  const stop = new AbortController();
  const stopping = sweep(client, stop.signal);
  stop.abort();
  await stopping;
  expect(await countRows(client.db, 'nonces')).toBeGreaterThanOrEqual(many - batchSize);
  await sweep(client);
  const { rows } = await sql`select 1 from nonces where nonce like 'old-%'`.execute(client.db);
  expect(rows).toEqual([]);
});

/** Writes figures for docs/performance.md, if FAULTS_REPORT names a file. */
function report(figures: Record<string, number[]>): void {
  const lines = Object.entries(figures).map(
    ([name, times]) =>
      `${name}: ${times.length} requests, p50 ${at(0.5, times).toFixed(1)} ms, p99 ${at(0.99, times).toFixed(1)} ms, ` +
      `slowest ${times.at(-1)?.toFixed(1)} ms`,
  );
  if (process.env.FAULTS_REPORT) appendFileSync(process.env.FAULTS_REPORT, `${lines.join('\n')}\n`);
}
