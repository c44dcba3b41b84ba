// Reads what the administrators' business pages show, in the same way as the pages do, and the files that the pages offer.
import { type DatabaseClient, openDatabase } from '../../db/postgres/client.ts';
import type { Staff } from '../../server/acts/staff.ts';
import {
  contractStates,
  invoiceStates,
  readContracts,
  readInvoices,
} from '../../server/billing/invoices/lists.ts';
import { summariseBilling } from '../../server/billing/invoices/summary.ts';
import { bookNames, exportBooks } from '../../server/billing/upkeep/export.ts';
import type { Dependencies } from '../../server/ground/dependencies.ts';
import { statementTimeoutMs } from '../../server/instance/instance.ts';
import { readConfig } from '../../server/settings/config.ts';
import { listClients } from '../../server/staff/clients.ts';
import { listWaiting } from '../../server/staff/invoices.ts';
import { listMails } from '../../server/staff/mails.ts';
import { getOverview, spans } from '../../server/staff/overview.ts';
import { settings } from './population.ts';
import { clients, days } from './staff-books.ts';

const now = () => new Date();
const dayMs = 24 * 3_600_000;
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);

/** `line` is the limit for p99, in milliseconds. */
export type Page = { name: string; line: number; read: () => Promise<unknown> };

export function buildStaffPages({ db }: DatabaseClient): Page[] {
  const ofClients = clients.flatMap((name) => [
    [`SSO_${name.toUpperCase()}_CALLBACK_URL`, `https://${name}.bench.test/in`],
    [`SSO_${name.toUpperCase()}_SECRET`, `${name}${'x'.repeat(32)}`],
  ]);
  const config = readConfig({
    ...settings,
    DATABASE_URL: 'postgres://bench.test/',
    ...Object.fromEntries(ofClients),
  });
  const deps = { db, config, now } as Dependencies;
  const user = { id: '0190f5a0-0001-7000-8000-000000000001', role: 'admin', account: { id: '' } };
  const staff = { session: { user } } as unknown as Staff;
  const lists = <State extends string>(
    of: string,
    states: readonly State[],
    read: (state?: State) => Promise<unknown>,
  ) => [undefined, ...states].map((state) => ({ name: `${of}: ${state ?? 'all'}`, read: () => read(state) }));
  const yearAgo = dayOf(Date.now() - 365 * dayMs).slice(0, 7);
  return [
    ...spans.map((of) => ({
      name: `overview of ${of}`,
      line: 200,
      read: () => getOverview(deps, of),
    })),
    { name: 'billing', line: 300, read: () => summariseBilling(deps) },
    { name: 'billing, of the year before', line: 300, read: () => summariseBilling(deps, yearAgo) },
    ...[
      ...lists('contracts', contractStates, (state) => readContracts(db, { state, now: now() })),
      ...lists('invoices', invoiceStates, (state) => readInvoices(db, { state, now: now() })),
      ...lists('mails', ['failed', 'given_up', 'waiting'] as const, (state) =>
        listMails(deps, staff, { state }),
      ),
      { name: 'clients', read: () => listClients(deps) },
      { name: 'money that waits', read: () => listWaiting(deps, staff, undefined) },
    ].map((page) => ({ ...page, line: 100 })),
  ];
}

const rounds = 5;

/**
 * Exports each book for all days. Measures the time to the first slice after the header, the longest wait for a slice, and the
 * whole time.
 */
export async function measureFiles(url: string, print: (text: string) => void): Promise<void> {
  const database = openDatabase({
    ...{ url, poolSize: 4, preparedStatements: true, statementTimeoutMs },
    onError: () => undefined,
  });
  const span = { from: dayOf(Date.now() - days * dayMs), to: dayOf(Date.now()) };
  print('| File | records | first slice | slowest slice | whole |\n| --- | --- | --- | --- | --- |');
  for (const only of bookNames) {
    const worst = { first: 0, slice: 0, whole: 0 };
    let records = 0;
    for (let round = 0; round < rounds; round++) {
      const startedAt = performance.now();
      const slices: number[] = [];
      let sentAt = startedAt;
      const write = async () => {
        slices.push(performance.now() - sentAt);
        sentAt = performance.now();
      };
      const counts = await exportBooks(database.db, span, write, {
        only,
        signal: new AbortController().signal,
      });
      records = counts[only];
      // slices[0] is the header.
      worst.first = Math.max(worst.first, slices[1] ?? 0);
      worst.slice = Math.max(worst.slice, ...slices);
      worst.whole = Math.max(worst.whole, performance.now() - startedAt);
    }
    print(
      `| ${only} | ${records} | ${[worst.first, worst.slice, worst.whole].map((ms) => `${ms.toFixed(0)} ms`).join(' | ')} |`,
    );
  }
  await database.close();
}
