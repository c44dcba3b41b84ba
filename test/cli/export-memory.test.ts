// The memory of an export does not grow with the books (contract 7.183).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, inject, it } from 'vitest';
import { fillBooks } from '../bench/staff-books.ts';
import { run } from '../support/app/process.ts';
import { cloneDatabase } from '../support/database/postgres.ts';

it('billing:export writes 40,000 documents in a heap that could not hold them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'books-'));
  const { url, drop } = await cloneDatabase(inject('templateUrl'));
  const client = new pg.Client(url);
  try {
    await client.connect();
    await client.query('set session_replication_role = replica');
    await fillBooks(client, 200_000);
    // Makes the statistics that any database has after it has been running for a while.
    await client.query('analyze');
    const today = new Date().toISOString().slice(0, 10);
    const args = [
      '--max-old-space-size=28',
      'build/service/cli.js',
      'billing:export',
      '--from',
      '2020-01-01',
    ];
    const env = { DATABASE_URL: url, NODE_ENV: 'test' };
    const cli = run('node', [...args, '--to', today, '--out', join(folder, 'all')], env);
    expect(await cli.exited, cli.output()).toBe(0);
    expect(cli.output()).toMatch(/documents\.csv: [34]\d{4} records/);
  } finally {
    await client.end();
    await drop();
    await rm(folder, { recursive: true });
  }
});
