// Decides when to read events: on request, and before a page asks who is logged in, if the last read is over a minute old.
import type { Settings } from './config.ts';
import { type EventHooks, pullEvents } from './events.ts';

const oldAfterMs = 60_000;
const waitMs = 2_000;
/**
 * After a read that failed, pages do not wait for the next read until this time has passed. If they waited, a service that is
 * down would hold up each page.
 */
const retryAfterMs = 10_000;

export function createReader(settings: Settings) {
  let readAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let reading: { startedAt: number; done: Promise<boolean> } | undefined;
  const nowMs = () => settings.now().getTime();

  /** Throws if the service does not answer. */
  async function pull(hooks: EventHooks = {}): Promise<number | undefined> {
    const startedAt = nowMs();
    const position = await pullEvents(settings, { ...settings.hooks, ...hooks });
    if (position !== undefined) readAt = startedAt;
    return position;
  }

  /** Returns whether the events were read. It never throws: it logs errors. */
  async function read(): Promise<boolean> {
    // The read that is under way may have begun too early for the event that this call is about.
    await reading?.done;
    return start();
  }

  function start(): Promise<boolean> {
    triedAt = nowMs();
    reading ??= {
      startedAt: performance.now(),
      done: pull()
        .then(
          () => true,
          (cause) => {
            settings.log({ outcome: 'events_unread', launchId: undefined, reason: String(cause), cause });
            return false;
          },
        )
        .finally(() => {
          reading = undefined;
        }),
    };
    return reading.done;
  }

  /** Reads events if the last read is too old, and waits for two seconds at most. Returns whether events were read. */
  async function readIfOld(): Promise<boolean> {
    const [now, busy] = [nowMs(), reading];
    if (Math.abs(now - readAt) <= oldAfterMs || (!busy && Math.abs(now - triedAt) < retryAfterMs))
      return false;
    const left = waitMs - (busy ? performance.now() - busy.startedAt : 0);
    if (left <= 0) return false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((done) => {
      timer = setTimeout(done, left);
    });
    await Promise.race([busy?.done ?? start(), late]);
    clearTimeout(timer);
    return true;
  }

  return { pull, read, readIfOld };
}
