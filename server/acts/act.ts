// Acts: what staff do by form or program, and operators by command (contract 12.14 to 12.22). Every act goes through here.

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
import { isConfirmed } from '../identity/session/sessions.ts';
import { sha256 } from '../runtime/hash.ts';
import type { Visit } from '../web/requests.ts';
import { type Field, type Fields, type Given, readFields } from './fields.ts';
import { type About, mayAct, mayDo, type Right } from './rights.ts';
import { countLook, isStaff, originOf, type Staff } from './staff.ts';
import { readWhy } from './why.ts';

/** The thing that an act is about, and its owner. The ids are null if there is no owner, or the owner was erased. */
export type Found<Thing> = About & { thing: Thing; userId: string | null };

export type Subject<Thing> = {
  name:
    | 'person'
    | 'invoice'
    | 'payment'
    | 'contract'
    | 'mail'
    | 'settings'
    | 'newcomer'
    | 'invitation'
    | 'client'
    | 'new_client';
  keys: (keyof typeof textBounds)[];
  /** This function takes no lock. */
  find: (db: Database, given: Given, config: Dependencies['config']) => Promise<Found<Thing> | undefined>;
  /** Locks the rows that the forms are made from, so that the result of `find` stays true until the transaction ends. */
  lock?: (trx: Transaction<DB>, given: Given) => Promise<unknown>;
  /** True if programs may leave out `seen`, the digest of the facts that a form is made from (contract 7.152). */
  mayLackSeen?: true;
  /**
   * True if `id` names a person. Then an act locks that person and the author. For every other kind of thing, staff without the
   * right get 404.
   */
  isPerson?: true;
  answer: (result: unknown) => unknown;
};

export type Author =
  | { by: 'staff'; actorId: string; why?: string | undefined; visit: Visit }
  | { by: 'operator'; why?: string | undefined; name: string; systemUser: string };

export type PaymentTrail = Omit<AuditEvent, 'type' | 'reason' | 'details'> & {
  details: { by: 'payments' | 'staff' | 'cli'; [name: string]: string };
};

export type ActContext<Thing> = {
  trx: Transaction<DB>;
  deps: Pick<Dependencies, 'now' | 'config' | 'endsWithPerson'>;
  target: Thing;
  author: Author;
  /** Throws 409 `last_admin` if no other administrator could log in. */
  requireOtherAdmin: () => Promise<void>;
  /** What an event says about the author, if the person that the act is about can read the event. */
  trail: AuthorTrail;
  record: Recorder;
  by: { now: Date; recordedBy: 'staff' | 'operator'; trail: PaymentTrail };
};

export type Act<Thing, Read, Result, Name = string> = {
  /** `name` is the name of the act's procedure below `admin`. */
  right: Right & { name: Name };
  about: Subject<Thing>;
  fields: Fields<Thing, Read>;
  /** The fields of the act's form, if the form must ask for more than programs and commands have to give. */
  formFields?: Record<string, Field<Thing>>;
  /** The facts that the form is made from. If they have changed since, the act is refused (contract 12.19). */
  formBasis: (db: Database, target: Thing, now: Date) => unknown;
  /** If true, the act is refused with 403 `not_allowed`. */
  isNever?: (target: Thing) => boolean;
  /** True if the act reads marketplace links. Then the links are locked before their user. */
  locksLinks?: true;
  /** Throws 429 `rate_limited` if the actor has done this too often. */
  requireAllowance?: (deps: Pick<Dependencies, 'db'>, target: Thing, actorId: string) => Promise<void>;
  /** True if the act needs no reason, because the typed values say enough. */
  hasNoWhy?: true;
  /** The audit event of the act itself, with the result of `do`. The changes that the act makes have their own events. */
  event?: AuditEventType;
  /** Which forms of the act make sense on a page. Each entry has the fields that identify the thing. */
  // biome-ignore lint/suspicious/noExplicitAny: each page shows something different
  offers?: (shown: any) => Given[];
  command?: ByCommand<Thing>;
  /** Does the act, and locks all other rows that it changes. Returns undefined if there was nothing to do. */
  do: (context: ActContext<Thing>, read: Read) => Promise<Result | undefined>;
  /** Work that is done after the act, and that staff wait for. No lock is held during this work. */
  afterwards?: (deps: Dependencies, result: Result) => Promise<Result>;
};

export const offerIf = (makesSense: boolean, about: Given = {}): Given[] => (makesSense ? [about] : []);

