// GET /invoices/{number}.pdf and .xml, and the same paths under /admin: sends the stored files of an invoice or a credit note.
import {
  type FileKind,
  type FoundFile,
  findFile,
  findFileOfAccount,
} from '../../../db/tables/document-files.ts';
import { requireStaff, type Staff } from '../../acts/staff.ts';
import { AppError } from '../../basics/errors.ts';
import { FactsError, requireSums } from '../../billing/documents/require-sums.ts';
import { buildXml } from '../../billing/documents/xml.ts';
import { type DocumentFacts, hasXml } from '../../billing/values/document-facts.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { findLiveSession, findSession, requireLive } from '../../identity/session/sessions.ts';
import { lookAtDocument } from '../../staff/invoices.ts';
import { redirect } from '../../web/answers.ts';
import { loginAgainPath, loginPathTo, prefersHtml, type Visit } from '../../web/requests.ts';

/** `name` is the last part of the path, with its extension. */
type AskedFile = { name: string };

/**
 * Sends a file to people whose account has the document. If there is no session, redirects a browser to the login, and throws 401
 * `login_required` for programs. Throws 404 `not_found` for other documents and files, and 503 `unavailable` if the file is not
 * made yet.
 */
export async function documentFile(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  asked: AskedFile,
): Promise<Response> {
  const session = await findLiveSession(deps, request, visit);
  if (!session && prefersHtml(request)) return redirect(loginPathTo(new URL(request.url).pathname));
  const { emailVerifiedAt, account } = requireLive(session).user;
  const { number, kind } = readName(asked);
  const found = emailVerifiedAt
    ? await findFileOfAccount(deps.db, { number, kind, accountId: account.id })
    : undefined;
  return answer(found, number, kind);
}

/**
 * Sends a file to staff. A download counts as a look at the buyer. If the last credential is too old, this redirects to the
 * login. Throws 404 `not_found` and 429 `rate_limited` as `lookAtDocument` does. server/instance/shell.ts hides the route from
 * people who are not staff.
 */
export async function staffDocumentFile(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  asked: AskedFile,
): Promise<Response> {
  const found = await findSession(deps, request, visit);
  let session: Staff['session'];
  try {
    session = requireStaff(deps, found);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'login_required') throw error;
    return redirect(loginAgainPath(request));
  }
  const { number, kind } = readName(asked);
  await lookAtDocument(deps, { session, request, visit }, number);
  return answer(await findFile(deps.db, { number, kind }), number, kind);
}

function readName({ name }: AskedFile): { number: string; kind: FileKind } {
  const [, number, kind] = /^([A-Z0-9-]{1,40})\.(pdf|xml)$/.exec(name) ?? [];
  if (!number || !kind) throw new AppError('not_found');
  return { number, kind: kind as FileKind };
}

/**
 * Makes the XML of a document whose files are not made yet. Returns null if the document has no XML, and undefined if its sums
 * are wrong.
 */
function makeXml({ facts: found }: FoundFile): Uint8Array<ArrayBuffer> | null | undefined {
  const facts = found as DocumentFacts;
  if (!hasXml(facts)) return null;
  try {
    requireSums(facts);
    return new TextEncoder().encode(buildXml(facts));
  } catch (error) {
    if (!(error instanceof FactsError)) throw error;
    return undefined;
  }
}

const types: Record<FileKind, string> = { pdf: 'application/pdf', xml: 'application/xml' };

function answer(found: FoundFile | undefined, number: string, kind: FileKind): Response {
  // XML needs no font, so it can be made here if the files are not made yet.
  const bytes = found?.bytes === undefined && kind === 'xml' ? found && makeXml(found) : found?.bytes;
  if (!found || bytes === null) throw new AppError('not_found');
  // The job makes the file within seconds unless something is wrong with the document.
  if (!bytes)
    throw new AppError('unavailable', {
      detail:
        'This file is not made yet. Try again in a moment. If it is still missing then, support can tell you why.',
      headers: { 'Retry-After': '1' },
    }).asExpected();
  return new Response(bytes, {
    headers: {
      'Content-Type': types[kind],
      // Without this header, a browser could show the file in our origin.
      'Content-Disposition': `attachment; filename="${number}.${kind}"`,
      'Cache-Control': 'no-store',
    },
  });
}
