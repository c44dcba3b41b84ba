// A client that knows people only from events, and that crashes between its writes to disk. It notes everything that breaks
// contract section 10.
import type { StandardProfile } from '../../../server/sso/payload.ts';
import type { WireEvent, WirePage } from './events.ts';

/** Sends a request; undefined if nothing was answered. */
export type Ask = (
  path: string,
  init?: { method?: string; headers?: Record<string, string>; body?: string },
) => Promise<{ status: number; text: string } | undefined>;

export type EventClient = ReturnType<typeof createEventClient>;

/** `asks` are the instances. The client asks one of them each time. */
export function createEventClient({
  name,
  headers,
  asks,
  random,
}: {
  name: string;
  headers: Record<string, string>;
  asks: Ask[];
  random: () => number;
}) {
  // The position survives a crash.
  let after = 0;
  const profiles = new Map<string, StandardProfile>();
  const suspended = new Set<string>();
  const endedSids = new Set<string>();
  const contracts = new Map<string, unknown>();

  // The test remembers each event by its number, as it was first seen.
  const seen = new Map<number, WireEvent>();
  const newest = new Map<string, string>();
  const deleted = new Set<string>();
  const faults: string[] = [];
  let crashes = 0;
  const fault = (what: string) => faults.push(`${name}: ${what}`);

  /** Checks that a number stays the number of the same event, unless its person is erased. */
  const check = (event: WireEvent) => {
    const { seq, type, user_id: userId } = event;
    const known = seen.get(seq);
    if (known) {
      const isSame = known.type === type && known.user_id === userId && known.sid === event.sid;
      if (!isSame && type !== 'erased') fault(`${seq} was ${known.type} and is ${type}`);
      return;
    }
    if (seq !== seen.size + 1) fault(`${seq} comes after ${seen.size}`);
    seen.set(seq, event);
    if (type === 'erased') return;
    if (deleted.has(userId) && type !== 'contract.updated')
      fault(`${seq}: ${type} of somebody who is deleted`);
    if (type === 'user.deleted') deleted.add(userId);
    if (type === 'session.ended' && event.sid && endedBySid.has(event.sid))
      fault(`${seq}: ${event.sid} ends twice`);
    if (event.sid) endedBySid.add(event.sid);
    if (!event.profile) return;
    const { profile_updated_at: updatedAt } = event.profile;
    if (updatedAt <= (newest.get(userId) ?? ''))
      fault(`${seq}: the profile of ${userId} goes back to ${updatedAt}`);
    newest.set(userId, updatedAt);
  };
  const endedBySid = new Set<string>();

  const apply = (event: WireEvent) => {
    const { type, user_id: userId, profile, sid, contract } = event;
    if (profile && profile.profile_updated_at > (profiles.get(userId)?.profile_updated_at ?? ''))
      profiles.set(userId, profile);
    if (sid) endedSids.add(sid);
    if (type === 'user.suspended') suspended.add(userId);
    if (type === 'user.restored') suspended.delete(userId);
    if (type === 'user.deleted') {
      profiles.delete(userId);
      suspended.delete(userId);
    }
    if (contract) contracts.set(String(contract.id), contract);
  };

  /** Reads one time. Returns whether there was nothing new. */
  async function step({ maxWait = 2 } = {}): Promise<boolean> {
    const ask = asks[Math.floor(random() * asks.length)] as Ask;
    const wait = Math.floor(random() * (maxWait + 1));
    const limit = 1 + Math.floor(random() * 200);
    const answer = await ask(`/sso/events?after=${after}&limit=${limit}&wait=${wait}`, { headers });
    if (answer?.status !== 200) {
      // An instance or the database may be away, or not up yet, so no answer and a 503 are no faults.
      if (answer && answer.status !== 503)
        fault(`after=${after} is answered ${answer.status} ${answer.text}`);
      return false;
    }
    const { events, latest }: WirePage = JSON.parse(answer.text);
    events.forEach((event, n) => {
      if (event.seq !== after + 1 + n) fault(`${event.seq} is number ${n} behind ${after}`);
      check(event);
    });
    const last = after + events.length;
    if (latest < last) fault(`latest is ${latest} at ${last}`);
    if (events.length < limit && latest > last)
      fault(`${events.length} of ${limit} up to ${last}, and latest is ${latest}`);
    const crash = random();
    if (crash < 0.2) {
      crashes++;
      // The crash comes before any event is applied, in the middle, or before the position is noted.
      for (const event of events.slice(0, Math.floor((crash / 0.2) * (events.length + 1)))) apply(event);
      return false;
    }
    for (const event of events) apply(event);
    after = last;
    return events.length === 0;
  }

  return {
    name,
    profiles,
    suspended,
    endedSids,
    contracts,
    seen,
    faults,
    step,
    /** The number of the last event that the client has applied and noted. */
    readPosition: () => after,
    countCrashes: () => crashes,
  };
}
