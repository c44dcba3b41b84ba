// What is printed in the end, and how sure it is.
import { cpus } from 'node:os';
import { hasWrk, type Measured, median } from './load.ts';

type Cells = { perSecond?: number; p50Ms?: number; p99Ms?: number; cpuMs?: number };

const header = ['', 'requests/s', 'p50 ms', 'p99 ms', 'CPU ms', 'ratio'];
const table: string[][] = [header, header.map(() => '---')];
const belowTheirLine: string[] = [];

export const number = (value: number) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

export function addRow(name: string, { perSecond, p50Ms, p99Ms, cpuMs }: Cells = {}, ratio = ''): void {
  const cells = [perSecond, p50Ms, p99Ms, cpuMs].map((cell) => (cell === undefined ? '' : number(cell)));
  table.push([name, ...cells, ratio]);
}

/** Of the requests a second in each round; a row is marked where the median is below `line`. */
export function addComparison(
  name: string,
  cells: Cells,
  { ours, theirs, line = 0 }: { ours: Measured[]; theirs: Measured[]; line?: number },
): void {
  const ratios = ours.map(({ perSecond }, round) => perSecond / (theirs[round]?.perSecond ?? Number.NaN));
  const isBelow = median(ratios) < line;
  if (isBelow) belowTheirLine.push(name);
  const [low, high] = intervalOfMedian(ratios);
  const mark = isBelow ? `, BELOW ${line.toFixed(2)}` : '';
  addRow(name, cells, `${number(median(ratios))} (${number(low)} to ${number(high)})${mark}`);
}

/** Where the median of ever more rounds would lie, 95 times in 100: between two of the values, by rank. */
function intervalOfMedian(values: number[]): [low: number, high: number] {
  const sorted = [...values].sort((one, other) => one - other);
  const rank = Math.max(0, Math.floor((values.length - 1.96 * Math.sqrt(values.length)) / 2));
  return [sorted.at(rank) ?? Number.NaN, sorted.at(-1 - rank) ?? Number.NaN];
}

/** Prints what has been measured so far; true where no row is below its line. */
export function printTable(): boolean {
  const [first, ...others] = cpus();
  const machine = `${others.length + 1} × ${first?.model.trim()}, Node ${process.version}, load by ${hasWrk ? 'wrk' : 'autocannon'}`;
  process.stdout.write(
    `\n${new Date().toISOString().slice(0, 10)}, ${machine}\n\n${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`,
  );
  if (belowTheirLine.length > 0) process.stdout.write(`\nBelow their line: ${belowTheirLine.join(', ')}\n`);
  return belowTheirLine.length === 0;
}
