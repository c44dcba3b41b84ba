// The command line (`npm run cli -- <command>`), for what operators do and no page offers. It uses the settings and
// the database of the service.
import { Command } from 'commander';
import { EmbeddedPostgresError } from '../db/embedded/files.ts';
import { isDatabaseAway } from '../db/postgres/client.ts';
import { addBillingCommands } from './cli/billing.ts';
import { CommandError, withDatabase } from './cli/command.ts';
import { addMarketplaceCommands } from './cli/marketplace.ts';
import { addUserCommands } from './cli/users.ts';
import { FileError } from './runtime/files.ts';
import { exitWith, print } from './runtime/process.ts';
import { ConfigError } from './settings/reader.ts';

const program = new Command('npm run cli --')
  .description('Command line of the identity service')
  .showHelpAfterError();

program
  .command('migrate')
  .description('bring the database to the current schema (the service also does this when it starts)')
  .action(() => withDatabase(async () => print('The database has the current schema.')));

addUserCommands(program);
addMarketplaceCommands(program);
addBillingCommands(program);

const expectedErrors = [FileError, ConfigError, EmbeddedPostgresError, CommandError];

await program.parseAsync().catch((error) => {
  if (expectedErrors.some((kind) => error instanceof kind)) exitWith(error.message);
  if (isDatabaseAway(error))
    exitWith(`Cannot reach the database (${error.code ?? error.message}). Check that it is running.`);
  exitWith(`Something went wrong. ${error instanceof Error ? error.stack : String(error)}`);
});
