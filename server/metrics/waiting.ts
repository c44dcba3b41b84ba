// Measures what waits in the database for a job, and how far clients are with their events.
import { Gauge, type Registry } from 'prom-client';
import { readBackupAge } from '../../db/backups.ts';
import type { ExpiredRows } from '../../db/expired-rows.ts';
import type { Database } from '../../db/postgres/client.ts';
import { type Delivery, listDeliveries } from '../../db/tables/event-deliveries.ts';
import { countLimit, readWaitingRows, type WaitingRows } from '../../db/waiting-rows.ts';
import type { Log } from '../basics/log.ts';
import type { Clients } from '../sso/clients.ts';
import { sameEverywhere } from './at-scrape.ts';
import { registerClients } from './clients.ts';
import { createReading } from './reading.ts';

type Found = { waiting: WaitingRows[]; deliveries: Delivery[]; backupAge: number };

/** Call the returned function before each scrape, and await it. */
export function registerWaiting(
  registry: Registry,
  { db, expired, clients, log }: { db: Database; expired: ExpiredRows[]; clients: Clients; log: Log },
): () => Promise<void> {
  const labelNames = ['queue', 'table'];
  const registers = [registry];
  const isRead = new Gauge({
    name: 'identity_counts_read',
    help: 'Whether what waits for jobs and clients could be read from the database within a second: 1 or 0. At 0 these numbers are missing.',
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

  const showClients = registerClients(registry, clients);
  const backupAge = new Gauge({
    name: 'identity_backup_age_seconds',
    help: `For how long nothing has been backed up, in seconds: since the last good backup by the command \`backup\` began, or without any since the database was made. ${sameEverywhere}`,
    registers,
  });

  const show = (found: Found | undefined) => {
    isRead.set(found ? 1 : 0);
    showClients(found?.deliveries ?? []);
    backupAge.remove();
    if (found) backupAge.set(found.backupAge);
    rows.reset();
    oldest.reset();
    for (const { queue, table, waiting: count, oldestSeconds } of found?.waiting ?? []) {
      rows.set({ queue, table }, count);
      oldest.set({ queue, table }, oldestSeconds);
    }
  };

  // A new gauge would show an age of 0, but the age is unknown before the first reading.
  backupAge.remove();

  return createReading({
    async read() {
      const [waiting, deliveries, age] = await Promise.all([
        readWaitingRows(db, expired),
        listDeliveries(
          db,
          clients.list().map(({ name }) => name),
        ),
        readBackupAge(db),
      ]);
      return { waiting, deliveries, backupAge: age };
    },
    show,
    onError: (err) => log.error({ err }, 'waiting rows not read'),
  });
}
