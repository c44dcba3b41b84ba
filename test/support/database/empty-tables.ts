// Emptying tables between tests, while jobs of the service may use them.
import { sql } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';

const deadlock = '40P01';

/** Empties tables, and the tables that refer to them. Tries again if Postgres ends it because a job locked them in another order. */
export async function emptyTables(db: Database, ...names: string[]): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      await sql`truncate ${sql.join(names.map((name) => sql.table(name)))} cascade`.execute(db);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== deadlock || tries === 10) throw error;
    }
}
