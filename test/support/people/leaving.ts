// People who leave, and what the service still has about them.
import { sql } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { findUsersToErase } from '../../../db/tables/deletions.ts';
import { endsWithPerson } from '../../../server/billing/customers/ends-with-person.ts';
import { eraseDueUsers } from '../../../server/identity/person/erase-user.ts';
import { recordLog } from '../app/log.ts';

/** Makes somebody's deletion due, as if it had been asked for long ago. */
export async function makeDue(db: Database, email: string): Promise<void> {
  await sql`update users set deletion_due_at = now() - interval '1 second' where email = ${email}`.execute(
    db,
  );
}

/**
 * Runs the job as an instance does, and repeats it while rows of people who are due are busy. Returns what it logged. Throws if
 * somebody could not be erased.
 */
export async function runErasure(db: Database, now = () => new Date()) {
  const { log, logged } = recordLog();
  for (let tries = 0; tries < 10; tries++) {
    await eraseDueUsers({ db, now, log, endsWithPerson }).catch((cause) => {
      throw new Error(JSON.stringify(logged.map(({ fields }) => String(fields.err))), { cause });
    });
    if ((await findUsersToErase(db, { limit: 1, except: [] })).length === 0) return logged;
  }
  throw new Error('rows of somebody who is due stayed busy');
}

export async function listTables(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select tablename as name from pg_tables
    where schemaname = 'public' and tablename not like 'kysely_%' order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * Returns every column that contains `text`, such as `users.email`. Looks at columns of every type, and finds the bytes of the
 * text, too.
 */
export async function findText(db: Database, text: string): Promise<string[]> {
  const spellings = [text, Buffer.from(text).toString('hex')].map((each) => each.toLowerCase());
  const found = new Set<string>();
  for (const table of await listTables(db)) {
    const { rows } = await sql<{ key: string; value: string | null }>`
      select each.key, each.value from ${sql.table(table)} t, jsonb_each_text(to_jsonb(t)) each`.execute(db);
    for (const { key, value } of rows)
      if (spellings.some((each) => value?.toLowerCase().includes(each))) found.add(`${table}.${key}`);
  }
  return [...found].sort();
}

export type EventRow = { type: string; reason: string | null; address: string | null; details: unknown };

export async function eventsOf(db: Database, userId: string): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`select type, reason, address, details from audit_events
    where user_id = ${userId} order by at, id`.execute(db);
  return rows;
}
