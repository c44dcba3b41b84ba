// What staff do by a form or a program, and operators by command (contract 12.14 to 12.23): what an act is, and the one way in
// which each is done.

import type { Transaction } from 'kysely';
import { encodeHex } from 'oslo/encoding';
import type { Database } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import type { AuditEventType } from '../../db/tables/audit-event-types.ts';
import { type AuditEvent, deferAuditEvent } from '../../db/tables/audit-events.ts';
import { lockExternalLinks } from '../../db/tables/external-links.ts';
import { lockOpenSession } from '../../db/tables/sessions.ts';
import { findUserById, listUsersOfAccount, lockUsers, type User } from '../../db/tables/users.ts';
import { AppError } from '../basics/errors.ts';
import type { textBounds } from '../basics/text.ts';
import { isUuid } from '../basics/uuid.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { type AuthorTrail, type Recorder, trailOf } from '../identity/ground/trail.ts';
import { isLastAdmin } from '../identity/person/deletion.ts';
import { sha256 } from '../runtime/hash.ts';
import type { Visit } from '../web/requests.ts';
import { type Fields, type Given, readFields } from './fields.ts';
import { type About, mayAct, mayDo, type Right } from './rights.ts';
import { countLook, isStaff, originOf, requireStaffConfirmed, type Staff } from './staff.ts';
import { readWhy } from './why.ts';

/** What an act is about, and whose it is. Ids are null if it is nobody's, or once they are erased. */
export type Found<Thing> = About & { thing: Thing; userId: string | null };

/** A kind of thing that acts are about. */
export type Subject<Thing> = {
  name: 'person' | 'invoice' | 'payment' | 'contract' | 'mail' | 'settings';
  /** The fields that name such a thing. */
  keys: (keyof typeof textBounds)[];
  /** Takes no lock. Undefined: there is no such thing. */
  find: (db: Database, given: Given) => Promise<Found<Thing> | undefined>;
  /** Locks what forms about it are made from, so that `find` finds what is true until the end. */
  lock?: (trx: Transaction<DB>, given: Given) => Promise<unknown>;
  /** Programs may leave `seen` out (contract 7.152). */
  mayLackSeen?: true;
  /** It is somebody, whom `id` names. They are locked with whoever acts. All else is hidden from managers. */
  isPerson?: true;
  /** What programs get of what the act returns. */
  answer: (result: unknown) => unknown;
};

/** Who acts: somebody of the staff, or an operator by a command. */
export type Author =
  | { by: 'staff'; actorId: string; why: string; visit: Visit }
  | { by: 'operator'; why?: string | undefined; name: string; systemUser: string };

/** What the audit keeps of who does something with money. */
export type PaymentTrail = Omit<AuditEvent, 'type' | 'reason' | 'details'> & {
  details: { by: 'payments' | 'staff' | 'cli'; [name: string]: string };
};

/** What an act works with. */
export type ActContext<Thing> = {
  trx: Transaction<DB>;
  deps: Pick<Dependencies, 'now' | 'config' | 'endsWithPerson'>;
  target: Thing;
  author: Author;
  /** Throws 409 `last_admin` if no administrator but the person could log in. */
  requireOtherAdmin: () => Promise<void>;
  /** What events that the person reads say of the author. */
  trail: AuthorTrail;
  /** Records an event about the person, with that. */
  record: Recorder;
  /** What other events say of the author: also from where, and by which operator. */
  by: { now: Date; recordedBy: 'staff' | 'operator'; trail: PaymentTrail };
};

export type Act<Thing, Read, Result, Name = string> = {
  /** Whose it is, by the name of its procedure below `admin`. */
  right: Right & { name: Name };
  about: Subject<Thing>;
  fields: Fields<Thing, Read>;
  /** What its form is made from: an act that was asked for when this was something else is not done (contract 12.19). */
  formBasis: (db: Database, target: Thing, now: Date) => unknown;
  /** Of what the act is never done: 403 `not_allowed`. */
  isNever?: (target: Thing) => boolean;
  /** The act looks at marketplace links, which are locked before their user, as everywhere. */
  locksLinks?: true;
  /** Throws 429 `rate_limited`, before anything is done. */
  requireAllowance?: (deps: Pick<Dependencies, 'db'>, target: Thing, actorId: string) => Promise<void>;
  /** The event that it leaves in the audit, beside those of what it changes, with what `do` returns. */
  event?: AuditEventType;
  /** Which of its forms make sense for what a page shows: of each, the fields that say what it is about. */
  // biome-ignore lint/suspicious/noExplicitAny: each page shows what is its own
  offers?: (shown: any) => Given[];
  command?: ByCommand<Thing>;
  /** Does it. It locks what else it changes. Undefined: there was nothing to do. */
  do: (context: ActContext<Thing>, read: Read) => Promise<Result | undefined>;
};

