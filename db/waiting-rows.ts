// Reads how many rows wait for a job, and how long the oldest has waited. This file only reads.
import { type RawBuilder, sql } from 'kysely';
import type { ExpiredRows } from './expired-rows.ts';
import type { Database } from './postgres/client.ts';

/** `oldestSeconds` is 0 if no row waits for the job. `waiting` is never more than `countLimit`. */
export type WaitingRows = { queue: string; table: string; waiting: number; oldestSeconds: number };

/** With this limit, a long queue costs no more to count than a short one. */
export const countLimit = 10_000;

/**
 * `from` says which rows wait for the job. `late` says for how many seconds a row has waited. `order` is the order of the index
 * that finds the rows.
 */
type Queue = {
  queue: string;
  table: string;
  late: RawBuilder<unknown>;
  from: RawBuilder<unknown>;
  order: RawBuilder<unknown>;
};

const queues: Queue[] = [
  {
    queue: 'outbox',
    table: 'mails',
    late: sql`extract(epoch from now() - next_attempt_at)`,
    from: sql`mails where sent_at is null and given_up_at is null and next_attempt_at <= now()`,
    order: sql`next_attempt_at`,
  },
  {
    queue: 'unsent',
    table: 'mails',
    late: sql`extract(epoch from now() - created_at)`,
    // Mails that are to be sent later are dated in the future.
    from: sql`mails where sent_at is null and given_up_at is null and created_at <= now()`,
    order: sql`next_attempt_at`,
  },
  {
    queue: 'billing',
    table: 'service_contracts',
    late: sql`extract(epoch from now() - next_period_starts_at)`,
    from: sql`service_contracts
      where status = 'active' and price_currency is not null and next_period_starts_at <= now()
        and (cancels_at is null or cancels_at > next_period_starts_at)`,
    order: sql`next_period_starts_at`,
  },
  {
    queue: 'billing',
    table: 'invoices',
    late: sql`extract(epoch from now() - coalesce(i.past_due_at, i.due_at))`,
    from: sql`invoices i join service_contracts c on c.id = i.contract_id and c.status = 'active'
      where i.status = 'open' and coalesce(i.past_due_at, i.due_at) <= now()`,
    order: sql`coalesce(i.past_due_at, i.due_at)`,
  },
  {
    queue: 'billing',
    table: 'restores',
    late: sql`extract(epoch from now() - at)`,
    from: sql`restores where billing_resumed_at is null`,
    order: sql`at`,
  },
  {
    queue: 'billing',
    table: 'documents_to_make',
    late: sql`extract(epoch from now() - d.issued_at)`,
    from: sql`documents_to_make m join documents d on d.number = m.number`,
    order: sql`m.next_try_at`,
  },
];

export async function readWaitingRows(db: Database, expired: ExpiredRows[]): Promise<WaitingRows[]> {
  const reads = [...queues, ...expired.map(toQueue)].map(
    ({ queue, table, late, from, order }) => sql`
      select ${sql.lit(queue)} as queue, ${sql.lit(table)} as "table", count(*)::int as waiting,
        coalesce(max(late), 0)::float8 as "oldestSeconds"
      from (select ${late} as late from ${from} order by ${order} limit ${sql.lit(countLimit)}) rows`,
  );
  const { rows } = await sql<WaitingRows>`${sql.join(reads, sql` union all `)}`.execute(db);
  return rows;
}

function toQueue({ table, column, before }: ExpiredRows): Queue {
  const order = sql.ref(column);
  return {
    queue: 'sweep',
    table,
    // The library that counts tries writes times in milliseconds.
    late:
      table === 'rate_limits'
        ? sql`(${before} - ${order}) / 1000`
        : sql`extract(epoch from ${before} - ${order})`,
    from: sql`${sql.table(table)} where ${order} < ${before}`,
    order,
  };
}
