// What is decided here about an account, whatever the marketplace says (contract 2.69 and 11.28).
import { Argument, type Command } from 'commander';
import { findUserById } from '../../db/tables/users.ts';
import { capabilities } from '../identity/ground/capabilities.ts';
import { print } from '../runtime/process.ts';
import { verification } from '../staff/acts.ts';
import { actByCommand } from './act.ts';
import { readEmail, readWhy, withDatabase } from './command.ts';

type Intent = 'grant' | 'revoke' | 'verify' | 'unverify' | 'undecide';

export function addAccountCommands(program: Command): void {
  const add = (intent: Intent, description: string, choices?: string[]) => {
    const command = program
      .command(`account:${intent}`)
      .description(description)
      .argument('<email>', 'of somebody who belongs to the account', readEmail);
    if (choices) command.addArgument(new Argument('<what>').choices(choices));
    command
      .requiredOption('--why <text>', 'kept in the audit trail', readWhy)
      .action((email: string, ...given: unknown[]) => {
        const [capability, { why }] = (choices ? given : ['', ...given]) as [string, { why: string }];
        return decide({ intent, email, capability, why });
      });
  };
  add('grant', 'give an account a capability, whatever the marketplace says', capabilities);
  add('revoke', 'take a capability from an account, whatever the marketplace says', capabilities);
  add('verify', 'say that an account is verified, whatever the marketplace says');
  add('unverify', 'say that an account is not verified, whatever the marketplace says');
  add('undecide', 'let the marketplace decide about a capability, or the verification, again', [
    ...capabilities,
    verification,
  ]);
}

async function decide({
  intent,
  email,
  capability,
  why,
}: {
  intent: Intent;
  email: string;
  capability: string;
  why: string;
}): Promise<void> {
  const said = await withDatabase(async (db) => {
    const asked = {
      command: `account:${intent}`,
      key: { email },
      intent,
      given: { capability },
      reason: { why },
    };
    const { done, user } = await actByCommand(db, asked);
    const { capabilities: names, verifiedAt } = (await findUserById(db, user.id))?.account ?? user.account;
    return [
      done === 'done' ? 'Done.' : 'Nothing to change.',
      `The account of ${email} has ${[...names].sort().join(', ') || 'no capability'}, and is ${verifiedAt ? '' : 'not '}verified.`,
    ].join(' ');
  });
  print(said);
}
