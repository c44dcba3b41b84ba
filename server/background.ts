// Work that goes on beside the requests, on every instance.
import type { Log } from './shell.ts';

const longestPauseMs = 10_000;

/**
 * Runs `work` again and again, each time so long after it ended; after a failure the pause doubles, so that a
 * database that is away does not fill the log. The result stops it: the signal says so to work under way,
 * which is waited for.
 */
export function runInBackground(
  name: string,
  intervalMs: number,
  work: (signal: AbortSignal) => Promise<void>,
  log: Log,
): () => Promise<void> {
  const stop = new AbortController();
  let pauseMs = intervalMs;
  let running = Promise.resolve();
  let timer: ReturnType<typeof setTimeout>;
  const plan = () => {
    timer = setTimeout(() => {
      running = run();
    }, pauseMs);
  };
  const run = async () => {
    try {
      await work(stop.signal);
      pauseMs = intervalMs;
    } catch (err) {
      log.error({ err }, `${name} failed`);
      pauseMs = Math.max(intervalMs, Math.min(pauseMs * 2, longestPauseMs));
    }
    if (!stop.signal.aborted) plan();
  };
  plan();
  return () => {
    stop.abort();
    clearTimeout(timer);
    return running;
  };
}
