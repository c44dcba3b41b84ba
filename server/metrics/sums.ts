// What this instance has counted since its last write to the table of hours (contract 12.100 to 12.105).
import type { Sum } from '../../db/tables/sums-of-hours.ts';

export type Labels = Readonly<Record<string, string>>;

/** Spells a series as Prometheus does. No label has a value with a character that must be escaped. */
export const spellKey = (name: string, labels: Labels): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`;

export function readKey(key: string): { name: string; labels: Labels } {
  const labels = [...key.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]);
  return { name: key.replace(/\{.*/, ''), labels: Object.fromEntries(labels) };
}

const hourMs = 3_600_000;

/** A crash loses what was counted in the last ten seconds. So sums may be too low, but never too high. */
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
    take(): Sum[] {
      const taken = [...kept.values()];
      kept = new Map();
      return taken;
    },
    giveBack(taken: Sum[]): void {
      for (const sum of taken) add(sum);
    },
  };
}
