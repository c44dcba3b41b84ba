// The command line (`npm run cli -- <command>`, or `identity <command>`), for what operators do and no page offers. It uses the settings and
// the database of the service.
import { Command, CommanderError } from 'commander';
import { EmbeddedPostgresError } from '../db/embedded/files.ts';
import { explainRefusal } from '../db/explain-refusal.ts';
import { isDatabaseAway } from '../db/postgres/away.ts';
import { AppError } from './basics/errors.ts';
import { addActCommands } from './doors/cli/act.ts';
import { addAfterRestoreCommands } from './doors/cli/after-restore.ts';
import { addAuditCommand } from './doors/cli/audit.ts';
import { addBackupCommand } from './doors/cli/backup.ts';
import { addBillingCommands } from './doors/cli/billing.ts';
import { addBillingSettingsCommands } from './doors/cli/billing-settings.ts';
import { addClientCommands } from './doors/cli/clients.ts';
import { CommandError, describeRefusal, show, UsageError } from './doors/cli/command.ts';
import { addDatabaseCommands } from './doors/cli/database.ts';
import { addDeletionCommand } from './doors/cli/deletion.ts';
import { addDoctorCommand } from './doors/cli/doctor.ts';
import { addHistoryCommand } from './doors/cli/history.ts';
import { addInvoiceCommands } from './doors/cli/invoices.ts';
import { addMarketplaceCommands } from './doors/cli/marketplace.ts';
import { addPaymentImportCommand } from './doors/cli/payment-import.ts';
import { addPeopleCommands } from './doors/cli/people.ts';
import { addReconcileCommand } from './doors/cli/reconcile.ts';
import { addSettingsCommand } from './doors/cli/settings.ts';
import { addThawCommand } from './doors/cli/thaw.ts';
import { addUserCommands } from './doors/cli/users.ts';
import { DumpError } from './runtime/dump.ts';
import { FileError } from './runtime/files.ts';
import { calledAs, endWith, endWithReader, exitWith } from './runtime/process.ts';
import { ConfigError } from './settings/reader.ts';

endWithReader();

const program = new Command(calledAs)
  .description('Command line of the identity service')
  .showHelpAfterError()
  .exitOverride();

addSettingsCommand(program);
addDatabaseCommands(program);
addBackupCommand(program);
addPeopleCommands(program);
addUserCommands(program);
addActCommands(program);
addThawCommand(program);
addDeletionCommand(program);
addHistoryCommand(program);
addAuditCommand(program);
addMarketplaceCommands(program);
addBillingCommands(program);
addPaymentImportCommand(program);
addBillingSettingsCommands(program);
addInvoiceCommands(program);
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
