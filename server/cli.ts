// The command line (`npm run cli -- <command>`, or `identity <command>`), for what operators do and no page offers. It uses the settings and
// the database of the service.
import { Command, CommanderError } from 'commander';
import { EmbeddedPostgresError } from '../db/embedded/files.ts';
import { explainRefusal } from '../db/explain-refusal.ts';
import { isDatabaseAway } from '../db/postgres/away.ts';
import { AppError } from './basics/errors.ts';
import { addAccountCommands } from './cli/accounts.ts';
import { addAfterRestoreCommands } from './cli/after-restore.ts';
import { addAuditCommand } from './cli/audit.ts';
import { addBackupCommand } from './cli/backup.ts';
import { addBillingCommands } from './cli/billing.ts';
import { addBillingSettingsCommands } from './cli/billing-settings.ts';
import { addBookCommands } from './cli/books.ts';
import { addClientCommands } from './cli/clients.ts';
import { CommandError, describeRefusal, show, UsageError } from './cli/command.ts';
import { addDatabaseCommands } from './cli/database.ts';
import { addDeletionCommand } from './cli/deletion.ts';
import { addDoctorCommand } from './cli/doctor.ts';
import { addHelpCommands } from './cli/help-people.ts';
import { addHistoryCommand } from './cli/history.ts';
import { addMarketplaceCommands } from './cli/marketplace.ts';
import { addMoneyCommands } from './cli/money.ts';
import { addPaymentImportCommand } from './cli/payment-import.ts';
import { addPeopleCommands } from './cli/people.ts';
import { addReconcileCommand } from './cli/reconcile.ts';
import { addSettingsCommand } from './cli/settings.ts';
import { addThawCommand } from './cli/thaw.ts';
import { addUserCommands } from './cli/users.ts';
import { DumpError } from './runtime/dump.ts';
import { FileError } from './runtime/files.ts';
import { calledAs, endWith, exitWith } from './runtime/process.ts';
import { ConfigError } from './settings/reader.ts';

const program = new Command(calledAs)
  .description('Command line of the identity service')
  .showHelpAfterError()
  .exitOverride();

addSettingsCommand(program);
addDatabaseCommands(program);
addBackupCommand(program);
addPeopleCommands(program);
addUserCommands(program);
addHelpCommands(program);
addThawCommand(program);
addAccountCommands(program);
addDeletionCommand(program);
addHistoryCommand(program);
addAuditCommand(program);
addMarketplaceCommands(program);
addBillingCommands(program);
addMoneyCommands(program);
addPaymentImportCommand(program);
addBillingSettingsCommands(program);
addBookCommands(program);
addAfterRestoreCommands(program);
addReconcileCommand(program);
addClientCommands(program);
addDoctorCommand(program);

const expectedErrors = [ConfigError, DumpError, EmbeddedPostgresError, CommandError];

await program.parseAsync().catch((error) => {
  // It has been said already, with how the command is to be given. Asking for help is no fault.
  if (error instanceof CommanderError) return endWith(error.exitCode === 0 ? 0 : 2);
  if (error instanceof UsageError) endWith(2);
  if (error instanceof FileError) exitWith(show(error.message));
  if (expectedErrors.some((kind) => error instanceof kind)) exitWith(error.message);
  if (error instanceof AppError) exitWith(describeRefusal(error));
  const refusal = explainRefusal(error);
  if (refusal) exitWith(refusal);
  if (isDatabaseAway(error))
    exitWith(`Cannot reach the database (${error.code ?? error.message}). Check that it is running.`);
  exitWith(`Something went wrong. ${error instanceof Error ? error.stack : String(error)}`);
});
