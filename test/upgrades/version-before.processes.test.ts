// This version and the one before it run at the same time on one database, under traffic. Either may have migrated the
// database, so an upgrade and a return to the older version interrupt nobody (docs/operate/upgrade.md). Both issue invoices all
// the time, in one series (contract 7.53).
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import { readConfig } from '../../server/settings/config.ts';
import { findFreePort, type RunningProcess, type Runtime, startService } from '../support/app/process.ts';
import { buildCommit, findVersionBefore } from '../support/app/version-before.ts';
import { cookieOf } from '../support/app/visitor.ts';
import { findFaultsInBooks } from '../support/billing/money.ts';
import { setSettings } from '../support/billing/settings.ts';
import { startRowLoad } from '../support/clients/row-load.ts';
import { buildSignup, type SignupBody, signMessage } from '../support/crm/crm.ts';
import { openOwnPostgres } from '../support/database/own-postgres.ts';
import { connect, emptyDatabase } from '../support/database/postgres.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import { checkHistory, connectInUtc } from '../support/history/history.ts';
import { startVisits } from '../support/load/visits.ts';
import { hasDebianPostgres, startDebianPostgres } from '../support/machines/debian-postgres.ts';
import {
  addOpenIdClient,
  authorizePath,
  decodeJwt,
  exchange,
  getCode,
  readUserinfo,
  tokensOf,
} from '../support/openid/client.ts';
import { buildSend } from '../support/openid/send.ts';
import { liftAllowancesAt } from '../support/people/allowances.ts';
import { addPerson } from '../support/people/staff.ts';

const exec = promisify(execFile);
const password = 'eight louder lanterns';
const root = fileURLToPath(new URL('../..', import.meta.url));
const notRun = hasDebianPostgres ? '' : ' (NOT RUN: there is no Postgres 15 of Debian)';

const livesInALane = byForm({ short: 1, long: 4 });

const commit = await findVersionBefore();
if (!commit)
  process.stderr.write(
    'NOT RUN: this version beside the one before, because the history of this clone does not hold the commit that test/upgrades/version-before names.\n',
  );

