// Files to import, and the people here whom these files are about.
import { writeFile } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';

type Line = {
  id: string;
  email: string;
  email_verified?: boolean;
  name: string;
  role: string;
  profile_updated_at: string;
  account: { name?: string; capabilities: string[] };
};

export const profileOf = (
  id: string,
  { account, ...more }: Partial<Omit<Line, 'account'>> & { account?: Partial<Line['account']> } = {},
): Line => ({
  id,
  email: `${id}@example.test`,
  name: `User ${id}`,
  role: 'customer',
  profile_updated_at: '2026-01-02T00:00:00.000Z',
  ...more,
  account: { capabilities: [], ...account },
});

export const writeLines = (file: string, lines: unknown[]) =>
  writeFile(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));

export type Somebody = {
  key: string;
  email?: string;
  /** The id at the marketplace; null without a link. */
  externalId?: string | null;
  isTyped?: boolean;
  isProved?: boolean;
  hasPassword?: boolean;
  isSleeping?: boolean;
  isSuspended?: boolean;
  isEditedHere?: boolean;
  role?: string;
};

/** Adds people as they are before an import, each with an account, in one statement. */
export async function insertPeople(db: Database, people: Somebody[]): Promise<void> {
  const rows = people.map(({ key, email = `${key}@example.test`, externalId = key, ...somebody }) => ({
    id: crypto.randomUUID(),
    account_id: crypto.randomUUID(),
    name: `User ${key}`,
    email,
    external_id: externalId,
    holds: !somebody.isTyped,
    proved: !somebody.isTyped && (somebody.isProved ?? true),
    password: somebody.hasPassword ?? false,
    sleeping: somebody.isSleeping ?? false,
    suspended: somebody.isSuspended ?? false,
    edited: somebody.isEditedHere ?? false,
    role: somebody.role ?? 'user',
  }));
  await sql`
    with people as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as p (id uuid, account_id uuid, name text,
        email text, external_id text, holds boolean, proved boolean, password boolean, sleeping boolean,
        suspended boolean, edited boolean, role text)
    ), new_accounts as (
      insert into accounts (id, name, name_edited_at) select account_id, name, case when edited then now() end from people
    ), new_users as (
      insert into users (id, account_id, email, holds_email, email_verified_at, name, name_edited_at, role,
          password_hash, suspended_at)
        select id, account_id, email, holds, case when proved then now() end, name, case when edited then now() end,
          role, case when password then 'of no use' end, case when suspended then now() end from people
    )
    insert into external_links (provider, external_id, user_id, applied_profile_updated_at, sleeping_since)
      select 'marketplace', external_id, id, timestamptz '2026-01-01T00:00:00Z', case when sleeping then now() end
      from people where external_id is not null`.execute(db);
}
