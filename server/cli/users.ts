// Creating, suspending and resuming users.
import { type Command, Option } from 'commander';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findAddressOwner } from '../../db/tables/address-owners.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import type { InternalRole } from '../../db/tables/users.ts';
import { allCodeFactors, nameCodeFactors } from '../identity/factor/code-factors.ts';
import { createCustomer } from '../identity/ground/customers.ts';
import { canGetMail } from '../identity/ground/email-address.ts';
import { findPasswordFault, hashPassword } from '../identity/password/passwords.ts';
import { environment, print, readInput } from '../runtime/process.ts';
import { readConfig } from '../settings/config.ts';
import { actByCommand } from './act.ts';
import { byCommand, CommandError, readEmail, readName, withDatabase } from './command.ts';

export function addUserCommands(program: Command): void {
  program
    .command('user:create')
    .description('create a user with their own account; reads the password from standard input')
    .requiredOption('--email <address>', 'counts as verified', readEmail)
    .requiredOption('--name <name>', "the person's name", readName)
    .option('--account <name>', "the account's name (default: the person's)", readName)
    .addOption(new Option('--role <role>').choices(['user', 'manager', 'admin']).default('user'))
    .action(async (options: { email: string; name: string; account?: string; role: InternalRole }) => {
      const { email, name, role } = options;
      const config = readConfig(environment);
      if (!canGetMail(email, config))
        throw new CommandError('Enter an email address that mail can be sent to.');
      const password = (await readInput()).replace(/\r?\n$/, '');
      const fault = await findPasswordFault(password, { config, email, name });
      if (fault) throw new CommandError(fault);
      const passwordHash = await hashPassword(password);
      const account = { name: options.account ?? name };
      const customer = {
        email,
        holdsEmail: true,
        emailVerifiedAt: new Date(),
        name,
        role,
        passwordHash,
        account,
      };
      const userId = await withDatabase((db) =>
        inTransaction(db, byCommand('user:create'), async (trx) => {
          if (await findAddressOwner(trx, email, new Date()))
            throw new CommandError(
              'A user with this email address already exists, or has changed it within the last 7 days.',
            );
          const { id } = await createCustomer(trx, customer);
          deferAuditEvent(trx, { type: 'user.created', userId: id, details: { role, by: 'cli' } });
          return id;
        }),
      );
      print(userId);
    });

  program
    .command('user:suspend')
    .description('suspend a user and end their sessions at once')
    .argument('<email>', '', readEmail)
    .action(async (email: string) => {
      const asked = { command: 'user:suspend', key: { email }, intent: 'suspend' } as const;
      await withDatabase((db) => actByCommand(db, asked));
      print(`${email} is suspended.`);
    });

  program
    .command('user:remove-factors')
    .description(
      `remove the ${nameCodeFactors(allCodeFactors, 'and')}, recovery codes and passkeys of a person who has lost them`,
    )
    .argument('<email>', '', readEmail)
    .action(async (email: string) => {
      const asked = { command: 'user:remove-factors', key: { email }, intent: 'remove-factors' } as const;
      const { done } = await withDatabase((db) => actByCommand(db, asked));
      if (done === 'nothing') throw new CommandError('This user has no second factor.');
      print(
        `${email} has no second factor any more, and is logged out everywhere. An email to set a password is on its way.`,
      );
    });

  program
    .command('user:resume')
    .description('let a suspended user log in again')
    .argument('<email>', '', readEmail)
    .action(async (email: string) => {
      const asked = { command: 'user:resume', key: { email }, intent: 'resume' } as const;
      const { done } = await withDatabase((db) => actByCommand(db, asked));
      if (done === 'nothing') throw new CommandError('This user is not suspended.');
      print(`${email} can log in again.`);
    });
}
