// Three machines of Postgres under Patroni, with etcd and HAProxy: docs/operate/files/ on loopback addresses (127.0.0.21 and so on).
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { expect, vi } from 'vitest';
import { findFreePort } from '../app/process.ts';
import { connect } from '../database/postgres.ts';
import { renderOperateFile } from './operate-files.ts';
import {
  makeOwnFolder,
  type RunningProgram,
  requirePrograms,
  startProgram,
  writeOwnFile,
} from './programs.ts';

const machines = ['db1', 'db2', 'db3'] as const;
export type Machine = (typeof machines)[number];

type Member = { name: Machine; role: string; state: string };

export type Cluster = {
  /** The URLs of the service's database behind HAProxy: for the role of the service, and for the superuser. */
  url: string;
  superuserUrl: string;
  /** The URL for base backups. */
  replicationUrl: string;
  findPrimary: () => Promise<Machine>;
  addressOf: (machine: Machine) => string;
  /** Kills Patroni and Postgres of a machine, as a power cut does. */
  kill: (machine: Machine) => Promise<void>;
  start: (machine: Machine) => void;
  /** Freezes Patroni of a machine. Its Postgres goes on as if it were still the primary. */
  freeze: (machine: Machine) => void;
  thaw: (machine: Machine) => void;
  /** Hands over to the synchronous standby, as for an upgrade. */
  switchOver: () => Promise<void>;
  /** Waits until three machines run, and one of the standbys is synchronous. */
  waitUntilWhole: () => Promise<void>;
  close: () => Promise<void>;
};

const patienceMs = 90_000;
const passwords = {
  PATRONI_SUPERUSER_PASSWORD: 'superuser-of-a-test',
  PATRONI_REPLICATION_PASSWORD: 'replication-of-a-test',
  PATRONI_RESTAPI_PASSWORD: 'restapi-of-a-test',
};
const password = 'identity-of-a-test';

