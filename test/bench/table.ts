// The table that the bench prints in the end, and how sure its numbers are.
import { cpus } from 'node:os';
import { type Measured, median } from './load.ts';

type Cells = { perSecond?: number; p50Ms?: number; p99Ms?: number; cpuMs?: number; postgresMs?: number };

const header = [
  '',
  'requests/s',
  'p50 ms',
  'p99 ms',
  'CPU ms',
  'of it Postgres',
  'the service takes, of this',
];
const table: string[][] = [header, header.map(() => '---')];
const missed: string[] = [];

export const number = (value: number) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

export function addRow(name: string, cells: Cells = {}, share = ''): void {
  const { perSecond, p50Ms, p99Ms, cpuMs, postgresMs } = cells;
  const values = [perSecond, p50Ms, p99Ms, cpuMs, postgresMs];
  const row = [name, ...values.map((value) => (value === undefined ? '' : number(value))), share];
  table.push(row);
  process.stderr.write(`${row.filter((cell) => cell).join('  ')}\n`);
}

/** Adds a row to the table: for each round, the CPU of `ours` as a share of the CPU of `theirs`. */
export function addComparison(
  name: string,
  cells: Cells,
  { ours, theirs, line }: { ours: Measured[]; theirs: Measured[]; line?: number | undefined },
): void {
  const shares = ours.map(({ cpuMs }, round) => cpuMs / (theirs[round]?.cpuMs ?? Number.NaN));
  addRow(name, cells, describeShares(name, shares, line));
}

/** Returns the median share, with a mark if it is over the limit (`line`). */
export function describeShares(name: string, shares: number[], line = Number.POSITIVE_INFINITY): string {
  const share = median(shares);
  const [low, high] = intervalOfMedian(shares);
  return `${number(share)} (${number(low)} to ${number(high)})${markOver(name, share, line)}`;
}

export function markOver(name: string, value: number, line: number): string {
  if (value <= line) return '';
  missed.push(name);
  return `, OVER ${line}`;
}

/** The 95 % confidence interval of the median: between two of the values, by rank. */
function intervalOfMedian(values: number[]): [low: number, high: number] {
  const sorted = [...values].sort((one, other) => one - other);
  const rank = Math.max(0, Math.floor((values.length - 1.96 * Math.sqrt(values.length)) / 2));
  return [sorted.at(rank) ?? Number.NaN, sorted.at(-1 - rank) ?? Number.NaN];
}

/** Prints what has been measured so far. Returns true if no limit (`line`) is exceeded. */
export function printTable(): boolean {
  const [first, ...others] = cpus();
  const machine = `${others.length + 1} × ${first?.model.trim()}, Node ${process.version}`;
  process.stdout.write(
    `\n${new Date().toISOString().slice(0, 10)}, ${machine}\n\n${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`,
  );
  if (missed.length > 0) process.stdout.write(`\nOver their line: ${missed.join(', ')}\n`);
  return missed.length === 0;
}
