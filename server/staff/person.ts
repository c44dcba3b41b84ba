// What staff see of one person (contract 12.9, 12.13, 12.32 and 12.192).
import { findDecided } from '../../db/tables/accounts.ts';
import { listAuditEvents } from '../../db/tables/audit-events.ts';
import { findBillingDetails } from '../../db/tables/billing-details.ts';
import { listNewestChanges } from '../../db/tables/changes.ts';
import { listInvoices } from '../../db/tables/invoices.ts';
import { listSessions } from '../../db/tables/live-sessions.ts';
import { countRecoveryCodes } from '../../db/tables/recovery-codes.ts';
import { listContracts } from '../../db/tables/service-contracts.ts';
import { listNotes } from '../../db/tables/staff-notes.ts';
import {
  listFactorsOf,
  listLinksOfAccount,
  listMailsOf,
  listNames,
  listRefusedTries,
} from '../../db/tables/staff-views.ts';
import { listUsersOfAccount, type User } from '../../db/tables/users.ts';
import { findVatCheck } from '../../db/tables/vat-checks.ts';
import { findPerson } from '../acts/act.ts';
import { isStaffRole, looks, mayLook } from '../acts/rights.ts';
import { countLook, type Staff } from '../acts/staff.ts';
import { minorDigits } from '../basics/currencies.ts';
import { AppError } from '../basics/errors.ts';
import { findLastDayIn } from '../billing/contracts/last-day.ts';
import { describeEnd } from '../billing/customers/cancel-contract.ts';
import { findZone } from '../billing/invoices/issue.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { listActiveCapabilities } from '../identity/ground/capabilities.ts';
import { describeDevice } from '../identity/ground/device.ts';
import { findObstacles, type ObstacleDeps } from '../identity/login/obstacles.ts';
import { findStop } from '../identity/person/entry.ts';
import { buildStandardProfile } from '../identity/person/profile.ts';
import { listMailboxes } from '../identity/recovery/freeze.ts';
import { describePendingNewAddress } from '../identity/recovery/new-address.ts';
import { hasSecondFactor, needsSecondFactor } from '../identity/session/second-factor.ts';
import { sessionLimits } from '../identity/session/sessions.ts';
import { sayMailKind } from '../mail/kind-words.ts';
import { buildClaims, claimsOfScopes } from '../openid/id-token.ts';
import { type Client, isOpenId } from '../sso/clients.ts';
import { forManager } from './audit.ts';
import { sayChange, sayEvent } from './event-words.ts';

const newest = 50;

export type Person = Awaited<ReturnType<typeof describePerson>>;

/**
 * Everything known about a person. `timeZone` is the reader's. A manager gets no IP addresses, and only name, email address and
 * role of staff in the same account.
 */
export async function describePerson(
  deps: ObstacleDeps,
  target: User,
  { isManager = false, timeZone = null }: { isManager?: boolean; timeZone?: string | null } = {},
) {
  const { db, now } = deps;
  const { account, nameEditedAt: _edited, timeZone: _zone, ...facts } = target;
  const { id } = facts;
  const hide = <T extends { address: string | null }>({ address, ...row }: T) => ({
    ...row,
    address: isManager ? undefined : address,
  });
  const others = (await listUsersOfAccount(db, account.id)).filter((each) => each.id !== id);
  const [
    decided,
    links,
    factors,
    codesLeft,
    sessions,
    refused,
    mails,
    contracts,
    invoices,
    details,
    history,
    activity,
    notes,
    zone,
  ] = await Promise.all([
    findDecided(db, account.id),
    listLinksOfAccount(db, account.id),
    listFactorsOf(db, id),
    countRecoveryCodes(db, id),
    listSessions(db, id, sessionLimits(now())),
    listRefusedTries(db, id),
    listMailsOf(db, id),
    listContracts(db, account.id),
    listInvoices(db, account.id),
    findBillingDetails(db, account.id),
    listNewestChanges(db, { userId: id, accountId: account.id, limit: newest }),
    listAuditEvents(db, { person: id, isWithoutStaff: false, limit: newest }),
    listNotes(db, id),
    findZone(db),
  ]);
  const vatCheck = details?.vatId
    ? await findVatCheck(db, { accountId: account.id, vatId: details.vatId })
    : undefined;
  /** The staff in the account, whom a manager does not see in full. */
  const hidden = new Set(
    isManager ? others.filter(({ role }) => isStaffRole(role)).map((each) => each.id) : [],
  );
  const authorIds = [
    ...[...activity, ...history].flatMap(({ actorId }) => actorId ?? []),
    ...notes.flatMap(({ authorId }) => authorId ?? []),
  ];
  const authors = await listNames(db, [...new Set(authorIds)]);
  const triedFrom = new Set(refused.flatMap(({ address }) => address ?? []));
  return {
    ...facts,
    state: stateOf(target),
    account: {
      id: account.id,
      name: account.name,
      granted: account.capabilities,
      active: listActiveCapabilities(account),
      verifiedAt: account.verifiedAt,
      decided: {
        granted: decided?.granted ?? [],
        revoked: decided?.revoked ?? [],
        verified: decided?.verified ?? null,
      },
      others: others.map(({ id: otherId, name, email, role }) => ({ id: otherId, name, email, role })),
    },
    ...(await findObstacles(deps, target, [...triedFrom])),
    /** The new email address whose link has not been used yet. */
    newAddress: (await describePendingNewAddress(db, id, now())) ?? null,
    /** The current email address, and the email addresses that the person can have back. */
    mailboxes: (await listMailboxes(db, target, now())).map(({ email }) => email),
    factors,
    codesLeft,
    sessions: sessions.map(({ userAgent, ...session }) =>
      hide({ ...session, device: describeDevice(userAgent) }),
    ),
    refused: refused.map(hide),
    links: links.filter(({ userId }) => !hidden.has(userId)),
    mails: mails.map((mail) => ({ ...mail, what: sayMailKind(mail.kind) })),
    contracts: contracts.map((contract) => ({
      id: contract.id,
      signupId: contract.signupId,
      plan: contract.plan,
      ...describeEnd(zone, contract, now()),
      trialEndsAt: contract.trialEndsAt,
      cancelsAt: contract.cancelsAt,
      price: contract.price && { ...contract.price, minorDigits: minorDigits(contract.price.currency) },
    })),
    invoices: invoices.map((invoice) => ({
      ...invoice,
      isOverdue: invoice.status === 'open' && invoice.dueAt <= now(),
      minorDigits: minorDigits(invoice.currency),
    })),
    /** Null if nobody has given billing details. */
    billing: details ? { ...details, vatCheck: vatCheck ?? null } : null,
    notes,
    history: history.map((change) => ({
      ...change,
      ...(hidden.size > 0 && change.subject === 'account' && { why: null }),
      ...sayChange(change, { findLastDay: findLastDayIn(zone, contracts, now()), timeZone }),
    })),
    activity: activity.map((event) => ({
      ...(isManager ? forManager(event) : event),
      what: sayEvent(event),
    })),
    authors,
  };
}

