// Several processes of a client on the kit for TypeScript, with its store in Postgres.
import process from 'node:process';
import { CompiledQuery } from 'kysely';
import { inject } from 'vitest';
import { sqlTables } from '../../clients/typescript/src/index.ts';
import { describePulls } from '../support/clients/pulls.ts';
import { connect, emptyDatabase } from '../support/database/postgres.ts';

describePulls('the kit for TypeScript, on Postgres,', {
  command: [process.execPath, '--import', 'tsx', 'test/support/clients/kit-puller.ts'],
  async openStore() {
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    const client = connect(url);
    for (const table of sqlTables()) await client.db.executeQuery(CompiledQuery.raw(table));
    await client.close();
    return { store: url, close: drop };
  },
});
