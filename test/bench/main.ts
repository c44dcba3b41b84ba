// npm run bench: what the service costs above the floor (floor.ts), in one run. Words choose rows, parts and runtimes:
// `npm run bench -- launch login deno`. Ends with 1 where a row is below its line (rows.ts). Linux only, for the CPU
// time of a process.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { openDatabase } from '../../db/postgres/client.ts';
import { hashPassword } from '../../server/identity/passwords.ts';
import { makeFolder } from '../support/postgres.ts';
import type { Runtime } from '../support/process.ts';
import { measureMemory, measureStart } from './alone.ts';
import { compareCalmLaunches, compareLaunchesBesideLogins, compareRow, users } from './compare.ts';
import { measureEvents } from './events.ts';
import { measureFlood } from './flood.ts';
import { measureGrowth } from './growth.ts';
import { comparePages } from './pages.ts';
import { password, populate, settings } from './population.ts';
import { measureProcesses } from './processes.ts';
import { rowNames } from './rows.ts';
import { startFloor, startService } from './servers.ts';
import { measureSoak } from './soak.ts';
import { printTable } from './table.ts';

const runtimes: Runtime[] = ['node', 'deno'];
const latencies = ['calm', 'beside logins', 'flood'];
// On Node only.
const parts = ['start', 'memory', 'pages', 'growth'];
// Only where it is asked for.
const long = ['soak', 'processes', 'events'];
const words = process.argv.slice(2);
const unknown = words.filter(
  (word) => ![...runtimes, ...rowNames, ...latencies, ...parts, ...long].includes(word),
);
if (unknown.length > 0) throw new Error(`No row, part or runtime: ${unknown.join(', ')}`);
const chosenRuntimes = runtimes.filter((runtime) => words.includes(runtime));
const runs = (runtime: Runtime) => chosenRuntimes.length === 0 || chosenRuntimes.includes(runtime);
const choosesAll = words.length === chosenRuntimes.length;
const isChosen = (name: string) =>
  choosesAll ? !parts.includes(name) || runs('node') : words.includes(name);

const folder = await makeFolder();
const postgres = await startEmbeddedPostgres(join(folder, 'data'), {
  settings: {
    // The bench does not measure the disk.
    synchronous_commit: 'off',
    max_connections: '100',
    // Room for a million users, as a database of that size has it.
    shared_buffers: '2GB',
    max_wal_size: '4GB',
  },
});
const database = openDatabase({
  url: postgres.url,
  poolSize: 1,
  preparedStatements: false,
  onError: () => undefined,
});
const runSql = (text: string) => sql.raw(text).execute(database.db);
try {
  const passwordHash = await hashPassword(password);
  await populate(postgres.url, users, passwordHash);
  const env = { ...settings, DATABASE_URL: postgres.url };
  if (isChosen('start')) await measureStart(env, folder);
  // Before there are new customers, whose mails nobody takes here.
  if (isChosen('memory')) await measureMemory(env);
  for (const runtime of runtimes) if (runs(runtime)) await compare(runtime, env);
  for (const runtime of runtimes) if (runs(runtime) && isChosen('flood')) await measureFlood(runtime, env);
  if (words.includes('soak')) await measureSoak(env);
  if (words.includes('events')) await measureEvents(env);
  if (words.includes('processes')) await measureProcesses(env);
  if (isChosen('growth')) await measureGrowth(postgres.url, passwordHash, runSql);
} finally {
  await database.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
  // Also what was measured before something failed.
  if (!printTable()) process.exitCode = 1;
}

async function compare(runtime: Runtime, env: Record<string, string>): Promise<void> {
  const pair = {
    runtime,
    floor: await startFloor(runtime, env),
    service: await startService(runtime, env),
  };
  try {
    for (const row of rowNames) if (isChosen(row)) await compareRow(row, pair, runSql);
    if (isChosen('calm')) await compareCalmLaunches(pair);
    if (isChosen('beside logins')) await compareLaunchesBesideLogins(pair);
    if (runtime === 'node' && isChosen('pages')) await comparePages(pair);
  } finally {
    await Promise.all([pair.floor.stop(), pair.service.stop()]);
  }
}
