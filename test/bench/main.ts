// npm run bench: the CPU that a request takes in the service and Postgres, beside a reference program (reference.ts). `--against
// FOLDER` adds another version of this code, built in that folder. Arguments choose rows, parts and runtimes: `npm run bench
// -- launch login deno`. Exits with 1 if a limit in rows.ts is exceeded. Runs on Linux only, because it reads /proc.
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import type { Runtime } from '../support/app/process.ts';
import { makeFolder } from '../support/database/postgres.ts';
import { addPeak, measureMemory, measureStart } from './alone.ts';
import { before, type Contender, compareLaunchesBesideLogins, compareRow } from './compare.ts';
import { makeDatabase } from './database.ts';
import { measureEvents } from './events.ts';
import { measureFlood } from './flood.ts';
import { measureGrowth } from './growth.ts';
import { measureOpenId } from './openid.ts';
import { password } from './population.ts';
import { measureProcesses } from './processes.ts';
import { rowNames, rows } from './rows.ts';
import { readPostgresCpuMs, startReference, startService } from './servers.ts';
import { measureSoak } from './soak.ts';
import { printTable } from './table.ts';

const runtimes: Runtime[] = ['node', 'deno'];
const parts = ['beside logins', 'flood', 'start', 'memory'];
// These parts run only if an argument names them, and only on Node.
const long = ['growth', 'soak', 'processes', 'events', 'openid'];
const { values, positionals } = parseArgs({
  options: { against: { type: 'string' } },
  allowPositionals: true,
});
const sizes = positionals.filter((arg) => /^\d+$/.test(arg)).map(Number);
const args = positionals.filter((arg) => !/^\d+$/.test(arg));
const unknown = args.filter((arg) => ![...runtimes, ...rowNames, ...parts, ...long].includes(arg));
if (unknown.length > 0) throw new Error(`No row, part or runtime: ${unknown.join(', ')}`);
const root = values.against && resolve(values.against);
const chosenRuntimes = runtimes.filter((runtime) => args.includes(runtime));
const runs = (runtime: Runtime) => chosenRuntimes.length === 0 || chosenRuntimes.includes(runtime);
const choosesAll = args.length === chosenRuntimes.length;
const isChosen = (name: string) => args.includes(name) || (choosesAll && !long.includes(name));

// A third of these people are newcomers. A round sends fewer requests than there are newcomers.
const people = 30_000;

const folder = await makeFolder();
const postgres = await startEmbeddedPostgres(join(folder, 'data'), {
  settings: {
    // The bench does not measure the disk.
    synchronous_commit: 'off',
    max_connections: '100',
    // As much memory as Postgres has in a service for millions of people.
    shared_buffers: '2GB',
    max_wal_size: '4GB',
  },
});
const postgresCpuMs = () => readPostgresCpuMs(postgres.pid);
try {
  const passwordHash = await hashPassword(password);
  if (!choosesAll && args.every((arg) => arg === 'growth')) await grow(passwordHash);
  else await measureAll(passwordHash);
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
  // Prints what was measured, even if something failed later.
  if (!printTable()) process.exitCode = 1;
}

function grow(passwordHash: string): Promise<void> {
  const all = sizes.length > 0 ? sizes : [10_000, 300_000, 3_000_000];
  return measureGrowth(postgres.url, passwordHash, all, postgresCpuMs);
}

async function measureAll(passwordHash: string): Promise<void> {
  const database = await makeDatabase(postgres.url, 'present', { people, passwordHash });
  const old =
    root === undefined
      ? undefined
      : {
          root,
          database: await makeDatabase(postgres.url, before, { people, passwordHash, root }),
        };
  const { env } = database;
  if (isChosen('start') && runs('node'))
    await measureStart(folder, [{ env }, ...(old ? [{ root: old.root, env: old.database.env }] : [])]);
  for (const runtime of runtimes.filter(runs)) {
    const suffix = runtime === 'node' ? '' : ' (Deno)';
    const service: Contender = { name: 'service', database, server: await startService(runtime, env) };
    const reference: Contender = { name: 'reference', database, server: await startReference(runtime, env) };
    const previous: Contender[] = old
      ? [
          {
            name: before,
            database: old.database,
            server: await startService(runtime, old.database.env, old.root),
          },
        ]
      : [];
    const chosen = rowNames.filter(isChosen);
    try {
      for (const row of chosen) {
        const others = [...(rows[row].hasNoReference ? [] : [reference]), ...previous];
        await compareRow(row, suffix, [service, ...others], postgresCpuMs);
      }
      if (isChosen('beside logins')) await compareLaunchesBesideLogins(suffix, [service, reference]);
      if (runtime === 'node' && chosen.length > 0) await addPeak(chosen.join(', '), service.server);
    } finally {
      await Promise.all([service, reference, ...previous].map(({ server }) => server.stop()));
    }
  }
  if (isChosen('memory') && runs('node')) await measureMemory(database);
  for (const runtime of runtimes.filter(runs)) if (isChosen('flood')) await measureFlood(runtime, env);
  if (isChosen('soak')) await measureSoak(database);
  if (isChosen('events')) await measureEvents(env);
  if (isChosen('openid')) await measureOpenId(database, postgresCpuMs);
  if (isChosen('processes')) await measureProcesses(database);
  if (isChosen('growth')) await grow(passwordHash);
  await database.drop();
  await old?.database.drop();
}
