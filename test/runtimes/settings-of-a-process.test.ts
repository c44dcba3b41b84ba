// A process in production: its secrets in files (contract 8.64), and SIGHUP (contract 9.236).
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { entryOf, findFreePort, type Runtime, run, startService } from '../support/app/process.ts';
import { production } from '../support/app/settings.ts';
import { cloneDatabase, makeFolder } from '../support/database/postgres.ts';

const secrets = Object.keys(production).filter((name) =>
  /SECRET$|_KEY$|^DATABASE_URL$|^SMTP_URL$/.test(name),
);

describe.each<Runtime>(['node', 'deno'])('a service in production, on %s', (runtime) => {
  it('takes every secret from a file, and neither ends nor reads them again at SIGHUP', async () => {
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
    expect(Object.keys(env).filter((name) => name.endsWith('_FILE'))).toHaveLength(8);
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
});
