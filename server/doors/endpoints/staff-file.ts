// GET /admin/files/{name}.csv: sends administrators a table, or a part of the accounting export for a span of days (contract
// 12.143 to 12.161). The file is written while it is sent, a slice of rows at a time.

import { requireRight } from '../../acts/act.ts';
import { looks } from '../../acts/rights.ts';
import { requireStaff, type Staff } from '../../acts/staff.ts';
import { AppError } from '../../basics/errors.ts';
import { exportBooks } from '../../billing/upkeep/export.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { findSession, isConfirmed } from '../../identity/session/sessions.ts';
import { writeCsv } from '../../runtime/csv.ts';
import { type AskedFile, beginFile, endFile, readAskedFile } from '../../staff/files.ts';
import { tableFiles } from '../../staff/table-files.ts';
import { redirect, respond } from '../../web/answers.ts';
import { CutOff, type PacedWriter, streamPaced } from '../../web/paced-stream.ts';
import { isFromElsewhere, isSpeculative, readQuery, type Visit } from '../../web/requests.ts';

const atOnce = 2;
const stallMs = 30_000;
// An accounting export shows the database at one moment. So it keeps one connection to the end, and gets less time than a
// table.
const wholeBookMs = 5 * 60_000;
const wholeTableMs = 60 * 60_000;

/** How many files an instance is sending now. An instance sends at most two files at the same time. */
export type FilePlaces = { taken: number };

/**
 * Redirects to the page of the files if a credential is needed first. Throws 404 `not_found` for managers and unknown files, 422
 * `validation_failed` for wrong days, 503 `unavailable` if two files are being sent, and 429 `rate_limited`.
 * server/instance/shell.ts hides the route from people who are not staff.
 */
export async function staffFile(
  deps: Dependencies,
  places: FilePlaces,
  request: Request,
  visit: Visit,
  { name }: { name: string },
): Promise<Response> {
  const query = readQuery(request);
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? ''];
  const staff = await findAdministrator(deps, request, visit);
  if (!staff) return redirect(pathOfPage({ file: name, from, to }));
  const asked = await readAskedFile(deps, { file: name, from, to });
  if (isSpeculative(request)) return respond(204);
  if (isFromElsewhere(request)) return redirect('/admin/files');
  if (!isConfirmed(deps, staff.session)) return redirect(pathOfPage({ from: '', to: '', ...asked }));
  if (places.taken >= atOnce)
    throw new AppError('unavailable', { headers: { 'Retry-After': '10' } }).asExpected();
  places.taken++;
  try {
    await beginFile(deps, staff, asked);
  } catch (error) {
    places.taken--;
    throw error;
  }
  const wholeMs = 'from' in asked ? wholeBookMs : wholeTableMs;
  const body = streamPaced((writer) => send(deps, staff, asked, writer).finally(() => places.taken--), {
    stallMs,
    wholeMs,
  });
  // The name contains the span of days, so that people can save books of several spans in one folder.
  const fileName =
    'from' in asked ? asked.file.replace('.csv', `-${asked.from}-${asked.to}.csv`) : asked.file;
  return new Response(body, {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="${fileName}"`,
      'Cache-Control': 'no-store',
    },
  });
}

/** Returns undefined if a login or a second factor is missing. Throws 404 `not_found` for managers. */
async function findAdministrator(
  deps: Dependencies,
  request: Request,
  visit: Visit,
): Promise<Staff | undefined> {
  try {
    const staff = { session: requireStaff(deps, await findSession(deps, request, visit)), request, visit };
    requireRight(staff, looks['files.list']);
    return staff;
  } catch (error) {
    const isLacking =
      error instanceof AppError && ['login_required', 'second_factor_required'].includes(error.code);
    if (!isLacking) throw error;
    return undefined;
  }
}

function pathOfPage({ file, from, to }: { file: string; from: string; to: string }): string {
  const query = Object.entries({ file, from, to }).filter(([, value]) => value !== '');
  return `/admin/files?${new URLSearchParams(query)}`;
}

/** Sends the file, and always records whether that succeeded. */
async function send(
  deps: Dependencies,
  staff: Staff,
  asked: AskedFile,
  { write, signal }: PacedWriter,
): Promise<void> {
  const outcome = { rows: 0, whole: false };
  const add = async (records: string[][]) => {
    outcome.rows += records.length;
    await write(writeCsv(records));
  };
  try {
    if ('from' in asked) {
      // The header does not count as a row.
      outcome.rows--;
      await exportBooks(deps.db, asked, (_, records) => add(records), { only: asked.file, signal });
    } else {
      const { columns, read } = tableFiles[asked.file];
      await write(writeCsv([columns.split(',')]));
      for await (const records of read(deps)) {
        // After the administrator has logged out or lost the role, no further slice is sent.
        if (!(await findAdministrator(deps, staff.request, staff.visit)))
          throw new CutOff('The session is over.');
        await add(records);
      }
    }
    outcome.whole = true;
  } catch (error) {
    if (!(error instanceof CutOff))
      deps.log.error({ requestId: staff.visit.requestId, err: error }, 'file broken off');
    throw error;
  } finally {
    await endFile(deps, staff, asked, { ...outcome, rows: Math.max(0, outcome.rows) });
  }
}
