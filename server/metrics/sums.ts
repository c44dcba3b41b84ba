// What this instance has counted since it last added it to the table of hours (contract 12.100 to 12.105).
import type { Sum } from '../../db/tables/sums-of-hours.ts';

export type Labels = Readonly<Record<string, string>>;

/** As Prometheus spells it. The values of labels have no character that would be escaped. */
export const spellKey = (name: string, labels: Labels): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`;

export function readKey(key: string): { name: string; labels: Labels } {
  const labels = [...key.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]);
  return { name: key.replace(/\{.*/, ''), labels: Object.fromEntries(labels) };
}

const hourMs = 3_600_000;

/** What is counted in the ten seconds before a crash is lost, so sums may be too low but never too high. */
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
    /** Takes all that was counted so far. */
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
