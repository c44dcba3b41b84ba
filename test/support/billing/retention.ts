// What retention is to do, as a second program that knows nothing of the service's code works it out from the rows; and the whole
// database before and after, to compare.
import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../db/schema.ts';

type Row = Record<string, unknown>;

/** Each row of each table as text. */
export async function readDatabase(db: Kysely<DB>): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = current_schema() order by 1`.execute(db);
  const all = new Map<string, string[]>();
  for (const { name } of rows) {
    const found = await sql<{ row: string }>`
      select to_jsonb(t)::text as row from ${sql.table(name)} t order by 1`.execute(db);
    all.set(
      name,
      found.rows.map(({ row }) => row),
    );
  }
  return all;
}

/** By table, the rows of `one` that `other` does not have. */
export function missing(one: Map<string, string[]>, other: Map<string, string[]>): Record<string, Row[]> {
  const all: Record<string, Row[]> = {};
  for (const [name, rows] of one) {
    const kept = new Set(other.get(name));
    const gone = rows.filter((row) => !kept.has(row)).map((row) => JSON.parse(row) as Row);
    if (gone.length > 0) all[name] = gone;
  }
  return all;
}

/** By table, the rows that may go once the books of `lastYear` and before are over, in Berlin. */
export function expectGone(all: Map<string, string[]>, lastYear: number): Record<string, Row[]> {
  const rowsOf = (name: string) => (all.get(name) ?? []).map((row) => JSON.parse(row) as Row);
  const yearOf = (at: unknown) =>
    Number(new Date(String(at)).toLocaleDateString('en', { timeZone: 'Europe/Berlin', year: 'numeric' }));
  const [invoices, documents, allocations, payments] = (
    ['invoices', 'documents', 'allocations', 'payments'] as const
  ).map(rowsOf) as [Row[], Row[], Row[], Row[]];

  const parents = new Map<string, string>();
  const find = (node: string): string => {
    const parent = parents.get(node) ?? node;
    if (parent === node) return node;
    const root = find(parent);
    parents.set(node, root);
    return root;
  };
  const link = (one: string, other: string) => parents.set(find(one), find(other));
  const invoiceNode = (number: unknown) => `invoice ${number}`;
  const moneyNode = ({ kind, id, of }: Row) => `payment ${kind === 'payment' ? id : of}`;
  for (const { payment, invoice } of allocations) link(`payment ${payment}`, invoiceNode(invoice));
  for (const { number, contract_id, period_starts_at } of invoices)
    link(invoiceNode(number), `period ${contract_id} ${period_starts_at}`);

  const kept = new Set<string>();
  const newest = new Map<string, number>();
  const note = (node: string, year: number, isOpen = false) => {
    const root = find(node);
    newest.set(root, Math.max(year, newest.get(root) ?? 0));
    if (isOpen) kept.add(root);
  };
  const called = new Map(invoices.map((row) => [String(row.document ?? row.number), row.number]));
  for (const row of invoices) note(invoiceNode(row.number), yearOf(row.issued_at), row.status === 'open');
  for (const row of documents) note(invoiceNode(row.invoice), Number(String(row.issued_on).slice(0, 4)));
  for (const row of allocations) note(invoiceNode(row.invoice), yearOf(row.recorded_at));
  for (const row of payments) {
    note(moneyNode(row), yearOf(row.recorded_at), row.unallocated !== 0);
    const named = called.get(String(row.invoice_number).toUpperCase());
    if (named !== undefined && row.unallocated !== 0) note(invoiceNode(named), 0, true);
  }
  const goes = (node: string) => {
    const root = find(node);
    return !kept.has(root) && (newest.get(root) ?? 9_999) <= lastYear;
  };
  const gone: Record<string, Row[]> = {
    invoices: invoices.filter(({ number }) => goes(invoiceNode(number))),
    documents: documents.filter(({ invoice }) => goes(invoiceNode(invoice))),
    allocations: allocations.filter(({ invoice }) => goes(invoiceNode(invoice))),
    payments: payments.filter((row) => goes(moneyNode(row))),
  };
  const numbers = new Set(gone.documents?.map(({ number }) => number));
  for (const name of ['document_files', 'documents_to_make'])
    gone[name] = rowsOf(name).filter(({ number }) => numbers.has(number));
  gone.mails = rowsOf('mails').filter(({ details }) => numbers.has((details as Row | null)?.document));
  return Object.fromEntries(Object.entries(gone).filter(([, rows]) => rows.length > 0));
}
