// What is decided here about an account, whatever the marketplace says (contract 2.69 and 11.28).
import { Argument, type Command } from 'commander';
import type { User } from '../../../db/tables/users.ts';
import { capabilities } from '../../identity/ground/capabilities.ts';
import { verification } from '../../staff/people-acts.ts';
import { addAct } from './act.ts';
import { show } from './command.ts';

type Intent = 'grant' | 'revoke' | 'verify' | 'unverify' | 'undecide';

export function addAccountCommands(program: Command): void {
  const add = (intent: Intent, description: string, choices?: string[]) =>
    addAct(program, {
      name: `account:${intent}`,
      intent,
      description: `${description}; name somebody who belongs to the account`,
      ...(choices && { takes: { argument: new Argument('<what>').choices(choices), as: 'capability' } }),
      say: ({ user }) => `Done. ${describe(user)}`,
      nothing: ({ user }) => `Nothing to change. ${describe(user)}`,
      more: ({ account }) => ({
        capabilities: [...account.capabilities].sort(),
        verified: account.verifiedAt !== null,
      }),
    });
  add('grant', 'give an account a capability, whatever the marketplace says', [...capabilities]);
  add('revoke', 'take a capability from an account, whatever the marketplace says', [...capabilities]);
  add('verify', 'say that an account is verified, whatever the marketplace says');
  add('unverify', 'say that an account is not verified, whatever the marketplace says');
  add('undecide', 'let the marketplace decide about a capability, or the verification, again', [
    ...capabilities,
    verification,
  ]);
}

function describe({ email, account }: Pick<User, 'email' | 'account'>): string {
  const names = [...account.capabilities].sort().join(', ') || 'no capability';
  return `The account of ${show(email)} has ${names}, and is ${account.verifiedAt ? '' : 'not '}verified.`;
}
