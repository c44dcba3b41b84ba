// Reads what staff see about a person but the person does not see. This file only reads.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';

export type MailOfPerson = {
  kind: string;
  recipient: string;
  createdAt: Date;
  sentAt: Date | null;
  givenUpAt: Date | null;
  attempts: number;
};

export async function listMailsOf(db: Database, userId: string): Promise<MailOfPerson[]> {
  return db
    .selectFrom('mails')
    .select([
      'kind',
      'recipient',
      'created_at as createdAt',
      'sent_at as sentAt',
      'given_up_at as givenUpAt',
      'attempts',
    ])
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .limit(20)
    .execute();
}

export type LinkSays = {
  provider: string;
  externalId: string;
  createdAt: Date;
  isSleeping: boolean;
  userId: string;
  capabilities: string[] | null;
  verified: boolean | null;
};

export async function listLinksOfAccount(db: Database, accountId: string): Promise<LinkSays[]> {
  const { rows } = await sql<LinkSays>`
    select l.provider, l.external_id as "externalId", l.created_at as "createdAt",
      l.sleeping_since is not null as "isSleeping", l.user_id as "userId", l.capabilities, l.verified
    from users u join external_links l on l.user_id = u.id where u.account_id = ${accountId}
    order by l.created_at limit 100`.execute(db);
  return rows;
}

export type FactorOfPerson = {
  kind: 'passkey' | 'authenticator';
  name: string | null;
  addedAt: Date;
  lastUsedAt: Date | null;
  fromEstablishedBrowser: boolean;
};

/** Lists passkeys and the authenticator app, the oldest first. */
export async function listFactorsOf(db: Database, userId: string): Promise<FactorOfPerson[]> {
  const { rows } = await sql<FactorOfPerson>`
    select 'passkey' as kind, name, created_at as "addedAt", last_used_at as "lastUsedAt",
      from_established_browser as "fromEstablishedBrowser" from passkeys where user_id = ${userId}
    union all
    select 'authenticator', null, added_at, last_used_at, from_established_browser
      from authenticators where user_id = ${userId}
    order by "addedAt"`.execute(db);
  return rows;
}

export type RefusedTry = {
  at: Date;
  type: string;
  reason: string | null;
  device: string | null;
  place: string | null;
  address: string | null;
};

/** Lists refused tries of the last week, the newest first. */
export async function listRefusedTries(db: Database, userId: string): Promise<RefusedTry[]> {
  return db
    .selectFrom('audit_events')
    .select(['at', 'type', 'reason', 'device', 'place', 'address'])
    .where('user_id', '=', userId)
    .where('at', '>', sql<Date>`now() - interval '7 days'`)
    .where('type', 'in', [
      'login.refused',
      'password.refused',
      'account.take_back_refused',
      'email.new_address_refused',
    ])
    .orderBy('at', 'desc')
    .limit(20)
    .execute();
}

/** Leaves out erased people. */
export async function listNames(
  db: Database,
  ids: string[],
): Promise<{ id: string; name: string; email: string; role: string }[]> {
  if (ids.length === 0) return [];
  return db.selectFrom('users').select(['id', 'name', 'email', 'role']).where('id', 'in', ids).execute();
}
