// Whole tables for administrators, as files (contract 12.153): slices of rows by the key of the table, oldest first. Reads only,
// and no transaction waits between two slices. Never a password, token, secret or digest.
import { sql } from 'kysely';
import type { Database } from './postgres/client.ts';
import type { AuditRow } from './tables/audit-events.ts';

/** A slice takes a fraction of a second. */
const sliceSize = 500;

async function* readSlices<Row extends { id: string }>(
  read: (after: string) => Promise<Row[]>,
): AsyncGenerator<Row[], void> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const rows = await read(after);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.id;
  }
}

export type PersonRow = {
  id: string;
  email: string;
  name: string;
  accountId: string;
  account: string;
  role: string;
  emailVerifiedAt: Date | null;
  hasPasskey: boolean;
  hasAuthenticator: boolean;
  capabilities: string[];
  verifiedAt: Date | null;
  createdAt: Date;
  suspendedAt: Date | null;
  frozenAt: Date | null;
  deletionDueAt: Date | null;
};

export const readPeople = (db: Database) =>
  readSlices<PersonRow>(
    async (after) =>
      (
        await sql<PersonRow>`
          select u.id, u.email, u.name, u.account_id as "accountId", a.name as account, u.role,
            u.email_verified_at as "emailVerifiedAt", u.has_passkey as "hasPasskey",
            u.has_authenticator as "hasAuthenticator", a.capabilities, a.verified_at as "verifiedAt",
            u.created_at as "createdAt", u.suspended_at as "suspendedAt", u.frozen_at as "frozenAt",
            u.deletion_due_at as "deletionDueAt"
          from users u join accounts a on a.id = u.account_id
          where u.id > ${after} order by u.id limit ${sliceSize}`.execute(db)
      ).rows,
  );

/** `details` is JSON. */
export type EventRow = Omit<AuditRow, 'details'> & { details: string };

export const readEvents = (db: Database) =>
  readSlices<EventRow>(
    async (after) =>
      (
        await sql<EventRow>`
          select id, at, type, reason, user_id as "userId", actor_id as "actorId", why, address, device, place,
            details::text as details
          from audit_events where id > ${after} order by id limit ${sliceSize}`.execute(db)
      ).rows,
  );

export type MailRow = {
  id: string;
  kind: string;
  userId: string | null;
  recipient: string;
  attempts: number;
  lastError: string | null;
  createdAt: Date;
  sentAt: Date | null;
  givenUpAt: Date | null;
};

export const readMails = (db: Database) =>
  readSlices<MailRow>(
    async (after) =>
      (
        await sql<MailRow>`
          select id, kind, user_id as "userId", recipient, attempts, last_error as "lastError", created_at as "createdAt",
            sent_at as "sentAt", given_up_at as "givenUpAt"
          from mails where id > ${after} order by id limit ${sliceSize}`.execute(db)
      ).rows,
  );