export async function startCluster(): Promise<Cluster> {
  requirePrograms(
    '/usr/bin/etcd',
    '/usr/bin/patroni',
    '/usr/lib/postgresql/15/bin/postgres',
    '/usr/sbin/haproxy',
  );
  const folder = await makeOwnFolder();
  const [postgres, rest, etcdClient, etcdPeer, front] = await Promise.all(
    Array.from({ length: 5 }, () => findFreePort()),
  );
  const onLoopback = { '10.0.0.2': '127.0.0.2' };

  // One etcd serves all three machines, because etcd is not under test.
  const etcdUrl = `http://127.0.0.21:${etcdClient}`;
  const etcdFile = renderOperateFile('etcd.env', {
    'ETCD_INITIAL_CLUSTER=db1=http://10.0.0.21:2380,db2=http://10.0.0.22:2380,db3=http://10.0.0.23:2380':
      'ETCD_INITIAL_CLUSTER=db1=http://10.0.0.21:2380',
    ...onLoopback,
    ':2379': `:${etcdClient}`,
    ':2380': `:${etcdPeer}`,
    '/var/lib/etcd': folder,
  });
  const etcd = startProgram('/usr/bin/etcd', [], { folder, env: readEnvFile(etcdFile) });

  const addressOf = (machine: Machine) => `127.0.0.2${machine.slice(2)}`;
  const homeOf = (machine: Machine) => join(folder, machine);
  const running = new Map<Machine, RunningProgram>();
  const start = (machine: Machine) => {
    const file = join(homeOf(machine), 'config.yml');
    running.set(
      machine,
      startProgram('/usr/bin/patroni', [file], { folder: homeOf(machine), env: passwords }),
    );
  };
  for (const machine of machines) {
    const address = addressOf(machine);
    const config = renderOperateFile('patroni.yml', {
      '10.0.0.21:2379,10.0.0.22:2379,10.0.0.23:2379': `127.0.0.21:${etcdClient}`,
      'name: db1': `name: ${machine}`,
      '10.0.0.21': address,
      '10.0.0.0/24': '127.0.0.0/24',
      ':5432': `:${postgres}`,
      ':8008': `:${rest}`,
      '/var/lib/postgresql/15/identity': join(homeOf(machine), 'data'),
      '/var/lib/postgresql/.pgpass-patroni': join(homeOf(machine), 'pgpass'),
      '/var/run/postgresql': homeOf(machine),
    });
    await writeOwnFile(join(homeOf(machine), 'config.yml'), config);
  }

  const balancerFile = join(folder, 'haproxy.cfg');
  const balancer = renderOperateFile('haproxy-postgres.cfg', {
    'log /dev/log local0': 'log stdout format raw local0',
    '  user haproxy\n  group haproxy\n': '',
    '127.0.0.1:5000': `127.0.0.1:${front}`,
    ...onLoopback,
    ':5432': `:${postgres}`,
    'port 8008': `port ${rest}`,
  });
  await writeOwnFile(balancerFile, balancer);
  const haproxy = startProgram('/usr/sbin/haproxy', ['-db', '-f', balancerFile], { folder });

  const ask = (machine: Machine, path: string, options?: RequestInit) =>
    fetch(`http://${addressOf(machine)}:${rest}${path}`, {
      ...options,
      signal: AbortSignal.timeout(20_000),
    });
  const listMembers = async () => {
    // Each machine knows the cluster. A dead or frozen machine does not answer.
    const answer = await Promise.any(machines.map((machine) => ask(machine, '/cluster')));
    return ((await answer.json()) as { members: Member[] }).members;
  };
  const findPrimary = async () => {
    const primary = (await listMembers()).find(({ role }) => role === 'leader');
    if (!primary) throw new Error('no primary');
    return primary.name;
  };
  const readPostmaster = async (machine: Machine) =>
    Number((await readFile(join(homeOf(machine), 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  const kill = async (machine: Machine) => {
    const postmaster = await readPostmaster(machine);
    await running.get(machine)?.stop();
    process.kill(postmaster, 'SIGKILL');
    await vi.waitFor(() => expect(isAlive(postmaster)).toBe(false), patienceMs);
  };
  const superuser = `postgres:${passwords.PATRONI_SUPERUSER_PASSWORD}`;
  const urlOf = (who: string, database: string) => `postgres://${who}@127.0.0.1:${front}/${database}`;

  const cluster: Cluster = {
    url: urlOf(`identity:${password}`, 'identity'),
    superuserUrl: urlOf(superuser, 'identity'),
    replicationUrl: urlOf(`replicator:${passwords.PATRONI_REPLICATION_PASSWORD}`, 'replication'),
    findPrimary,
    addressOf,
    kill,
    start,
    freeze: (machine) => running.get(machine)?.signal('SIGSTOP'),
    thaw: (machine) => running.get(machine)?.signal('SIGCONT'),
    async switchOver() {
      const leader = await findPrimary();
      const candidate = (await listMembers()).find(({ role }) => role === 'sync_standby')?.name;
      const answer = await ask(leader, '/switchover', {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`patroni:${passwords.PATRONI_RESTAPI_PASSWORD}`)}` },
        body: JSON.stringify({ leader, candidate }),
      });
      if (answer.status !== 200) throw new Error(`switchover: ${answer.status} ${await answer.text()}`);
    },
    waitUntilWhole: () =>
      vi.waitFor(
        async () => {
          const members = await listMembers();
          const roles = members.map(({ role, state }) => `${role} ${state}`).sort();
          expect(roles).toEqual(['leader running', 'replica running', 'sync_standby running']);
        },
        { timeout: patienceMs, interval: 300 },
      ),
    async close() {
      await Promise.all(
        machines.map((machine) =>
          kill(machine).catch(() => {
            // The machine is already dead, or was never up.
          }),
        ),
      );
      await Promise.all([haproxy.stop(), etcd.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };

  try {
    await vi.waitFor(async () => expect((await fetch(`${etcdUrl}/health`)).ok).toBe(true), patienceMs);
    for (const machine of machines) start(machine);
    await cluster.waitUntilWhole();
    await vi.waitFor(() => createDatabase(urlOf(superuser, 'postgres')), { timeout: 20_000, interval: 500 });
    return cluster;
  } catch (error) {
    const outputs = [etcd, haproxy, ...running.values()].map((program) => program.output().slice(-2_000));
    await cluster.close();
    throw new Error(`The cluster did not come up:\n${outputs.join('\n---\n')}`, { cause: error });
  }
}

async function createDatabase(url: string): Promise<void> {
  const { db, close } = connect(url, { preparedStatements: false });
  try {
    await db.executeQuery(CompiledQuery.raw(`create role identity login password '${password}'`));
    await db.executeQuery(CompiledQuery.raw('create database identity owner identity'));
  } finally {
    await close();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Returns the settings of a file such as /etc/default/etcd. */
const readEnvFile = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^([A-Z0-9_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
