import type { Command } from 'commander';
import type { Transaction } from 'kysely';
import { nameDatabase } from '../../../db/backups.ts';
import { type MigrationStatus, readMigrationStatus } from '../../../db/migration-status.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { postponeDeletions, setDeletionDue } from '../../../db/tables/deletions.ts';
import { forgetAllDevices } from '../../../db/tables/devices.ts';
import { lockAllNumbers } from '../../../db/tables/document-series.ts';
import { deleteDeliveries } from '../../../db/tables/event-deliveries.ts';
import { restartEvents } from '../../../db/tables/events.ts';
import { skipInvoiceNumbers } from '../../../db/tables/invoices.ts';
import { withdrawAllMailTokens } from '../../../db/tables/mail-tokens.ts';
import { deleteAllUnsentLetters } from '../../../db/tables/mails.ts';
import { deleteAllNewAddresses } from '../../../db/tables/new-addresses.ts';
import { deleteAllGrants } from '../../../db/tables/oidc-grants.ts';
import { deleteAllKeys } from '../../../db/tables/oidc-keys.ts';
import { renewChallengeKey } from '../../../db/tables/passkey-challenge-keys.ts';
import { deleteAllPendingEmailChanges } from '../../../db/tables/pending-email-changes.ts';
import { deleteAllPendingHandOffs } from '../../../db/tables/pending-hand-offs.ts';
import { deleteAllPendingLogins } from '../../../db/tables/pending-logins.ts';
import { insertRestore } from '../../../db/tables/restores.ts';
import { endAllSessions } from '../../../db/tables/sessions.ts';
import { deleteAllInvitations } from '../../../db/tables/staff-invitations.ts';
import { touchAllProfiles } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { describeLost, listNextNumbers, listUnnamed, skipNumbers } from '../../billing/invoices/pause.ts';
import { notifyWithTakeBack } from '../../identity/ground/notices.ts';
import { findTimeOfChange } from '../../identity/ground/take-back-window.ts';
import { dueAfter } from '../../identity/person/deletion.ts';
import { endWith, isTerminal, print } from '../../runtime/process.ts';
import { originOf } from './act.ts';
import {
  describeRefusal,
  now,
  readNumber,
  requireYes,
  UsageError,
  withDatabase,
  withDatabaseUrl,
} from './command.ts';

export function addDatabaseCommands(program: Command): void {
  program
    .command('migrate')
    .description('bring the database to the current schema (the service also does this when it starts)')
    .option('--status', 'only say which migrations there are to do, and change nothing', false)
    .addHelpText(
      'after',
      '\nExit status of --status: 0 if there is nothing to do, 1 if there is, 2 if that could not be found out, 3 if this ' +
        'version does not start on the database.',
    )
    .action(async ({ status }: { status: boolean }) => {
      if (!status) return withDatabase(async () => print('The database has the current schema.'));
      endWith(2);
      const found = await withDatabaseUrl(readMigrationStatus);
      print(describeStatus(found));
      endWith(found.fault ? 3 : found.toDo.length > 0 ? 1 : 0);
    });

  program
    .command('database:restored')
    .description(
      'run this after restoring the database and before the service starts: nothing older can then be used',
    )
    .option(
      '--last <number...>',
      'for each prefix and year, the highest number of a document that anybody has received, such as INV-2026-0041',
    )
    .option(
      '--last-invoice <number>',
      'the highest invoice number that anybody has received, of those from before there was a seller',
      readNumber,
      0,
    )
    .option('--yes', 'do not ask', false)
    .action(
      async ({ last = [], lastInvoice, yes }: { last?: string[]; lastInvoice: number; yes: boolean }) => {
        const given = { last, lastInvoice };
        const { name, sessions, mails, next, lost, warnings } = await withDatabase(async (db) => {
          const name = await nameDatabase(db);
          // Scripts used this command before it asked a question. So it asks only on a terminal.
          await requireYes(
            { yes: yes || !isTerminal() },
            `End all sessions and links in the database ${name}?`,
          );
          const restored = (trx: Transaction<DB>) => endWhatIsOlder(trx, given);
          return { name, ...(await inTransaction(db, originOf('database:restored', {}), restored)) };
        }).catch((error) => {
          throw error instanceof AppError ? new UsageError(describeRefusal(error)) : error;
        });
        const told =
          `In the database ${name} nothing from before now can be used: ${sessions} sessions ended, ${mails} emails with links ` +
          `withdrawn, and the keys that sign ID tokens revoked. The next invoice is number ${next.join(', and the next credit note ')}. ` +
          `${lost.length > 0 ? `Lost are ${describeLost(lost)}. ` : ''}People erased since the backup are back: erase ` +
          'them again with user:delete --now, using the ids in the log lines "user erased". Nothing is issued, and no ' +
          'email about billing leaves, until you run billing:resume.';
        print([told, ...warnings].join('\n'));
      },
    );
}

