// The Dockerfile, command by command, and what it makes: run as another user, in a folder that nobody can write to, with
// the settings of compose.yaml. It needs the network, for npm ci.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { findIdentity } from '../../db/embedded/files.ts';
import { findFreePort } from '../support/app/process.ts';
import { makeFolder, startTestPostgres, type TestPostgres } from '../support/database/postgres.ts';
import { readCompose } from '../support/project/compose.ts';
import { buildImage, type Image } from '../support/project/dockerfile.ts';

const run = promisify(execFile);

let folder: string;
let postgres: TestPostgres;
let image: Image;
let env: Record<string, string>;
beforeAll(async () => {
  folder = await makeFolder();
  postgres = await startTestPostgres();
  image = await buildImage(folder);
  await run('chmod', ['-R', 'a-w,a+rX', image.folder]);
  const variables = {
    DATABASE_PASSWORD: 'of-the-database',
    SSO_MARKETPLACE_SECRET: 'aB3'.repeat(12) + Math.PI,
    IDENTITY_ENCRYPTION_KEY: 'fXtK1cQ0sN2mRr9hYw3uEo7bVg5LzPa8DjUiH4xTkSg=',
  };
  env = {
    PATH: process.env.PATH ?? '',
    ...image.env,
    ...readCompose(variables).services.service?.environment,
    // What differs from one container on a network of its own.
    DATABASE_URL: postgres.templateUrl,
    PORT: String(await findFreePort()),
    HOST: '127.0.0.1',
  };
}, 400_000);
afterAll(async () => {
  await postgres?.stop();
  await run('chmod', ['-R', 'u+w', folder]);
  await rm(folder, { recursive: true, force: true });
});

const identity = await findIdentity();
const inImage = ([command = '', ...args]: string[]): ChildProcess =>
  spawn(command, args, { ...identity, cwd: image.folder, env: env as unknown as NodeJS.ProcessEnv });
const exitOf = (child: ChildProcess) => new Promise<number | null>((done) => child.once('close', done));

it('the image is small, and runs as somebody who may not write', async () => {
  expect(image.base).toMatch(/^node:2[024]-slim$/);
  expect(image.user).toBe('node');
  expect(readdirSync(join(image.folder, 'node_modules'))).toEqual(['@node-rs']);
  const { stdout } = await run('du', ['-sm', image.folder]);
  expect(Number.parseInt(stdout, 10)).toBeLessThan(40);
  await expect(run('touch', [join(image.folder, 'file')], identity)).rejects.toThrow();
});

it('the service starts, is healthy, takes a command, and stops when it is told to', async () => {
  const service = inImage(image.command);
  let output = '';
  service.stdout?.on('data', (data) => {
    output += data;
  });
  service.stderr?.on('data', (data) => {
    output += data;
  });
  const exited = exitOf(service);
  try {
    await vi.waitFor(async () => expect(await exitOf(inImage(image.healthCheck)), output).toBe(0), {
      timeout: 30_000,
      interval: 500,
    });
    expect((await fetch(`http://127.0.0.1:${env.PORT}/readyz`)).status, output).toBe(200);
    const args = ['--email', 'admin@example.com', '--name', 'Ada Admin', '--role', 'admin'];
    const command = inImage(['node', 'build/service/cli.js', 'user:create', ...args]);
    command.stdin?.end('a password for the container\n');
    expect(await exitOf(command)).toBe(0);
  } finally {
    service.kill('SIGTERM');
  }
  expect(await exited, output).toBe(0);
  expect(await exitOf(inImage(image.healthCheck))).toBe(1);
});
