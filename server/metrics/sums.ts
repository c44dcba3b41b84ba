// What this instance has counted since it last added it to the table of hours (contract 12.100 to 12.105).
import type { Sum } from '../../db/tables/sums-of-hours.ts';

export type Labels = Readonly<Record<string, string>>;

/** A metric and its labels, as Prometheus spells them. The labels' values have no character that would be escaped. */
export const spellKey = (name: string, labels: Labels): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`;

/** The name of the metric and its labels. */
export function readKey(key: string): { name: string; labels: Labels } {
  const labels = [...key.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]);
  return { name: key.replace(/\{.*/, ''), labels: Object.fromEntries(labels) };
}

const hourMs = 3_600_000;

export function createSums(now: () => Date) {
  let kept = new Map<string, Sum>();
  const add = (sum: Sum) => {
    const at = `${sum.hour.getTime()} ${sum.key}`;
    const known = kept.get(at);
    if (!known) kept.set(at, sum);
    else {
      known.count += sum.count;
      if (sum.lastAt > known.lastAt) known.lastAt = sum.lastAt;
    }
  };
  return {
    count(key: string): void {
      const lastAt = now();
      add({ hour: new Date(lastAt.getTime() - (lastAt.getTime() % hourMs)), key, count: 1, lastAt });
    },
    /** Everything, to be added. What is counted from now on is kept apart. */
    take(): Sum[] {
      const taken = [...kept.values()];
      kept = new Map();
      return taken;
    },
    /** What was taken and not added. */
    giveBack(taken: Sum[]): void {
      for (const sum of taken) add(sum);
    },
  };
}
