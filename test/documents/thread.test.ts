// Threads of the service, here with a script of the test: how much memory they take, and when they end (contract 7.219).
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { openThread, type ThreadOptions } from '../../server/runtime/thread.ts';
import { sharedFolder } from '../support/run/shared.ts';

/** The thread answers a message with its id. If the message is `grow`, it takes more and more memory instead. */
const script = `
  import { parentPort, threadId, workerData } from 'node:worker_threads';
  parentPort.on('message', (asked) => {
    for (const kept = []; asked === 'grow'; ) kept.push({});
    parentPort.postMessage({ answer: { id: threadId, given: workerData } });
  });`;

type Answer = { id: number; given: unknown };

const folder = await sharedFolder();
let file: URL;
beforeAll(async () => {
  file = pathToFileURL(join(folder, 'thread.mjs'));
  await writeFile(file, script);
});

const open = (options: Partial<ThreadOptions> = {}) =>
  openThread<string, Answer>(file, { what: 'the test', longestMs: 60_000, heapMebibytes: 24, ...options });

describe('a thread', () => {
  it('ends after a set time without questions, and begins again with the next one', async () => {
    const thread = open({ idleMs: 50, given: new Uint8Array([7]) });
    const first = await thread.ask('');
    expect(first.given).toEqual(new Uint8Array([7]));
    await sleep(300);
    const second = await thread.ask('');
    expect(second).toMatchObject({ given: new Uint8Array([7]) });
    expect(second.id).not.toBe(first.id);
    await thread.close();
  });

  it('stays while questions come sooner, and if no time is set', async () => {
    for (const idleMs of [600_000, undefined]) {
      const thread = open({ idleMs });
      const { id } = await thread.ask('');
      await sleep(50);
      expect((await thread.ask('')).id).toBe(id);
      await thread.close();
    }
  });

  it('answers a question that comes just as it ends', async () => {
    const thread = open({ idleMs: 5 });
    const ids = new Set<number>();
    for (let round = 0; round < 16; round++) {
      ids.add((await thread.ask('')).id);
      await sleep(3 + (round % 5));
    }
    expect(ids.size).toBeGreaterThan(1);
    await thread.close();
  });

  it('that needs more memory than its own dies with that question alone', async () => {
    const thread = open();
    const { id } = await thread.ask('');
    await expect(thread.ask('grow')).rejects.toThrow(/memory limit/);
    expect((await thread.ask('')).id).not.toBe(id);
    await thread.close();
  });
});
