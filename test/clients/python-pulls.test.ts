// Several processes of a client on the kit for Python: with SQLite, and with Postgres if psycopg is installed.
import { execFile, spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { describePulls } from '../support/clients/pulls.ts';
import { emptyDatabase } from '../support/database/postgres.ts';

const run = promisify(execFile);
const kit = fileURLToPath(new URL('../../clients/python/', import.meta.url));
const env = {
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONPATH: [kit, process.env.PYTHONPATH ?? ''].join(delimiter),
};
const command = ['python3', 'test/clients/puller.py'];

describePulls('the kit for Python, and SQLite,', {
  command,
  env,
  openStore: async (folder) => ({ store: join(folder, 'store.sqlite') }),
});

if (spawnSync('python3', ['-c', 'import psycopg']).status === 0)
  describePulls('the kit for Python, and Postgres,', {
    command,
    env,
    async openStore() {
      const { url, drop } = await emptyDatabase(inject('templateUrl'));
      const code = `import psycopg, identity_client
identity_client.SqlStore(lambda: psycopg.connect(${JSON.stringify(url)}), "%s").create_tables()`;
      await run('python3', ['-c', code], { env: { ...process.env, ...env } });
      return { store: url, close: drop };
    },
  });
