// Reading for many requests at once on one connection. Measured at 1.5 times the requests of a connection for each:
// what is asked in one go is read and answered in one go, and the database has one process awake instead of many.
//
// Answers come in turn, so a statement that hangs holds up those behind it. The connection is left then: what waits on
// it is asked again on another one, and the statement that hung goes to a connection of its own until it is answered
// fast again (docs/decisions/deadline.md). So readers take two connections of the pool at most.
import type { CompiledQuery } from 'kysely';
import { breaksConnection } from './away.ts';
import type { Connection } from './connection.ts';

/**
 * Runs a statement among those of others, where answers come in turn, and perhaps a second time. So only what finds a
 * few rows by an index, changes nothing and waits for no lock.
 */
export type Reader = <Row>(statement: CompiledQuery<Row>) => Promise<Row[]>;

type Reading = {
  statement: CompiledQuery;
  done: (rows: unknown[]) => void;
  failed: (error: unknown) => void;
};

type Lane = {
  client: Promise<Connection>;
  /** The same, once there is one. */
  connected?: Connection;
  /** Oldest first. */
  waiting: Set<Reading>;
  isLeft: boolean;
  answers: number;
  /** At the last look. */
  answersSeen: number;
  /** How many looks in a row found no answer since the one before, and somebody who waits for one. */
  stalls: number;
};

// A connection is left after two to three of them without an answer. Counted in looks, not by a clock: after a pause of
// this process, the answers that came meanwhile are read before the next look.
const lookMs = 200;
const maxStalls = 2;

/** Connections are the pool's, and go back to it when nobody reads. `countReads`: statements under way. */
export function createReader(connect: () => Promise<Connection>): {
  read: Reader;
  countReads: () => number;
} {
  const lanes: { fast?: Lane; slow?: Lane } = {};
  // The texts of statements that hung, and were not answered fast since.
  const slow = new Set<string>();
  let isLooking = false;

  const send = (reading: Reading) => {
    const kind = slow.has(reading.statement.sql) ? 'slow' : 'fast';
    lanes[kind] ??= openLane(connect);
    if (!isLooking) setTimeout(look, lookMs);
    isLooking = true;
    void ask(lanes[kind], reading);
  };

  const ask = async (lane: Lane, reading: Reading) => {
    lane.waiting.add(reading);
    try {
      const client = await lane.client;
      reading.done((await client.executeQuery(reading.statement)).rows);
      if (lane === lanes.slow && lane.stalls === 0) slow.delete(reading.statement.sql);
    } catch (error) {
      // Of a lane that was left only answers count: somebody else was asked the same.
      if (!lane.isLeft) reading.failed(error);
      if (breaksConnection(error)) forget(lane);
    }
    lane.answers++;
    lane.waiting.delete(reading);
    if (lane.waiting.size > 0) return;
    forget(lane);
    if (!lane.isLeft) lane.connected?.release();
  };

  /** No new reader gets it. */
  const forget = (lane: Lane) => {
    if (lanes.fast === lane) lanes.fast = undefined;
    if (lanes.slow === lane) lanes.slow = undefined;
  };

  const look = () => {
    const open = Object.values(lanes).filter((lane) => lane !== undefined);
    for (const lane of open) {
      lane.stalls = lane.connected && lane.answers === lane.answersSeen ? lane.stalls + 1 : 0;
      lane.answersSeen = lane.answers;
    }
    if (lanes.fast && lanes.fast.stalls >= maxStalls) leave(lanes.fast);
    // One timer for all lanes, and none while nobody reads.
    isLooking = open.length > 0;
    if (isLooking) setTimeout(look, lookMs);
  };

  const leave = (lane: Lane) => {
    forget(lane);
    lane.isLeft = true;
    const [oldest] = lane.waiting;
    if (oldest) slow.add(oldest.statement.sql);
    lane.connected?.leave();
    for (const reading of lane.waiting) send(reading);
  };

  return {
    read: <Row>(statement: CompiledQuery<Row>) =>
      new Promise<Row[]>((done, failed) => {
        send({ statement, done: done as (rows: unknown[]) => void, failed });
      }),
    countReads: () => (lanes.fast?.waiting.size ?? 0) + (lanes.slow?.waiting.size ?? 0),
  };
}

function openLane(connect: () => Promise<Connection>): Lane {
  const lane: Lane = {
    client: connect(),
    waiting: new Set(),
    isLeft: false,
    answers: 0,
    answersSeen: -1,
    stalls: 0,
  };
  lane.client.then(
    (client) => {
      lane.connected = client;
    },
    () => undefined,
  );
  return lane;
}
