// Invitations to the staff: how administrators list, send and withdraw them (contract 12.210 to 12.213 and 12.218 to 12.221).
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../db/postgres/client.ts';
import type { DB } from '../../db/schema.ts';
import { findAddressOwner } from '../../db/tables/address-owners.ts';
import { endInvitationTokens, type MailTokenEnd } from '../../db/tables/mail-tokens.ts';
import { deferMail, deleteUnsentInvitations } from '../../db/tables/mails.ts';
import {
  deleteInvitation,
  findInvitation,
  type Invitation,
  listInvitations,
  lockInvitation,
  setInvitation,
} from '../../db/tables/staff-invitations.ts';
import { listNames } from '../../db/tables/staff-views.ts';
import { act, digestBasis, offerIf, type Subject } from '../acts/act.ts';
import { readOneOf, refuse } from '../acts/fields.ts';
import { AppError } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import { daysAfter } from '../basics/instant.ts';
import { isUuid } from '../basics/uuid.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { requireAllowance, spendAllowance } from '../identity/ground/allowances.ts';
import { readNewEmailAddress } from '../identity/ground/email-address.ts';
import { tellOtherAdministrators } from '../identity/ground/tell-administrators.ts';

const openDays = 1;
/**
 * The most invitations that the list shows. Each administrator sends at most 20 invitations a day, and an invitation lasts a
 * day.
 */
const maxListed = 200;

const listOpen = (db: Database, now: Date) => listInvitations(db, { now, limit: maxListed });

/**
 * The facts that the form for an invitation is made from. Once the list has changed, an older form is out of date. So a form that
 * is sent twice sends one invitation.
 */
const seenOfAll = (open: Invitation[]) => open.map(({ id }) => id);

/** Returns the open invitations, the newest first, with the names of the people in them. */
export async function listOpenInvitations({ db, now }: Pick<Dependencies, 'db' | 'now'>) {
  const open = await listOpen(db, now());
  const ids = open.flatMap(({ invitedBy, takenBy }) => [invitedBy, takenBy]).filter((id) => id !== null);
  return {
    invitations: open.map((each) => ({ ...each, seen: digestBasis(each.id) })),
    people: await listNames(db, [...new Set(ids)]),
    seen: digestBasis(seenOfAll(open)),
  };
}

/** Somebody without an account, about whom nothing is known. */
const newcomer: Subject<object> = {
  name: 'newcomer',
  keys: [],
  mayLackSeen: true,
  find: async () => ({ thing: {}, accountId: null, userId: null }),
  answer: (result) => result,
};

const invitation: Subject<Invitation | undefined> = {
  name: 'invitation',
  keys: ['id'],
  async find(db, { id = '' }) {
    if (!isUuid(id)) return undefined;
    return { thing: await findInvitation(db, id), accountId: null, userId: null };
  },
  lock: async (trx, { id = '' }) => isUuid(id) && lockInvitation(trx, id),
  answer: (result) => ({ done: result !== undefined }),
};

/** The caller has locked the invitation. */
async function endLinks(trx: Transaction<DB>, email: string, by: MailTokenEnd): Promise<void> {
  // Unsent mails are deleted first. If one of them is being sent, its row is locked until its token is stored. The deletion
  // waits for that lock, so the next statement ends this token, too.
  await deleteUnsentInvitations(trx, email);
  await endInvitationTokens(trx, email, by);
}

const invite = act({
  about: newcomer,
  right: { name: 'invitations.send' },
  event: 'staff.invite',
  offers: () => [{}],
  command: {
    name: 'user:invite',
    takes: { role: { option: '--role <role>', isRequired: true } },
    needsWhy: true,
    json: (_newcomer, { result }) => ({ ...result }),
  },
  fields: {
    email: (typed, { config }) => readNewEmailAddress(typed, config) ?? refuse('email_malformed'),
    role: readOneOf('manager', 'admin'),
  },
  formBasis: async (db, _newcomer, now) => seenOfAll(await listOpen(db, now)),
  requireAllowance: ({ db }, _newcomer, actorId) => requireAllowance(db, 'staff.invite', actorId),
  async do({ trx, deps, author }, { email, role }) {
    const actorId = author.by === 'staff' ? author.actorId : undefined;
    if (actorId) await spendAllowance(trx, 'staff.invite', actorId);
    const now = deps.now();
    const id = uuidv7();
    // This waits for a request that is accepting an earlier invitation to the same email address. That request may make a user.
    // The search for the address's owner comes later, so that it finds this user.
    await setInvitation(trx, {
      ...{ id, email, role, invitedBy: actorId ?? null },
      ...{ sentAt: now, expiresAt: daysAfter(now, openDays) },
    });
    if (await findAddressOwner(trx, email, now))
      throw new AppError('email_in_use', { detail: faultWords.email_of_other });
    await endLinks(trx, email, 'newer_link');
    const details = { invitation: id, role };
    // An empty `until` puts the mail into the index of mails that people wait for (`mails_awaited_idx`).
    const mail = { userId: null, recipient: email, details: { ...details, until: '' }, now };
    deferMail(trx, { kind: 'invitation', ...mail });
    // The person who sent the invitation gets the warning, too, in case somebody else is using that person's session.
    await tellOtherAdministrators(trx, deps, { kind: 'invitation_sent', actorId, tellsActor: true, details });
    return details;
  },
});

const withdraw = act({
  about: invitation,
  right: { name: 'invitations.withdraw' },
  event: 'staff.withdraw_invitation',
  offers: ({ id }: Pick<Invitation, 'id'>) => offerIf(true, { id }),
  command: { name: 'invitation:withdraw', needsWhy: true },
  fields: {},
  formBasis: (_db, target) => target?.id ?? null,
  async do({ trx, target }) {
    if (!target || !(await deleteInvitation(trx, target.id))) return undefined;
    await endLinks(trx, target.email, 'withdrawn');
    return { invitation: target.id };
  },
});

/** The acts, by the intent of their form. */
export const invitationActs = { invite, withdraw };
