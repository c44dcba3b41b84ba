import { type Kysely, sql } from 'kysely';

// What all instances have counted in each hour (contract 12.100 to 12.105). The version before does not add to it.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sums_of_hours (
      hour timestamptz not null,
      key text not null,
      count bigint not null constraint sums_of_hours_count_positive check (count > 0),
      last_at timestamptz not null,
      constraint sums_of_hours_pkey primary key (key, hour)
    )`.execute(db);
  await sql`create index sums_of_hours_hour_idx on sums_of_hours (hour)`.execute(db);
  await sql`
    comment on column sums_of_hours.key is
      'A metric and its labels, as Prometheus spells them. Every label is from a list or from the settings.'`.execute(
    db,
  );
}
