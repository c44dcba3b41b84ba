// Pages of events for a client (contract 10.14 to 10.23).
import { type ClientEvent, findEventPosition, listEvents } from '../../db/tables/events.ts';
import { AppError } from '../basics/errors.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import type { Visit } from '../web/requests.ts';
import { numberBatch } from './number-events.ts';

/**
 * Returns at most `limit` events after `after`. If there were more such events before the call, `latest` is higher than the last
 * number on the page. The call gives numbers to no more events than it needs. Throws 410 `events_gone` if we do not keep the next
 * events.
 */
export async function readEvents(
  { db, read }: Pick<Dependencies, 'db' | 'read'>,
  { deadline }: Pick<Visit, 'deadline'>,
  { client, after, limit }: { client: string; after: number; limit: number },
): Promise<{ events: ClientEvent[]; latest: number }> {
  // `after` is checked before new numbers are given. If numbers were given first, a wrong `after` could become valid by chance.
  const before = await findEventPosition(read, client);
  if (after < before.oldest - 1 || after > before.latest) throw eventsGone(before.oldest);
  if (before.latest === after && !before.hasUnnumbered) return { events: [], latest: after };
  let { latest, hasUnnumbered } = before;
  while (hasUnnumbered && latest <= after + limit) {
    // If other requests number events at the same time, `latest` may be too low.
    const { numbered, hasMore } = await numberBatch(db, client, { deadline });
    latest += numbered;
    hasUnnumbered = hasMore;
  }
  const events = await listEvents(db, { client, after, limit });
  // The events after `after` were deleted while this ran.
  if (latest > after && events[0]?.seq !== after + 1)
    throw eventsGone((await findEventPosition(read, client)).oldest);
  if (events.length < limit) return { events, latest: events.at(-1)?.seq ?? after };
  return { events, latest: (await findEventPosition(read, client)).latest };
}

const eventsGone = (oldest: number) => new AppError('events_gone', { oldest });
