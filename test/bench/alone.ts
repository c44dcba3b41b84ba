// Measurements of a process rather than of requests: how fast it starts, and the memory it takes.
import { join } from 'node:path';
import { before, rounds, takeTurns } from './compare.ts';
import type { BenchDatabase } from './database.ts';
import { measure, median } from './load.ts';
import { buildAsking } from './population.ts';
import { peakMemoryLineMb, startLine } from './rows.ts';
import { ownRoot, type Server, startService } from './servers.ts';
import { addRow, describeShares, markOver, number } from './table.ts';

type Version = { root?: string; env: Record<string, string> };

/** Measures how long a start takes, in turns with the code of `--against` if that is given. */
export async function measureStart(folder: string, versions: Version[]): Promise<void> {
  const timeStart = async ({ root, env }: Version) => {
    const service = await startService('node', env, root);
    await service.stop();
    return service.startMs;
  };
  const [ours = [], theirs] = await takeTurns(versions, rounds, timeStart);
  addRow(`start: ${number(median(ours))} ms`);
  if (theirs) {
    const name = `start, ${before}: ${number(median(theirs))} ms`;
    addRow(
      name,
      {},
      describeShares(
        `start, ${before}`,
        ours.map((ms, n) => ms / (theirs[n] ?? Number.NaN)),
        startLine,
      ),
    );
  }
  const env = { EMBEDDED_DATABASE_FOLDER: join(folder, 'embedded') };
  addRow(`start with a new embedded database: ${number(await timeStart({ root: ownRoot, env }))} ms`);
}

/** Measures the memory after 100,000 launches and logins, and some requests of every other kind. */
export async function measureMemory({ env, people }: BenchDatabase): Promise<void> {
  const service = await startService('node', env);
  const ask = buildAsking(people);
  addRow(`memory at rest: ${number(await service.residentMb())} MiB`);
  for (let done = 0; done < 100_000; ) {
    const { requests } = await measure(service, ask.launch, { seconds: 5, expected: 303 });
    done += requests;
  }
  await measure(service, ask.login, { seconds: 10, expected: 303 });
  await measure(service, ask['page /profile'], { seconds: 5, expected: 200 });
  await addPeak('100,000 launches, logins and pages', service);
  await service.stop();
}

export async function addPeak(after: string, service: Server): Promise<void> {
  const peak = await service.peakMb();
  const name = `peak memory after ${after}: ${number(peak)} MiB`;
  addRow(name, {}, markOver('peak memory', peak, peakMemoryLineMb).slice(2));
}
