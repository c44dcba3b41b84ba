// Metrics of the database: whether it answers, how far apart the clocks are, what it refused, and the pool.
import { Counter, Gauge, type Registry } from 'prom-client';
import type { DatabaseClient } from '../../db/postgres/client.ts';
import type { Log } from '../basics/log.ts';
import { counter, gauge } from './at-scrape.ts';
import { createReading } from './reading.ts';

/** Call the returned function before each scrape, and await it. */
export function registerDatabase(
  registry: Registry,
  { readClock, countRefusals }: DatabaseClient,
  { log, now }: { log: Log; now: () => Date },
): () => Promise<void> {
  const registers = [registry];
  new Counter({
    name: 'identity_database_refusals_total',
    help: 'Statements and connections that Postgres itself refused, by the class of the SQLSTATE: its first two characters. 53 is a lack of disk, memory or connections.',
    labelNames: ['class'],
    registers,
    collect() {
      this.reset();
      for (const [its, count] of Object.entries(countRefusals())) this.inc({ class: its }, count);
    },
  });
  const up = new Gauge({
    name: 'identity_database_up',
    help: 'Whether the database answered within a second, and takes writes: 1 or 0.',
    registers,
  });
  const ahead = new Gauge({
    name: 'identity_clock_ahead_seconds',
    help: 'How far the clock of this instance is ahead of that of the database, in seconds; negative if it is behind. Right to half a second.',
    registers,
  });
  return createReading({
    async read() {
      const sentAt = now().getTime();
      const databaseAt = await readClock();
      // The database read its clock at some time between the question and the answer. So this compares that clock with our own
      // clock halfway between the question and the answer.
      return ((sentAt + now().getTime()) / 2 - databaseAt.getTime()) / 1_000;
    },
    show(aheadSeconds) {
      up.set(aheadSeconds === undefined ? 0 : 1);
      // An unknown value is left out.
      ahead.remove();
      if (aheadSeconds !== undefined) ahead.set(aheadSeconds);
    },
    onError: (err) => log.error({ err }, 'database not reached'),
  });
}

export function registerPool(
  registry: Registry,
  { countConnections, countReads }: DatabaseClient,
  poolSize: number,
): void {
  gauge(registry, {
    name: 'identity_database_pool_size',
    help: 'Connections that the pool may have (DATABASE_POOL_SIZE).',
    read: () => poolSize,
  });
  gauge(registry, {
    name: 'identity_database_connections',
    help: 'Connections of the pool.',
    read: () => countConnections().all,
  });
  gauge(registry, {
    name: 'identity_database_connections_idle',
    help: 'Connections of the pool that do nothing.',
    read: () => countConnections().idle,
  });
  gauge(registry, {
    name: 'identity_database_connections_awaited',
    help: 'Requests that wait for a connection.',
    read: () => countConnections().waiting,
  });
  counter(registry, {
    name: 'identity_database_connections_refused_total',
    help: 'Requests that got no connection: too many waited, it took too long, or the database was away.',
    read: () => countConnections().refused,
  });
  gauge(registry, {
    name: 'identity_database_reads_under_way',
    help: 'Statements under way on the connection that all requests read on.',
    read: () => countReads(),
  });
}
