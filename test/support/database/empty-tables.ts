// Emptying tables between tests, while jobs of the service may use them.
import { sql } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';

const deadlock = '40P01';

/** Empties tables, and the tables that refer to them. Tries again if Postgres finds a deadlock with a job. */
export async function emptyTables(db: Database, ...names: string[]): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      await sql`truncate ${sql.join(names.map((name) => sql.table(name)))} cascade`.execute(db);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== deadlock || tries === 10) throw error;
    }
}