type PersonState = 'frozen' | 'suspended' | 'leaving' | 'unproved' | 'active';

/** Returns the first state that applies. */
export function stateOf({
  frozenAt,
  suspendedAt,
  deletionDueAt,
  emailVerifiedAt,
}: Pick<User, 'frozenAt' | 'suspendedAt' | 'deletionDueAt' | 'emailVerifiedAt'>): PersonState {
  if (frozenAt) return 'frozen';
  if (suspendedAt) return 'suspended';
  if (deletionDueAt) return 'leaving';
  return emailVerifiedAt ? 'active' : 'unproved';
}

/** Returns, for each client, the JSON that a launch would sign now, or why a launch would not sign any. */
export async function wouldGet(deps: Dependencies, staff: Staff, id: string): Promise<WouldGet[]> {
  const target = await findPerson(deps.db, id);
  if (!target) throw new AppError('not_found');
  if (!mayLook(looks['people.wouldGet'], staff.session.user.role, target)) throw new AppError('not_allowed');
  await countLook(deps, staff, { userId: id });
  return listWouldGet(deps, target);
}

const scopes = Object.keys(claimsOfScopes);

export function listWouldGet(
  { config, clients }: Pick<Dependencies, 'config' | 'clients'>,
  target: User,
): WouldGet[] {
  return clients.list().map((client) => {
    const { name, title } = client;
    const why = findLaunchStop(config, client, target);
    if (why) return { client: name, title, stop: { rule: stopRules[why], why } };
    if (isOpenId(client))
      return { client: name, title, claims: { sub: target.id, ...buildClaims(target, scopes) } };
    const payload = { iss: config.issuer, aud: name, client: name, profile: buildStandardProfile(target) };
    return { client: name, title, payload };
  });
}

type WouldGet = {
  client: string;
  title: string;
  payload?: Record<string, unknown>;
  /** What a client of OpenID Connect would get if it asked for every scope. */
  claims?: Record<string, unknown>;
  stop?: { rule: string; why: string };
};

const stopRules = {
  suspended: '4.20',
  leaving: '4.19',
  unproved: '4.17',
  not_let_in: '13.52',
  no_factor: '4.18',
  no_factor_for_client: '13.55',
} as const;

/**
 * Returns what stops every launch of the person to the client, in any session. A launch asks for a second factor if it needs
 * one. So a factor is missing only if the person has none.
 */
function findLaunchStop(
  config: Dependencies['config'],
  client: Client,
  user: User,
): keyof typeof stopRules | undefined {
  const stop = findStop(client, user);
  if (stop || hasSecondFactor(user)) return stop;
  if (needsSecondFactor(config, user)) return 'no_factor';
  return client.needsFactor ? 'no_factor_for_client' : undefined;
}
