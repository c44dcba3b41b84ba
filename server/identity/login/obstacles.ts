// Finds out why somebody cannot log in (contract 12.192), from the facts and limits that a login checks. Uses up no try.
import type { Database } from '../../../db/postgres/client.ts';
import { listPasskeys } from '../../../db/tables/passkeys.ts';
import { listPasswordOwners, type PasswordOwner } from '../../../db/tables/password-owners.ts';
import { findFullCount } from '../../../db/tables/rate-limits.ts';
import type { User } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { countOf } from '../ground/allowances.ts';
import { hasOwnLogin } from '../ground/customers.ts';
import { countGuessFor } from '../ground/device.ts';
import { findLoginAllowance } from '../ground/established-browsers.ts';
import { asksForCode, hasSecondFactor, needsSecondFactor } from '../session/second-factor.ts';

/** The limits of tries that can refuse a user's login. A known browser is one in which the user gave a credential. */
const limits = [
  'too_many_passwords',
  'too_many_passwords_known_browser',
  'too_many_codes',
  'too_many_codes_known_browser',
  'too_many_logins',
] as const;

type Limit = (typeof limits)[number];
type Count = { key: string; times: number };

export type ObstacleDeps = Pick<Dependencies, 'config' | 'now' | 'guessLimits' | 'codeLimits'> & {
  db: Database;
};

/**
 * Returns each reason why a login of this user is refused, or leads to another page first. `waitMinutes` says how long each
 * full limit lasts. `addresses` are the IP addresses from which tries were refused lately: some limits belong to one network.
 */
export async function findObstacles(deps: ObstacleDeps, user: User, addresses: string[]) {
  const waitMinutes = await findWaits(deps, user, addresses);
  const reasons = {
    frozen: user.frozenAt !== null,
    suspended: user.suspendedAt !== null && user.frozenAt === null,
    leaving: user.deletionDueAt !== null,
    address_typed: !user.holdsEmail,
    address_unproved: user.emailVerifiedAt === null,
    password_ended: user.hadPassword && !user.hasPassword,
    no_password: !user.hadPassword && user.hasPasskey,
    no_credential: !user.hadPassword && !hasOwnLogin(user),
    factor_missing: needsSecondFactor(deps.config, user) && !hasSecondFactor(user),
  };
  const names = Object.keys(reasons) as (keyof typeof reasons)[];
  return {
    obstacles: [...names.filter((name) => reasons[name]), ...limits.filter((limit) => waitMinutes[limit])],
    waitMinutes,
  };
}

async function findWaits(
  { db, now, guessLimits, codeLimits }: ObstacleDeps,
  user: User,
  addresses: string[],
): Promise<Partial<Record<Limit, number>>> {
  const owners = await listPasswordOwners(db, user.id);
  const passkeys = user.hasPasskey ? await listPasskeys(db, user.id) : [];
  const allowances = [
    ...owners.map((owner) => findLoginAllowance(owner, now())),
    ...passkeys.map(({ id: of }) => ({ name: 'login-passkey' as const, of })),
  ];
  const count = (of: typeof guessLimits, account: string, tried: PasswordOwner[]) =>
    tried.flatMap((owner) =>
      ['', ...addresses].flatMap((address) => of.countsOf(countGuessFor(account, owner, address))),
    );
  const known = owners.filter(({ deviceKnownSince }) => deviceKnownSince !== null);
  const unknown = owners.filter(({ deviceKnownSince }) => deviceKnownSince === null);
  const isAsked = asksForCode(user);
  const counts: Record<Limit, Count[]> = {
    too_many_passwords: count(guessLimits, user.email, unknown),
    too_many_passwords_known_browser: count(guessLimits, user.email, known),
    too_many_codes: isAsked ? count(codeLimits, user.id, unknown) : [],
    too_many_codes_known_browser: isAsked ? count(codeLimits, user.id, known) : [],
    too_many_logins: allowances.map(({ name, of }) => countOf(name, of)),
  };
  const waits: Partial<Record<Limit, number>> = {};
  for (const limit of limits) {
    const byKey = new Map(counts[limit].map(({ key, times }) => [key, { key, times }]));
    const waitMs = await findFullCount(db, ...byKey.values());
    if (waitMs !== undefined) waits[limit] = Math.max(1, Math.ceil(waitMs / 60_000));
  }
  return waits;
}
