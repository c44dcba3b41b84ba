import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runInBackground } from '../../server/doors/jobs/background.ts';
import { recordLog } from '../support/app/log.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it.each([
  ['a frequent job', 1_000, [1, 3, 7, 15, 25, 35]],
  ['a job of every minute', 60_000, [60, 120, 180]],
])(
  '%s that fails is tried again, soon and less and less often (contract 9.335)',
  async (_, intervalMs, at) => {
    const startedAt = Date.now();
    const runs: number[] = [];
    const stop = runInBackground(
      'job',
      intervalMs,
      async () => {
        runs.push((Date.now() - startedAt) / 1_000);
        throw new Error('away');
      },
      recordLog().log,
    );
    await vi.advanceTimersByTimeAsync((at.at(-1) ?? 0) * 1_000);
    await stop();
    expect(runs).toEqual(at);
  },
);

it('goes back to its own pace once it has ended well', async () => {
  const runs: number[] = [];
  const startedAt = Date.now();
  const stop = runInBackground(
    'job',
    60_000,
    async () => {
      if (runs.push((Date.now() - startedAt) / 1_000) === 1) throw new Error('away');
    },
    recordLog().log,
  );
  await vi.advanceTimersByTimeAsync(180_000);
  await stop();
  expect(runs).toEqual([60, 120, 180]);
});
