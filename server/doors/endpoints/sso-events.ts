// GET /sso/events (contract 10.14 to 10.24): sends a client what has changed since its last read. If nothing has changed, the
// request may wait until something changes.
import { recordPull } from '../../../db/tables/event-deliveries.ts';
import { describeEvent, type EventPage } from '../../events/describe-event.ts';
import type { HeldRequests } from '../../events/hold-requests.ts';
import { readEvents } from '../../events/read-events.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { respondJson } from '../../web/answers.ts';
import { readQuery, readWhole, type Visit, type WholeRange } from '../../web/requests.ts';
import { requireTokenOwner } from './client-token.ts';

export const eventsQuery = {
  after: { min: 0, max: Number.MAX_SAFE_INTEGER, usual: 0 },
  limit: { min: 1, max: 1_000, usual: 100 },
  wait: { min: 0, max: 25, usual: 0 },
} satisfies Record<string, WholeRange>;

export async function ssoEvents(
  deps: Dependencies,
  heldRequests: HeldRequests,
  request: Request,
  visit: Visit,
): Promise<Response> {
  const { name: client } = await requireTokenOwner(deps, request, deps.clients.list());
  visit.client = client;
  const params = readQuery(request);
  const after = readWhole(params, 'after', eventsQuery.after);
  const limit = readWhole(params, 'limit', eventsQuery.limit);
  const wait = readWhole(params, 'wait', eventsQuery.wait);
  let page = await readEvents(deps, visit, { client, after, limit });
  await recordPull(deps.db, { client, after });
  if (page.events.length === 0 && wait > 0) {
    const { deadline, signal } = visit;
    await deadline.pause(() => heldRequests.hold({ client, after }, { waitMs: wait * 1_000, signal }));
    // The client may have been turned off while the request waited, or its secret may have ended. So the token is checked
    // again.
    await requireTokenOwner(deps, request, deps.clients.list());
    if (!signal?.aborted) page = await readEvents(deps, visit, { client, after, limit });
  }
  const body: EventPage = { events: page.events.map(describeEvent), latest: page.latest };
  return respondJson(body);
}
