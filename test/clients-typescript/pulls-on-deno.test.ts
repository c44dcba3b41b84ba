// Several processes of a client on the kit for TypeScript, on Deno and with its store in SQLite.
import { join } from 'node:path';
import { commandOf } from '../support/process.ts';
import { describePulls } from '../support/pulls.ts';

describePulls('the kit for TypeScript, on Deno and SQLite,', {
  command: [...commandOf.deno, 'test/support/kit-puller.ts'],
  openStore: async (folder) => ({ store: join(folder, 'store.sqlite') }),
});
