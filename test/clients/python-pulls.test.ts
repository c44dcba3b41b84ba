// Several processes of a client on the kit for Python: with SQLite, and with Postgres. Needs Debian's python3-psycopg.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { describePulls } from '../support/clients/pulls.ts';
import { kit, python, pythonEnv } from '../support/clients/python-site.ts';
import { emptyDatabase } from '../support/database/postgres.ts';
import { requirePrograms } from '../support/machines/programs.ts';

const run = promisify(execFile);
const env = { PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: kit };
const command = [python, 'test/clients/puller.py'];

describePulls('the kit for Python, and SQLite,', {
  command,
  env,
  openStore: async (folder) => ({ store: join(folder, 'store.sqlite') }),
});

describePulls('the kit for Python, and Postgres,', {
  command,
  env,
  async openStore() {
    requirePrograms('/usr/lib/python3/dist-packages/psycopg');
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    const code = `import psycopg, identity_client
identity_client.SqlStore(lambda: psycopg.connect(${JSON.stringify(url)}), "%s").create_tables()`;
    await run(python, ['-c', code], { env: pythonEnv });
    return { store: url, close: drop };
  },
});
