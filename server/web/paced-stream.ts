// Writes a body at the pace of its reader, in bounded memory (contract 12.152). If a reader stalls, they are cut off.

type Bounds = {
  /** For how long the reader may read nothing. */
  stallMs: number;
  /** How long the whole body may take. */
  wholeMs: number;
};

/** The reader left or was too slow. That is not our fault. */
export class CutOff extends Error {}

/** `write` waits until there is room for more text. If the body is cut off, `signal` aborts, and `write` throws `CutOff`. */
export type PacedWriter = { write: (text: string) => Promise<void>; signal: AbortSignal };

// If this many bytes wait for the reader, `write` waits, too. The last text may exceed the limit.
const queuedBytes = 256 * 1_024;

/** If `produce` throws, the reader sees that the body is not whole. */
export function streamPaced(
  produce: (writer: PacedWriter) => Promise<void>,
  { stallMs, wholeMs }: Bounds,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const cut = new AbortController();
  let makeRoom: (() => void) | undefined;
  const cutOff = (why: string) => cut.abort(new CutOff(why));

  function waitForRoom(): Promise<void> {
    return new Promise((done, failed) => {
      const stalled = setTimeout(() => cutOff('The reader took nothing for too long.'), stallMs);
      const end = () => {
        clearTimeout(stalled);
        cut.signal.removeEventListener('abort', fail);
        makeRoom = undefined;
      };
      const fail = () => {
        end();
        failed(cut.signal.reason);
      };
      cut.signal.addEventListener('abort', fail);
      makeRoom = () => {
        end();
        done();
      };
    });
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const whole = setTimeout(() => cutOff('The reader took too long for all of it.'), wholeMs);
        const write = async (text: string) => {
          cut.signal.throwIfAborted();
          controller.enqueue(encoder.encode(text));
          if ((controller.desiredSize ?? 0) <= 0) await waitForRoom();
        };
        const work = produce({ write, signal: cut.signal });
        work
          .then(
            () => !cut.signal.aborted && controller.close(),
            (error) => controller.error(error),
          )
          .finally(() => clearTimeout(whole));
      },
      pull: () => makeRoom?.(),
      cancel: () => cutOff('The reader has gone.'),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: queuedBytes }),
  );
}
