// What is decided here about an account, whatever the marketplace says (contract 2.69 and 11.28).
import { Argument, type Command } from 'commander';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { type Decision, decideCapability, decideVerification } from '../../db/tables/accounts.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import { lockExternalLinks } from '../../db/tables/external-links.ts';
import { findHolder, lockUser } from '../../db/tables/users.ts';
import { capabilities } from '../identity/ground/capabilities.ts';
import { print } from '../runtime/process.ts';
import { byCommand, CommandError, readEmail, readWhy, withDatabase } from './command.ts';

const verification = 'verification';

type Asked = { command: string; email: string; what: string; decision: Decision; why: string };

export function addAccountCommands(program: Command): void {
  const add = (name: string, description: string, decision: Decision, choices?: string[]) => {
    const command = program
      .command(`account:${name}`)
      .description(description)
      .argument('<email>', 'of somebody who belongs to the account', readEmail);
    if (choices) command.addArgument(new Argument('<what>').choices(choices));
    command
      .requiredOption('--why <text>', 'kept in the audit trail', readWhy)
      .action((email: string, ...given: unknown[]) => {
        const [what, { why }] = (choices ? given : [verification, ...given]) as [string, { why: string }];
        return decide({ command: `account:${name}`, email, what, decision, why });
      });
  };
  add('grant', 'give an account a capability, whatever the marketplace says', true, capabilities);
  add('revoke', 'take a capability from an account, whatever the marketplace says', false, capabilities);
  add('verify', 'say that an account is verified, whatever the marketplace says', true);
  add('unverify', 'say that an account is not verified, whatever the marketplace says', false);
  add('undecide', 'let the marketplace decide about a capability, or the verification, again', null, [
    ...capabilities,
    verification,
  ]);
}

const reasons = new Map<Decision, string>([
  [true, 'yes'],
  [false, 'no'],
  [null, 'undecided'],
]);

async function decide({ command, email, what, decision, why }: Asked): Promise<void> {
  const said = await withDatabase((db) =>
    inTransaction(db, byCommand(command), async (trx) => {
      const found = await findHolder(trx, email);
      if (found) await lockExternalLinks(trx, found.id);
      const user = await lockUser(trx, { email });
      if (!user) throw new CommandError('No user has this email address.');
      const { id } = user.account;
      const isVerification = what === verification;
      const account = isVerification
        ? await decideVerification(trx, id, decision)
        : await decideCapability(trx, id, what, decision);
      if (account) {
        deferAuditEvent(trx, {
          type: isVerification ? 'verification.decided' : 'capability.decided',
          reason: reasons.get(decision),
          userId: user.id,
          details: { by: 'cli', what, why },
        });
      }
      const { capabilities: names, verifiedAt } = account ?? user.account;
      return [
        account ? 'Done.' : 'Nothing to change.',
        `The account of ${email} has ${[...names].sort().join(', ') || 'no capability'}, and is ${verifiedAt ? '' : 'not '}verified.`,
      ].join(' ');
    }),
  );
  print(said);
}
