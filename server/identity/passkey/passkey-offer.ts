// After a login by password alone, a user without a passkey is asked whether they want one (contract 9.210).
import type { Database } from '../../../db/postgres/client.ts';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import { declinePasskeys, hasDeclinedPasskeys, type User } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { describeDevice, userAgentOf } from '../ground/device.ts';
import { isRevocable } from '../ground/established-browsers.ts';
import { type Actor, type AnyActor, type Confirmed, lockActor } from '../session/actor.ts';
import { mustSetUpFactor } from '../session/second-factor.ts';
import { amrOf } from '../session/sessions.ts';
import { addOwnPasskey, findReasonNotToAdd } from './own-passkeys.ts';

export type PasskeyOffer = { next: string };

/** Call it after a login by password alone has started a session. The caller has locked the user. */
export async function findPasskeyOffer(
  db: Database,
  { config }: Pick<Dependencies, 'config'>,
  user: User,
  offer: PasskeyOffer | undefined,
): Promise<boolean> {
  if (!offer || leadsPast(offer.next)) return false;
  if (mustSetUpFactor(config, { user, amr: amrOf.password })) return false;
  return isOfferOpen(db, user);
}

export async function describePasskeyOffer(deps: Dependencies, { session, request }: Actor) {
  const { user } = session;
  return {
    isOpen: await isOfferOpen(deps.db, user),
    email: user.email,
    isRevocable: await isRevocable(deps, request, user),
  };
}

export const addOfferedPasskey = (
  deps: Dependencies,
  actor: Confirmed<AnyActor>,
  passkey: string,
): Promise<void> => addOwnPasskey(deps, actor, { name: describeDevice(userAgentOf(actor.request)), passkey });

export async function declinePasskeyOffers(deps: Dependencies, actor: Actor): Promise<void> {
  await inTransactionOf(actor.visit, deps.db, async (trx) => {
    const { id } = await lockActor(trx, actor);
    await declinePasskeys(trx, id, deps.now());
  });
}

const isOfferOpen = async (db: Database, user: User) =>
  !user.hasPasskey && !findReasonNotToAdd(user, []) && !(await hasDeclinedPasskeys(db, user.id));

/**
 * Returns true if the offer must be left out, because `next` is a pending hand-off, a launch that may show no page, or a page
 * about passkeys.
 */
function leadsPast(next: string): boolean {
  const { pathname, search } = new URL(next, 'https://own.invalid');
  if (pathname === '/continue' || pathname.startsWith('/profile/passkeys')) return true;
  const prompts = new URLSearchParams(search).getAll('prompt');
  return pathname.startsWith('/sso/launch/') && prompts.includes('none');
}
