// Settings that show only in a process: secrets in files (contract 8.64), SIGHUP (contract 9.236) and LOG_LEVEL (contract 9.241).
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, inject, it } from 'vitest';
import { entryOf, findFreePort, type Runtime, run, startService } from '../support/app/process.ts';
import { production } from '../support/app/settings.ts';
import { cloneDatabase, connect, makeFolder } from '../support/database/postgres.ts';

const secrets = Object.keys(production).filter((name) =>
  /SECRET$|_KEY$|^DATABASE_URL$|^SMTP_URL$/.test(name),
);

describe.each<Runtime>(['node', 'deno'])('a service on %s', (runtime) => {
  it('takes every secret from a file, and neither ends nor reads them again at SIGHUP (contract 8.86)', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const folder = await makeFolder();
    const settings = { ...production, DATABASE_URL: url, HOST: '127.0.0.1', SHUTDOWN_DELAY_SECONDS: '0' };
    const env: Record<string, string> = {};
    for (const [name, value = ''] of Object.entries(settings)) {
      if (secrets.includes(name)) {
        env[`${name}_FILE`] = join(folder, name);
        await writeFile(join(folder, name), `${value}\n`);
      } else env[name] = value;
    }
    expect(Object.keys(env).filter((name) => name.endsWith('_FILE'))).toHaveLength(9);
    const port = await findFreePort();
    const service = await startService(runtime, port, env);
    const base = `http://localhost:${port}`;
    expect((await fetch(`${base}/sso/launch/crm_app`, { redirect: 'manual' })).status).toBe(303);

    await writeFile(join(folder, 'SSO_CRM_SECRET'), 'changeme');
    for (let times = 0; times < 2; times++) service.child.kill('SIGHUP');
    await expect.poll(service.output).toContain('SIGHUP changes nothing');
    expect((await fetch(`${base}/readyz`)).status).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.exited, service.output()).toBe(0);

    const again = run(runtime, [entryOf[runtime]], { ...env, PORT: String(port) });
    expect(await again.exited).toBe(1);
    expect(again.output()).toContain(
      'SSO_CRM_SECRET must be at least 32 bytes long (it is from SSO_CRM_SECRET_FILE)',
    );
    await rm(folder, { recursive: true });
    await drop();
  });

  it('logs no line for each request at LOG_LEVEL=error, but errors, and what is kept nowhere else', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const { db, close } = connect(url);
    const port = await findFreePort();
    const env = {
      DATABASE_URL: url,
      LOG_LEVEL: 'error',
      SMTP_URL: 'smtp://127.0.0.1:1',
      MAIL_FROM: 'a@example.test',
    };
    const service = await startService(runtime, port, env);
    const base = `http://localhost:${port}`;
    const post = (path: string, form: Record<string, string>) =>
      fetch(base + path, {
        method: 'POST',
        body: new URLSearchParams(form),
        headers: { origin: base },
        redirect: 'manual',
      });
    await post('/login', { email: 'customer@example.test', password: 'wrong' });
    await post('/forgot-password', { email: 'nobody@example.test' });
    await fetch(`${base}/sso/marketplace/callback?payload=x&signature=x`);
    await fetch(`${base}/integrations/crm/signups`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    await sql`alter table kysely_migration rename to elsewhere`.execute(db);
    expect((await fetch(`${base}/readyz`)).status).toBe(503);
    await sql`alter table elsewhere rename to kysely_migration`.execute(db);
    await expect.poll(service.output).toContain('password mail refused');
    service.child.kill('SIGTERM');
    expect(await service.exited, service.output()).toBe(0);
    const lines = [...service.output().matchAll(/^\{.*\}$/gm)].map(([line]) => JSON.parse(line));
    expect(lines.map(({ level, msg }) => `${level} ${msg}`).sort()).toEqual([
      '30 hand-off refused',
      '30 login refused',
      '30 password mail refused',
      '30 signup refused',
      '50 request failed',
    ]);
    expect(lines.find(({ msg }) => msg === 'request failed').err).toMatchObject({
      stack: expect.any(String),
    });
    await close();
    await drop();
  });
});
