// Reads whole tables for administrators, as files (contract 12.152), the oldest rows first. This file only reads. It never reads
// a password, a token, a secret or a digest.
import { type RawBuilder, sql } from 'kysely';
import { firstUuid, readSlicesById } from './cursor.ts';
import type { Database } from './postgres/client.ts';
import type { AuditRow } from './tables/audit-events.ts';

const sliceSize = 500;

const readTable = <Row extends { id: string }>(db: Database, select: (after: string) => RawBuilder<Row>) =>
  readSlicesById<string, Row>(firstUuid, async (after) => (await select(after).execute(db)).rows);

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
  readTable(
    db,
    (after) => sql<PersonRow>`
          select u.id, u.email, u.name, u.account_id as "accountId", a.name as account, u.role,
            u.email_verified_at as "emailVerifiedAt", u.has_passkey as "hasPasskey",
            u.has_authenticator as "hasAuthenticator", a.capabilities, a.verified_at as "verifiedAt",
            u.created_at as "createdAt", u.suspended_at as "suspendedAt", u.frozen_at as "frozenAt",
            u.deletion_due_at as "deletionDueAt"
          from users u join accounts a on a.id = u.account_id
          where u.id > ${after} order by u.id limit ${sliceSize}`,
  );

/** `details` is JSON. */
export type EventRow = Omit<AuditRow, 'details'> & { details: string };

export const readEvents = (db: Database) =>
  readTable(
    db,
    (after) => sql<EventRow>`
          select id, at, type, reason, user_id as "userId", actor_id as "actorId", why, address, device, place,
            details::text as details
          from audit_events where id > ${after} order by id limit ${sliceSize}`,
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
  readTable(
    db,
    (after) => sql<MailRow>`
          select id, kind, user_id as "userId", recipient, attempts, last_error as "lastError", created_at as "createdAt",
            sent_at as "sentAt", given_up_at as "givenUpAt"
          from mails where id > ${after} order by id limit ${sliceSize}`,
  );
