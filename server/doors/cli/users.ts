import { type Command, Option } from 'commander';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { findAddressOwner } from '../../../db/tables/address-owners.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import type { InternalRole } from '../../../db/tables/users.ts';
import { clientsOfSettings } from '../../clients/book.ts';
import { createHandedToken } from '../../identity/ground/address-proof.ts';
import { createCustomer } from '../../identity/ground/customers.ts';
import { canGetMail } from '../../identity/ground/email-address.ts';
import { tellOtherAdministrators } from '../../identity/ground/tell-administrators.ts';
import { withNames } from '../../identity/password/password-check.ts';
import { findPasswordFault } from '../../identity/password/password-fault.ts';
import { hashPassword } from '../../identity/password/passwords.ts';
import { environment, isTerminal, print, readInput } from '../../runtime/process.ts';
import { type Config, readConfig } from '../../settings/config.ts';
import { addReason, booksTrailOf, originOf, type Reason, toJson } from './act.ts';
import { CommandError, now, readEmail, readName, withDatabase } from './command.ts';

type Options = Reason & { email: string; name: string; account?: string; role: InternalRole };

export function addUserCommands(program: Command): void {
  const command = program
    .command('user:create')
    .description(
      'create a user with their own account; reads the password from standard input, and on a terminal prints a link that sets one',
    )
    .requiredOption('--email <address>', 'counts as verified', readEmail)
    .requiredOption('--name <name>', "the person's name", readName)
    .option('--account <name>', "the account's name (default: the person's)", readName)
    .addOption(new Option('--role <role>').choices(['user', 'manager', 'admin']).default('user'));
  addReason(command, { isRequired: false }).action(async (options: Options) => {
    const config = readConfig(environment);
    if (!canGetMail(options.email, config))
      throw new CommandError('Enter an email address that mail can be sent to.');
    // No password is read from a terminal, because the screen would show it.
    const passwordHash = isTerminal() ? undefined : await readPasswordHash(config, options);
    const { id, link } = await create(config, options, passwordHash);
    if (options.json) return print(toJson('create', true, id, { ...(link && { link }) }));
    print(id);
    if (link) print(`Whoever opens this link within an hour sets the password: ${link}`);
  });
}

async function readPasswordHash(config: Config, { email, name }: Options): Promise<string> {
  const password = (await readInput()).replace(/\r?\n$/, '');
  const fault = await findPasswordFault(
    withNames(config, clientsOfSettings(config), { password, email, name }),
  );
  if (fault) throw new CommandError(fault);
  return hashPassword(password);
}

/** If no password is given, the result has a link for setting one. */
const create = (config: Config, { email, name, account, role, ...reason }: Options, passwordHash?: string) =>
  withDatabase((db) =>
    inTransaction(db, originOf('user:create', reason), async (trx) => {
      if (await findAddressOwner(trx, email, now()))
        throw new CommandError(
          'A user with this email address already exists, or has changed it within the last 7 days.',
        );
      const { id } = await createCustomer(trx, {
        email,
        holdsEmail: true,
        emailVerifiedAt: now(),
        name,
        role,
        passwordHash,
        account: { name: account ?? name },
      });
      deferAuditEvent(trx, { type: 'user.created', userId: id, details: { role, by: 'cli' } });
      deferAuditEvent(trx, { ...booksTrailOf(reason), type: 'staff.create', userId: id });
      if (role !== 'user')
        await tellOtherAdministrators(
          trx,
          { now },
          { kind: 'role_granted', actorId: undefined, about: id, details: { role } },
        );
      if (passwordHash !== undefined) return { id };
      const token = await createHandedToken(trx, { userId: id, email, now: now() });
      return { id, link: `${config.baseUrl}/set-password?token=${token}` };
    }),
  );
