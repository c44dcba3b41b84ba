// The audit, as staff read it (contract 12.36).
import { type AuditFilter, listAuditEvents } from '../../db/tables/audit-events.ts';
import { listNames } from '../../db/tables/staff-views.ts';
import type { Dependencies } from '../instance/dependencies.ts';
import { sayEvent } from './event-words.ts';
import type { Staff } from './staff.ts';

const pageSize = 50;

export type AuditAsked = Omit<AuditFilter, 'isWithoutStaff'> & { before?: string | undefined };

/**
 * A page of 50, newest first, with the names of those who are in it. `before` is the `next` of the page before; `next` is null on
 * the last one. A manager gets no event about staff, and no network address.
 */
export async function listAudit({ db }: Pick<Dependencies, 'db'>, { session }: Staff, asked: AuditAsked) {
  const isManager = session.user.role === 'manager';
  const rows = await listAuditEvents(db, { ...asked, isWithoutStaff: isManager, limit: pageSize + 1 });
  const page = rows.slice(0, pageSize);
  const ids = page.flatMap(({ userId, actorId }) => [userId, actorId]).filter((id) => id !== null);
  return {
    events: page.map(({ address, ...event }) => ({
      ...event,
      what: sayEvent(event),
      address: isManager ? undefined : address,
    })),
    people: await listNames(db, [...new Set(ids)]),
    next: rows.length > pageSize ? (page.at(-1)?.id ?? null) : null,
  };
}
