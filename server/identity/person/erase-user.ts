// Erases everything that identifies a person (docs/security/data.md). Ended contracts keep only ids. Invoices keep the names on
// them. Audit events still show that something happened.
import type { Transaction } from 'kysely';
import { breaksConnection, isDatabaseBusy } from '../../../db/postgres/away.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { listFreeAddresses } from '../../../db/tables/address-owners.ts';
import { deferAuditEvent, eraseFromAuditEvents } from '../../../db/tables/audit-events.ts';
import { eraseInvoiceEmails } from '../../../db/tables/billing-details.ts';
import { eraseChangesOf, listFormerAddresses } from '../../../db/tables/changes.ts';
import { findUsersToErase, isAccountShared, lockUserToErase } from '../../../db/tables/deletions.ts';
import { insertErasedUser } from '../../../db/tables/erased-users.ts';
import { eraseEventsOf } from '../../../db/tables/events.ts';
import { listExternalLinks, lockExternalLinks } from '../../../db/tables/external-links.ts';
import { deleteTokensToTyped } from '../../../db/tables/mail-tokens.ts';
import { deferMail, deleteMailsToTyped, passOnBillingMails } from '../../../db/tables/mails.ts';
import { deleteNewAddressesTo } from '../../../db/tables/new-addresses.ts';
import { deletePendingEmailChangesTo } from '../../../db/tables/pending-email-changes.ts';
import { detachContracts } from '../../../db/tables/service-contracts.ts';
import { deleteInvitationsTo } from '../../../db/tables/staff-invitations.ts';
import { deleteUser, type User } from '../../../db/tables/users.ts';
import { limitLockWait } from '../../../db/timeouts.ts';
import type { Dependencies } from '../../ground/dependencies.ts';

const batchSize = 100;

/**
 * Several instances may run this at the same time. If one erasure fails, the other erasures go on, and this throws at the end.
 */
export async function eraseDueUsers(
  deps: Pick<Dependencies, 'db' | 'now' | 'log' | 'endsWithPerson'>,
  signal?: AbortSignal,
): Promise<void> {
  const { db, log } = deps;
  const tried: string[] = [];
  let failed = 0;
  for (;;) {
    const ids = await findUsersToErase(db, { limit: batchSize, except: tried });
    if (ids.length === 0) break;
    for (const id of ids) {
      if (signal?.aborted) return;
      tried.push(id);
      try {
        const erased = await inTransaction(db, { by: 'service', cause: 'erasure' }, async (trx) => {
          await limitLockWait(trx);
          return eraseUser(trx, deps, id, { by: 'request', onlyDue: true });
        });
        // If an older backup is restored, the user is in the database again. This line in the log says whom to erase again.
        if (erased) log.record({ userId: id }, 'user erased');
      } catch (err) {
        if (breaksConnection(err)) throw err;
        // Another instance is erasing this user, or one of the user's requests is under way. The next run tries again.
        if (isDatabaseBusy(err)) continue;
        failed++;
        log.error({ err, userId: id }, 'user not erased');
      }
    }
  }
  if (failed > 0) throw new Error(`users that could not be erased: ${failed}`);
}

/** Erases all or nothing, in the caller's transaction. Undefined if there is no such user. */
export async function eraseUser(
  trx: Transaction<DB>,
  { now, endsWithPerson }: Pick<Dependencies, 'now' | 'endsWithPerson'>,
  id: string,
  { by, onlyDue }: { by: 'request' | 'cli'; onlyDue: boolean },
): Promise<{ user: User; canceled: number } | undefined> {
  await lockExternalLinks(trx, id);
  const user = await lockUserToErase(trx, id, { onlyDue });
  if (!user) return undefined;
  const externalIds = (await listExternalLinks(trx, id)).map(({ externalId }) => externalId);
  const keepsAccount = await isAccountShared(trx, user);
  // If the account has other users, its contracts go on.
  const canceled = keepsAccount ? 0 : await endsWithPerson.endContracts(trx, user.account.id, now());
  await insertErasedUser(trx, user.id);
  await detachContracts(trx, { userId: user.id, accountId: user.account.id, keepsAccount });
  const held = [...(await listFormerAddresses(trx, id)), ...(user.holdsEmail ? [user.email] : [])];
  await eraseFromAuditEvents(trx, id, externalIds);
  await eraseEventsOf(trx, id);
  if (keepsAccount) await passOnBillingMails(trx, user);
  await eraseChangesOf(trx, { userId: id, accountId: keepsAccount ? undefined : user.account.id });
  await deleteUser(trx, user);
  await eraseTyped(trx, held);
  deferAuditEvent(trx, { type: 'user.erased', userId: id, details: { by } });
  if (user.holdsEmail) {
    deferMail(trx, {
      kind: 'account_deleted',
      userId: null,
      recipient: user.email,
      details: { at: now().toISOString() },
      now: now(),
    });
  }
  return { user, canceled };
}

/** Erases addresses of the user that somebody else typed, or that the user typed before they were a user. */
async function eraseTyped(trx: Transaction<DB>, held: string[]): Promise<void> {
  // An address that now belongs to somebody else no longer identifies this person.
  const emails = await listFreeAddresses(trx, held);
  // Delete unsent mails first. If a mail is being sent at this moment, the deletion waits until it is sent, and the next
  // statement then also deletes the token in that mail.
  await deleteMailsToTyped(trx, emails);
  await deleteTokensToTyped(trx, emails);
  await deletePendingEmailChangesTo(trx, emails);
  await deleteNewAddressesTo(trx, emails);
  await deleteInvitationsTo(trx, emails);
  await eraseInvoiceEmails(trx, emails);
}
