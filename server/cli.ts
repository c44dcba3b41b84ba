// The command line (`npm run cli -- <command>`): what operators do that has no page. It works on the same
// settings and database as the service.
import { Command } from 'commander';
import { isDatabaseAway } from '../db/client.ts';
import { EmbeddedPostgresError } from '../db/embedded-files.ts';
import { addBillingCommands } from './cli/billing.ts';
import { CommandError, withDatabase } from './cli/command.ts';
import { addMarketplaceCommands } from './cli/marketplace.ts';
import { addUserCommands } from './cli/users.ts';
import { FileError } from './runtime/files.ts';
import { exitWith, print } from './runtime/process.ts';
import { ConfigError } from './settings-reader.ts';

const program = new Command('npm run cli --')
  .description('The command line of the identity service')
  .showHelpAfterError();

program
  .command('migrate')
  .description('bring the database to the present schema (the service does it at its start, too)')
  .action(() => withDatabase(async () => print('The database is at the present schema.')));

addUserCommands(program);
addMarketplaceCommands(program);
addBillingCommands(program);

const toldInASentence = [FileError, ConfigError, EmbeddedPostgresError, CommandError];

await program.parseAsync().catch((error) => {
  if (toldInASentence.some((kind) => error instanceof kind)) exitWith(error.message);
  if (isDatabaseAway(error)) exitWith(`The database cannot be reached (${error.code ?? error.message}).`);
  exitWith(`This did not work. ${error instanceof Error ? error.stack : String(error)}`);
});