/** For `offers`: one form, or none. */
export const offerIf = (makesSense: boolean, about: Given = {}): Given[] => (makesSense ? [about] : []);

/** How operators do it (contract 12.37 to 12.47). What the command says is in server/staff/act-words.ts. */
type ByCommand<Thing> = {
  name: string;
  /** What it takes beside what the act is about, in that order, by the field that gets it. */
  takes?: { [field: string]: Taken };
  needsWhy?: true;
  /** What scripts ran before there was a question asks on a terminal only. Other questions need `--yes` elsewhere. */
  asks?: 'always' | 'on a terminal';
  /** Whether it is refused if there is nothing to change. */
  mustChange?: (target: Thing) => boolean;
  /** What programs get beside `done`, `intent` and `id`, or instead of them. `result` is what `do` returned. */
  // biome-ignore lint/suspicious/noExplicitAny: it is what `do` of the same act returned
  json?: (target: Thing, more: { given: Given; result: any }) => Record<string, unknown> & { done?: boolean };
};

/** An argument, such as `<role>`, or an option. One without a value stands for the first of `values`, and else for the second. */
type Taken = string | { option: string; isRequired?: true; values?: [string, string] };

// biome-ignore lint/suspicious/noExplicitAny: each act does what it has found and read itself
export type AnyAct = Act<any, any, any>;

/** States an act: it has the types of what it is about, and of its fields. */
export const act = <Thing, Read, Result, Name extends string>(
  stated: Act<Thing, Read, Result, Name>,
): Act<Thing, Read, Result, Name> => stated;

/** What a form that is about this was made from, as SHA-256 in hex of its JSON. */
export const digestBasis = (about: unknown): string => encodeHex(sha256(JSON.stringify(about)));

/** Throws 404 `not_found` for whoever of the staff may not do that, as if it were not there. */
export function requireRight({ session }: Pick<Staff, 'session'>, right: Right): void {
  if (!mayDo(right, session.user.role)) throw new AppError('not_found');
}

/** What every act asks for. */
export type Asked = Given & { why: string; seen?: string | undefined };

/** Throws what contract 12.14 says, in that order. Without `seen` nothing is compared. */
export async function actAsStaff<Thing, Read, Result>(
  deps: Dependencies,
  staff: Staff,
  asked: Act<Thing, Read, Result>,
  { why: typed, seen, ...given }: Asked,
): Promise<Result | undefined> {
  const { user: actor, id: sessionId } = staff.session;
  const { about, right } = asked;
  if (!about.isPerson) requireRight(staff, right);
  const requireMay = (whoever: User, found: Found<Thing>) => {
    if (!mayAct(right, whoever, found) || asked.isNever?.(found.thing)) throw new AppError('not_allowed');
  };
  const known = await about.find(deps.db, given);
  if (!known) throw new AppError('not_found');
  requireMay(actor, known);
  requireStaffConfirmed(deps, staff);
  const fields = { ...asked.fields, why: readWhy } as Fields<Thing, Read & { why: string }>;
  const read = await readFields(fields, { ...given, why: typed }, { ...deps, thing: known.thing });
  const { why } = read;
  if (known.userId) await countLook(deps, staff, { userId: known.userId });
  await asked.requireAllowance?.(deps, known.thing, actor.id);
  return inTransaction(
    deps.db,
    originOf(staff, why),
    async (trx) => {
      const locked = await lockPeople(trx, asked, given, actor.id);
      const present = locked.find(({ id }) => id === actor.id);
      if (!present || !(await lockOpenSession(trx, sessionId))) throw new AppError('login_required');
      const found = await findLocked(trx, asked, given);
      if (!isStaff(present)) throw new AppError('not_allowed');
      requireMay(present, found);
      if (seen !== undefined && (await digestFormBasis(trx, asked, found.thing, deps.now())) !== seen)
        throw new AppError('edited_meanwhile');
      const author = { by: 'staff', actorId: actor.id, why, visit: staff.visit } as const;
      return doAct(trx, deps, asked, { found, author, read });
    },
    { deadline: staff.visit.deadline },
  );
}

