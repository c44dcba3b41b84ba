// What the accounts of people may do: decisions of staff about capabilities and the verification.
import {
  type Account,
  type Decision,
  decideCapability,
  decideVerification,
  findDecided,
} from '../../db/tables/accounts.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import type { User } from '../../db/tables/users.ts';
import { type ActContext, act, person } from '../acts/act.ts';
import { readOneOf } from '../acts/fields.ts';
import { capabilities } from '../identity/ground/capabilities.ts';
import { notify } from '../identity/ground/notices.ts';

export const verification = 'verification';

type Decided = 'grant' | 'revoke' | 'verify' | 'unverify' | 'undecide';

/** A decision is kept even if the account already has the right, because the marketplace may take back a right that it gave. */
const decide = (name: Decided, decision: Decision, ...choices: string[]) =>
  act({
    about: person,
    right: { name: 'people.decide', manager: 'customers', isAboutAccount: true },
    event: `staff.${name}`,
    locksLinks: true,
    command: {
      name: `account:${name}`,
      ...(choices.length > 0 && { takes: { capability: '<what>' } }),
      needsWhy: true,
      json: ({ account }) => ({
        capabilities: [...account.capabilities].sort(),
        verified: account.verifiedAt !== null,
      }),
    },
    fields: { capability: choices.length > 0 ? readOneOf(...choices) : () => verification },
    formBasis: (db, { account }) => findDecided(db, account.id),
    async do(context, { capability: what }) {
      const account = await decideOne(context, what, decision);
      if (!account) return undefined;
      await tellOfRights(context, account);
      return { what };
    },
  });

const reasons = new Map<Decision, string>([
  [true, 'yes'],
  [false, 'no'],
  [null, 'undecided'],
]);

/** Returns the changed account, or undefined if this was decided already. */
async function decideOne(
  { trx, target, record }: ActContext<User>,
  what: string,
  decision: Decision,
): Promise<Account | undefined> {
  const { id } = target.account;
  const isVerification = what === verification;
  const account = isVerification
    ? await decideVerification(trx, id, decision)
    : await decideCapability(trx, id, what, decision);
  const type = isVerification ? 'verification.decided' : 'capability.decided';
  if (account) record({ type, reason: reasons.get(decision), details: { what } });
  return account;
}

/** Sends a mail only if the change gives the account a right, or takes one away. */
async function tellOfRights({ trx, deps, target }: ActContext<User>, account: Account): Promise<void> {
  const has = ({ verifiedAt, capabilities: held }: typeof account, what: (typeof rights)[number]) =>
    what === verification ? verifiedAt !== null : held.includes(what);
  const changed = rights.filter((what) => has(account, what) !== has(target.account, what));
  if (changed.length === 0) return;
  const to = changed.map((what) => (has(account, what) ? 'yes' : 'no')).join(' ');
  await notify(trx, deps, target, 'rights_decided', undefined, { what: changed.join(' '), to });
}

const rights = [verification, ...capabilities] as const;

/** Each decision about a right, with the types of its audit events: for the verification, and for a capability. */
const decisions = [
  ['yes', true, 'staff.verify', 'staff.grant'],
  ['no', false, 'staff.unverify', 'staff.revoke'],
  ['undecided', null, 'staff.undecide', 'staff.undecide'],
] as const;
const readDecision = readOneOf('yes', 'no', 'undecided', '');

/** Decides about several rights in one act. A right stays as it is if its field is empty. */
const decideRights = act({
  about: person,
  right: { name: 'people.decideRights', manager: 'customers', isAboutAccount: true },
  offers: () => [{}],
  locksLinks: true,
  fields: Object.fromEntries(rights.map((what) => [what, readDecision])) as Record<
    (typeof rights)[number],
    typeof readDecision
  >,
  formBasis: (db, { account }) => findDecided(db, account.id),
  async do(context, read) {
    const { trx, target, by } = context;
    let account: Account | undefined;
    for (const what of rights) {
      const found = decisions.find(([written]) => written === read[what]);
      if (!found) continue;
      const [, decision, ofVerification, ofCapability] = found;
      const changed = await decideOne(context, what, decision);
      if (!changed) continue;
      account = changed;
      deferAuditEvent(trx, {
        ...by.trail,
        type: what === verification ? ofVerification : ofCapability,
        userId: target.id,
        details: { ...by.trail.details, what },
      });
    }
    if (!account) return undefined;
    await tellOfRights(context, account);
    return {};
  },
});

/** The acts, by the intent of their form. */
export const rightsActs = {
  verify: decide('verify', true),
  unverify: decide('unverify', false),
  grant: decide('grant', true, ...capabilities),
  revoke: decide('revoke', false, ...capabilities),
  undecide: decide('undecide', null, ...capabilities, verification),
  decide: decideRights,
};
