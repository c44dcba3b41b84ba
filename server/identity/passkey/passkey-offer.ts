// After a login by password alone, somebody without a passkey is asked whether they want one (contract 9.210 to 9.213).
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

/** The path of ours on which the person goes after the offer. */
export type PasskeyOffer = { next: string };

/** Whether a login by password alone, which has just started a session, leads to the offer. The caller has locked the user. */
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

/** What the page of the offer shows. */
export async function describePasskeyOffer(deps: Dependencies, { session, request }: Actor) {
  const { user } = session;
  return {
    /** False for a user to whom it has nothing to offer. */
    isOpen: await isOfferOpen(deps.db, user),
    email: user.email,
    /** Whether a link in a mail can remove a passkey that the user adds in this browser now. */
    isRevocable: await isRevocable(deps, request, user),
  };
}

/** Adds the passkey that the browser's script has made, under the name of the browser. Throws what `addOwnPasskey` throws. */
export const addOfferedPasskey = (
  deps: Dependencies,
  actor: Confirmed<AnyActor>,
  passkey: string,
): Promise<void> => addOwnPasskey(deps, actor, { name: describeDevice(userAgentOf(actor.request)), passkey });

/** Keeps that the user wants no more offers. */
export async function declinePasskeyOffers(deps: Dependencies, actor: Actor): Promise<void> {
  await inTransactionOf(actor.visit, deps.db, async (trx) => {
    const { id } = await lockActor(trx, actor);
    await declinePasskeys(trx, id, deps.now());
  });
}

const isOfferOpen = async (db: Database, user: User) =>
  !user.hasPasskey && !findReasonNotToAdd(user, []) && !(await hasDeclinedPasskeys(db, user.id));

/** Whether nothing comes before that path: a hand-off that waits, a launch that may ask nothing, and passkeys themselves. */
function leadsPast(next: string): boolean {
  const { pathname, search } = new URL(next, 'https://own.invalid');
  if (pathname === '/continue' || pathname.startsWith('/profile/passkeys')) return true;
  const prompts = new URLSearchParams(search).getAll('prompt');
  return pathname.startsWith('/sso/launch/') && prompts.includes('none');
}
