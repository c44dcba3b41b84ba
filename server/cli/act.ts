// Acts on somebody by a command: what staff do on a person's page (contract 12.37), by the same functions.
import type { Database } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { lockExternalLinks } from '../../db/tables/external-links.ts';
import { lockUser, type User } from '../../db/tables/users.ts';
import { AppError } from '../basics/errors.ts';
import { environment, systemUser } from '../runtime/process.ts';
import { readConfig } from '../settings/config.ts';
import { actAsOperator } from '../staff/act.ts';
import type { Given, Intent } from '../staff/acts.ts';
import { CommandError, findUser, now, type UserKey } from './command.ts';

/** Who the operator says they are, and why they do something. */
export type Reason = { by?: string | undefined; why?: string | undefined };

export type AskedByCommand = {
  command: string;
  key: UserKey;
  intent: Intent;
  given?: Given;
  reason?: Reason;
};

/** Does it, and returns whether there was anything to do, with the person as they were before. */
export async function actByCommand(
  db: Database,
  { command, key, intent, given = {}, reason = {} }: AskedByCommand,
): Promise<{ done: 'done' | 'nothing'; user: User }> {
  const { why } = reason;
  const user = systemUser();
  const author = { by: 'operator', name: reason.by ?? user, systemUser: user, why } as const;
  const origin = { by: 'operator', cause: command, ...(why !== undefined && { why }) } as const;
  const deps = { now, config: readConfig(environment) };
  try {
    return await inTransaction(db, origin, async (trx) => {
      const found = await findUser(trx, key);
      if (found) await lockExternalLinks(trx, found.id);
      const user = found && (await lockUser(trx, { id: found.id }));
      if (!user) throw new CommandError('No user has this email address or id.');
      return { done: await actAsOperator(trx, deps, { intent, target: user, given, author }), user };
    });
  } catch (error) {
    if (error instanceof AppError) throw new CommandError(explain(error));
    throw error;
  }
}

/** The refusal as a sentence for an operator. */
const explain = ({ code, detail, errors }: AppError) =>
  code === 'account_frozen'
    ? 'This account is frozen. Use user:thaw instead.'
    : (errors[0]?.detail ?? detail);
