// What waits in the database for a job, how far clients are with their events, and whether the database answers. Read at a
// scrape, but at most once in five seconds. A scrape never waits for it longer than a second.
import { Gauge, type Registry } from 'prom-client';
import type { ExpiredRows } from '../../db/expired-rows.ts';
import type { Database } from '../../db/postgres/client.ts';
import { type Delivery, listDeliveries } from '../../db/tables/event-deliveries.ts';
import { countLimit, readWaitingRows, type WaitingRows } from '../../db/waiting-rows.ts';
import type { Log } from '../basics/log.ts';
import type { Config } from '../settings/config.ts';
import { sameEverywhere } from './at-scrape.ts';
import { registerClients } from './clients.ts';

const everyMs = 5_000;
const deadlineMs = 1_000;

type Found = { waiting: WaitingRows[]; deliveries: Delivery[] };

/** Await the result before each scrape. */
export function registerWaiting(
  registry: Registry,
  { db, expired, config, log }: { db: Database; expired: ExpiredRows[]; config: Config; log: Log },
): () => Promise<void> {
  const labelNames = ['queue', 'table'];
  const registers = [registry];
  const up = new Gauge({
    name: 'identity_database_up',
    help: 'Whether the database answered within a second: 1 or 0.',
    registers,
  });
  const rows = new Gauge({
    name: 'identity_waiting_rows',
    help: `Rows that wait for a job, up to ${countLimit}: due mails (outbox), mails not sent yet, since they were written (unsent), contracts to invoice and invoices overdue (billing), rows beyond their life (sweep). ${sameEverywhere}`,
    labelNames,
    registers,
  });
  const oldest = new Gauge({
    name: 'identity_waiting_oldest_seconds',
    help: `How long the oldest of these rows has waited, in seconds. ${sameEverywhere}`,
    labelNames,
    registers,
  });

  const showClients = registerClients(registry, config);

  const show = (found: Found | undefined) => {
    up.set(found ? 1 : 0);
    showClients(found?.deliveries ?? []);
    rows.reset();
    oldest.reset();
    for (const { queue, table, waiting: count, oldestSeconds } of found?.waiting ?? []) {
      rows.set({ queue, table }, count);
      oldest.set({ queue, table }, oldestSeconds);
    }
  };

  const readAll = async (): Promise<Found> => {
    const [waiting, deliveries] = await Promise.all([
      readWaitingRows(db, expired),
      listDeliveries(db, [...config.clients.keys()]),
    ]);
    return { waiting, deliveries };
  };

  let reading: Promise<void> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let isLate = false;
  const read = async () => {
    const found = await readAll().catch((err) => {
      log.error({ err }, 'waiting rows not read');
      return undefined;
    });
    readAt = performance.now();
    reading = undefined;
    isLate = found === undefined;
    show(found);
  };

  return async () => {
    if (!reading && performance.now() - readAt < everyMs) return;
    reading ??= read();
    // A database that is away is asked but not waited for again: the next scrape has its answer.
    if (isLate) return;
    if (await isDoneWithin(reading, deadlineMs)) return;
    isLate = true;
    show(undefined);
  };
}

function isDoneWithin(work: Promise<void>, ms: number): Promise<boolean> {
  return new Promise((done) => {
    const timer = setTimeout(() => done(false), ms);
    work.then(() => {
      clearTimeout(timer);
      done(true);
    });
  });
}
