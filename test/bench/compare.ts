// The service against the floor, row by row. They take turns, so that what slows the machine slows both.
import type { Runtime } from '../support/process.ts';
import { type Measured, measure, medians } from './load.ts';
import { buildAsking } from './population.ts';
import { type Row, rows } from './rows.ts';
import { type RunSql, requireSameWrites } from './same-writes.ts';
import type { Server } from './servers.ts';
import { addComparison, addRow, number } from './table.ts';

// Many short rounds: what else happens on the machine then meets both alike.
export const rounds = Number(process.env.BENCH_ROUNDS ?? 12);
export const seconds = Number(process.env.BENCH_SECONDS ?? 1);
export const warmUpSeconds = 5;
export const users = 10_000;

export type Pair = { runtime: Runtime; floor: Server; service: Server };

const nameOf = (row: string, runtime: Runtime) => (runtime === 'node' ? row : `${row} (Deno)`);

export async function compareRow(row: Row, { runtime, floor, service }: Pair, runSql: RunSql): Promise<void> {
  const ask = buildAsking(users)[row];
  const { status: expected, line } = rows[row];
  if (row === 'login') await runSql(forgetLogins);
  // A session that was last seen some minutes ago is noted as seen again.
  await runSql('update sessions set last_seen_at = now()');
  await requireSameWrites(runSql, ask, { floor, service });
  // Few logins a second: what runs beside the hash is compiled late, and a round says little.
  const [warmUp, times] = row === 'login' ? [20, 3 * rounds] : [warmUpSeconds, rounds];
  const measureRound = async (server: Server, forSeconds: number) => {
    if (row === 'first launch') await runSql('truncate launches');
    if (row === 'login') await runSql(forgetLogins);
    return measure(server, ask, { seconds: forSeconds, expected });
  };
  for (const server of [floor, service]) await measureRound(server, warmUp);
  const [theirs = [], ours = []] = await takeTurns([floor, service], times, (server) =>
    measureRound(server, seconds),
  );
  const name = nameOf(row, runtime);
  addRow(`${name}, floor`, medians(theirs));
  addComparison(name, medians(ours), { ours, theirs, line });
  if (row === 'first launch') await runSql(launchAll);
  // Nobody takes the mails to new customers here, and no row is about trying them.
  await runSql('delete from mails');
}

// A login in a browser that is new to its user writes a mail, which the service tries to send and the floor does not.
const forgetLogins = 'truncate devices, rate_limits, mails';

// As `populate` left it.
const launchAll = `insert into launches (session_id, client, user_id, sid)
  select id, 'marketplace', user_id, left(replace(gen_random_uuid()::text, '-', ''), 22) from sessions
  on conflict do nothing`;

/** Launches at a calm rate, six tenths of what the service could do. */
export async function compareCalmLaunches({ runtime, floor, service }: Pair): Promise<void> {
  const ask = buildAsking(users).launch;
  const expected = rows.launch.status;
  const { perSecond: most } = await measure(service, ask, { seconds: warmUpSeconds, expected });
  const perSecond = Math.floor(most * 0.6);
  const at = { seconds: 5, expected, perSecond };
  const [theirs, ours] = [await measure(floor, ask, at), await measure(service, ask, at)];
  addLatencies(nameOf(`launch at ${perSecond}/s`, runtime), theirs, ours);
}

/** A hundred launches a second, beside sixteen logins that are always under way. */
export async function compareLaunchesBesideLogins({ runtime, floor, service }: Pair): Promise<void> {
  const ask = buildAsking(users);
  const measureBoth = async (server: Server) => {
    const logins = measure(server, ask.login, { seconds: 7, expected: rows.login.status });
    await new Promise((done) => setTimeout(done, 1_000));
    const at = { seconds: 5, expected: rows.launch.status, perSecond: 100 };
    const launches = await measure(server, ask.launch, at);
    await logins;
    return launches;
  };
  const [theirs = [], ours = []] = await takeTurns([floor, service], 3, measureBoth);
  addLatencies(nameOf('launch at 100/s beside 16 logins', runtime), medians(theirs), medians(ours));
}

function addLatencies(name: string, theirs: Measured, ours: Measured): void {
  const cellsOf = ({ perSecond, p50Ms, p99Ms }: Measured) => ({ perSecond, p50Ms, p99Ms });
  addRow(`${name}, floor`, cellsOf(theirs));
  addRow(name, cellsOf(ours), `p99 ${number(ours.p99Ms / theirs.p99Ms)}`);
}

/** What is measured of each, round by round; who began a round is last in the next. */
export async function takeTurns<T>(
  contenders: T[],
  times: number,
  measureOne: (contender: T) => Promise<Measured>,
): Promise<Measured[][]> {
  const results = contenders.map((): Measured[] => []);
  const turns = [...contenders.entries()];
  for (let round = 0; round < times; round++) {
    for (const [n, contender] of turns) results[n]?.push(await measureOne(contender));
    turns.reverse();
  }
  return results;
}
