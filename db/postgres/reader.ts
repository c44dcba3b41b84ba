// Many requests read on one connection, so that Postgres has one process awake instead of many
// (docs/inside/decisions/pipelining.md). Answers come in turn, so a statement that hangs delays all statements behind it. If no
// answer comes for a while, the reader leaves the connection and sends its statements again. The statement that hung goes to a
// "slow" connection, together with all statements of the same text. All others go to a new "fast" connection. Statements on the
// slow connection are never sent again, so readers take at most two connections. As soon as a statement on the slow connection
// is answered fast, further statements of its text go to the fast connection (docs/inside/decisions/deadline.md).
import type { CompiledQuery } from 'kysely';
import { breaksConnection } from './away.ts';
import type { Connection } from './connection.ts';
import { createSilenceWatch } from './silence.ts';

declare const isShared: unique symbol;

/**
 * A statement that finds few rows by an index, changes nothing and waits for no lock. It may run twice. Statements behind it
 * wait for its answer.
 */
export type SharedRead<Row> = CompiledQuery<Row> & { readonly [isShared]: true };

export type Reader = <Row>(statement: SharedRead<Row>) => Promise<Row[]>;

type Reading = {
  statement: CompiledQuery;
  done: (rows: unknown[]) => void;
  failed: (error: unknown) => void;
};

type Lane = { connection: Promise<Connection>; waiting: Set<Reading>; isLeft: boolean };

const stallMs = 400;

/** The connections go back to the pool when nobody reads. `countReads` counts statements under way. */
export function createReader(connect: () => Promise<Connection>) {
  const lanes: { fast?: Lane; slow?: Lane } = {};
  // The texts of statements that hung and have not been answered fast since.
  const slow = new Set<string>();

  const send = (reading: Reading) => {
    const kind = slow.has(reading.statement.sql) ? 'slow' : 'fast';
    lanes[kind] ??= { connection: connect(), waiting: new Set(), isLeft: false };
    lanes[kind].waiting.add(reading);
    void ask(lanes[kind], reading);
  };

  const ask = async (lane: Lane, reading: Reading) => {
    const { sql: text, parameters } = reading.statement;
    try {
      const connection = await lane.connection;
      const askedAt = performance.now();
      const { rows } = await watch(lane, connection.query(text, parameters));
      reading.done(rows);
      if (slow.size > 0 && performance.now() - askedAt < stallMs) slow.delete(text);
    } catch (error) {
      // If the reader has left this connection, it has sent the statements again on another connection. So errors of the
      // connection that it left do not matter.
      if (!lane.isLeft) reading.failed(error);
      if (breaksConnection(error)) forget(lane);
    }
    lane.waiting.delete(reading);
    if (lane.waiting.size > 0 || lane.isLeft) return;
    forget(lane);
    lane.connection.then(
      (connection) => connection.release(),
      () => undefined,
    );
  };

  const watch = createSilenceWatch<Lane>(stallMs, 'all', async (lane) => {
    const [oldest] = lane.waiting;
    if (lane !== lanes.fast || !oldest) return;
    forget(lane);
    lane.isLeft = true;
    slow.add(oldest.statement.sql);
    // Drops idle connections before statements are sent again, because the idle connections may be silent too.
    (await lane.connection).leave();
    for (const reading of lane.waiting) send(reading);
  });

  const forget = (lane: Lane) => {
    if (lanes.fast === lane) lanes.fast = undefined;
    if (lanes.slow === lane) lanes.slow = undefined;
  };

  return {
    read: <Row>(statement: SharedRead<Row>) =>
      new Promise<Row[]>((done, failed) => {
        send({ statement, done: done as (rows: unknown[]) => void, failed });
      }),
    countReads: () => (lanes.fast?.waiting.size ?? 0) + (lanes.slow?.waiting.size ?? 0),
  };
}
