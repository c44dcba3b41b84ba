// This version and the one before it run beside each other on one database, under traffic, whichever migrated it: so an upgrade
// and the way back interrupt nobody (docs/operate/upgrade.md).
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { readConfig } from '../../server/settings/config.ts';
import { findFreePort, type RunningProcess, type Runtime, startService } from '../support/app/process.ts';
import { buildCommit, findVersionBefore } from '../support/app/version-before.ts';
import { setSettings } from '../support/billing/settings.ts';
import { buildSignup, signMessage } from '../support/crm/crm.ts';
import { connect, emptyDatabase } from '../support/database/postgres.ts';
import { checkHistory, connectInUtc } from '../support/history/history.ts';
import { startVisits } from '../support/load/visits.ts';
import { liftAllowancesAt } from '../support/people/allowances.ts';

const commit = await findVersionBefore();
if (!commit)
  process.stderr.write(
    'NOT RUN: this version beside the one before, because the history of this clone does not hold the commit that test/upgrades/version-before names.\n',
  );

const pause = (seconds: number) => new Promise((done) => setTimeout(done, seconds * 1_000));

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

  it.each<[name: string, runtime: Runtime, isUpgrade: boolean]>([
    ['an upgrade', 'node', true],
    ['an upgrade', 'deno', true],
    ['the way back', 'node', false],
  ])('%s on %s interrupts nobody', { timeout: 180_000 }, async (_, runtime, isUpgrade) => {
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    const ports: [number, number] = [await findFreePort(), await findFreePort()];
    const env = {
      DATABASE_URL: url,
      IDENTITY_ISSUER: `http://localhost:${ports[0]}`,
      TRUSTED_PROXIES: 'loopback',
      SHUTDOWN_DELAY_SECONDS: '0',
    };
    const start = async (port: number, isBefore: boolean) => {
      const instance = await startService(runtime, port, env, isBefore ? before.folder : undefined);
      running.push(instance);
      return instance;
    };
    const first = await start(ports[0], isUpgrade);
    await liftAllowancesAt(url);
    const visits = startVisits(env, [ports[0]]);
    await pause(2);
    await start(ports[1], !isUpgrade);
    visits.ports.push(ports[1]);
    await pause(8);
    // As a balancer does before a stop.
    visits.ports.shift();
    await pause(1);
    first.child.kill('SIGTERM');
    expect(await first.exited, first.output()).toBe(0);
    await pause(2);
    const { done, failed } = await visits.stop();
    expect(failed).toEqual([]);
    for (const [name, count] of Object.entries(done)) expect(count, name).toBeGreaterThan(2);

    const reader = connectInUtc(url);
    expect(await checkHistory(reader.db)).toEqual([]);
    await reader.close();
    const { db, close } = connect(url);
    const countUnnumbered = () =>
      sql<{ count: number }>`select count(*)::int as count from events where seq is null`.execute(db);
    await expect.poll(async () => (await countUnnumbered()).rows[0]?.count).toBe(0);
    await close();
    await drop();
  });

  it('issues nothing once there is a seller: this version does, with tax', { timeout: 180_000 }, async () => {
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    const port = await findFreePort();
    const env = { DATABASE_URL: url, IDENTITY_ISSUER: `http://localhost:${port}` };
    const now = await startService('node', port, env);
    running.push(now);
    const { db, close } = connect(url);
    await setSettings(db);
    now.child.kill('SIGTERM');
    await now.exited;
    const earlier = await startService('node', port, env, before.folder);
    running.push(earlier);
    const { price } = buildSignup('').contract;
    for (let at = 0; at < 16; at++) {
      const body = JSON.stringify(
        buildSignup(`beside-${at}`, { contract: { plan: 'starter', status: 'active', price } }),
      );
      const headers = signMessage(readConfig(env).crmSignupsSecrets?.[0] ?? '', body);
      const answer = await fetch(`http://localhost:${port}/integrations/crm/signups`, {
        method: 'POST',
        body,
        headers,
      });
      expect(answer.status).toBe(201);
    }
    const countInvoices = async () =>
      (
        await sql`select count(*)::int as issued, count(d.number) filter (where d.tax = 551)::int as taxed
          from invoices i left join documents d on d.invoice = i.number`.execute(db)
      ).rows[0];
    await expect.poll(earlier.output, { timeout: 60_000 }).toContain('there is a seller');
    expect(await countInvoices()).toEqual({ issued: 0, taxed: 0 });
    running.push(await startService('node', await findFreePort(), env));
    await expect.poll(countInvoices, { timeout: 60_000 }).toEqual({ issued: 16, taxed: 16 });
    await close();
    await drop();
  });

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
    // As its own database:restored writes it.
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
    await expect.poll(earlier.output, { timeout: 60_000 }).toContain('billing waits since');
    expect(await countIssued()).toBe(0);
    await sql`update restores set billing_resumed_at = now()`.execute(db);
    await expect.poll(countIssued, { timeout: 60_000 }).toBe(4);
    await close();
    await drop();
  });
});
