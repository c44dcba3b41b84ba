// Which files administrators may download, and how often (contract 12.143 to 12.161).
import { inTransactionOf } from '../../db/postgres/transactions.ts';
import { deferAuditEvent, listFilesTaken, recordAuditEvent } from '../../db/tables/audit-events.ts';
import { lockOpenSession } from '../../db/tables/sessions.ts';
import { lockFilesOf, type Staff } from '../acts/staff.ts';
import { AppError } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import { findZone } from '../billing/invoices/issue.ts';
import { type BookName, bookNames, requireSpan } from '../billing/upkeep/export.ts';
import { addDays, dayIn, isDay } from '../billing/values/days.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { trailOf } from '../identity/ground/trail.ts';
import { type TableName, tableFiles, tableNames } from './table-files.ts';

/** A table, or a book for the days from `from` to `to`. */
export type AskedFile = { file: TableName } | { file: BookName; from: string; to: string };

const isBook = (file: string): file is BookName => (bookNames as string[]).includes(file);

/** Throws 404 `not_found` for an unknown file, and 422 `validation_failed` for wrong days. */
export async function readAskedFile(
  { db }: Dependencies,
  { file, from, to }: { file: string; from: string; to: string },
): Promise<AskedFile> {
  if (Object.hasOwn(tableFiles, file)) return { file: file as TableName };
  if (!isBook(file)) throw new AppError('not_found');
  const errors = Object.entries({ from, to }).flatMap(([name, day]) =>
    isDay(day) ? [] : [{ pointer: `/${name}`, detail: faultWords.day_none }],
  );
  if (errors.length > 0) throw new AppError('validation_failed', { errors });
  await requireSpan(db, { from, to });
  return { file, from, to };
}

const filesAnHour = 5;

type Taken = Awaited<ReturnType<typeof listFilesTaken>>;

/**
 * Returns how many files the limit counts. Each download of a table is one file. For the books of one span, the limit counts
 * only the book that was downloaded most often.
 */
function countFiles(taken: Taken): number {
  const spans = new Map<string, number>();
  let tables = 0;
  for (const { file, from, to, times } of taken) {
    if (!isBook(file)) tables += times;
    else spans.set(`${from} ${to}`, Math.max(times, spans.get(`${from} ${to}`) ?? 0));
  }
  return [...spans.values()].reduce((sum, times) => sum + times, tables);
}

const isSame = (one: Record<string, unknown>, other: Record<string, unknown>) =>
  ['file', 'from', 'to'].every((name) => (one[name] ?? null) === (other[name] ?? null));

function withOneMore(taken: Taken, asked: AskedFile): Taken {
  if (!taken.some((each) => isSame(each, asked)))
    return [...taken, { from: null, to: null, ...asked, times: 1, oldestAgeSeconds: 0 }];
  return taken.map((each) => (isSame(each, asked) ? { ...each, times: each.times + 1 } : each));
}

/**
 * Counts the file, and records that its download began, before any of it is sent. Throws 429 `rate_limited` after five files in
 * an hour, and 401 `login_required` if the session has ended.
 */
export async function beginFile({ db }: Dependencies, staff: Staff, asked: AskedFile): Promise<void> {
  const { user, id: sessionId } = staff.session;
  await inTransactionOf(staff.visit, db, async (trx) => {
    if (!(await lockOpenSession(trx, sessionId))) throw new AppError('login_required');
    await lockFilesOf(trx, user.id);
    const taken = await listFilesTaken(trx, user.id);
    if (countFiles(withOneMore(taken, asked)) > filesAnHour) {
      const oldest = Math.max(0, ...taken.map(({ oldestAgeSeconds }) => oldestAgeSeconds));
      const waitSeconds = Math.max(1, Math.ceil(3_600 - oldest));
      throw new AppError('rate_limited', { headers: { 'Retry-After': String(waitSeconds) } });
    }
    deferAuditEvent(trx, {
      ...trailOf(staff.visit),
      type: 'staff.export_started',
      actorId: user.id,
      details: { ...asked },
    });
  });
}

/** Records how many rows the reader may have received, and whether these are all. */
export const endFile = (
  { db }: Dependencies,
  { session, visit }: Staff,
  asked: AskedFile,
  { rows, whole }: { rows: number; whole: boolean },
): Promise<void> =>
  recordAuditEvent(db, {
    ...trailOf(visit),
    type: 'staff.exported',
    actorId: session.user.id,
    details: { ...asked, rows, whole },
  });

/** Returns the usual spans of an accounting export, with the first and the last day. No span ends after today. */
export function buildSpans(today: string) {
  const [year = 0, month = 0] = today.split('-').map(Number);
  const quarter = month - ((month - 1) % 3);
  const firstOf = (of: number) => new Date(Date.UTC(year, of - 1)).toISOString().slice(0, 10);
  const between = (from: number, until: number) => ({ from: firstOf(from), to: addDays(firstOf(until), -1) });
  return [
    { name: 'last_month' as const, ...between(month - 1, month) },
    { name: 'last_quarter' as const, ...between(quarter - 3, quarter) },
    { name: 'this_year' as const, from: firstOf(1), to: today },
    { name: 'last_year' as const, ...between(-11, 1) },
  ];
}

/** `left` is how many more files the administrator may download now. Days are in the seller's time zone. */
export async function listFiles({ db, now }: Dependencies, staff: Staff) {
  const today = dayIn(await findZone(db), now());
  const left = filesAnHour - countFiles(await listFilesTaken(db, staff.session.user.id));
  return {
    tables: tableNames,
    books: bookNames,
    left: Math.max(0, left),
    today,
    spans: buildSpans(today),
  };
}