/** How operators do the act (contract 12.37 to 12.47). The words of the command are in server/staff/act-words.ts. */
type ByCommand<Thing> = {
  name: string;
  takes?: { [field: string]: Taken };
  /** `for options`: only if an option gives a field. */
  needsWhy?: true | 'for options';
  /**
   * `always` means that the command asks everywhere, so a script needs `--yes`. `on a terminal` means that it asks nowhere
   * else, because older scripts expect no question.
   */
  asks?: 'always' | 'on a terminal';
  /** Whether the command is refused if there is nothing to change. */
  mustChange?: (target: Thing) => boolean;
  /** The members that programs get besides `done`, `intent` and `id`, or in place of these three. */
  // biome-ignore lint/suspicious/noExplicitAny: the type is what `do` of the same act returned
  json?: (target: Thing, more: { given: Given; result: any }) => Record<string, unknown> & { done?: boolean };
};

/**
 * An argument, such as `<role>`, or an option. An option with `values` is a switch, with no value on the command line. If the
 * switch is given, it means the first of `values`, and if not, the second. If `isRepeated`, spaces separate the values.
 */
type Taken = string | { option: string; isRequired?: true; isRepeated?: true; values?: [string, string] };

// biome-ignore lint/suspicious/noExplicitAny: acts differ in what they find and read
export type AnyAct = Act<any, any, any>;

export const act = <Thing, Read, Result, Name extends string>(
  stated: Act<Thing, Read, Result, Name>,
): Act<Thing, Read, Result, Name> => stated;

export const digestBasis = (about: unknown): string => encodeHex(sha256(JSON.stringify(about)));

/** Throws 404 `not_found` if the role has no right to do this. */
export function requireRight({ session }: Pick<Staff, 'session'>, right: Right): void {
  if (!mayDo(right, session.user.role)) throw new AppError('not_found');
}

export type Asked = Given & { why?: string | undefined; seen?: string | undefined };

/** Throws the errors of contract 12.14, in their order. Without `seen`, does not check whether the form is out of date. */
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
  const known = await about.find(deps.db, given, deps.config);
  if (!known) throw new AppError('not_found');
  requireMay(actor, known);
  if (!isConfirmed(deps, staff.session)) throw new AppError('login_required');
  const fields = { ...asked.fields, ...(!asked.hasNoWhy && { why: readWhy }) } as Fields<
    Thing,
    Read & { why?: string }
  >;
  const read = await readFields(fields, { ...given, why: typed }, { ...deps, thing: known.thing });
  const { why } = read;
  if (known.userId) await countLook(deps, staff, { userId: known.userId });
  await asked.requireAllowance?.(deps, known.thing, actor.id);
  const result = await inTransaction(
    deps.db,
    originOf(staff, why),
    async (trx) => {
      const locked = await lockPeople(trx, asked, given, actor.id);
      const present = locked.find(({ id }) => id === actor.id);
      if (!present || !(await lockOpenSession(trx, sessionId))) throw new AppError('login_required');
      const found = await findLocked(trx, deps, asked, given);
      if (!isStaff(present)) throw new AppError('not_allowed');
      requireMay(present, found);
      if (seen !== undefined && (await digestFormBasis(trx, asked, found.thing, deps.now())) !== seen)
        throw new AppError('edited_meanwhile');
      const author = { by: 'staff', actorId: actor.id, why, visit: staff.visit } as const;
      return doAct(trx, deps, asked, { found, author, read });
    },
    { deadline: staff.visit.deadline },
  );
  const { afterwards } = asked;
  return result !== undefined && afterwards
    ? staff.visit.deadline.pause(() => afterwards(deps, result))
    : result;
}

/** Runs in the command's transaction. Throws 404 `not_found`, 403 `not_allowed` and 422 `validation_failed`. */
export async function actAsOperator<Thing, Read, Result>(
  trx: Transaction<DB>,
  deps: ActContext<Thing>['deps'],
  asked: Act<Thing, Read, Result>,
  { given, author }: { given: Given; author: Author },
): Promise<Result | undefined> {
  await lockPeople(trx, asked, given);
  const found = await findLocked(trx, deps, asked, given);
  if (asked.isNever?.(found.thing)) throw new AppError('not_allowed');
  const read = await readFields(asked.fields, given, { ...deps, db: trx, thing: found.thing });
  return doAct(trx, deps, asked, { found, author, read });
}

/** Locks links before people, because all code locks in this order. Returns the people who still exist. */
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
  { config }: Pick<Dependencies, 'config'>,
  { about }: { about: Subject<Thing> },
  given: Given,
): Promise<Found<Thing>> {
  await about.lock?.(trx, given);
  const found = await about.find(trx, given, config);
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

/** `trail` has the facts about the author for events that the person can read. `whole` has them for all other events. */
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

export const digestFormBasis = async <Thing>(
  db: Database,
  { formBasis }: Pick<Act<Thing, never, unknown>, 'formBasis'>,
  target: Thing,
  now: Date,
): Promise<string> => digestBasis(await formBasis(db, target, now));

export const findPerson = async (db: Database, id: string): Promise<User | undefined> =>
  isUuid(id) ? findUserById(db, id) : undefined;

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
