// Mails that have not left, and what administrators do about them (contract 12.120 to 12.126).
import { giveUpMail, retryMail } from '../../db/tables/mails.ts';
import { listNames } from '../../db/tables/staff-views.ts';
import {
  countUnsentMails,
  findUnsentMail,
  listUnsentMails,
  lockUnsentMail,
  type MailPlace,
  type MailSort,
  type MailState,
  placeOf,
  type UnsentMail,
} from '../../db/tables/unsent-mails.ts';
import { act, digestBasis, offerIf, type Subject } from '../acts/act.ts';
import { mayAct } from '../acts/rights.ts';
import type { Staff } from '../acts/staff.ts';
import { readCount, readPage } from '../basics/page.ts';
import { isUuid } from '../basics/uuid.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { describeAnswer } from '../mail/describe-answer.ts';
import { sayMailKind } from '../mail/kind-words.ts';
import { leaseMs } from '../mail/outbox.ts';
import { findPeople, readSearch } from './find-people.ts';

const stateOf = ({ givenUpAt, lastError }: UnsentMail): MailState =>
  givenUpAt ? 'given_up' : lastError === null ? 'waiting' : 'failed';

/** The facts that forms about a mail are made from. Tries are left out, because they do not matter to a decision. */
const seenOfMail = (mail: UnsentMail | undefined) =>
  mail ? { id: mail.id, isGivenUp: mail.givenUpAt !== null } : null;

/** `error` has no email address, and nothing that a server quoted from the mail. */
const describeMail = (mail: UnsentMail) => ({
  id: mail.id,
  kind: mail.kind,
  what: sayMailKind(mail.kind),
  recipient: mail.recipient,
  userId: mail.userId,
  state: stateOf(mail),
  createdAt: mail.createdAt,
  attempts: mail.attempts,
  nextTryAt: mail.givenUpAt || mail.isOnHold ? null : mail.nextAttemptAt,
  givenUpAt: mail.givenUpAt,
  error: describeAnswer(mail.lastError ?? undefined, mail.recipient) ?? null,
  mustLeave: mail.mustLeave,
  isHeld: mail.isOnHold,
});

/** Returns the orders in which a list of mails with this `state` can be sorted. The first is the default. */
export const mailSortsOf = (state: MailState | undefined): readonly MailSort[] =>
  state === 'waiting' ? ['next', '-next'] : ['-written', 'written'];

type Asked = {
  state?: MailState;
  kind?: string;
  q?: string;
  sort?: MailSort | undefined;
  before?: MailPlace;
};

/** Returns a page of 50 mails, with the names of the recipients. `next` is null on the last page. */
export async function listMails(
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  { session }: Staff,
  { state, kind, q = '', sort = mailSortsOf(state)[0] as MailSort, before }: Asked,
) {
  const search = readSearch(q);
  const found = search === '' ? undefined : await findPeople({ db, now }, { q: search });
  const filter = {
    ...(state && { state }),
    ...(kind !== undefined && { kind }),
    ...(found && { people: found.people.map(({ id }) => id) }),
  };
  const { page, last } = await readPage((limit) =>
    listUnsentMails(db, { ...filter, sort, after: before, limit }),
  );
  const ids = page.map(({ userId }) => userId).filter((id) => id !== null);
  return {
    mails: page.map((mail) => {
      const isOwn = !mayAct(retry.right, session.user, mail);
      const said = describeMail(mail);
      return {
        ...said,
        mayRetry: !isOwn && said.state !== 'waiting' && !said.isHeld,
        mayGiveUp: !isOwn && said.state !== 'given_up' && !mail.mustLeave,
        seen: digestBasis(seenOfMail(mail)),
      };
    }),
    people: await listNames(db, [...new Set(ids)]),
    next: last ? writePlace(placeOf(state, last)) : null,
    count: await readCount({ page, last, before }, (limit) => countUnsentMails(db, limit, filter)),
    more: found?.more ?? false,
  };
}

const writePlace = ({ at, id }: MailPlace) => `${at.toISOString()}_${id}`;

/** Reads the `next` of the previous page. */
export function readPlace(text: string): MailPlace | undefined {
  const [, instant = '', id = ''] =
    /^(\d{4}-\d\d-\d\dT[\d:.]{12}Z)_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(text) ?? [];
  const at = new Date(instant);
  return Number.isNaN(at.getTime()) ? undefined : { at, id };
}

/** A mail that was sent or deleted since the form was made belongs to nobody. The form is refused as out of date. */
const mail: Subject<UnsentMail | undefined> = {
  name: 'mail',
  keys: ['id'],
  async find(db, { id = '' }) {
    if (!isUuid(id)) return undefined;
    const thing = await findUnsentMail(db, id);
    return { thing, accountId: thing?.accountId ?? null, userId: thing?.userId ?? null };
  },
  lock: (trx, { id = '' }) => lockUnsentMail(trx, id),
  answer: (result) => ({ done: result !== undefined }),
};

type Listed = { id: string; mayRetry: boolean; mayGiveUp: boolean };

const retry = act({
  about: mail,
  right: { name: 'mails.retry' },
  event: 'staff.retry_mail',
  offers: ({ id, mayRetry }: Listed) => offerIf(mayRetry, { id }),
  command: { name: 'mail:retry' },
  fields: {},
  formBasis: (_db, target) => seenOfMail(target),
  async do({ trx, target, by: { now } }) {
    const leaseEndsAt = new Date(now.getTime() + leaseMs);
    const isDone = target && (await retryMail(trx, { id: target.id, now, leaseEndsAt }));
    return isDone ? { mail: target.id, kind: target.kind } : undefined;
  },
});

const giveUp = act({
  about: mail,
  right: { name: 'mails.giveUp' },
  event: 'staff.give_up_mail',
  offers: ({ id, mayGiveUp }: Listed) => offerIf(mayGiveUp, { id }),
  command: { name: 'mail:give-up' },
  fields: {},
  formBasis: retry.formBasis,
  isNever: (target) => target?.mustLeave === true,
  async do({ trx, target, by: { now } }) {
    const isDone = target && (await giveUpMail(trx, { id: target.id, now }));
    return isDone ? { mail: target.id, kind: target.kind } : undefined;
  },
});

/** The acts, by the intent of their form. */
export const mailActs = { retry, 'give-up': giveUp };
