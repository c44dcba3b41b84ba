// Reads the database for a scrape, at most once in five seconds. A scrape waits for this read no longer than a second.

const everyMs = 5_000;
const deadlineMs = 1_000;

/** Await the returned function before each scrape. `show` gets undefined if the read failed or was late. */
export function createReading<Found>({
  read,
  show,
  onError,
}: {
  read: () => Promise<Found>;
  show: (found: Found | undefined) => void;
  onError: (err: unknown) => void;
}): () => Promise<void> {
  let reading: Promise<void> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let isLate = false;
  const readOnce = async () => {
    const found = await read().catch((err) => {
      onError(err);
      return undefined;
    });
    readAt = performance.now();
    reading = undefined;
    isLate = found === undefined;
    show(found);
  };

  return async () => {
    if (!reading && performance.now() - readAt < everyMs) return;
    reading ??= readOnce();
    // While a read is late, no other scrape waits for it. As soon as its result arrives, scrapes show that result.
    if (isLate) return;
    if (await isDoneWithin(reading, deadlineMs)) return;
    isLate = true;
    show(undefined);
  };
}

function isDoneWithin(work: Promise<void>, ms: number): Promise<boolean> {
  return new Promise((done) => {
    const timer = setTimeout(() => done(false), ms);
    work.then(() => {
      clearTimeout(timer);
      done(true);
    });
  });
}
