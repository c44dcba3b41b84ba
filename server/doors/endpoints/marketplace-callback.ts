// GET /sso/marketplace/callback (contract section 6): logs users in whom the legacy marketplace has logged in.

import type { Dependencies } from '../../ground/dependencies.ts';
import { receiveHandOff } from '../../marketplace/receive-hand-off.ts';
import { redirect, respond, toAppError } from '../../web/answers.ts';
import { isSpeculative, readQuery, type Visit } from '../../web/requests.ts';

export async function marketplaceCallback(
  deps: Dependencies,
  request: Request,
  visit: Visit,
): Promise<Response> {
  if (isSpeculative(request)) return respond(204);
  try {
    const { next, setCookies, result } = await receiveHandOff(deps, request, visit, readQuery(request));
    deps.metrics.countHandOff(result);
    return redirect(next, {}, setCookies);
  } catch (error) {
    const refusal = toAppError(error);
    // A refusal is logged but not audited. Many hand-offs are refused before their signature is checked, so strangers could
    // fill the audit.
    const { code, reason } = refusal;
    deps.metrics.countHandOff(code);
    const { requestId, address } = visit;
    deps.log.record({ requestId, address, code, reason }, 'hand-off refused');
    throw refusal;
  }
}
