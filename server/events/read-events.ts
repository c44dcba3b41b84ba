// What a client reads of its events: which `after` it may continue from, and a page that hides nothing (contract 10.14 to
// 10.23).
import { type ClientEvent, findEventPosition, listEvents } from '../../db/tables/events.ts';
import { AppError } from '../basics/errors.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import type { Visit } from '../web/requests.ts';
import { numberBatch } from './number-events.ts';

type EventPage = { events: ClientEvent[]; latest: number };

/**
 * The next events behind `after`, `limit` at most. An event that was committed before the call is among them, or comes behind a
 * full page with a last number less than `latest`; so one page numbers no more events than it needs, however many wait. Throws
 * 410 `events_gone` if the events right behind `after` are not kept.
 */
export async function readEvents(
  { db, read }: Pick<Dependencies, 'db' | 'read'>,
  { deadline }: Pick<Visit, 'deadline'>,
  { client, after, limit }: { client: string; after: number; limit: number },
): Promise<EventPage> {
  // Before new numbers are given: an `after` that was never given must not become right by chance.
  const before = await findEventPosition(read, client);
  if (after < before.oldest - 1 || after > before.latest) throw eventsGone(before.oldest);
  if (before.latest === after && !before.hasUnnumbered) return { events: [], latest: after };
  let { latest, hasUnnumbered } = before;
  while (hasUnnumbered && latest <= after + limit) {
    // `latest` may lag behind what the page gets, if others number some meanwhile.
    const { numbered, hasMore } = await numberBatch(db, client, { deadline });
    latest += numbered;
    hasUnnumbered = hasMore;
  }
  const events = await listEvents(db, { client, after, limit });
  // The events behind `after` were swept meanwhile.
  if (latest > after && events[0]?.seq !== after + 1)
    throw eventsGone((await findEventPosition(read, client)).oldest);
  // A page that is not full ends with the latest event.
  if (events.length < limit) return { events, latest: events.at(-1)?.seq ?? after };
  return { events, latest: (await findEventPosition(read, client)).latest };
}

const eventsGone = (oldest: number) => new AppError('events_gone', { oldest });
