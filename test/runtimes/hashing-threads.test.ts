import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { expect, inject, it } from 'vitest';
import { findFreePort, run, startService } from '../support/app/process.ts';
import { cloneDatabase } from '../support/database/postgres.ts';

const onNode = Math.min(4, availableParallelism() + 1);
const onDeno = Math.min(4, availableParallelism());

it.runIf(existsSync('/proc/self/task'))('Node gets two more threads than may hash passwords', async () => {
  const { url, drop } = await cloneDatabase(inject('templateUrl'));
  const countThreads = async (env: Record<string, string>) => {
    const service = await startService('node', await findFreePort(), { DATABASE_URL: url, ...env });
    const threads = readdirSync(`/proc/${service.child.pid}/task`).length;
    service.child.kill('SIGTERM');
    await service.exited;
    return threads;
  };
  const others = (await countThreads({ UV_THREADPOOL_SIZE: '1' })) - 1;
  expect((await countThreads({})) - others).toBe(onNode + 2);
  expect((await countThreads({ PASSWORD_HASHING_THREADS: '5' })) - others).toBe(7);
  expect((await countThreads({ PASSWORD_HASHING_THREADS: '5', UV_THREADPOOL_SIZE: '9' })) - others).toBe(9);
  await drop();
});

it.runIf(existsSync('/proc/self/task'))(
  'On Node hashing, and the check of new passwords, gives way to everything else',
  async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const service = await startService('node', await findFreePort(), { DATABASE_URL: url });
    const tasks = `/proc/${service.child.pid}/task`;
    // The nice value is field 19 of proc_pid_stat(5).
    const niceOf = (id: string) =>
      Number(
        readFileSync(`${tasks}/${id}/stat`, 'utf8')
          .replace(/^.*\) /, '')
          .split(' ')[16],
      );
    const priorities = readdirSync(tasks).map(niceOf);
    service.child.kill('SIGTERM');
    await service.exited;
    await drop();
    expect(priorities.filter((nice) => nice === 10)).toHaveLength(onNode + 2 + 1);
    expect(priorities.filter((nice) => nice === 0).length).toBeGreaterThan(0);
  },
);

it.each([
  ['node', 'no setting, so with the four threads of Node', {}, Math.min(2, onNode)],
  [
    'node',
    'fewer threads than the setting asks for',
    { PASSWORD_HASHING_THREADS: '9', UV_THREADPOOL_SIZE: '5' },
    3,
  ],
  ['node', 'hardly any threads', { PASSWORD_HASHING_THREADS: '9', UV_THREADPOOL_SIZE: '2' }, 1],
  [
    'node',
    'more threads than the setting asks for',
    { PASSWORD_HASHING_THREADS: '2', UV_THREADPOOL_SIZE: '9' },
    2,
  ],
  ['deno', 'no setting', {}, onDeno],
  ['deno', 'a setting', { PASSWORD_HASHING_THREADS: '1' }, 1],
] as const)('hashing passwords never holds up an HMAC on %s with %s', async (runtime, _, env, threads) => {
  const args = [...(runtime === 'node' ? ['--import', 'tsx'] : []), 'test/support/load/hash-and-sign.ts'];
  const { exited, output } = run(runtime, args, env);
  expect(await exited, output()).toBe(0);
  const { hashingThreads, hashesBefore } = JSON.parse(output());
  expect(hashingThreads).toBe(threads);
  // As many hashes as there are threads may end first, because they may keep the processor busy.
  expect(hashesBefore).toBeLessThanOrEqual(threads);
});
