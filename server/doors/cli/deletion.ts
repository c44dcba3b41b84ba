import type { Command } from 'commander';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { listInvoices } from '../../../db/tables/invoices.ts';
import { listContracts } from '../../../db/tables/service-contracts.ts';
import { lockUser, type User } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { presentStatus } from '../../billing/contracts/contract-states.ts';
import { endsWithPerson } from '../../billing/customers/ends-with-person.ts';
import { isLastAdmin } from '../../identity/person/deletion.ts';
import { eraseUser } from '../../identity/person/erase-user.ts';
import { print } from '../../runtime/process.ts';
import { peopleActs } from '../../staff/people-acts.ts';
import { actByCommand, addReason, booksTrailOf, originOf, type Reason, toJson } from './act.ts';
import {
  noSuchUser,
  now,
  readUserKey,
  requireAnswerable,
  requireUser,
  requireYes,
  show,
  type UserKey,
  userKeyWords,
  withDatabase,
} from './command.ts';

const name = 'user:delete';

type Options = Reason & { now: boolean; yes: boolean };

export function addDeletionCommand(program: Command): void {
  const command = program
    .command(name)
    .description('delete a user after 14 days, in which they can change their mind')
    .argument('<email>', userKeyWords, readUserKey)
    .option('--now', 'erase them at once, for good', false)
    .option('--yes', 'do not ask, with --now', false);
  addReason(command, { isRequired: false }).action(async (key: UserKey, options: Options) => {
    if (options.now) requireAnswerable(options);
    print(
      await withDatabase(async (db) => {
        const user = await requireUser(db, key);
        if (!options.now) return plan(db, user, options);
        await requireYes(options, `Erase ${show(user.name)} <${show(user.email)}> for good?`);
        return erase(db, user.id, options);
      }),
    );
  });
}

// Keeps no reason, because the reason would say something about a person who must be forgotten (contract 12.44).
const erase = (db: Database, id: string, { by, json }: Reason): Promise<string> =>
  inTransaction(db, originOf(name, {}), async (trx) => {
    const user = await lockUser(trx, { id });
    if (!user) throw noSuchUser();
    if (await isLastAdmin(trx, user)) throw new AppError('last_admin');
    const invoices = await countInvoices(trx, user);
    const erased = await eraseUser(trx, { now, endsWithPerson }, id, { by: 'cli', onlyDue: false });
    if (!erased) throw noSuchUser();
    deferAuditEvent(trx, { ...booksTrailOf({ by }), type: 'staff.erase', userId: id });
    const { canceled } = erased;
    if (json) return toJson('erase', true, id, { canceled, invoices });
    return `The user ${id} is erased. Contracts canceled: ${canceled}.\n${describeInvoices(invoices)}`;
  });

async function plan(db: Database, { id }: User, { json, ...reason }: Options): Promise<string> {
  const act = peopleActs['plan-deletion'];
  const done = (await actByCommand(db, name, { act, given: { id }, reason })) !== undefined;
  const user = await requireUser(db, { id });
  const dueAt = user.deletionDueAt?.toISOString();
  const contracts = await listContracts(db, user.account.id);
  const live = contracts.filter((each) =>
    ['trialing', 'active', 'past_due'].includes(presentStatus(each, now())),
  ).length;
  const invoices = await countInvoices(db, user);
  if (json) return toJson('plan-deletion', done, id, { dueAt, toCancel: live, invoices });
  const held = user.suspendedAt
    ? ' That will not happen while the user is suspended: resume them, or use --now.'
    : '';
  return (
    `The user ${id} will be erased at ${dueAt}.${held} Contracts to be canceled then: ${live}.\n` +
    describeInvoices(invoices)
  );
}

type Invoices = { kept: number; open: number };

async function countInvoices(db: Database, { account }: User): Promise<Invoices> {
  const invoices = await listInvoices(db, account.id);
  return { kept: invoices.length, open: invoices.filter(({ status }) => status === 'open').length };
}

const describeInvoices = ({ kept, open }: Invoices) =>
  `Invoices, which are kept: ${kept}, of which open: ${open}.`;