/** Does what an operator asks for, in the transaction of a command. Throws 404 `not_found`, 403 `not_allowed` and 422. */
export async function actAsOperator<Thing, Read, Result>(
  trx: Transaction<DB>,
  deps: ActContext<Thing>['deps'],
  asked: Act<Thing, Read, Result>,
  { given, author }: { given: Given; author: Author },
): Promise<Result | undefined> {
  await lockPeople(trx, asked, given);
  const found = await findLocked(trx, asked, given);
  if (asked.isNever?.(found.thing)) throw new AppError('not_allowed');
  const read = await readFields(asked.fields, given, { ...deps, db: trx, thing: found.thing });
  return doAct(trx, deps, asked, { found, author, read });
}

/** Locks the person and whoever acts, and before them the links. The result are those who are there. */
async function lockPeople(
  trx: Transaction<DB>,
  { about, locksLinks }: AnyAct,
  { id = '' }: Given,
  actorId = '',
) {
  if (locksLinks) await lockExternalLinks(trx, id);
  const ids = [actorId, about.isPerson ? id : ''].filter((each) => each !== '');
  return ids.length > 0 ? lockUsers(trx, ids) : [];
}

async function findLocked<Thing>(
  trx: Transaction<DB>,
  { about }: { about: Subject<Thing> },
  given: Given,
): Promise<Found<Thing>> {
  await about.lock?.(trx, given);
  const found = await about.find(trx, given);
  if (!found) throw new AppError('not_found');
  return found;
}

async function doAct<Thing, Read, Result>(
  trx: Transaction<DB>,
  deps: ActContext<Thing>['deps'],
  asked: Act<Thing, Read, Result>,
  { found, author, read }: { found: Found<Thing>; author: Author; read: Read },
): Promise<Result | undefined> {
  const { thing: target, userId } = found;
  const about = userId !== null && { userId };
  const { trail, whole } = trailsOf(author);
  const record: Recorder = (event) =>
    deferAuditEvent(trx, { ...trail, ...event, ...about, details: { ...trail.details, ...event.details } });
  const result = await asked.do(
    {
      ...{ trx, deps, target, author, trail, record },
      async requireOtherAdmin() {
        if (await isLastAdmin(trx, target as User)) throw new AppError('last_admin');
      },
      by: { now: deps.now(), recordedBy: author.by, trail: whole },
    },
    read,
  );
  if (result !== undefined && asked.event !== undefined)
    deferAuditEvent(trx, {
      ...{ ...whole, ...about, type: asked.event },
      details: { ...whole.details, ...result },
    });
  return result;
}

/** `trail` is what events that the person reads say of whoever acts, `whole` what others say. */
export function trailsOf(author: Author): { trail: AuthorTrail; whole: PaymentTrail } {
  if (author.by === 'operator') {
    const { why, name: operator, systemUser } = author;
    return {
      trail: { why, details: { by: 'cli' } },
      whole: { why, details: { by: 'cli', operator, systemUser } },
    };
  }
  const { actorId, why, visit } = author;
  const trail = { actorId, why, details: { by: 'staff' } } as const;
  return { trail: { ...trail, requestId: visit.requestId }, whole: { ...trail, ...trailOf(visit) } };
}

/** What the form of an act is made from now. */
export const digestFormBasis = async <Thing>(
  db: Database,
  { formBasis }: Pick<Act<Thing, never, unknown>, 'formBasis'>,
  target: Thing,
  now: Date,
): Promise<string> => digestBasis(await formBasis(db, target, now));

/** The person with that id, without a lock. */
export const findPerson = async (db: Database, id: string): Promise<User | undefined> =>
  isUuid(id) ? findUserById(db, id) : undefined;

/** Somebody, whom `id` names. */
export const person: Subject<User> = {
  name: 'person',
  keys: ['id'],
  isPerson: true,
  async find(db, { id = '' }) {
    const thing = await findPerson(db, id);
    if (!thing) return undefined;
    const { account } = thing;
    const people = [thing, ...(await listUsersOfAccount(db, account.id)).filter((each) => each.id !== id)];
    return { thing, accountId: account.id, userId: id, people };
  },
  answer: (result) => (result === undefined ? 'nothing' : 'done'),
};
