// Acts about a person: staff do them by form, and operators by command (contract 12.16 and 12.25 to 12.30).
import { z } from 'zod';
import type { Database } from '../../db/postgres/client.ts';
import { setDeletionDue } from '../../db/tables/deletions.ts';
import { deleteExternalLink, listExternalLinks } from '../../db/tables/external-links.ts';
import { listSessions } from '../../db/tables/live-sessions.ts';
import { deferMail } from '../../db/tables/mails.ts';
import { listPasskeys } from '../../db/tables/passkeys.ts';
import { deletePendingHandOffs } from '../../db/tables/pending-hand-offs.ts';
import { countRecoveryCodes } from '../../db/tables/recovery-codes.ts';
import { endSessions } from '../../db/tables/sessions.ts';
import { setUserRole, setUserSuspended, type User } from '../../db/tables/users.ts';
import { type ActContext, act, offerIf, person } from '../acts/act.ts';
import { readBy, readOneOf, refuse } from '../acts/fields.ts';
import { AppError, invalidMember } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import { removeFactors } from '../identity/factor/remove-factors.ts';
import { requireAllowance, spendAllowance } from '../identity/ground/allowances.ts';
import { hasOwnLogin } from '../identity/ground/customers.ts';
import { readEmailAddress, readNewEmailAddress } from '../identity/ground/email-address.ts';
import { isFitForRole } from '../identity/ground/invited-role.ts';
import { notify, notifyWithTakeBack } from '../identity/ground/notices.ts';
import { findTimeOfChange } from '../identity/ground/take-back-window.ts';
import { tellOtherAdministrators } from '../identity/ground/tell-administrators.ts';
import { dueAfter } from '../identity/person/deletion.ts';
import { freezeUser, listMailboxes, thaw } from '../identity/recovery/freeze.ts';
import { describePendingNewAddress, offerNewAddress } from '../identity/recovery/new-address.ts';
import { sessionLimits } from '../identity/session/sessions.ts';
import { provider } from '../marketplace/accept-profile.ts';
import { externalIdSchema } from '../marketplace/payload.ts';
import { detailActs } from './detail-acts.ts';
import { leaveNote, removeNote } from './note-acts.ts';
import type { Person } from './person.ts';
import { rightsActs } from './rights-acts.ts';

const suspend = act({
  about: person,
  right: { name: 'people.suspend', manager: 'customers' },
  event: 'staff.suspend',
  offers: ({ suspendedAt }: Person) => offerIf(!suspendedAt),
  command: { name: 'user:suspend', mustChange: ({ frozenAt }) => frozenAt !== null },
  fields: {},
  formBasis: (_db, { suspendedAt, frozenAt }) => ({ suspendedAt, frozenAt }),
  async do({ trx, deps, target, requireOtherAdmin, record }) {
    if (target.suspendedAt) return undefined;
    await requireOtherAdmin();
    await setUserSuspended(trx, target.id, deps.now());
    record({ type: 'user.suspended' });
    await notify(trx, deps, target, 'account_suspended');
    return {};
  },
});

/**
 * For an owner who says that somebody else is in their account. Nobody gets in until an administrator decides whose account
 * it is.
 */
const freeze = act({
  about: person,
  right: { name: 'people.freeze' },
  event: 'staff.freeze',
  offers: ({ frozenAt }: Person) => offerIf(!frozenAt),
  command: { name: 'user:freeze', needsWhy: true },
  fields: {},
  formBasis: suspend.formBasis,
  async do(context) {
    if (context.target.frozenAt) return undefined;
    await freezeNow(context);
    return {};
  },
});

async function freezeNow({ trx, deps, target, author, requireOtherAdmin, record }: ActContext<User>) {
  // A suspended administrator cannot log in, so freezing them takes no administrator away.
  if (!target.suspendedAt) await requireOtherAdmin();
  await freezeUser(trx, deps, target);
  record({ type: 'account.frozen', reason: 'by_staff' });
  await tellOtherAdministrators(trx, deps, {
    kind: 'person_frozen',
    actorId: author.by === 'staff' ? author.actorId : undefined,
    about: target.id,
  });
}

