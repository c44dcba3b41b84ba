// While migrations run, /healthz answers, and everything else says that the service is not up yet (contract 9.137).
import { sql } from 'kysely';
import { describe, expect, inject, it } from 'vitest';
import { entryOf, findFreePort, type Runtime, run } from '../support/app/process.ts';
import { openOwnPostgres } from '../support/database/own-postgres.ts';
import { cloneDatabase, connect, emptyDatabase } from '../support/database/postgres.ts';

describe.each<Runtime>(['node', 'deno'])('the start on %s', (runtime) => {
  it('answers /healthz while migrations run, and 503 to everything else until they are done', async () => {
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    const { db, close } = connect(url);
    const port = await findFreePort();
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`http://localhost:${port}${path}`, { redirect: 'manual', ...init });
    const service = await db.transaction().execute(async (trx) => {
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
      await sql`select pg_advisory_xact_lock(hashtextextended('identity migrations', 0))`.execute(trx);
      const env = { PORT: String(port), DATABASE_URL: url, BILLING_RETENTION_YEARS: '5' };
      const running = run(runtime, [entryOf[runtime]], env);
      const isHealthy = async () => (await ask('/healthz').catch(() => undefined))?.status;
      await expect.poll(isHealthy, { timeout: 30_000 }).toBe(200);
      await expect.poll(running.output, { timeout: 30_000 }).toContain("another instance's migrations");
      // Contract 8.29.
      expect(running.output()).toMatch(/"BILLING_RETENTION_YEARS".*ignored/);
      for (const [path, init] of [
        ['/readyz', {}],
        ['/sso/launch/marketplace', {}],
        ['/nowhere', {}],
        ['/login', { method: 'POST', body: new URLSearchParams({ email: 'a@example.test' }) }],
      ] as const) {
        const answer = await ask(path, init);
        expect(answer.status, path).toBe(503);
        expect(answer.headers.get('content-type')).toBe('application/problem+json');
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        expect(answer.headers.get('cache-control')).toBe('no-store');
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
        expect(await answer.json()).toMatchObject({ status: 503, code: 'unavailable' });
      }
      const page = await ask('/login', { headers: { accept: 'text/html', cookie: 'identity_session=x' } });
      expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(await page.text()).toContain('<h1>Sorry, the service is unavailable</h1>');
      expect(page.headers.get('set-cookie')).toBeNull();
      expect(running.output()).not.toContain('Log in');
      return running;
    });
    await expect.poll(async () => (await ask('/readyz')).status, { timeout: 30_000 }).toBe(200);
    expect((await ask('/login')).status).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.exited, service.output()).toBe(0);
    await close();
    await drop();
  });

  // Contract 9.352.
  it('ends with one sentence on a database that lacks what its migrations made', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const { db, close } = connect(url);
    await sql`drop trigger users_record_update on users`.execute(db);
    await close();
    const env = { PORT: String(await findFreePort()), DATABASE_URL: url };
    const service = run(runtime, [entryOf[runtime]], env);
    expect(await service.exited).toBe(1);
    expect(service.output()).toMatch(
      /^This version does not start on this database, which lacks the trigger users_record_update of users, [^\n]+\n$/,
    );
    await drop();
  });

  it('logs settings that no client has, without their values', async () => {
    const service = run(runtime, [entryOf[runtime]], {
      PORT: String(await findFreePort()),
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      SSO_SHOPP_SECRET: 'kanarienvogel',
    });
    await expect.poll(service.output, { timeout: 30_000 }).toContain('"settings":["SSO_SHOPP_SECRET"]');
    service.child.kill('SIGKILL');
    await service.exited;
    expect(service.output()).not.toContain('kanarienvogel');
  });

  it('waits for a database that is full, stopped, or a standby (contract 9.243)', async () => {
    const postgres = await openOwnPostgres({ max_connections: '4', superuser_reserved_connections: '0' });
    // All connections are in use before the service starts. If they were not, the service could get one.
    const taken = Array.from({ length: 4 }, () => connect(postgres.templateUrl));
    // Postgres ends the connections that prepared it a moment after they were closed.
    const take = ({ db }: (typeof taken)[number]) =>
      sql`select 1`.execute(db).then(
        () => true,
        () => false,
      );
    for (const each of taken) await expect.poll(() => take(each), { timeout: 30_000 }).toBe(true);
    const port = await findFreePort();
    const service = run(runtime, [entryOf[runtime]], {
      PORT: String(port),
      DATABASE_URL: postgres.templateUrl,
    });
    const linesWith = (text: string) =>
      service
        .output()
        .split('\n')
        .filter((line) => line.includes(text));
    const statusOf = async (path: string) => (await fetch(`http://localhost:${port}${path}`)).status;
    const expectWaiting = async () => {
      expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 503]);
      expect(service.child.exitCode).toBeNull();
    };
    await expect.poll(() => linesWith('waiting for the database'), { timeout: 30_000 }).toHaveLength(1);
    await expectWaiting();
    await postgres.stop();
    await Promise.all(taken.map(({ close }) => close().catch(() => undefined)));
    await new Promise((done) => setTimeout(done, 2_500));
    await expectWaiting();
    await postgres.start('standby');
    await new Promise((done) => setTimeout(done, 2_500));
    await expectWaiting();
    await postgres.stop();
    await postgres.start();
    await expect.poll(() => statusOf('/readyz'), { timeout: 30_000 }).toBe(200);
    // The service logs a line immediately. It would log the next line only after a minute.
    expect(linesWith('waiting for the database')).toHaveLength(1);
    service.child.kill('SIGTERM');
    expect(await service.exited, service.output()).toBe(0);
    await postgres.close();
  });

  it('ends at once when it is told to stop while migrations run, and leaves nothing of them', async () => {
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    const { db, close } = connect(url);
    await db.transaction().execute(async (trx) => {
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
      await sql`select pg_advisory_xact_lock(hashtextextended('identity migrations', 0))`.execute(trx);
      const port = String(await findFreePort());
      const service = run(runtime, [entryOf[runtime]], { PORT: port, DATABASE_URL: url });
      await expect.poll(service.output, { timeout: 30_000 }).toContain("another instance's migrations");
      service.child.kill('SIGTERM');
      expect(await service.exited, service.output()).toBe(0);
    });
    const { rows } = await sql`select 1 from pg_tables where schemaname = 'public'`.execute(db);
    expect(rows).toEqual([]);
    await close();
    await drop();
  });
});
