// Deletes the books whose years are over (contract 7.370 to 7.381). What hangs together goes whole, in one transaction that has
// locked contracts, invoices and payments as all others do, or stays whole.
import type { Transaction } from 'kysely';
import { isDatabaseBusy } from '../../../db/postgres/away.ts';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { deleteAllocations } from '../../../db/tables/allocations.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { deleteDocuments, readClock } from '../../../db/tables/documents.ts';
import { deleteInvoices } from '../../../db/tables/invoices.ts';
import { deleteMailsByKey } from '../../../db/tables/mails.ts';
import {
  allowDeletion,
  findOldGroup,
  type Limit,
  type ListOld,
  listOldInvoices,
  listOldPayments,
  lockOldBooks,
  type OldGroup,
  type Position,
  type Seed,
} from '../../../db/tables/old-books.ts';
import { deletePayments, lockPayments } from '../../../db/tables/payments.ts';
import { findBillingPause } from '../../../db/tables/restores.ts';
import { limitLockWait } from '../../../db/timeouts.ts';
import { rest } from '../../basics/rest.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { findZone } from '../invoices/issue.ts';
import { listMailKeys } from '../invoices/mails.ts';
import { lockInvoices } from '../payments/ledger.ts';
import { dayIn, startOfDay } from '../values/days.ts';

// Takes some ten milliseconds, in which nothing else happens to the contracts of these.
const sliceSize = 50;

// A run ends, so that it shows in the metrics that the job is well, and the next one goes on.
const longestRunMs = 3 * 60_000;

const lists: { list: ListOld; toSeed: (id: string) => Seed }[] = [
  { list: listOldInvoices, toSeed: (invoice) => ({ invoice }) },
  { list: listOldPayments, toSeed: (payment) => ({ payment }) },
];

/**
 * Deletes slice after slice of what is over its years. Any number of instances may do this at once: one works, and the others leave
 * it to that one.
 */
export async function deleteOldBooks(
  deps: Pick<Dependencies, 'db' | 'config' | 'now' | 'log'>,
  signal?: AbortSignal,
): Promise<void> {
  const { db, log } = deps;
  // Payments and refunds of the lost time may not be reported again yet (contract 7.382).
  if (await findBillingPause(db)) return;
  const limit = await findLimit(deps);
  const endsAt = performance.now() + longestRunMs;
  for (const { list, toSeed } of lists) {
    let after: Position | undefined;
    while (!signal?.aborted && performance.now() < endsAt) {
      const startedAt = performance.now();
      const found = await list(db, limit, { after, size: sliceSize });
      if (found.length === 0) break;
      after = found.at(-1);
      try {
        const seeds = found.map(({ id }) => toSeed(id));
        if ((await deleteSlice(db, seeds, limit)) !== 'done') return;
      } catch (err) {
        // Somebody has locked a contract of the slice for long: the next run tries again.
        if (!isDatabaseBusy(err)) throw err;
        log.error({ err }, 'old books not deleted');
      }
      // So that requests get their turn, however many documents are over at a New Year.
      await rest(performance.now() - startedAt, signal);
    }
  }
}

/**
 * What counts is the earlier of two clocks, that of the database and that of this instance: books are gone for good, so one clock
 * that is wrong must not be enough.
 */
async function findLimit({
  db,
  config,
  now,
}: Pick<Dependencies, 'db' | 'config' | 'now'>): Promise<Limit & { year: number }> {
  const zone = await findZone(db);
  const at = new Date(Math.min((await readClock(db)).getTime(), now().getTime()));
  const year = Number(dayIn(zone, at).slice(0, 4)) - config.billingRetentionYears - 1;
  const day = `${String(year + 1).padStart(4, '0')}-01-01`;
  return { year, day, at: startOfDay(zone, day) };
}

const deleteSlice = (db: Database, seeds: Seed[], limit: Limit & { year: number }) =>
  inTransaction(db, { by: 'service', cause: 'retention' }, async (trx) => {
    await limitLockWait(trx);
    if (!(await lockOldBooks(trx))) return 'another is at it';
    if (await findBillingPause(trx)) return 'billing waits';
    const found = await findGroups(trx, seeds, limit);
    if (found.size === 0) return 'done';
    const before = [...found.values()];
    await lockInvoices(
      trx,
      before.flatMap(({ invoices }) => invoices.map((id) => ({ id }))),
    );
    await lockPayments(
      trx,
      before.flatMap(({ payments }) => payments),
    );
    // What somebody was at until now is looked at anew, and stays if it is not as it was.
    const present = await findGroups(trx, [...found.keys()], limit);
    const groups = [...present].filter(([seed, group]) => isSame(found.get(seed), group));
    if (groups.length > 0) await deleteGroups(trx, join(groups.map(([, group]) => group)), limit);
    return 'done';
  });

/** The groups of the seeds that may go, each once. */
async function findGroups(trx: Transaction<DB>, seeds: Seed[], limit: Limit): Promise<Map<Seed, OldGroup>> {
  const groups = new Map<Seed, OldGroup>();
  const seen = new Set<number | string>();
  const all = await Promise.all(seeds.map((seed) => findOldGroup(trx, seed, limit)));
  for (const [at, seed] of seeds.entries()) {
    const group = all[at];
    const first = group?.invoices[0] ?? group?.payments[0];
    if (!group || first === undefined || seen.has(first)) continue;
    seen.add(first);
    groups.set(seed, group);
  }
  return groups;
}

const isSame = (one: OldGroup | undefined, other: OldGroup) => JSON.stringify(one) === JSON.stringify(other);

const join = (groups: OldGroup[]): OldGroup => ({
  invoices: groups.flatMap(({ invoices }) => invoices),
  payments: groups.flatMap(({ payments }) => payments),
});

async function deleteGroups(
  trx: Transaction<DB>,
  { invoices, payments }: OldGroup,
  { year }: { year: number },
): Promise<void> {
  await allowDeletion(trx);
  const paid = await deleteAllocations(trx, invoices);
  const documents = await deleteDocuments(trx, invoices);
  await deleteInvoices(trx, invoices);
  const moved = await deletePayments(trx, payments);
  await deleteMailsByKey(trx, listMailKeys(documents, paid));
  deferAuditEvent(trx, {
    type: 'books.deleted',
    details: {
      until: year,
      invoices: invoices.length,
      creditNotes: documents.filter(({ kind }) => kind === 'credit_note').length,
      payments: moved,
    },
  });
}
