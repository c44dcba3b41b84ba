/** Waits, but ends early if `signal` aborts. */
export function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      // The same signal is used until the process ends, so its listeners must not pile up.
      signal?.removeEventListener('abort', end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
