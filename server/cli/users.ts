// Creating, suspending and resuming users.
import { type Command, Option } from 'commander';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findAddressOwner } from '../../db/tables/address-owners.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import { type InternalRole, lockUser, setUserSuspended } from '../../db/tables/users.ts';
import { allCodeFactors, nameCodeFactors } from '../identity/factor/code-factors.ts';
import { removeFactors } from '../identity/factor/remove-factors.ts';
import { createCustomer } from '../identity/ground/customers.ts';
import { canGetMail } from '../identity/ground/email-address.ts';
import { findPasswordFault, hashPassword } from '../identity/password/passwords.ts';
import { environment, print, readInput } from '../runtime/process.ts';
import { readConfig } from '../settings/config.ts';
import { byCommand, CommandError, now, readEmail, readName, withDatabase } from './command.ts';

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
    .action((email: string) => suspend(email, new Date()));

  program
    .command('user:remove-factors')
    .description(
      `remove the ${nameCodeFactors(allCodeFactors, 'and')}, recovery codes and passkeys of a person who has lost them`,
    )
    .argument('<email>', '', readEmail)
    .action(async (email: string) => {
      await withDatabase((db) =>
        inTransaction(db, byCommand('user:remove-factors'), async (trx) => {
          const user = await lockUser(trx, { email });
          if (!user) throw new CommandError('No user has this email address.');
          if (!(await removeFactors(trx, { now }, user)))
            throw new CommandError('This user has no second factor.');
        }),
      );
      print(`${email} has no second factor any more, and is logged out everywhere.`);
    });

  program
    .command('user:resume')
    .description('let a suspended user log in again')
    .argument('<email>', '', readEmail)
    .action((email: string) => suspend(email, null));
}

async function suspend(email: string, at: Date | null): Promise<void> {
  await withDatabase((db) =>
    inTransaction(db, byCommand(at ? 'user:suspend' : 'user:resume'), async (trx) => {
      const user = await lockUser(trx, { email });
      if (!at && user && !user.suspendedAt) throw new CommandError('This user is not suspended.');
      if (user?.frozenAt) throw new CommandError('This account is frozen. Use user:thaw instead.');
      const userId = await setUserSuspended(trx, email, at);
      if (!userId) throw new CommandError('No user has this email address.');
      deferAuditEvent(trx, {
        type: at ? 'user.suspended' : 'user.resumed',
        userId,
        details: { by: 'cli' },
      });
    }),
  );
  print(at ? `${email} is suspended.` : `${email} can log in again.`);
}
