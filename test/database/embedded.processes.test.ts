// If root starts Postgres, Postgres runs as another user. That user cannot enter every folder that root can.
import { chmod, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { findEmbeddedPostgres, startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { connect } from '../support/database/postgres.ts';
import { sharedFolder } from '../support/run/shared.ts';

const isRoot = process.getuid?.() === 0;

const home = await sharedFolder();

async function startAndStop(folder: string): Promise<string> {
  const postgres = await startEmbeddedPostgres(folder);
  try {
    const { db, close } = connect(postgres.url);
    await sql`select 1`.execute(db);
    await close();
  } finally {
    await postgres.stop();
  }
  return postgres.folder;
}

it('keeps its data in the folder that it is given', async () => {
  const folder = join(home, 'open', 'data');
  expect(await startAndStop(folder)).toBe(folder);
  expect(await readdir(folder)).toContain('postgres');
});

it('is found while it runs, without being started or made', async () => {
  const folder = join(home, 'found', 'data');
  expect(await findEmbeddedPostgres(folder)).toBeUndefined();
  expect(await readdir(home)).not.toContain('found');
  const postgres = await startEmbeddedPostgres(folder);
  try {
    expect(await findEmbeddedPostgres(folder)).toBe(postgres.url);
  } finally {
    await postgres.stop();
  }
  expect(await findEmbeddedPostgres(folder)).toBeUndefined();
});

it.runIf(isRoot)(
  'as root, keeps its data below /var/lib where Postgres cannot reach that folder',
  async () => {
    const closed = join(home, 'closed');
    await mkdir(closed);
    await chmod(closed, 0o700);
    const folder = await startAndStop(join(closed, 'data'));
    try {
      expect(folder).toMatch(/^\/var\/lib\/identity-service\/[0-9a-f]{12}$/);
      expect(await readdir(folder)).toContain('postgres');
      expect((await stat(join(folder, 'postgres'))).uid).not.toBe(0);
      expect(await startAndStop(join(closed, 'data'))).toBe(folder);
      // The start leaves the closed folder empty. A file in it would look like data of Postgres.
      expect(await readdir(closed)).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
