// The rows of the bench, and the limits (lines) that the service must keep. Only a run of the whole bench checks the limits, so
// no test does.
import type { buildAsking } from './population.ts';

/**
 * `line` is the most CPU that a request may take, as a share of what it takes with the code of `--against`. Rounds of `isLong`
 * rows last longer.
 */
export const rows: Record<Row, RowKind> = {
  newcomer: { status: 303, line: 0.8 },
  'first launch': { status: 303, line: 0.9 },
  launch: { status: 303, line: 1.2 },
  profile: { status: 200, line: 1.2 },
  'hand-off': { status: 303, line: 1.1 },
  signups: { status: 201, line: 1.1 },
  'new signups': { status: 201, line: 1.1 },
  login: { status: 303, line: 1.1, isLong: true },
  'page /login': { status: 200, line: 1.2, hasNoReference: true },
  'page /profile': { status: 200, line: 1.2, hasNoReference: true },
};

type RowKind = { status: number; line: number; isLong?: boolean; hasNoReference?: boolean };

export type Row = keyof ReturnType<typeof buildAsking>;

export const rowNames = Object.keys(rows) as Row[];

/** The most time that a start may take, as a share of what it takes with the code of `--against`. */
export const startLine = 0.65;

/** The most memory that a process on Node may use at any time in the bench. */
export const peakMemoryLineMb = 160;
