// Compares the service with other programs in each row of the bench. The programs take turns, so that other load on the machine
// slows all of them.
import type { BenchDatabase } from './database.ts';
import { type Measured, measure, medians } from './load.ts';
import { buildAsking } from './population.ts';
import { type Row, rows } from './rows.ts';
import type { Server } from './servers.ts';
import { addComparison, addRow } from './table.ts';

// Rounds are short and many, so that other load on the machine slows all contenders alike.
export const rounds = Number(process.env.BENCH_ROUNDS ?? 8);
const seconds = Number(process.env.BENCH_SECONDS ?? 1);
const warmUpSeconds = 3;

export type Contender = { name: string; server: Server; database: BenchDatabase };

/**
 * `service` is the first contender, and each other contender is compared with it. `postgresCpuMs` reads the CPU time of all of
 * Postgres.
 */
export async function compareRow(
  row: Row,
  suffix: string,
  contenders: Contender[],
  postgresCpuMs: () => Promise<number>,
): Promise<void> {
  const { status: expected, line, isLong } = rows[row];
  for (const { client } of new Set(contenders.map(({ database }) => database))) await client.query('analyze');
  const measureFor = (forSeconds: number) => async (contender: Contender) => {
    const { server, database } = contender;
    await forget(row, database);
    const ask = buildAsking(database.people)[row];
    return measure(server, ask, { seconds: forSeconds, expected, postgresCpuMs });
  };
  await takeTurns(contenders, 1, measureFor(isLong ? 4 * warmUpSeconds : warmUpSeconds));
  const measureRound = measureFor(isLong ? 2 * seconds : seconds);
  const [ours = [], ...others] = await takeTurns(contenders, rounds, async (contender) => {
    const measured = await measureRound(contender);
    if (isFirst(row)) await requireFirst(measured, contender.database);
    return measured;
  });
  addRow(row + suffix, medians(ours));
  for (const [n, theirs] of others.entries()) {
    const { name } = contenders[n + 1] as Contender;
    addComparison(`${row}${suffix}, ${name}`, medians(theirs), {
      ours,
      theirs,
      line: name === before ? line : undefined,
    });
  }
}

/**
 * The name of the contender that runs the code of `--against`. If a row has a limit (`line`), the service is compared with this
 * contender.
 */
export const before = 'before';

const isFirst = (row: Row) => row === 'newcomer' || row === 'first launch';

const launchedLately = "at > now() - interval '12 hours'";

/** Removes data of earlier rounds that would change this measurement. */
export async function forget(row: Row, { client }: BenchDatabase): Promise<void> {
  // The bench has no mail server, so the service would only retry unsent mails, which no row measures.
  const statements = ['delete from mails where sent_at is null and given_up_at is null'];
  if (row === 'login') statements.push('truncate devices', 'truncate rate_limits');
  if (isFirst(row))
    statements.push(
      `delete from launches where ${launchedLately}`,
      `delete from client_users where ${launchedLately.replace('at', 'since')}`,
    );
  // Triggers are off, because they would add events for these deletions. Statements run one by one, because requests may still
  // be under way.
  await client.query('set session_replication_role = replica');
  for (const statement of statements) await client.query(statement);
  if (isFirst(row)) await client.query('vacuum analyze launches, client_users');
}

async function requireFirst({ requests }: Measured, { client }: BenchDatabase): Promise<void> {
  const { rows } = await client.query(`select count(*)::int from launches where ${launchedLately}`);
  if (rows[0].count < requests)
    throw new Error(`Only ${rows[0].count} of ${requests} launches were first ones: take shorter rounds`);
}

/** Compares two programs at a hundred launches a second, while sixteen logins are always under way. */
export async function compareLaunchesBesideLogins(suffix: string, contenders: [Contender, Contender]) {
  const ask = buildAsking(contenders[0].database.people);
  const measureBoth = async ({ server, database }: Contender) => {
    await forget('login', database);
    const logins = measure(server, ask.login, { seconds: 7, expected: rows.login.status });
    await new Promise((done) => setTimeout(done, 1_000));
    const at = { seconds: 5, expected: rows.launch.status, perSecond: 100 };
    const launches = await measure(server, ask.launch, at);
    await logins;
    return launches;
  };
  const [ours = [], theirs = []] = await takeTurns(contenders, 3, measureBoth);
  const cellsOf = ({ perSecond, p50Ms, p99Ms }: Measured) => ({ perSecond, p50Ms, p99Ms });
  const name = `launch at 100/s beside 16 logins${suffix}`;
  addRow(name, cellsOf(medians(ours)));
  addRow(`${name}, reference`, cellsOf(medians(theirs)));
}

/** Measures each contender, round by round. The first contender of a round is the last contender of the next round. */
export async function takeTurns<Of, T>(
  contenders: Of[],
  times: number,
  measureOne: (contender: Of) => Promise<T>,
): Promise<T[][]> {
  const results = contenders.map((): T[] => []);
  const turns = [...contenders.entries()];
  for (let round = 0; round < times; round++) {
    for (const [n, contender] of turns) results[n]?.push(await measureOne(contender));
    turns.reverse();
  }
  return results;
}