describe.skipIf(!commit)(`this version beside ${commit}`, () => {
  let before: Awaited<ReturnType<typeof buildCommit>>;
  beforeAll(async () => {
    before = await buildCommit(commit ?? '');
  }, 300_000);
  afterAll(() => before?.remove());

  const running: RunningProcess[] = [];
  afterEach(async () => {
    for (const { child, exited } of running.splice(0)) {
      child.kill('SIGKILL');
      await exited;
    }
  });

  // After a return to the older version, it runs on a database that this version has migrated and written.
  it.each<[runtime: Runtime, name: string]>([
    ['node', 'an upgrade and the way back interrupt nobody, and issue in one series'],
    ['deno', 'an upgrade interrupts nobody, and issues in one series'],
  ])('on %s %s', { timeout: 180_000 }, async (runtime) => {
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    const ports = [await findFreePort(), await findFreePort(), await findFreePort()] as const;
    const env = {
      DATABASE_URL: url,
      IDENTITY_ISSUER: `http://localhost:${ports[0]}`,
      TRUSTED_PROXIES: 'loopback',
      SHUTDOWN_DELAY_SECONDS: '0',
    };
    const start = async (port: number, folder?: string) => {
      const instance = await startService(runtime, port, env, folder);
      running.push(instance);
      return instance;
    };
    const { db, close } = connect(url);
    let serving = await start(ports[0], before.folder);
    await liftAllowancesAt(url);
    await setSettings(db);
    const visits = startVisits(env, [ports[0]]);
    await visits.see(1);

    const replaceBy = async (port: number, folder?: string) => {
      const next = await start(port, folder);
      visits.ports.push(port);
      await visits.see(3);
      // A balancer sends an instance no requests before the instance stops.
      visits.ports.shift();
      await visits.see(1);
      serving.child.kill('SIGTERM');
      expect(await serving.exited, serving.output()).toBe(0);
      await visits.see(2);
      expect(visits.failed).toEqual([]);
      serving = next;
    };
    await replaceBy(ports[1]);
    if (runtime === 'node') await replaceBy(ports[2], before.folder);
    await visits.stop();
    expect(visits.failed).toEqual([]);

    const reader = connectInUtc(url);
    expect(await checkHistory(reader.db)).toEqual([]);
    await reader.close();
    const countLeft = async () => {
      const { rows } = await sql`select (select count(*)::int from events where seq is null) as unnumbered,
        (select count(*)::int from documents_to_make) as unmade`.execute(db);
      return rows[0];
    };
    await expect.poll(countLeft, { timeout: 60_000 }).toEqual({ unnumbered: 0, unmade: 0 });
    expect(await findFaultsInBooks(db)).toEqual([]);
    await close();
    await drop();
  });

  /**
   * Lets the version in each folder migrate a database, as a role that only owns it. Returns what pg_dump writes after that,
   * without keys and times.
   */
  async function dumpAfter(...folders: string[]): Promise<string> {
    const { url, env, close } = await startDebianPostgres();
    try {
      for (const cwd of folders)
        await exec(process.execPath, ['build/service/cli.js', 'migrate'], {
          cwd,
          env: { PATH: process.env.PATH, DATABASE_URL: url, NODE_ENV: 'test' },
        });
      const { stdout } = await exec('/usr/lib/postgresql/15/bin/pg_dump', ['--dbname=identity'], {
        env: env as NodeJS.ProcessEnv,
        maxBuffer: 2 ** 24,
      });
      return stdout
        .replace(/^\\(?:un)?restrict .*$/gm, '')
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
        .replace(/\\\\x[0-9a-f]{64}$/gm, 'KEY');
    } finally {
      await close();
    }
  }

  it.skipIf(!hasDebianPostgres)(
    `makes of an empty database what the version before and it make together (contract 9.356)${notRun}`,
    async () => {
      const made = await dumpAfter(root);
      expect(made).toContain('CREATE UNLOGGED TABLE public.rate_limits');
      expect(made.match(/^2026-.*\tTIME$/gm)).not.toBeNull();
      expect(made).toBe(await dumpAfter(before.folder, root));
    },
  );

  it('issues nothing while billing waits after a restore', { timeout: 180_000 }, async () => {
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    const port = await findFreePort();
    const env = { DATABASE_URL: url, IDENTITY_ISSUER: `http://localhost:${port}` };
    const now = await startService('node', port, env);
    running.push(now);
    const { db, close } = connect(url);
    await setSettings(db);
    now.child.kill('SIGTERM');
    await now.exited;
    // The older version's own database:restored writes this row.
    await sql`insert into restores default values`.execute(db);
    const earlier = await startService('node', port, env, before.folder);
    running.push(earlier);
    const { price } = buildSignup('').contract;
    for (let at = 0; at < 4; at++) {
      const body = JSON.stringify(
        buildSignup(`waits-${at}`, { contract: { plan: 'starter', status: 'active', price } }),
      );
      const headers = signMessage(readConfig(env).crmSignupsSecrets?.[0] ?? '', body);
      const signups = `http://localhost:${port}/integrations/crm/signups`;
      expect((await fetch(signups, { method: 'POST', body, headers })).status).toBe(201);
    }
    const countIssued = async () =>
      (await sql<{ count: number }>`select count(*)::int as count from invoices`.execute(db)).rows[0]?.count;
    // The service knows of the restore and does not try to bill, so no line shows that it waits. The test can only let time
    // pass.
    await sleep(10_000);
    expect(earlier.output()).not.toContain('billing waits since');
    expect(await countIssued()).toBe(0);
    await sql`update restores set billing_resumed_at = now()`.execute(db);
    await expect.poll(countIssued, { timeout: 60_000 }).toBe(4);
    await close();
    await drop();
  });

  // Contract 7.529 to 7.532.
  it('invoices the sum of a quantity, and leaves charges to this version', { timeout: 240_000 }, async () => {
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    const port = await findFreePort();
    const env = { DATABASE_URL: url, IDENTITY_ISSUER: `http://localhost:${port}` };
    const start = async (folder?: string) => {
      const instance = await startService('node', port, env, folder);
      running.push(instance);
      return async () => {
        instance.child.kill('SIGTERM');
        await instance.exited;
      };
    };
    const { db, close } = connect(url);
    const price = { currency: 'EUR', unit_amount: 1_000, interval: 'month' };
    const charges = [{ id: 'usage', title: 'Usage', unit_amount: 500, quantity: 3, when: 'next' as const }];
    let secondsAgo = 60;
    const report = async (contract: Partial<SignupBody['contract']>) => {
      const occurred_at = new Date(Date.now() - --secondsAgo * 1_000).toISOString();
      const terms = { plan: 'starter', status: 'active', price, ...contract };
      const body = JSON.stringify(buildSignup('both', { occurred_at, contract: terms }));
      const headers = signMessage(readConfig(env).crmSignupsSecrets?.[0] ?? '', body);
      const signups = `http://localhost:${port}/integrations/crm/signups`;
      const answer = await fetch(signups, { method: 'POST', body, headers });
      return (await answer.json()).contract.price;
    };
    const readSums = async () =>
      (
        await sql<{ net: number }>`select net::int from documents order by issued_at, number`.execute(db)
      ).rows.map(({ net }) => net);
    /** Makes another period begin, a second after the last one. */
    const moveOn = () =>
      sql`update service_contracts set next_period_starts_at = (
        select max(period_starts_at) + interval '1 second' from invoices)`.execute(db);

    let stop = await start();
    await setSettings(db);
    await report({ price: { ...price, quantity: 4 } });
    await expect.poll(readSums, { timeout: 60_000 }).toEqual([4_000]);
    await report({ price: { ...price, quantity: 5 }, charges });
    await stop();

    stop = await start(before.folder);
    await moveOn();
    await expect.poll(readSums, { timeout: 60_000 }).toEqual([4_000, 5_000]);
    await stop();
    stop = await start();
    await moveOn();
    await expect.poll(readSums, { timeout: 60_000 }).toEqual([4_000, 5_000, 6_500]);
    await stop();

    // The version before stores any price with a quantity of one.
    stop = await start(before.folder);
    await report({ price: { ...price, unit_amount: 700 } });
    await stop();
    stop = await start();
    await moveOn();
    await expect.poll(readSums, { timeout: 60_000 }).toEqual([4_000, 5_000, 6_500, 700]);
    expect(await report({ price: { ...price, quantity: 2 } })).toEqual({ ...price, quantity: 2 });
    await stop();
    expect(await findFaultsInBooks(db)).toEqual([]);
    await close();
    await drop();
  });

  // Contract 14.58, 14.70 and 14.71. The version before does not know products that speak OpenID Connect.
  it.each(['this version', 'the version before'])(
    'ends logins of OpenID Connect on a database that %s has made',
    { timeout: 300_000 },
    async (first) => {
      const { url, drop } = await emptyDatabase(inject('templateUrl'));
      const [port, portBefore] = [await findFreePort(), await findFreePort()];
      const base = `http://localhost:${port}`;
      const env = { DATABASE_URL: url, IDENTITY_ISSUER: base, SHUTDOWN_DELAY_SECONDS: '0' };
      const start = async (at: number, folder?: string) =>
        running.push(await startService('node', at, env, folder));
      if (first === 'this version') await start(port);
      await start(portBefore, before.folder);
      if (first !== 'this version') await start(port);
      const { db, close } = connect(url);
      const now = { db, config: readConfig(env), send: buildSend(port, base) };
      const earlier = buildSend(portBefore, base);
      const client = await addOpenIdClient(now, { backChannelUri: 'http://localhost:9/out' });
      expect((await earlier(authorizePath(client))).status).toBe(404);

      // People log in at either version, and go to the product through this version.
      const open = async (send: typeof earlier) => {
        const person = await addPerson(now, { passwordHash: await hashPassword(password) });
        const form = { email: person.email, password };
        const cookie = cookieOf(await send('/login', { method: 'POST', form }));
        const browser: Pick<typeof now, 'send'> = {
          send: (path, options) => now.send(path, { ...options, cookie }),
        };
        const tokens = tokensOf(await exchange(now, client, await getCode(browser, client)));
        const { sid, sub } = decodeJwt(tokens.id_token).payload;
        return {
          ...person,
          cookie,
          token: tokens.access_token,
          code: await getCode(browser, client),
          sid,
          sub,
        };
      };
      const cli = (...args: string[]) =>
        exec(process.execPath, ['build/service/cli.js', ...args, '--why', 'They called, ticket 4711'], {
          cwd: before.folder,
          env: Object.assign({}, process.env, env, { NODE_ENV: 'development' }),
        });
      const listLogOuts = async (userId: string) =>
        (await db.selectFrom('log_outs').select('sid').where('user_id', '=', userId).execute()).map(
          ({ sid }) => sid,
        );
      const ends: [
        name: string,
        end: (person: Awaited<ReturnType<typeof open>>) => Promise<unknown>,
        told: 'sid' | 'both',
      ][] = [
        ['logged out', ({ cookie }) => earlier('/logout', { method: 'POST', cookie, form: {} }), 'sid'],
        ['suspended', ({ email }) => cli('user:suspend', email), 'both'],
        ['deleted', ({ email }) => cli('user:delete', email, '--now', '--yes'), 'both'],
      ];
      for (const [name, end, told] of ends)
        for (const send of [now.send, earlier]) {
          const person = await open(send);
          expect((await readUserinfo(now, person.token)).status).toBe(200);
          // The version before has no such path, whatever token it gets.
          expect((await readUserinfo({ send: earlier }, person.token)).status).toBe(404);
          await end(person);
          expect((await readUserinfo(now, person.token)).status, name).toBe(401);
          expect((await exchange(now, client, person.code)).status, name).toBe(400);
          const told_ = told === 'sid' ? [person.sid] : [null, person.sid];
          // The product is told of an erasure after its event exists.
          await expect
            .poll(async () => new Set(await listLogOuts(person.id)), { timeout: 30_000 })
            .toEqual(new Set(told_));
        }
      await close();
      await drop();
    },
  );

  // Contract 13.1, 13.9 and 13.22 to 13.24.
  it(`knows no client of the database, while three instances of this one follow ${5 * livesInALane} of them through kills`, {
    timeout: 600_000,
  }, async () => {
    const postgres = await openOwnPostgres();
    try {
      const [first, ...others] = [await findFreePort(), await findFreePort(), await findFreePort()] as const;
      const ports = [first, ...others];
      const portBefore = await findFreePort();
      const base = `http://localhost:${first}`;
      const env = { DATABASE_URL: postgres.templateUrl, IDENTITY_ISSUER: base, SHUTDOWN_DELAY_SECONDS: '0' };
      const instances = new Map<number, RunningProcess>();
      const start = async (port: number, folder?: string) => {
        const instance = await startService('node', port, env, folder);
        running.push(instance);
        instances.set(port, instance);
      };
      for (const port of ports) await start(port);
      await start(portBefore, before.folder);
      await liftAllowancesAt(postgres.templateUrl);
      const load = await startRowLoad(base, { ports, portBefore });
      let lanes = 5;
      const lives = Array.from({ length: lanes }, async () => {
        for (let nth = 0; nth < livesInALane; nth++) await load.live();
        lanes--;
      });
      const killed = (async () => {
        for (let times = 0; lanes > 0; times++) {
          await sleep(3_000 + Math.random() * 2_000);
          if (times === 2) {
            await postgres.kill();
            await postgres.start();
            load.noteDatabaseBack();
            continue;
          }
          const port = ports[times % ports.length] as number;
          const victim = instances.get(port);
          victim?.child.kill('SIGKILL');
          await victim?.exited;
          await start(port);
        }
      })();
      await Promise.all([...lives, killed]);
      await load.stop();
      noteFigures('clients of the database', {
        longestStopMs: load.longestStopMs(),
        ...load.countLaunches(),
      });
      expect(load.known.length).toBeGreaterThanOrEqual(5 * livesInALane);
      expect(load.countLaunches().payload).toBeGreaterThan(100 * livesInALane);
      expect(load.countLaunches()['unknown_client before']).toBeGreaterThan(40 * livesInALane);
      // A machine that is busy with other tests may take longer than the two seconds of the contract.
      expect(await load.findFaults(byForm({ short: 4_500, long: 2_000 }))).toEqual([]);
      expect(await load.findLost()).toEqual([]);
    } finally {
      for (const { child, exited } of running.splice(0)) {
        child.kill('SIGKILL');
        await exited;
      }
      await postgres.close();
    }
  });
});
