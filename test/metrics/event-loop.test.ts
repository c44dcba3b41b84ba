import { Registry } from 'prom-client';
import { afterEach, expect, it } from 'vitest';
import { watchEventLoop } from '../../server/metrics/state.ts';
import { readScrape } from '../support/app/metrics.ts';

let stop: (() => void) | undefined;
afterEach(() => stop?.());

it('a process that does one thing for a while has a lag, once for each timer that had to wait', async () => {
  const registry = new Registry();
  stop = watchEventLoop(registry);
  const blockedUntil = performance.now() + 1_000;
  while (performance.now() < blockedUntil);
  const read = async () => readScrape(await registry.metrics());
  const count = async () => (await read()).valueFor('identity_event_loop_lag_seconds_count');
  await expect.poll(count, { timeout: 10_000 }).toBeGreaterThan(0);
  const { valueFor } = await read();
  const within = (le: string) => valueFor('identity_event_loop_lag_seconds_bucket', { le }) ?? 0;
  // The loop was blocked, so samples are 0.9 s late, 0.8 s late, and so on.
  expect(within('+Inf') - within('0.25')).toBeGreaterThan(4);
  expect(within('+Inf') - within('0.5')).toBeGreaterThan(2);
});
