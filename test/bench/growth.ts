// The same service on ever more people, each size in turns with the least: what a request costs more there.
import { type Contender, compareRow } from './compare.ts';
import { type BenchDatabase, makeDatabase } from './database.ts';
import { rowNames, rows } from './rows.ts';
import { startService } from './servers.ts';
import { addRow } from './table.ts';

/** Each database but the first is dropped before the next. Three million people take some 30 GB. */
export async function measureGrowth(
  postgresUrl: string,
  passwordHash: string,
  [least = 10_000, ...more]: number[],
  postgresCpuMs: () => Promise<number>,
): Promise<void> {
  const inWords = (people: number) => `${people.toLocaleString('en')} people`;
  const begin = async (people: number): Promise<Contender> => {
    const startedAt = performance.now();
    const database = await makeDatabase(postgresUrl, `growth_${people}`, { people, passwordHash });
    addRow(
      `${inWords(people)}: ${await describeSize(database)}, made in ${Math.round((performance.now() - startedAt) / 1_000)} s`,
    );
    return { name: inWords(people), database, server: await startService('node', database.env) };
  };
  const end = async ({ server, database }: Contender) => {
    await server.stop();
    await database.drop();
  };
  const small = await begin(least);
  for (const people of more) {
    const large = await begin(people);
    for (const row of rowNames)
      if (!rows[row].hasNoReference) await compareRow(row, `, ${large.name}`, [large, small], postgresCpuMs);
    await end(large);
  }
  await end(small);
}

async function describeSize({ client, people }: BenchDatabase): Promise<string> {
  const { rows } = await client.query('select pg_database_size(current_database())::float8 as bytes');
  return `${(rows[0].bytes / 1e9).toFixed(1)} GB, ${Math.round(rows[0].bytes / people / 1e3)} kB each`;
}
