// How long the statements of a transaction may take, and wait for locks.
import { sql, type Transaction } from 'kysely';
import type { DB } from './schema.ts';

/**
 * Keeps a job from waiting long for a row that somebody has locked: it fails with 55P03, which does not mean that the database
 * is away.
 */
export async function limitLockWait(trx: Transaction<DB>): Promise<void> {
  await sql`set local lock_timeout = '1s'`.execute(trx);
}

const timeouts = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  // From Postgres 17 on.
  'transaction_timeout',
];

/**
 * Lifts all timeouts, for work of any length; those of the role and the database too, because behind a pooler they count,
 * whatever a connection asks for.
 */
export async function liftTimeouts(trx: Transaction<DB>): Promise<void> {
  await sql`select set_config(name, '0', true) from pg_settings where name = any(${timeouts})`.execute(trx);
}

/** Lifts the timeouts of a transaction that waits for a reader, not those of its statements. */
export async function liftIdleTimeouts(trx: Transaction<DB>): Promise<void> {
  const ofIdle = timeouts.filter((name) => name.includes('transaction'));
  await sql`select set_config(name, '0', true) from pg_settings where name = any(${ofIdle})`.execute(trx);
}
