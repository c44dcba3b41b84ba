// How long the statements of a transaction may take, and how long they may wait for locks.
import { sql, type Transaction } from 'kysely';
import type { DB } from './schema.ts';

/** Makes a job fail with 55P03 (`isDatabaseBusy`) instead of waiting long for a locked row. */
export async function limitLockWait(trx: Transaction<DB>): Promise<void> {
  await sql`set local lock_timeout = '1s'`.execute(trx);
}

const timeouts = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  // Postgres has had this timeout since version 17.
  'transaction_timeout',
];

/** Lifts all timeouts, even the timeouts of the role and the database. Behind a pooler, these may apply instead of our own. */
export async function liftTimeouts(trx: Transaction<DB>): Promise<void> {
  await sql`select set_config(name, '0', true) from pg_settings where name = any(${timeouts})`.execute(trx);
}

/** Lifts the timeouts of a transaction that waits for a reader, but leaves the timeouts of its statements. */
export async function liftIdleTimeouts(trx: Transaction<DB>): Promise<void> {
  const ofIdle = timeouts.filter((name) => name.includes('transaction'));
  await sql`select set_config(name, '0', true) from pg_settings where name = any(${ofIdle})`.execute(trx);
}
