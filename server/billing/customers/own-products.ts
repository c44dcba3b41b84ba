import { listLastLaunches, listVisitedClients } from '../../../db/tables/launches.ts';
import { listContractStates } from '../../../db/tables/service-contracts.ts';
import type { User } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { mayEnter } from '../../identity/person/entry.ts';
import { roleOf } from '../../identity/person/profile.ts';
import type { Actor } from '../../identity/session/actor.ts';
import { hasSecondFactor } from '../../identity/session/second-factor.ts';
import type { Audience, Client } from '../../sso/clients.ts';
import { isRunning, presentStatus } from '../contracts/contract-states.ts';

/**
 * `href` is the product's own login, or a launch if no login is configured. `openedAt` is the time of the last launch.
 * `mayEnter` and `needsFactor` say what a launch would require (contract 13.60), and do not decide which products are listed.
 */
export async function listOwnProducts(deps: Dependencies, { session: { user } }: Actor) {
  const [launches, isListed] = await Promise.all([
    listLastLaunches(deps.db, user.id),
    findWhatIsListed(deps, user),
  ]);
  return (
    deps.clients
      .list()
      .filter(isListed)
      // A product of OpenID Connect has no launch. So it is listed only if it has a login of its own.
      .filter(({ kind, loginUrl }) => kind === 'hand-off' || loginUrl !== undefined)
      .map((client) => ({
        name: client.name,
        title: client.title,
        logoPath: client.logoPath,
        logoDarkPath: client.logoDarkPath,
        href: client.loginUrl ?? `/sso/launch/${client.name}`,
        openedAt: launches.find((launch) => launch.client === client.name)?.at,
        mayEnter: mayEnter(client, user),
        needsFactor: client.needsFactor && !hasSecondFactor(user),
      }))
  );
}

/** Finds the facts that decide which products are listed (contract 8.61 to 8.63). */
async function findWhatIsListed(
  { clients, db, now }: Dependencies,
  user: User,
): Promise<(client: Client) => boolean> {
  const asks = (audience: Audience) => clients.list().some(({ listedTo }) => listedTo.includes(audience));
  const [visited = [], states = []] = await Promise.all([
    asks('visited') ? listVisitedClients(db, user.id) : undefined,
    asks('contract') && user.emailVerifiedAt ? listContractStates(db, user.account.id) : undefined,
  ]);
  const isOf: Record<Audience, (client: Client) => boolean> = {
    everybody: () => true,
    merchants: () => roleOf(user) === 'merchant',
    administrators: () => roleOf(user) === 'admin',
    visited: ({ name }) => visited.includes(name),
    contract: () => states.some((state) => isRunning(presentStatus(state, now()))),
  };
  return (client) => client.listedTo.some((audience) => isOf[audience](client));
}
