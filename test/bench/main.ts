// npm run bench: what the service costs above the floor (floor.ts), in one run. They take turns; who was first in one
// round is last in the next. Each round gives a ratio, and medians of the rounds are printed: while the machine is
// slow, it is so for both. Words choose rows: `npm run bench -- launch profile`. Linux only, for the CPU time of a
// process.
import { rm } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../db/client.ts';
import { startEmbeddedPostgres } from '../../db/embedded.ts';
import { hashPassword } from '../../server/identity/passwords.ts';
import { makeFolder } from '../support/postgres.ts';
import type { Runtime } from '../support/process.ts';
import { hasWrk, type Measured, measure, median, medians, pairedRatio } from './load.ts';
import { timeToFirstByte, weighPage } from './pages.ts';
import { buildAsking, password, populate, settings } from './population.ts';
import { type Server, startFloor, startService } from './servers.ts';

const chosen = process.argv.slice(2);
const isChosen = (name: string) => chosen.length === 0 || chosen.includes(name);
// Many short ones: what else happens on the machine then meets all alike.
const rounds = Number(process.env.BENCH_ROUNDS ?? 24);
const seconds = Number(process.env.BENCH_SECONDS ?? 1);
const warmUpSeconds = 5;
const users = 10_000;

const answerOf: Record<string, number> = {
  launch: 303,
  profile: 200,
  'hand-off': 303,
  signups: 201,
  'new signups': 201,
  login: 303,
};

const table: string[][] = [];
const number = (value: number) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
const cells = ({ perSecond, p50Ms, p99Ms, cpuMs }: Measured) => [perSecond, p50Ms, p99Ms, cpuMs].map(number);

const folder = await makeFolder();
const postgres = await startEmbeddedPostgres(join(folder, 'data'), {
  // Not the disk is measured here.
  settings: {
    synchronous_commit: 'off',
    max_connections: '100',
    // Room for a million users, as a database of that size has it.
    shared_buffers: '2GB',
    max_wal_size: '4GB',
  },
});
try {
  const passwordHash = await hashPassword(password);
  await populate(postgres.url, users, passwordHash);
  const env = { ...settings, DATABASE_URL: postgres.url, PASSWORD_HASH: passwordHash };
  if (isChosen('start')) await measureStart(env);
  // Before there are new customers, whose mails nobody takes here.
  if (isChosen('memory')) await measureMemory(env);
  await compare('node', env);
  if (isChosen('deno')) await compare('deno', env);
  if (isChosen('growth')) await measureGrowth(passwordHash);
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
  // Also what was measured before something failed.
  print();
}

async function compare(runtime: Runtime, env: Record<string, string>): Promise<void> {
  const rows = Object.keys(answerOf).filter(
    (row) => isChosen(row) || (runtime === 'deno' && chosen.length < 2),
  );
  if (rows.length === 0 && !isChosen('pages')) return;
  const floor = await startFloor(runtime, env);
  const service = await startService(runtime, env);
  try {
    for (const row of rows) {
      await compareRow(runtime, row, floor, service);
      // Nobody takes the mails to new customers here, and no row is about trying them.
      await runSql('delete from mails');
    }
    if (runtime === 'node' && isChosen('pages')) await comparePages(floor, service);
  } finally {
    await Promise.all([floor.stop(), service.stop()]);
  }
}

async function compareRow(runtime: Runtime, row: string, floor: Server, service: Server): Promise<void> {
  const ask = buildAsking(users)[row];
  if (!ask) throw new Error(row);
  const expected = answerOf[row] ?? 200;
  // Few a second: what runs beside the hash is compiled late, and a round says little.
  const [warmUp, times] = row === 'login' ? [60, 3 * rounds] : [warmUpSeconds, rounds];
  for (const server of [floor, service]) await measure(server, ask, { seconds: warmUp, expected });
  const [ofFloor = [], ofService = []] = await takeTurns([floor, service], times, (server) =>
    measure(server, ask, { seconds, expected }),
  );
  const [least, ours] = [medians(ofFloor), medians(ofService)];
  const name = runtime === 'node' ? row : `${row} (Deno)`;
  table.push([`${name}, floor`, ...cells(least), '']);
  table.push([name, ...cells(ours), number(pairedRatio(ofService, ofFloor))]);
  if (row !== 'launch') return;
  const perSecond = Math.floor(ours.perSecond * 0.6);
  const at = { seconds: 5, expected, perSecond };
  const [calm, oursCalm] = [await measure(floor, ask, at), await measure(service, ask, at)];
  table.push([`${name} at ${perSecond}/s, floor`, ...cells(calm), '']);
  table.push([`${name} at ${perSecond}/s`, ...cells(oursCalm), `p99 ${number(oursCalm.p99Ms / calm.p99Ms)}`]);
}

