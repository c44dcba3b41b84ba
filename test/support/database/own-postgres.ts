// A Postgres of one test, which it can stop, freeze and kill. Linux only.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, vi } from 'vitest';
import { startEmbeddedPostgres } from '../../../db/embedded/server.ts';
import { migrate } from '../../../db/postgres/migrate.ts';
import { connect, makeFolder } from './postgres.ts';

export type OwnPostgres = {
  /** A migrated template, at the same URL after each start. */
  templateUrl: string;
  /** Starts Postgres as the primary, or as a standby, which is read-only. */
  start: (role?: 'primary' | 'standby') => Promise<void>;
  /** Ends every connection. */
  stop: () => Promise<void>;
  /** Sends SIGKILL to the main process. The other processes then end by themselves. */
  kill: () => Promise<void>;
  /** Sends SIGSTOP to all processes of this Postgres. `thaw` sends SIGCONT. */
  freeze: () => Promise<void>;
  thaw: () => Promise<void>;
  /** Runs statements, even while the database is told to be read-only. */
  administer: (...statements: string[]) => Promise<void>;
  close: () => Promise<void>;
};

/** Opens a Postgres with these further settings. Committed rows survive `kill`. */
export async function openOwnPostgres(settings: Record<string, string> = {}): Promise<OwnPostgres> {
  const folder = await makeFolder();
  const fileOf = (name: string) => join(folder, 'data', 'postgres', name);
  // Tests kill only processes, never the machine, so Postgres need not sync to the disk.
  const common = { fsync: 'off', ...settings };
  const { url, port } = await startEmbeddedPostgres(join(folder, 'data'), { settings: common });
  await migrate(url);

  const findProcesses = async () => {
    const main = Number.parseInt(await readFile(fileOf('postmaster.pid'), 'utf8').catch(() => ''), 10);
    return Number.isNaN(main) ? [] : [main, ...(await findChildren(main))];
  };
  const signalAll = async (signal: NodeJS.Signals) => {
    const told = new Set<number>();
    const findOthers = async () => (await findProcesses()).filter((pid) => !told.has(pid));
    // The main process gets the signal first, so it starts no more processes. The next round reaches the newest processes.
    for (let pids = await findOthers(); pids.length > 0; pids = await findOthers())
      for (const pid of pids) {
        send(pid, signal);
        told.add(pid);
      }
  };
  const end = async (signal: NodeJS.Signals) => {
    const [main, ...others] = await findProcesses();
    if (main === undefined) return;
    send(main, signal);
    const findAlive = async () => {
      const states = await Promise.all([main, ...others].map(async (pid) => (await readStat(pid))?.state));
      return states.filter((state) => state !== undefined && state !== 'Z');
    };
    await vi.waitFor(async () => expect(await findAlive()).toEqual([]), 30_000);
    // Without this, Postgres would wait at its start for the process whose id is in this file.
    await rm(fileOf('postmaster.pid'), { force: true });
  };
  return {
    templateUrl: url,
    async start(role = 'primary') {
      if (role === 'standby') await writeFile(fileOf('standby.signal'), '');
      else await rm(fileOf('standby.signal'), { force: true });
      const started = startEmbeddedPostgres(join(folder, 'data'), { settings: { ...common, port } });
      // The standby runs. But the helper that starts it fails, because it has to write and a standby is read-only.
      if (role === 'standby') await expect(started).rejects.toMatchObject({ code: '25006' });
      else await started;
    },
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async administer(...statements) {
      const writable = encodeURIComponent('-c default_transaction_read_only=off');
      const { db, close } = connect(`${url}?options=${writable}`);
      for (const statement of statements) await sql.raw(statement).execute(db);
      await close();
    },
    async close() {
      await signalAll('SIGCONT');
      await end('SIGQUIT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: the name in brackets, the state, the parent. */
async function readStat(pid: number): Promise<{ state: string; parent: number } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [, state, parent] = /\) (\S) (\d+)/.exec(text) ?? [];
  return state === undefined ? undefined : { state, parent: Number(parent) };
}

async function findChildren(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = await Promise.all(pids.map(readStat));
  return pids.filter((_, n) => stats[n]?.parent === parent);
}
