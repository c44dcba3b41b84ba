// What /metrics says, for tests to read.
import type { Fetch } from '../../../server/runtime/listener.ts';

export type Sample = { name: string; labels: Record<string, string>; value: number };

export type Scrape = {
  text: string;
  samples: Sample[];
  /** The value of the one sample that has this name and at least these labels. Undefined if there is no such sample. */
  valueFor: (name: string, labels?: Record<string, string>) => number | undefined;
};

export async function scrape({ fetchMetrics }: { fetchMetrics: Fetch }): Promise<Scrape> {
  const answer = await fetchMetrics(new Request('http://localhost:9464/metrics'), { address: '127.0.0.1' });
  return readScrape(await answer.text());
}

export function readScrape(text: string): Scrape {
  const samples = [...text.matchAll(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, name = '', labels = '', value]): Sample => ({
      name,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label, text ?? '']),
      ),
      value: Number(value),
    }),
  );
  return {
    text,
    samples,
    valueFor(name, labels = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      );
      if (found.length > 1) throw new Error(`${name} ${JSON.stringify(labels)} is not one sample`);
      return found[0]?.value;
    },
  };
}

export function readQueries(dashboard: string): string[] {
  const { panels } = JSON.parse(dashboard) as { panels: { targets?: { expr: string }[] }[] };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}
