// Counts what Postgres refused, by the class of its SQLSTATE (the first two characters).

// The classes are those of https://www.postgresql.org/docs/current/errcodes-appendix.html.
const classes = ['08', '22', '23', '25', '26', '28', '40', '42', '53', '54', '55', '57', '58', 'P0', 'XX'];
const others = 'other';

export type Refusals = Readonly<Record<string, number>>;

/** `count` ignores errors of the network and our own errors. */
export function createRefusals() {
  const counts: Record<string, number> = Object.fromEntries([...classes, others].map((each) => [each, 0]));
  return {
    count(error: unknown): void {
      // Only the server's own errors have a severity. 25P02 means that an earlier statement of the transaction failed, and that
      // statement was counted.
      const { code, severity } = error as { code?: string; severity?: string };
      if (!severity || !code || code === '25P02') return;
      const known = code.slice(0, 2);
      const its = Object.hasOwn(counts, known) ? known : others;
      counts[its] = (counts[its] ?? 0) + 1;
    },
    /** Returns the counts since the start, including classes with 0. */
    read: (): Refusals => counts,
  };
}
