import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { listSettings, readConfig } from '../../server/settings/config.ts';
import { readCompose, readEnvLines } from '../support/project/compose.ts';
import { isOurFile } from '../support/project/documents.ts';
import { composeSecretsSample } from '../support/project/samples.ts';

const run = promisify(execFile);
// What the documented command writes to .env.
const [secretsCommand = ''] = composeSecretsSample.split(' > .env');
const { stdout } = await run('sh', ['-c', secretsCommand]);
const { services, volumes } = readCompose(readEnvLines(stdout));

it('the service of compose.yaml starts with the secrets that the documented command makes', () => {
  expect(composeSecretsSample).toContain(' > .env\n');
  const environment = services.service?.environment ?? {};
  expect(Object.keys(environment).filter((name) => !listSettings().includes(name))).toEqual([]);
  const config = readConfig({ NODE_ENV: 'production', ...environment });
  expect(config.production).toBe(true);
  // What the proxy passes on counts, what a stranger sends does not.
  expect(config.trustsProxy('172.18.0.2')).toBe(true);
  expect(config.trustsProxy('192.0.2.1')).toBe(false);
  const { hostname, password } = new URL(config.databaseUrl ?? '');
  expect(services[hostname]?.environment).toMatchObject({ POSTGRES_PASSWORD: password });
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
    for (const volume of service.volumes ?? []) expect(Object.keys(volumes)).toContain(volume.split(':')[0]);
    expect(service.image !== undefined || (service.build === '.' && isOurFile('Dockerfile')), name).toBe(
      true,
    );
  }
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
