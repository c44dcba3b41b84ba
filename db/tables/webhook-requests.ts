// The only writer of `webhook_requests`: the answers to messages. If a message is sent again, it gets the same answer.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepare, prepareDeferred } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';

export type GivenAnswer = { bodyHash: Uint8Array; status: number; answer: string };

/**
 * Reserves the id until the transaction ends. Returns false if another transaction has the id. If two ids share a lock by chance,
 * the second message must be sent again.
 */
export async function tryLockWebhookId(trx: Transaction<DB>, webhookId: string): Promise<boolean> {
  return (await tryLock(trx, { webhookId }))[0]?.locked === true;
}

const tryLock = prepare((db, { webhookId }: { webhookId: string }) =>
  db.selectNoFrom(sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${webhookId}, 0))`.as('locked')),
);

const select = prepare((db, { webhookId }: { webhookId: string }) =>
  db
    .selectFrom('webhook_requests')
    .select(['body_hash as bodyHash', 'status', 'answer'])
    .where('webhook_id', '=', webhookId),
);

export async function findAnswer(db: Database, webhookId: string): Promise<GivenAnswer | undefined> {
  return (await select(db, { webhookId }))[0];
}

export const deferAnswer = prepareDeferred((db, given: GivenAnswer & { webhookId: string; now: Date }) =>
  db.insertInto('webhook_requests').values({
    webhook_id: given.webhookId,
    body_hash: given.bodyHash,
    status: given.status,
    answer: given.answer,
    created_at: given.now,
  }),
);
