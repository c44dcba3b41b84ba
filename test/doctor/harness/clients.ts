// For each language one process, which serves all of its broken clients, `right`, and the kit, each under a path of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Target } from '../../../clients/doctor/target.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export type Language = 'typescript' | 'php' | 'python';

const commands: Record<Language, string[]> = {
  typescript: [process.execPath, '--import', 'tsx', 'test/doctor/broken/typescript.ts'],
  php: ['php', 'test/doctor/broken/php/serve.php'],
  python: ['python3', 'test/doctor/broken/python/serve.py'],
};

export const settings = {
  issuer: 'https://id.example.test',
  client: 'shop',
  secrets: ['qW8rTz2mLk5vXc9nBj3hGf7dSa1pYu6e'],
  ttlSeconds: 300,
};

export const targetOf = (base: string, name: string): Target => ({
  ...settings,
  callbackUrl: `${base}/${name}/callback`,
  loginUrl: `${base}/${name}/login`,
  eventsUrl: `${base}/${name}/events`,
});

type Clients = { base: string; close: () => Promise<void> };

export async function startClients(
  language: Language,
  changes: Partial<typeof settings> = {},
): Promise<Clients> {
  const { issuer, client, secrets, ttlSeconds } = { ...settings, ...changes };
  const [command = '', ...args] = commands[language];
  const child = spawn(command, args, {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'test',
      ISSUER: issuer,
      CLIENT: client,
      SECRET: secrets.join(','),
      TTL: String(ttlSeconds),
    },
  });
  const exited = new Promise((done) => child.once('close', done));
  async function close() {
    child.kill('SIGTERM');
    await exited;
  }
  try {
    return { base: `http://127.0.0.1:${await readPort(child)}`, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function readPort(child: ChildProcess): Promise<number> {
  return new Promise((done, failed) => {
    let output = '';
    let errors = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      if (output.includes('\n')) done(Number(output.split('\n')[0]));
    });
    child.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    const fail = () => failed(new Error(`The clients did not start:\n${errors}`));
    child.once('close', fail);
    child.once('error', failed);
    setTimeout(fail, 60_000).unref();
  });
}
