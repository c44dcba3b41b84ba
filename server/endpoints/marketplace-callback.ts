// GET /sso/marketplace/callback (contract section 6): the legacy marketplace hands its logged-in users over. POST is
// the same hand-off again, from the page that asks before it switches users.
import { recordAuditEvent } from '../../db/audit-events.ts';
import type { AppError } from '../errors.ts';
import { redirect, respond, toAppError } from '../http/answers.ts';
import { isSpeculative, readForm, readQuery, type Visit } from '../http/requests.ts';
import { receiveHandOff } from '../marketplace/receive-hand-off.ts';
import type { Services } from '../services.ts';

export async function marketplaceCallback(
  services: Services,
  request: Request,
  visit: Visit,
): Promise<Response> {
  if (isSpeculative(request)) return respond(204);
  try {
    return await answer(services, request, visit);
  } catch (error) {
    const refusal = toAppError(error);
    await recordRefusal(services, visit, refusal);
    throw refusal;
  }
}

async function answer(services: Services, request: Request, visit: Visit): Promise<Response> {
  const isConfirmed = request.method === 'POST';
  const params = isConfirmed ? new URLSearchParams([...(await readForm(request))]) : readQuery(request);
  const received = await receiveHandOff(services, request, visit, { params, maySwitchUser: isConfirmed });

  if (received.kind === 'switch_needed') return redirect(`/switch?${params}`);
  const { kind, next, setCookie } = received;
  const target = kind === 'logged_in' ? next : `/login?prompt=login&next=${encodeURIComponent(next)}`;
  return redirect(target, { 'Set-Cookie': setCookie });
}

/** Stores the exact reason, which the sender never sees. */
async function recordRefusal(
  { db }: Services,
  { address, requestId }: Visit,
  refusal: AppError,
): Promise<void> {
  if (refusal.status >= 500) return;
  const reason = [refusal.code, refusal.reason].filter(Boolean).join(': ');
  await recordAuditEvent(db, { type: 'hand_off.refused', reason, address, requestId });
}