const resume = act({
  about: person,
  right: { name: 'people.resume', manager: 'customers' },
  event: 'staff.resume',
  offers: ({ suspendedAt, frozenAt }: Person) => offerIf(suspendedAt !== null && !frozenAt),
  command: { name: 'user:resume', mustChange: () => true },
  fields: {},
  formBasis: suspend.formBasis,
  async do({ trx, deps, target, record }) {
    if (target.frozenAt) throw new AppError('account_frozen');
    if (!target.suspendedAt) return undefined;
    await setUserSuspended(trx, target.id, null);
    record({ type: 'user.resumed' });
    await notify(trx, deps, target, 'account_resumed');
    return {};
  },
});

const hasSessions = async (db: Database, { id }: User, now: Date) =>
  (await listSessions(db, id, sessionLimits(now))).length > 0;

const endAllSessions = act({
  about: person,
  right: { name: 'people.endSessions', manager: 'customers' },
  event: 'staff.end_sessions',
  offers: ({ sessions }: Person) => offerIf(sessions.length > 0),
  command: { name: 'user:end-sessions', needsWhy: true },
  fields: {},
  // The facts of the form say only whether there are sessions. If they named the sessions, each new login would make the form
  // out of date, and a person who keeps logging in could delay the end of their sessions.
  formBasis: async (db, target, now) => ({ hasSessions: await hasSessions(db, target, now) }),
  async do({ trx, deps, target }) {
    if (!(await hasSessions(trx, target, deps.now()))) return undefined;
    await endSessions(trx, target.id, 'all', deps.now());
    await notify(trx, deps, target, 'sessions_ended');
    return {};
  },
});

const readSession = readBy(z.uuid().toLowerCase(), 'session_gone');

const endSession = act({
  about: person,
  right: { name: 'people.endSession', manager: 'customers' },
  event: 'staff.end_session',
  offers: ({ sessions }: Person) => sessions.map(({ id: session }) => ({ session })),
  command: { name: 'user:end-session', takes: { session: '<session>' }, needsWhy: true },
  fields: { session: readSession },
  formBasis: endAllSessions.formBasis,
  async do({ trx, deps, target }, { session }) {
    const live = await listSessions(trx, target.id, sessionLimits(deps.now()));
    if (!live.some(({ id }) => id === session)) return undefined;
    await endSessions(trx, target.id, { id: session }, deps.now());
    return { session };
  },
});

const sendMail = act({
  about: person,
  right: { name: 'people.sendMail', manager: 'customers' },
  event: 'staff.send_mail',
  offers: ({ suspendedAt, deletionDueAt, emailVerifiedAt }: Person) =>
    suspendedAt || deletionDueAt
      ? []
      : [{ kind: 'set-password' }, ...(emailVerifiedAt ? [] : [{ kind: 'prove-email' }])],
  command: {
    name: 'user:send-mail',
    takes: { kind: { option: '--kind <kind>', isRequired: true } },
    needsWhy: true,
  },
  fields: { kind: readOneOf('set-password', 'prove-email') },
  formBasis: (_db, { email, holdsEmail, emailVerifiedAt }) => ({ email, holdsEmail, emailVerifiedAt }),
  /** All staff share the allowance for one person. */
  async requireAllowance({ db }, { id, suspendedAt, deletionDueAt }) {
    if (suspendedAt || deletionDueAt) throw new AppError('not_allowed');
    try {
      await requireAllowance(db, 'staff.send_mail', id);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new AppError('rate_limited', { detail: faultWords.mails_five, headers: error.headers });
    }
  },
  async do({ trx, deps, target, author, record }, { kind }) {
    const { id: userId, email: recipient, holdsEmail, emailVerifiedAt, suspendedAt, deletionDueAt } = target;
    if (suspendedAt || deletionDueAt) throw new AppError('not_allowed');
    if (kind === 'prove-email' && emailVerifiedAt) return undefined;
    if (author.by === 'staff') await spendAllowance(trx, 'staff.send_mail', userId);
    // A person who holds the email address but has no credential proves the address by setting a password. If the address is
    // only typed, it gets the mail that asks whose it is.
    const asHolder = kind === 'set-password' || !hasOwnLogin(target) ? 'set_password' : 'verify_email';
    const mail = holdsEmail ? asHolder : 'prove_address';
    deferMail(trx, { kind: mail, userId, recipient, details: {}, now: deps.now() });
    const isPassword = mail === 'set_password';
    record(
      isPassword
        ? { type: 'password_link.requested', reason: 'sent' }
        : { type: 'email.verification_requested' },
    );
    return { kind };
  },
});

