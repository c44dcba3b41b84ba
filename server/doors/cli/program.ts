import { Command } from 'commander';
import { calledAs } from '../../runtime/process.ts';
import { addActCommands } from './act.ts';
import { addAfterRestoreCommands } from './after-restore.ts';
import { addApplyCommand } from './apply-clients.ts';
import { addAuditCommand } from './audit.ts';
import { addBackupCommand } from './backup.ts';
import { addBillingCommands } from './billing.ts';
import { addBillingSettingsCommands } from './billing-settings.ts';
import { addClientCommands } from './clients.ts';
import { addDatabaseCommands } from './database.ts';
import { addDeletionCommand } from './deletion.ts';
import { addDoctorCommand } from './doctor.ts';
import { addHistoryCommand } from './history.ts';
import { addInvoiceCommands } from './invoices.ts';
import { addMarketplaceCommands } from './marketplace.ts';
import { addMoveCommands } from './move-clients.ts';
import { addOpenIdCommands } from './openid.ts';
import { addPaymentImportCommand } from './payment-import.ts';
import { addPeopleCommands } from './people.ts';
import { addReconcileCommand } from './reconcile.ts';
import { addSettingsCommand } from './settings.ts';
import { addThawCommand } from './thaw.ts';
import { addUserCommands } from './users.ts';

export function buildProgram(): Command {
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
  addApplyCommand(program);
  addMoveCommands(program);
  addOpenIdCommands(program);
  addDoctorCommand(program);
  return program;
}