function describeStatus({ toDo, ahead, fault }: MigrationStatus): string {
  if (fault) return fault;
  const list = (names: string[]) => names.map((name) => `\n  ${name}`).join('');
  return [
    toDo.length > 0 ? `To do:${list(toDo)}` : 'Nothing to do: the database has what this version needs.',
    ...(ahead.length > 0
      ? [
          `A newer version has migrated this database. This one starts on it, and leaves these alone:${list(ahead)}`,
        ]
      : []),
  ].join('\n');
}

/**
 * Ends all sessions, links and pending changes that the restored database has, in one transaction. The restore may have brought
 * back sessions and links that were used up, ended or changed in the lost time, and nobody can tell which.
 * A statement for everybody's rows is run for one range of rows at a time, so that each run stays well under the time limit.
 */
async function endWhatIsOlder(
  trx: Transaction<DB>,
  { last, lastInvoice }: { last: string[]; lastInvoice: number },
) {
  // From here on no instance issues a document, even if it was about to do so.
  await lockAllNumbers(trx);
  await insertRestore(trx);
  const { lost, below } = await skipNumbers(trx, last);
  // The events restart first, so that the first events that clients read are the ones that the statements below append.
  await restartEvents(trx);
  await deleteDeliveries(trx);
  const sessions = await endAllSessions(trx, now());
  await forgetAllDevices(trx, now());
  await renewChallengeKey(trx);
  const pendingHandOffs = await deleteAllPendingHandOffs(trx);
  await deleteAllPendingLogins(trx);
  await deleteAllPendingEmailChanges(trx);
  await deleteAllNewAddresses(trx);
  await deleteAllInvitations(trx);
  await deleteAllGrants(trx);
  // The backup may contain a key that was revoked. The service makes a new key when it needs one.
  await deleteAllKeys(trx);
  const mails = (await deleteAllUnsentLetters(trx)) + (await withdrawAllMailTokens(trx));
  // Some of these users may have canceled their deletion in the lost time. So their deletion is postponed.
  for (const user of await postponeDeletions(trx, dueAfter(now()))) {
    const at = await findTimeOfChange(trx, { now }, user.id);
    const dueAt = dueAfter(at);
    if (user.deletionDueAt && user.deletionDueAt < dueAt) await setDeletionDue(trx, user.id, dueAt);
    await notifyWithTakeBack(trx, { now }, user, 'deletion_requested', { at });
  }
  const invoice = await skipInvoiceNumbers(trx, lastInvoice);
  if (invoice > lastInvoice && lastInvoice > 0) below.push({ number: `${lastInvoice}`, last: `${invoice}` });
  // The restore may have lost a profile that clients have. A client ignores a profile that is older than its own. So every
  // profile is marked as changed now.
  await touchAllProfiles(trx);
  const details = { sessions, pendingHandOffs, mails, lastInvoice: invoice, by: 'cli' };
  deferAuditEvent(trx, { type: 'database.restored', details });
  const next = await listNextNumbers(trx);
  const hasSeller = next.length > 0;
  if (!hasSeller) next.push(`${invoice + 1}`);
  const unnamed = hasSeller ? listUnnamed(next, last) : lastInvoice > 0 ? [] : next;
  const option = hasSeller ? '--last' : '--last-invoice';
  const warnings = [
    ...below.map(
      ({ number, last }) =>
        `${number} changed nothing, because ${last} has been given: is it the highest that anybody has received?`,
    ),
    ...unnamed.map(
      (number) =>
        `No ${option} was given for the numbers that go on with ${number}: if anybody has received it, or a later one, run this again with the highest.`,
    ),
  ];
  return { sessions, mails, lost, next, warnings };
}