const hasFactors = ({ factors, codesLeft }: Pick<Person, 'factors' | 'codesLeft'>) =>
  factors.length > 0 || codesLeft > 0;

const removeAllFactors = act({
  about: person,
  right: { name: 'people.removeFactors', manager: 'customers' },
  event: 'staff.remove_factors',
  offers: (shown: Person) => offerIf(hasFactors(shown)),
  command: { name: 'user:remove-factors', mustChange: () => true },
  fields: {},
  async formBasis(db, { id, codeFactors, hasPasskey }) {
    const passkeys = hasPasskey ? (await listPasskeys(db, id)).map((each) => each.id).sort() : [];
    return { passkeys, codeFactors, codes: await countRecoveryCodes(db, id) };
  },
  async do({ trx, deps, target, author, requireOtherAdmin, record }) {
    let keepsPassword = false;
    try {
      await requireOtherAdmin();
    } catch (error) {
      // The only administrator must still be able to log in, so an operator removes only the factors and keeps the password.
      if (author.by === 'staff') throw error;
      keepsPassword = true;
    }
    return (await removeFactors(trx, deps, target, { keepsPassword, record })) ? {} : undefined;
  },
});

const changeRole = act({
  about: person,
  right: { name: 'people.setRole' },
  event: 'staff.change_role',
  offers: () => [{}],
  command: { name: 'user:role', takes: { role: '<role>' }, needsWhy: true, json: ({ role }) => ({ role }) },
  locksLinks: true,
  fields: { role: readOneOf('user', 'manager', 'admin') },
  formBasis: (_db, { role }) => ({ role }),
  async do({ trx, deps, target, author, requireOtherAdmin }, { role }) {
    if (target.role === role) return undefined;
    if (role !== 'user' && !(await isFitForRole(trx, target)))
      throw new AppError('not_allowed', { detail: faultWords.role_not_fit });
    if (role !== 'admin') await requireOtherAdmin();
    await setUserRole(trx, target.id, role);
    await endSessions(trx, target.id, 'all', deps.now());
    const change = { was: target.role, role };
    await notify(trx, deps, target, 'role_changed', undefined, change);
    const actorId = author.by === 'staff' ? author.actorId : undefined;
    if (role !== 'user')
      await tellOtherAdministrators(trx, deps, {
        kind: 'role_granted',
        actorId,
        about: target.id,
        details: change,
      });
    return { role };
  },
});

const planDeletion = act({
  about: person,
  right: { name: 'people.planDeletion' },
  event: 'staff.plan_deletion',
  offers: ({ deletionDueAt }: Person) => offerIf(!deletionDueAt),
  fields: {},
  formBasis: (_db, { deletionDueAt }) => ({ deletionDueAt }),
  async do({ trx, deps, target, requireOtherAdmin, record }) {
    if (target.deletionDueAt) return undefined;
    await requireOtherAdmin();
    const at = await findTimeOfChange(trx, deps, target.id);
    await setDeletionDue(trx, target.id, dueAfter(at));
    record({ type: 'user.deletion_requested' });
    await notifyWithTakeBack(trx, deps, target, 'deletion_requested', { at, what: 'by_support' });
    return {};
  },
});

const keep = act({
  about: person,
  right: { name: 'people.keep' },
  event: 'staff.keep',
  offers: ({ deletionDueAt }: Person) => offerIf(deletionDueAt !== null),
  command: { name: 'user:keep', needsWhy: true },
  fields: {},
  formBasis: planDeletion.formBasis,
  async do({ trx, deps, target, record }) {
    if (!target.deletionDueAt) return undefined;
    await setDeletionDue(trx, target.id, null);
    record({ type: 'user.deletion_canceled' });
    await notify(trx, deps, target, 'deletion_canceled', undefined, { what: 'by_support' });
    return {};
  },
});

const readRemoval = (typed: string) => readOneOf('yes', 'no', '')(typed) === 'yes';

