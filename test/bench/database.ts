// The databases for the measurements, each with people in it, all on one Postgres.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';
import { fill, settings } from './population.ts';
import { ownRoot } from './servers.ts';

export type BenchDatabase = {
  /** The environment that a service needs to run on this database. */
  env: Record<string, string>;
  people: number;
  client: pg.Client;
  drop: () => Promise<void>;
};

/** Makes a database that the version in `root` migrates. */
export async function makeDatabase(
  postgresUrl: string,
  name: string,
  options: { people: number; passwordHash: string; root?: string },
): Promise<BenchDatabase> {
  const { people, passwordHash, root = ownRoot } = options;
  const url = new URL(postgresUrl);
  const server = new pg.Client(url.href);
  await server.connect();
  await server.query(`create database ${name}`);
  url.pathname = `/${name}`;
  const env = { ...settings, DATABASE_URL: url.href } as const;
  await promisify(execFile)(process.execPath, ['build/service/cli.js', 'migrate'], {
    cwd: root,
    env: Object.assign({}, process.env, env),
  });
  const client = new pg.Client(url.href);
  await client.connect();
  await fill(client, { people, passwordHash, forBench: true });
  return {
    env,
    people,
    client,
    async drop() {
      await client.end();
      await server.query(`drop database ${name} with (force)`);
      await server.end();
    },
  };
}
