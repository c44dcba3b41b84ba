import { inTransaction, inTransactionOf } from '../../../db/postgres/transactions.ts';
import { findRightsWithoutLink, hasUnknownSources, knowSources } from '../../../db/tables/accounts.ts';
import {
  deleteExternalLink,
  listExternalLinks,
  lockExternalLinks,
} from '../../../db/tables/external-links.ts';
import { lockLinkedUser } from '../../../db/tables/linked-users.ts';
import { deletePendingHandOffs } from '../../../db/tables/pending-hand-offs.ts';
import { endSessions } from '../../../db/tables/sessions.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { readCapabilities } from '../ground/capabilities.ts';
import { requireOwnCredential } from '../password/own-password.ts';
import { type Actor, lockOpenActor, recordActorEvent } from '../session/actor.ts';

/** A sleeping link logs nobody in until its user connects it again. `loses` is what the account would lose with the link. */
export async function listOwnLinks({ db }: Dependencies, { session, visit }: Actor) {
  const { id: userId, account } = session.user;
  const links = await listExternalLinks(db, userId);
  if (links.length > 0 && (await hasUnknownSources(db, account.id))) {
    const origin = { by: 'service', request: visit.requestId, cause: 'sources' } as const;
    await inTransaction(db, origin, async (trx) => {
      await lockExternalLinks(trx, userId);
      await knowSources(trx, account.id);
    });
  }
  return Promise.all(
    links.map(async (link) => {
      const left = await findRightsWithoutLink(db, { userId, provider: link.provider });
      return {
        ...link,
        loses: readCapabilities(account.capabilities.filter((name) => !left?.capabilities.includes(name))),
        losesVerification: account.verifiedAt !== null && !left?.isVerified,
      };
    }),
  );
}

/** Throws 401 `login_required`, 422 `validation_failed` for a wrong password, 429 `rate_limited` and 404 `not_found`. */
export async function removeOwnLink(
  deps: Dependencies,
  actor: Actor,
  link: { provider: string; externalId: string; currentPassword: string },
): Promise<void> {
  const { provider, externalId, currentPassword } = link;
  const userId = actor.session.user.id;
  await requireOwnCredential(deps, actor, currentPassword);
  await inTransactionOf(actor.visit, deps.db, async (trx) => {
    // A hand-off that arrives now waits for this lock, and then finds no link.
    await lockLinkedUser(trx, provider, externalId);
    await lockOpenActor(trx, actor);
    if (!(await deleteExternalLink(trx, { provider, externalId, userId })))
      throw new AppError('not_found', { detail: faultWords.link_gone });
    await deletePendingHandOffs(trx, userId);
    // Ends other sessions that began with a hand-off, if nobody has given a credential in them since.
    await endSessions(trx, userId, { byHandOffExceptId: actor.session.id }, deps.now());
    await recordActorEvent(trx, actor, { type: 'link.removed', details: { provider, id: externalId } });
  });
}
