// Requests that wait for events (contract 10.15 to 10.17). One loop looks for the events of all these requests, so no waiting
// request holds a database connection.

import { isDatabaseBusy } from '../../db/postgres/away.ts';
import { findEventPosition } from '../../db/tables/events.ts';
import { AppError } from '../basics/errors.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { numberBatch } from './number-events.ts';

const lookMs = 200;
const maxHeld = 100;

type Held = { after: number; wake: () => void; fail: (error: unknown) => void };

export type HeldRequests = ReturnType<typeof createHeldRequests>;

export function createHeldRequests({ db, read }: Pick<Dependencies, 'db' | 'read'>) {
  const heldOf = new Map<string, Set<Held>>();
  // The clients whose events the loop is looking up now. If one of these lookups is slow, other clients do not wait for it.
  const lookedAt = new Set<string>();
  let isLooking = false;
  let isOver = false;

  const look = () => {
    for (const [client, held] of heldOf) if (!lookedAt.has(client)) void lookFor(client, held);
    isLooking = heldOf.size > 0;
    if (isLooking) setTimeout(look, lookMs);
  };

  const lookFor = async (client: string, held: Set<Held>) => {
    lookedAt.add(client);
    try {
      let { latest, hasUnnumbered } = await findEventPosition(read, client);
      if (hasUnnumbered) {
        await numberBatch(db, client);
        ({ latest } = await findEventPosition(read, client));
      }
      for (const { after, wake } of held) if (after !== latest) wake();
    } catch (error) {
      // If another transaction has locked the rows, the requests go on waiting, and the loop looks again at its next turn.
      if (!isDatabaseBusy(error)) for (const { fail } of held) fail(error);
    } finally {
      lookedAt.delete(client);
    }
  };

  const countHeld = () => [...heldOf.values()].reduce((sum, held) => sum + held.size, 0);

  return {
    countHeld,
    /** Rejects if the database is away, and with 429 `rate_limited` if too many requests of the client wait on this instance. */
    async hold(
      { client, after }: { client: string; after: number },
      { waitMs, signal }: { waitMs: number; signal: AbortSignal | undefined },
    ): Promise<void> {
      if (isOver || signal?.aborted) return;
      const held = heldOf.get(client) ?? new Set();
      if (held.size >= maxHeld) throw new AppError('rate_limited', { headers: { 'Retry-After': '1' } });
      heldOf.set(client, held);
      if (!isLooking) setTimeout(look, lookMs);
      isLooking = true;
      let leave = () => {};
      await new Promise<void>((done, fail) => {
        const wake = () => done();
        const one = { after, wake, fail };
        held.add(one);
        const timer = setTimeout(wake, waitMs);
        signal?.addEventListener('abort', wake);
        leave = () => {
          held.delete(one);
          if (held.size === 0 && heldOf.get(client) === held) heldOf.delete(client);
          clearTimeout(timer);
          signal?.removeEventListener('abort', wake);
        };
      }).finally(() => leave());
    },
    release() {
      isOver = true;
      for (const held of heldOf.values()) for (const { wake } of held) wake();
    },
  };
}
