// Deleting a user for somebody who cannot do it themselves.
import type { Command } from 'commander';
import type { Transaction } from 'kysely';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import { setDeletionDue } from '../../db/tables/deletions.ts';
import { listInvoices } from '../../db/tables/invoices.ts';
import { listContracts } from '../../db/tables/service-contracts.ts';
import { lockUser, type User } from '../../db/tables/users.ts';
import { presentStatus } from '../billing/contract-states.ts';
import { notifyWithTakeBack } from '../identity/ground/notices.ts';
import { findTimeOfChange } from '../identity/ground/take-back-window.ts';
import { dueAfter, isLastAdmin } from '../identity/person/deletion.ts';
import { eraseUser } from '../identity/person/erase-user.ts';
import { print } from '../runtime/process.ts';
import {
  byCommand,
  CommandError,
  findUser,
  now,
  readUserKey,
  type UserKey,
  withDatabase,
} from './command.ts';

export function addDeletionCommand(program: Command): void {
  program
    .command('user:delete')
    .description('delete a user after 14 days, in which they can change their mind')
    .argument('<email>', 'or the id', readUserKey)
    .option('--now', 'erase them at once, for good', false)
    .action(async (key: UserKey, options: { now: boolean }) => {
      const lines = await withDatabase((db) =>
        inTransaction(db, byCommand('user:delete'), async (trx) => {
          const found = await findUser(trx, key);
          const user = found && (await lockUser(trx, { id: found.id }));
          if (!user) throw new CommandError('No user has this email address or id.');
          // An administrator with a planned deletion no longer counts as one.
          if ((options.now || !user.deletionDueAt) && (await isLastAdmin(trx, user)))
            throw new CommandError(
              'This is the only administrator. Make someone else an administrator first: user:create --role admin.',
            );
          const stays = await countInvoices(trx, user);
          return [await (options.now ? erase(trx, user) : plan(trx, user)), stays];
        }),
      );
      print(lines.join('\n'));
    });
}

async function erase(trx: Transaction<DB>, { id }: User): Promise<string> {
  const erased = await eraseUser(trx, id, { now: now(), by: 'cli', onlyDue: false });
  if (!erased) throw new CommandError('No user has this email address or id.');
  return `The user ${id} is erased. Contracts canceled: ${erased.canceled}.`;
}

async function plan(trx: Transaction<DB>, user: User): Promise<string> {
  const { id } = user;
  const at = await findTimeOfChange(trx, { now }, id);
  const dueAt = user.deletionDueAt ?? dueAfter(at);
  if (!user.deletionDueAt) {
    await setDeletionDue(trx, id, dueAt);
    deferAuditEvent(trx, { type: 'user.deletion_requested', userId: id, details: { by: 'cli' } });
    await notifyWithTakeBack(trx, { now }, user, 'deletion_requested', { at });
  }
  const contracts = await listContracts(trx, user.account.id);
  const live = contracts.filter((each) =>
    ['trialing', 'active', 'past_due'].includes(presentStatus(each, now())),
  );
  const held = user.suspendedAt
    ? ' That will not happen while the user is suspended: resume them, or use --now.'
    : '';
  return `The user ${id} will be erased at ${dueAt.toISOString()}.${held} Contracts to be canceled then: ${live.length}.`;
}

async function countInvoices(trx: Transaction<DB>, { account }: User): Promise<string> {
  const invoices = await listInvoices(trx, account.id);
  const open = invoices.filter(({ status }) => status === 'open').length;
  return `Invoices, which are kept: ${invoices.length}, of which open: ${open}.`;
}
