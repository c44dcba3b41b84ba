// Tests what each kit has to do if several processes of one client pull the same events from the real service.
//
// Each process prints `ready`. It reads a number on each line, runs that many pulls at the same time, and prints a line of JSON
// with the results of the pulls. To the file LOG it writes `begin 7` and `end 7` as it applies event 7. At the event HANGS_AT,
// the process hangs.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../../server/runtime/listen.ts';
import type { Listener } from '../../../server/runtime/listener.ts';
import { openApp, type TestApp } from '../app/app.ts';
import { findFreePort } from '../app/process.ts';
import { appendEvents } from '../events/client-events.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const secret = 'a-secret-of-the-shop-for-this-test';

type Environment = Record<string, string>;
/** How to start a process that keeps its position in a store of this kind. */
export type Kind = {
  command: string[];
  env?: Environment;
  /** Opens an empty store for one test, which has `folder` to itself. Processes get `store` in their variable STORE. */
  openStore: (folder: string) => Promise<{ store: string; close?: () => Promise<unknown> }>;
};

type Puller = {
  child: ChildProcess;
  /**
   * Runs `count` pulls at the same time, and returns the number that each pull returned. A pull that left the events to another
   * pull returns null.
   */
  pull: (count: number) => Promise<(number | null)[]>;
};

export function describePulls(name: string, kind: Kind): void {
  describe(`several processes with ${name}`, () => {
    let app: TestApp;
    let listener: Listener;
    beforeAll(async () => {
      const port = await findFreePort();
      app = await openApp({
        env: {
          IDENTITY_ISSUER: `http://localhost:${port}`,
          SSO_CLIENTS: 'shop',
          SSO_SHOP_SECRET: secret,
          SSO_SHOP_CALLBACK_URL: 'http://localhost:4000/sso/callback',
        },
      });
      listener = await listen(app.fetch, { host: 'localhost', port });
    });
    afterAll(async () => {
      await listener?.close(0);
      await app?.close();
    });

    const closings: (() => Promise<unknown>)[] = [];
    afterEach(async () => {
      for (const close of closings.splice(0).reverse()) await close();
    });

    async function openShop() {
      const folder = await mkdtemp(join(tmpdir(), 'identity-pulls-'));
      closings.push(() => rm(folder, { recursive: true, force: true }));
      const { store, close } = await kind.openStore(folder);
      if (close) closings.push(close);
      const log = join(folder, 'log');
      const env = { ISSUER: app.config.issuer, SECRET: secret, STORE: store, LOG: log };
      return {
        async start(more: Environment = {}): Promise<Puller> {
          const { puller, close } = await startPuller(kind, { ...env, ...more });
          closings.push(close);
          return puller;
        },
        readLog: () => readFile(log, 'utf8').catch(() => ''),
      };
    }

    it('apply each event once and in order, of 16 pulls at once', async () => {
      const shop = await openShop();
      const pullers = await Promise.all(Array.from({ length: 4 }, () => shop.start()));
      for (const more of [100, 20]) {
        await appendEvents(app.db, 'shop', more);
        const newest = await readNewest(app);
        const results = (await Promise.all(pullers.map(({ pull }) => pull(4)))).flat();
        expect(results).toHaveLength(16);
        expect(results).toContain(newest);
        expect(results.filter((result) => result !== newest && result !== null)).toEqual([]);
        expect(await shop.readLog()).toBe(linesOf(1, newest));
      }
    });

    it('leave events to one that is at work, and go on soon where it was killed', async () => {
      const shop = await openShop();
      await appendEvents(app.db, 'shop', 20);
      const newest = await readNewest(app);
      const [holder, other] = await Promise.all([shop.start({ HANGS_AT: '7' }), shop.start()]);
      holder.pull(1).catch(() => undefined);
      const untilItHangs = `${linesOf(1, 6)}begin 7\n`;
      await expect.poll(shop.readLog, { timeout: 20_000 }).toBe(untilItHangs);
      expect(await other.pull(4)).toEqual([null, null, null, null]);
      expect(await shop.readLog()).toBe(untilItHangs);

      holder.child.kill('SIGKILL');
      const results = await other.pull(16);
      expect(results).toContain(newest);
      expect(await shop.readLog()).toBe(untilItHangs + linesOf(7, newest));
    }, 120_000);
  });
}

async function readNewest(app: TestApp): Promise<number> {
  const events = app.db.selectFrom('events').select(({ fn }) => fn.max('seq').as('newest'));
  const { newest } = await events.where('client', '=', 'shop').executeTakeFirstOrThrow();
  return Number(newest);
}

/** The lines for these events if each is applied one time, and only after the event before it is done. */
const linesOf = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => `begin ${first + n}\nend ${first + n}\n`).join('');

async function startPuller({ command: [command = '', ...args], env }: Kind, more: Environment) {
  const child = spawn(command, args, {
    cwd: root,
    env: { NODE_ENV: 'test', PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1', ...env, ...more },
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  child.stdin.on('error', () => undefined);
  const exited = new Promise((done) => child.once('close', done));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const readLine = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`The process ended:\n${errors}`);
    return String(value);
  };
  const close = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  const puller: Puller = {
    child,
    async pull(count) {
      child.stdin.write(`${count}\n`);
      return JSON.parse(await readLine());
    },
  };
  try {
    expect(await readLine()).toBe('ready');
    return { puller, close };
  } catch (error) {
    await close();
    throw error;
  }
}
