// Measures what a request costs as the number of people grows. Each size of database is measured in turns with the smallest.
import { type Contender, compareRow } from './compare.ts';
import { type BenchDatabase, makeDatabase } from './database.ts';
import { rowNames, rows } from './rows.ts';
import { startService } from './servers.ts';
import { addRow } from './table.ts';

/** Keeps only the first database beside the one that it measures, because three million people take some 30 GB. */
export async function measureGrowth(
  postgresUrl: string,
  passwordHash: string,
  [least = 10_000, ...more]: number[],
  postgresCpuMs: () => Promise<number>,
): Promise<void> {
  const inWords = (people: number) => `${people.toLocaleString('en')} people`;
  const withPeople = async (people: number, work: (contender: Contender) => Promise<void>) => {
    const startedAt = performance.now();
    const database = await makeDatabase(postgresUrl, `growth_${people}`, { people, passwordHash });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    addRow(`${inWords(people)}: ${await describeSize(database)}, made in ${seconds} s`);
    const server = await startService('node', database.env);
    try {
      await work({ name: inWords(people), database, server });
    } finally {
      await server.stop();
      await database.drop();
    }
  };
  await withPeople(least, async (small) => {
    for (const people of more)
      await withPeople(people, async (large) => {
        for (const row of rowNames)
          if (!rows[row].hasNoReference)
            await compareRow(row, `, ${large.name}`, [large, small], postgresCpuMs);
      });
  });
}

async function describeSize({ client, people }: BenchDatabase): Promise<string> {
  const { rows } = await client.query('select pg_database_size(current_database())::float8 as bytes');
  return `${(rows[0].bytes / 1e9).toFixed(1)} GB, ${Math.round(rows[0].bytes / people / 1e3)} kB each`;
}
