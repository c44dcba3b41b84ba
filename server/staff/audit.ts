// The audit, as staff read it (contract 12.36).
import { type AuditFilter, type AuditRow, listAuditEvents } from '../../db/tables/audit-events.ts';
import { listNames } from '../../db/tables/staff-views.ts';
import type { Staff } from '../acts/staff.ts';
import { readPage } from '../basics/page.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { provider } from '../marketplace/accept-profile.ts';
import { sayEvent } from './event-words.ts';

type AuditAsked = Omit<AuditFilter, 'isWithoutStaff' | 'types'> & {
  client?: string | undefined;
  before?: Date | string | undefined;
};

/** The types of events about a client. Only the marketplace causes any. */
export const typesOfClient = (client: string | undefined): string[] | undefined =>
  client === undefined ? undefined : client === provider ? ofMarketplace : [];

const ofMarketplace = [
  ...['accepted', 'confirmed', 'email_skipped', 'pending', 'refused'].map((end) => `hand_off.${end}`),
  ...['import.accepted', 'link.removed', 'staff.remove_link'],
];

/**
 * Returns a page of 50 events, newest first, with the names of the people in it. `before` is an instant, or the `next` of the
 * previous page. `next` is null on the last page. A manager gets no events about staff, no network addresses, and no browser
 * or place of staff.
 */
export async function listAudit(
  { db }: Pick<Dependencies, 'db'>,
  { session }: Staff,
  { client, ...asked }: AuditAsked,
) {
  const isManager = session.user.role === 'manager';
  const types = typesOfClient(client);
  const filter = { ...asked, types, isWithoutStaff: isManager };
  const { page, last } = await readPage((limit) => listAuditEvents(db, { ...filter, limit }));
  const ids = page.flatMap(({ userId, actorId }) => [userId, actorId]).filter((id) => id !== null);
  return {
    events: page.map((event) => ({ ...(isManager ? forManager(event) : event), what: sayEvent(event) })),
    people: await listNames(db, [...new Set(ids)]),
    next: last?.id ?? null,
  };
}

export const forManager = <T extends Pick<AuditRow, 'actorId' | 'address' | 'device' | 'place'>>(
  event: T,
) => ({
  ...event,
  address: undefined,
  ...(event.actorId !== null && { device: null, place: null }),
});
