// The audit, as staff read it (contract 12.36).
import {
  type AuditFilter,
  type AuditRow,
  listAuditEvents,
  looksAndSearches,
  ofClients,
} from '../../db/tables/audit-events.ts';
import { listNames } from '../../db/tables/staff-views.ts';
import type { Staff } from '../acts/staff.ts';
import { readPage } from '../basics/page.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { provider } from '../marketplace/accept-profile.ts';
import { sayEvent } from './event-words.ts';

type AuditAsked = Pick<AuditFilter, 'kind' | 'person' | 'staff'> & {
  client?: string | undefined;
  before?: Date | string | undefined;
};

/**
 * Returns the filter for events about a client. Events of the marketplace have types that no other client has. Events about
 * rows name their client.
 */
export const eventsOfClient = (client: string | undefined): Pick<AuditFilter, 'types' | 'client'> =>
  client === undefined ? {} : client === provider ? { types: ofMarketplace } : { types: ofClients, client };

const ofMarketplace = [
  ...['accepted', 'confirmed', 'email_skipped', 'pending', 'refused'].map((end) => `hand_off.${end}`),
  ...['import.accepted', 'link.removed', 'staff.remove_link'],
];

type Deps = Pick<Dependencies, 'db'>;

const toFilter = ({ session }: Staff, { client, ...asked }: AuditAsked) => ({
  ...asked,
  ...eventsOfClient(client),
  isWithoutStaff: session.user.role === 'manager',
});

/**
 * Returns a page of 50 events, newest first, with the names of the people in it. `before` is an instant, or the `next` of the
 * previous page. `next` is null on the last page. A manager gets no events about staff, no IP addresses, and no browser or
 * place of staff.
 */
export async function listAudit({ db }: Deps, staff: Staff, asked: AuditAsked) {
  const filter = toFilter(staff, asked);
  const { page, last } = await readPage((limit) => listAuditEvents(db, { ...filter, limit }));
  return {
    events: page.map(toShown(staff)),
    people: await listPeople(db, page),
    next: last?.id ?? null,
  };
}

const toShown = ({ session }: Staff) => {
  const isManager = session.user.role === 'manager';
  return (event: AuditRow) => ({ ...(isManager ? forManager(event) : event), what: sayEvent(event) });
};

const listPeople = (db: Deps['db'], page: AuditRow[], ...more: (string | undefined)[]) => {
  const ids = [...page.flatMap(({ userId, actorId }) => [userId, actorId]), ...more];
  return listNames(db, [...new Set(ids.filter((id) => typeof id === 'string'))]);
};

const linesOfPage = 50;
/** A page reads at most this many events, even if most of them end up in one line. */
const eventsOfPage = 1_000;
/** A line lists at most this many of its events, which is enough to see where they came from. */
const mostListed = 50;

/**
 * Like `listAudit`, but for a page that people read. Equal refusals in a row are one line. Events that say that staff viewed
 * people or searched for them are left out unless they are asked for. A page has up to 50 lines. `people` also has the people
 * whom the filter names.
 */
export async function listAuditLines(
  { db }: Deps,
  staff: Staff,
  { hasLooks, ...asked }: AuditAsked & { hasLooks: boolean },
) {
  const isWithoutLooks = !hasLooks && !looksAndSearches.includes(asked.kind ?? '');
  const filter = { ...toFilter(staff, asked), isWithoutLooks };
  let rows: AuditRow[] = [];
  let lines: Line[] = [];
  // The first read is short, and enough for most pages. But many equal refusals become one line. If that leaves too few lines,
  // a second read reads more events.
  for (const limit of [linesOfPage + 1, eventsOfPage + 1]) {
    rows = await listAuditEvents(db, { ...filter, limit });
    lines = foldRefusals(rows.slice(0, limit - 1));
    if (rows.length < limit || lines.length >= linesOfPage) break;
  }
  const page = lines.slice(0, linesOfPage);
  const events = page.flat();
  const show = toShown(staff);
  return {
    lines: page.map(([first, ...others]) => {
      const event = show(first);
      const more = others
        .map(show)
        .map(({ id, at, device, place, address }) => ({ id, at, device, place, address }));
      const since = (others.at(-1) ?? first).at;
      const isOnePlace = more.every((each) => writePlace(each) === writePlace(event));
      const same = { times: 1 + more.length, since, isOnePlace, more: more.slice(0, mostListed - 1) };
      return { event, same: more.length === 0 ? null : same };
    }),
    people: await listPeople(db, events, asked.person, asked.staff),
    next: rows.length > events.length ? (events.at(-1)?.id ?? null) : null,
  };
}

const writePlace = (event: { device: unknown; place: unknown; address?: unknown }) =>
  JSON.stringify([event.device, event.place, event.address]);

/** Equal events, the newest first. */
type Line = [AuditRow, ...AuditRow[]];

/** Adds a refusal to the line of the previous refusal if both have the same kind, reason, person and details. */
function foldRefusals(events: AuditRow[]): Line[] {
  const lines: Line[] = [];
  for (const event of events) {
    const line = lines.at(-1);
    if (line && isRefusal(event) && keyOf(event) === keyOf(line[0])) line.push(event);
    else lines.push([event]);
  }
  return lines;
}

const isRefusal = ({ type, actorId }: AuditRow) => type.endsWith('refused') && actorId === null;
const keyOf = ({ type, reason, userId, details }: AuditRow) =>
  JSON.stringify([type, reason, userId, details]);

export const forManager = <T extends Pick<AuditRow, 'actorId' | 'address' | 'device' | 'place' | 'details'>>({
  details: { invitation: _, ...details },
  ...event
}: T) => ({
  ...event,
  details,
  address: undefined,
  ...(event.actorId !== null && { device: null, place: null }),
});