const changeEmail = act({
  about: person,
  right: { name: 'people.changeEmail', admin: 'customers' },
  event: 'staff.change_email',
  offers({ suspendedAt, role, ...shown }: Person) {
    const mayChange = !suspendedAt && role === 'user';
    return [
      ...offerIf(mayChange, { removeFactors: 'no' }),
      ...offerIf(mayChange && hasFactors(shown), { removeFactors: 'yes' }),
    ];
  },
  command: {
    name: 'user:change-email',
    takes: { email: '<new>', removeFactors: { option: '--remove-factors', values: ['yes', 'no'] } },
    asks: 'always',
    needsWhy: true,
  },
  fields: {
    email: (typed, { config }) => readNewEmailAddress(typed, config) ?? refuse('email_malformed'),
    removeFactors: readRemoval,
  },
  formBasis: async (db, { id, email }, now) => ({
    email,
    pending: await describePendingNewAddress(db, id, now),
  }),
  async do({ trx, deps, target }, { email, removeFactors: removesFactors }) {
    await offerNewAddress(trx, deps, { user: target, email, removesFactors });
    return { removesFactors: removesFactors ? 'yes' : 'no' };
  },
});

/**
 * Ends a freeze or a suspension. An account that is not frozen but goes back to an earlier address is frozen first, so that its
 * people are told and logged out as by any freeze.
 */
const endFreeze = act({
  about: person,
  right: { name: 'people.thaw' },
  event: 'staff.thaw',
  offers: ({ suspendedAt, mailboxes }: Person) => offerIf(suspendedAt !== null || mailboxes.length > 1),
  locksLinks: true,
  fields: {
    keep: (typed) => readEmailAddress(typed) ?? refuse('email_malformed'),
    removeFactors: readRemoval,
  },
  formBasis: async (db, target, now) => ({
    frozenAt: target.frozenAt,
    mailboxes: (await listMailboxes(db, target, now)).map(({ email }) => email),
    ...(!target.suspendedAt && { isOpen: true }),
  }),
  async do(context, { keep: kept, removeFactors: removesFactors }) {
    const { trx, deps, target, trail, record } = context;
    const isMoved = kept !== target.email;
    if (!target.suspendedAt && !isMoved) return undefined;
    const isToFreeze = isMoved && !target.frozenAt;
    if (isToFreeze) await freezeNow(context);
    const now = deps.now();
    const frozen = isToFreeze ? { ...target, suspendedAt: target.suspendedAt ?? now, frozenAt: now } : target;
    if (!(await thaw(trx, deps, frozen, { keep: kept, removesFactors, trail, record })))
      throw invalidMember('/keep', faultWords.keep_unknown);
    return { removesFactors: removesFactors ? 'yes' : 'no' };
  },
});

const readExternalId = readBy(externalIdSchema, 'choice_missing');

const removeLink = act({
  about: person,
  right: { name: 'people.removeLink' },
  event: 'staff.remove_link',
  offers: ({ links, id }: Person) =>
    links.filter(({ userId }) => userId === id).map(({ externalId }) => ({ externalId })),
  locksLinks: true,
  fields: { externalId: readExternalId },
  formBasis: async (db, { id }) => (await listExternalLinks(db, id)).map(({ externalId }) => externalId),
  async do({ trx, deps, target, record }, { externalId }) {
    const { id: userId } = target;
    if (!(await deleteExternalLink(trx, { provider, externalId, userId }))) return undefined;
    await deletePendingHandOffs(trx, userId);
    // Ends all sessions that a hand-off started, except sessions in which a credential was given later.
    await endSessions(trx, userId, 'byHandOff', deps.now());
    record({ type: 'link.removed', details: { provider, id: externalId } });
    await notify(trx, deps, target, 'link_removed');
    return {};
  },
});

/** The acts, by the intent of their form. */
export const peopleActs = {
  suspend,
  freeze,
  resume,
  thaw: endFreeze,
  'end-session': endSession,
  'end-sessions': endAllSessions,
  'send-mail': sendMail,
  'remove-factors': removeAllFactors,
  ...rightsActs,
  'change-role': changeRole,
  'plan-deletion': planDeletion,
  keep,
  'change-email': changeEmail,
  'remove-link': removeLink,
  note: leaveNote,
  'delete-note': removeNote,
  ...detailActs,
};