/** What is measured of each, round by round; who began a round is last in the next. */
async function takeTurns<T>(
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

/** What a browser waits for and loads, at the first visit: the page and all that it names. */
async function comparePages(floor: Server, service: Server): Promise<void> {
  for (const path of ['/login', '/profile']) {
    const ask = buildAsking(users)[`page ${path}`];
    if (!ask) throw new Error(path);
    const times = { floor: [] as number[], service: [] as number[] };
    for (let n = 0; n < 800; n++) {
      for (const [name, server] of [
        ['floor', floor],
        ['service', service],
      ] as const) {
        const ms = await timeToFirstByte(server.url, ask());
        // The first two hundred warm up.
        if (n >= 200) times[name].push(ms);
      }
    }
    const loaded = await weighPage(service.url, ask());
    const kB = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`;
    const [least, ours] = [median(times.floor), median(times.service)];
    table.push([`page ${path}, to the first byte, floor`, '', number(least), '', '', '']);
    table.push([`page ${path}, to the first byte`, '', number(ours), '', '', number(least / ours)]);
    table.push([
      `page ${path}, gzip: HTML ${kB(loaded.html)}, style ${kB(loaded.style)}, script ${kB(loaded.script)}`,
      ...Array(5).fill(''),
    ]);
  }
}

async function measureStart(env: Record<string, string>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const service = await startService('node', env);
    times.push(service.startMs);
    await service.stop();
  }
  const embedded: number[] = [];
  const data = join(folder, 'embedded');
  for (let round = 0; round < 2; round++) {
    const service = await startService('node', { EMBEDDED_DATABASE_FOLDER: data });
    embedded.push(service.startMs);
    await service.stop();
  }
  table.push(['start, ms', number(median(times)), '', '', '', '']);
  table.push(['start with a new embedded database, ms', number(embedded[0] ?? 0), '', '', '', '']);
  table.push(['start with that database, ms', number(embedded[1] ?? 0), '', '', '', '']);
}

async function measureMemory(env: Record<string, string>): Promise<void> {
  const service = await startService('node', env);
  const atRest = await service.residentMb();
  const ask = buildAsking(users).launch;
  if (!ask) throw new Error('launch');
  const sizes: number[] = [];
  for (let done = 0; done < 100_000; ) {
    const { perSecond } = await measure(service, ask, { seconds: 5, expected: 303 });
    done += perSecond * 5;
    sizes.push(await service.residentMb());
  }
  await service.stop();
  table.push(['memory at rest, MB', number(atRest), '', '', '', '']);
  table.push([
    `memory every 5 s of 100,000 launches, MB: ${sizes.map(number).join(' ')}`,
    '',
    '',
    '',
    '',
    '',
  ]);
}

/** The same service on ever more people; ratios to the fewest. */
async function measureGrowth(passwordHash: string): Promise<void> {
  const sizes = [10_000, 100_000, 1_000_000];
  const services: { size: number; service: Server }[] = [];
  try {
    for (const size of sizes) {
      const url = new URL(postgres.url);
      await runSql(`create database growth_${size}`);
      url.pathname = `/growth_${size}`;
      await populate(url.href, size, passwordHash);
      const env = { ...settings, DATABASE_URL: url.href };
      services.push({ size, service: await startService('node', env) });
    }
    for (const row of ['launch', 'profile', 'hand-off']) {
      const expected = answerOf[row] ?? 200;
      const measureFor =
        (duration: number) =>
        ({ size, service }: (typeof services)[number]) => {
          const ask = buildAsking(size)[row];
          if (!ask) throw new Error(row);
          return measure(service, ask, { seconds: duration, expected });
        };
      await takeTurns(services, 1, measureFor(warmUpSeconds));
      const results = await takeTurns(services, rounds, measureFor(seconds));
      for (const [n, measured] of results.entries()) {
        table.push([
          `${row}, ${sizes[n]?.toLocaleString('en')} users`,
          ...cells(medians(measured)),
          number(pairedRatio(measured, results[0] ?? [])),
        ]);
      }
    }
  } finally {
    await Promise.all(services.map(({ service }) => service.stop()));
  }
}

async function runSql(text: string): Promise<void> {
  const options = { poolSize: 1, preparedStatements: false, onError: () => undefined };
  const { pool, close } = openDatabase({ url: postgres.url, ...options });
  await pool.query(text);
  await close();
}

function print(): void {
  const lines = [['', 'requests/s', 'p50 ms', 'p99 ms', 'CPU ms', 'ratio'], Array(6).fill('---'), ...table];
  process.stdout.write(
    `\n${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, load by ${hasWrk ? 'wrk' : 'autocannon'}\n\n` +
      `${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`,
  );
}
