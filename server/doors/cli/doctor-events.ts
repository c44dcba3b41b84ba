// Appends the doctor's events (contract 3.41 and 3.42). They are about test people only, and go to one client.

import type { EventWriter, OwnEvent } from '../../../clients/doctor/target.ts';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import {
  appendTestEvents,
  eraseEventsOf,
  findEventPosition,
  type TestEvent,
} from '../../../db/tables/events.ts';
import { numberBatch } from '../../events/number-events.ts';

const origin = { by: 'operator', cause: 'doctor' } as const;

export function createEventWriter(db: Database, client: string): EventWriter {
  /** Numbers the events now, because the doctor's nudge contains the last number. */
  async function number(): Promise<number> {
    for (let hasMore = true; hasMore; ) ({ hasMore } = await numberBatch(db, client));
    return (await findEventPosition(db, client)).latest;
  }

  return {
    async append(events) {
      await inTransaction(db, origin, (trx) => appendTestEvents(trx, client, events.map(toRow)));
      return number();
    },
    async forget(userIds) {
      await inTransaction(db, origin, async (trx) => {
        for (const id of userIds) await eraseEventsOf(trx, id);
        await appendTestEvents(
          trx,
          client,
          userIds.map((userId) => ({ type: 'user.deleted', userId, body: null })),
        );
      });
      await number();
    },
  };
}

/** The bodies look like the ones that the database's triggers write. */
function toRow(event: OwnEvent): TestEvent {
  if (event.type === 'erased') return { type: event.type, userId: null, body: null };
  const { type, userId } = event;
  if (type === 'session.ended') return { type, userId, body: { sid: event.sid } };
  if (type !== 'profile.updated') return { type, userId, body: null };
  const { email, name, role, account, profile_updated_at } = event.profile;
  const { capabilities } = account;
  return { type, userId, body: { email, name, role, profile_updated_at, capabilities, verified_at: null } };
}
