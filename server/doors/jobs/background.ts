import type { Log } from '../../basics/log.ts';

/**
 * Runs `work` again and again. After each run it pauses for `intervalMs`, which is at most a minute (contract 9.335). After
 * failures the pause doubles, up to ten seconds, so that a missing database does not fill the log. If `isPressing`, the pause
 * never grows, and only the first failure in a row is logged.
 * The returned function stops the job. It aborts the signal, and resolves when the running work has ended.
 */
export function runInBackground(
  name: string,
  intervalMs: number,
  work: (signal: AbortSignal) => Promise<void>,
  log: Log,
  isPressing = false,
): () => Promise<void> {
  const stop = new AbortController();
  const longestPauseMs = Math.max(intervalMs, 10_000);
  let pauseMs = intervalMs;
  let hasFailed = false;
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
      hasFailed = false;
    } catch (err) {
      if (!(isPressing && hasFailed)) log.error({ err }, `${name} failed`);
      hasFailed = true;
      if (!isPressing) pauseMs = Math.min(pauseMs * 2, longestPauseMs);
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
