// The loop of a job.
import type { Log } from '../basics/log.ts';

const longestPauseMs = 10_000;

/**
 * Runs `work` again and again, with a pause of `intervalMs` after each run. After a failure the pause doubles, so that
 * a database that is away does not fill the log. The result stops it: it aborts the signal, and resolves once work
 * under way has ended.
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
