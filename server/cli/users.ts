// Users, as operators make, suspend and resume them.
import { type Command, Option } from 'commander';
import { v7 as uuidv7 } from 'uuid';
import { insertAccount } from '../../db/accounts.ts';
import { recordAuditEvent } from '../../db/audit-events.ts';
import { inTransaction } from '../../db/transactions.ts';
import { type InternalRole, insertUser, isEmailTaken, setUserSuspended } from '../../db/users.ts';
import { hashPassword, newPasswordSchema } from '../identity/passwords.ts';
import { print, readInput } from '../runtime/process.ts';
import { CommandError, readEmail, readName, withDatabase } from './command.ts';

export function addUserCommands(program: Command): void {
  program
    .command('user:create')
    .description('create a user with an account of its own; the password is read from standard input')
    .requiredOption('--email <address>', 'taken as verified', readEmail)
    .requiredOption('--name <name>', 'of the person', readName)
    .option('--account <name>', 'name of the account (default: that of the person)', readName)
    .addOption(new Option('--role <role>').choices(['user', 'manager', 'admin']).default('user'))
    .action(async (options: { email: string; name: string; account?: string; role: InternalRole }) => {
      const password = await newPasswordSchema.safeParseAsync((await readInput()).replace(/\r?\n$/, ''));
      if (!password.success) throw new CommandError(password.error.issues[0]?.message ?? 'not a password');
      const passwordHash = await hashPassword(password.data);
      const [id, accountId] = [uuidv7(), uuidv7()];
      await withDatabase((db) =>
        inTransaction(db, async (trx) => {
          const { email, name, role } = options;
          if (await isEmailTaken(trx, email))
            throw new CommandError('There is a user with this e-mail address already.');
          await insertAccount(trx, {
            id: accountId,
            name: options.account ?? name,
            capabilities: [],
            verifiedAt: null,
          });
          await insertUser(trx, {
            id,
            accountId,
            email,
            name,
            role,
            passwordHash,
            emailVerifiedAt: new Date(),
          });
          await recordAuditEvent(trx, { type: 'user.created', userId: id, details: { role, by: 'cli' } });
        }),
      );
      print(id);
    });

  program
    .command('user:suspend')
    .description('suspend a user; its sessions end at once')
    .argument('<email>', '', readEmail)
    .action((email: string) => suspend(email, new Date()));

  program
    .command('user:resume')
    .description('lift a suspension')
    .argument('<email>', '', readEmail)
    .action((email: string) => suspend(email, null));
}

async function suspend(email: string, at: Date | null): Promise<void> {
  await withDatabase((db) =>
    inTransaction(db, async (trx) => {
      const userId = await setUserSuspended(trx, email, at);
      if (!userId) throw new CommandError('There is no user with this e-mail address.');
      await recordAuditEvent(trx, {
        type: at ? 'user.suspended' : 'user.resumed',
        userId,
        details: { by: 'cli' },
      });
    }),
  );
  print(at ? `${email} is suspended.` : `${email} can log in again.`);
}
