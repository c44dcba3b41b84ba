// Lifts allowances, for a load of few people who change far more in an hour than anybody may.
import { sql } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { connect } from '../database/postgres.ts';

/** From now on no change counts against an allowance in that database. */
export async function liftAllowances(db: Database): Promise<void> {
  await sql`create or replace function lift_allowance() returns trigger language plpgsql
    as 'begin new.points = 0; return new; end'`.execute(db);
  await sql`create or replace trigger lift_allowance before insert or update on rate_limits for each row
    when (new.key like 'allowance-%') execute function lift_allowance()`.execute(db);
}

export async function liftAllowancesAt(url: string): Promise<void> {
  const { db, close } = connect(url);
  await liftAllowances(db).finally(close);
}
