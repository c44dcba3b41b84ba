// GET /admin/billing/settings/sample.pdf: sends administrators a sample invoice, credit note and reminder (contract 7.498).
import { requireRight } from '../../acts/act.ts';
import { looks } from '../../acts/rights.ts';
import { requireStaff } from '../../acts/staff.ts';
import { AppError } from '../../basics/errors.ts';
import { lookOf, openDocumentMaker } from '../../billing/documents/document-maker.ts';
import { findVersions } from '../../billing/settings/set-settings.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { findSession } from '../../identity/session/sessions.ts';
import { composeSample } from '../../mail/sample.ts';
import { redirect, respond } from '../../web/answers.ts';
import { isSpeculative, loginAgainPath, type Visit } from '../../web/requests.ts';

/** An instance makes one sample at a time, because each sample needs a thread. */
export type SamplePlace = { isTaken: boolean };

/**
 * Redirects to the login if a credential is needed. Throws 404 `not_found` for managers, 404 `not_configured` if there are no
 * settings, and 503 `unavailable` while another sample is made. server/instance/shell.ts hides the route from people who are not
 * staff.
 */
export async function sampleFile(
  deps: Dependencies,
  place: SamplePlace,
  request: Request,
  visit: Visit,
): Promise<Response> {
  try {
    const session = requireStaff(deps, await findSession(deps, request, visit));
    requireRight({ session }, looks['billing.settings']);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'login_required') throw error;
    return redirect(loginAgainPath(request));
  }
  if (isSpeculative(request)) return respond(204);
  const { pending, inForce } = await findVersions(deps.db);
  const latest = pending ?? inForce;
  if (!latest) throw new AppError('not_configured');
  if (place.isTaken) throw new AppError('unavailable', { headers: { 'Retry-After': '1' } }).asExpected();
  place.isTaken = true;
  const maker = openDocumentMaker(lookOf(deps.config));
  try {
    const { pdf } = await maker.make(composeSample(deps.config, latest.settings, deps.now()));
    return new Response(new Uint8Array(pdf), {
      headers: {
        'Content-Type': 'application/pdf',
        'Content-Disposition': 'attachment; filename="sample.pdf"',
        'Cache-Control': 'no-store',
      },
    });
  } finally {
    place.isTaken = false;
    await maker.close();
  }
}
