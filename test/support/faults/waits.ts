// Measures how long other requests wait while the service does something.
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { TestApp } from '../app/app.ts';

/** The longest wait of `/healthz` in ms while `work` ran. Only time in which this process was working counts. */
export async function measureWait(
  { send }: Pick<TestApp, 'send'>,
  work: () => Promise<unknown>,
): Promise<number> {
  let longest = 0;
  let isOver = false;
  const ask = async () => {
    while (!isOver) {
      const cpu = process.cpuUsage();
      const start = performance.now();
      await pause(10);
      expect((await send('/healthz')).status).toBe(200);
      const waited = performance.now() - start - 10;
      const { user, system } = process.cpuUsage(cpu);
      longest = Math.max(longest, Math.min(waited, (user + system) / 1_000));
    }
  };
  const asking = ask();
  await pause(1);
  await work().finally(() => {
    isOver = true;
  });
  await asking;
  return longest;
}

/**
 * The shortest of three waits, because a longer wait may come from a busy machine. One wait before these three makes the
 * service load its code.
 */
export async function measureLeastWait(
  app: Pick<TestApp, 'send'>,
  work: () => Promise<unknown>,
): Promise<number> {
  await work();
  const waits: number[] = [];
  for (let round = 0; round < 3; round++) waits.push(await measureWait(app, work));
  return Math.min(...waits);
}
