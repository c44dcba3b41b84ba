// What is measured of the service alone: how fast it starts, and the memory it takes.
import { join } from 'node:path';
import { rounds, users } from './compare.ts';
import { measure, median } from './load.ts';
import { buildAsking } from './population.ts';
import { startService } from './servers.ts';
import { addRow, number } from './table.ts';

export async function measureStart(env: Record<string, string>, folder: string): Promise<void> {
  const timeStart = async (settings: Record<string, string>) => {
    const service = await startService('node', settings);
    await service.stop();
    return service.startMs;
  };
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await timeStart(env));
  addRow(`start: ${number(median(times))} ms`);
  const embedded = { EMBEDDED_DATABASE_FOLDER: join(folder, 'embedded') };
  addRow(`start with a new embedded database: ${number(await timeStart(embedded))} ms`);
  addRow(`start with that database: ${number(await timeStart(embedded))} ms`);
}

export async function measureMemory(env: Record<string, string>): Promise<void> {
  const service = await startService('node', env);
  addRow(`memory at rest: ${number(await service.residentMb())} MB`);
  const sizes: number[] = [];
  for (let done = 0; done < 100_000; ) {
    const { perSecond } = await measure(service, buildAsking(users).launch, { seconds: 5, expected: 303 });
    done += perSecond * 5;
    sizes.push(await service.residentMb());
  }
  await service.stop();
  addRow(`memory every 5 s of 100,000 launches: ${sizes.map(number).join(' ')} MB`);
}
