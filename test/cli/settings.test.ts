// Contract 11.42 and 11.43: `settings` checks the settings of the environment, and starts nothing.
import { spawn } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { type Outcome, readOutcome } from '../support/app/cli.ts';
import { findFreePort, type Runtime, run } from '../support/app/process.ts';
import { canary, production, type Settings } from '../support/app/settings.ts';
import { sharedFolder } from '../support/run/shared.ts';

const folder = await sharedFolder();

const root = fileURLToPath(new URL('../..', import.meta.url));

const start = (env: Settings, ...args: string[]) =>
  spawn(process.execPath, ['build/service/cli.js', 'settings', ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, NODE_ENV: undefined, ...env } as unknown as NodeJS.ProcessEnv,
  });

const settings = (env: Settings, ...args: string[]): Promise<Outcome> => readOutcome(start(env, ...args));

it('says that they are right, for production or local mode, and exits with 0', async () => {
  const [here, there] = await Promise.all([settings({}), settings(production)]);
  expect(here).toEqual({ code: 0, err: '', out: 'The settings are right, for local mode.\n' });
  expect(there).toEqual({ code: 0, err: '', out: 'The settings are right, for production.\n' });
});

it('names all faults at once, as the start does, without a value, and exits with 1', async () => {
  const wrong = {
    ...production,
    PORT: canary,
    SSO_CRM_SECRET: canary,
    SMTP_URL: undefined,
    SMTP_URL_FILE: `/${canary}`,
    MAIL_FROM: undefined,
  };
  const outcome = await settings(wrong);
  expect(outcome).toEqual({
    code: 1,
    out: '',
    err: [
      'These settings are wrong:',
      '  PORT must be a whole number from 1 to 65535',
      '  SSO_CRM_SECRET must be at least 32 bytes long',
      '  SMTP_URL_FILE must name a file that can be read, of 16 KiB at most',
      '  MAIL_FROM is missing',
      '',
    ].join('\n'),
  });
  const set = Object.entries(wrong).filter(([, value]) => value !== undefined) as [string, string][];
  const service = run('node' satisfies Runtime, ['build/service/main.js'], Object.fromEntries(set));
  expect(await service.exited).toBe(1);
  expect(service.output()).toBe(outcome.err);
});

it('names the settings that no client has, or nothing reads any more, which are no fault (contract 8.29)', async () => {
  const left = { SSO_SHOPP_SECRET: canary, BILLING_RETENTION_YEARS: canary };
  const { code, err } = await settings({ ...production, ...left });
  expect([code, err.split('\n')]).toEqual([
    0,
    [
      'No client in SSO_CLIENTS has these settings: SSO_SHOPP_SECRET.',
      'Ignored: nothing reads these settings any more: BILLING_RETENTION_YEARS.',
      '',
    ],
  ]);
});

it('--show lists each setting with where it is from, and secrets only as set or not set', async () => {
  const path = join(folder, 'crm');
  await writeFile(path, `${production.SSO_CRM_SECRET}\n`);
  const env = {
    ...production,
    SSO_CRM_SECRET: undefined,
    SSO_CRM_SECRET_FILE: path,
    IDENTITY_NAME: 'Zoë’s\u001b[2J',
  };
  const { code, out, err } = await settings({ ...env, IDENTITY_NAME: 'Zoë’s' }, '--show');
  expect([code, err]).toEqual([0, '']);
  const rows = out.split('\n').map((line) => line.split(/ {2,}/));
  expect(rows).toEqual(
    expect.arrayContaining([
      ['Setting', 'From', 'Value'],
      ['NODE_ENV', 'NODE_ENV', 'production'],
      ['IDENTITY_NAME', 'IDENTITY_NAME', 'Zoë’s'],
      ['IDENTITY_SSO_TTL', 'default', '300'],
      ['SSO_CRM_SECRET', 'SSO_CRM_SECRET_FILE', 'set'],
      ['SSO_WEBSITE_SECRET', 'SSO_WEBSITE_SECRET', 'set'],
      ['SSO_CRM_CALLBACK_URL', 'SSO_CRM_CALLBACK_URL', 'https://crm.example.test/cb'],
      ['METRICS_PORT', 'default', 'not set'],
      ['The settings are right, for production.'],
    ]),
  );
  for (const part of ['fK2w', 'hR9x', path, ...(production.SSO_WEBSITE_SECRET ?? '').split(',')])
    expect(out).not.toContain(part);
  // Each setting is one line that does nothing to a terminal. If a setting is wrong, the list is printed first, and then the
  // faults.
  const wrong = await settings(env, '--show');
  expect(wrong.code).toBe(1);
  expect(wrong.err).toContain('  IDENTITY_NAME must be 1 to 60 characters that can be shown');
  expect(wrong.out).toMatch(/^IDENTITY_NAME +IDENTITY_NAME +at fault$/m);
  const odd = await settings({ SSO_CRM_LOGIN_URL: 'http://localhost/\u001b[2J\nx' }, '--show');
  expect(odd.out).not.toContain('\u001b');
  expect(odd.out).toMatch(/^SSO_CRM_LOGIN_URL .*x"$/m);
});

it('ends with a sentence once nobody reads what it prints', async () => {
  const child = start({}, '--show');
  child.stdout.destroy();
  const err = 'Nothing reads the output any more.\n';
  expect(await readOutcome(child)).toEqual({ code: 1, out: '', err });
});

it('asks no database and keeps nothing', async () => {
  const port = await findFreePort();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  }).listen(port, '127.0.0.1');
  const address = `127.0.0.1:${port}`;
  const env = {
    ...production,
    DATABASE_URL: `postgres://identity@${address}/identity`,
    SMTP_URL: `smtp://${address}`,
  };
  expect((await settings(env, '--show')).code).toBe(0);
  expect((await settings({ EMBEDDED_DATABASE_FOLDER: join(folder, 'data') }, '--show')).code).toBe(0);
  expect(connections).toBe(0);
  expect(await readdir(folder)).not.toContain('data');
  server.close();
});
