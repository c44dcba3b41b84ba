// Several processes of a client on the kit for TypeScript, on Deno and with its store in SQLite.
import { join } from 'node:path';
import { commandOf } from '../support/app/process.ts';
import { describePulls } from '../support/clients/pulls.ts';

describePulls('the kit for TypeScript, on Deno and SQLite,', {
  command: [...commandOf.deno, 'test/support/clients/kit-puller.ts'],
  openStore: async (folder) => ({ store: join(folder, 'store.sqlite') }),
});
