// What administrators and operators do to clients in the database (contract 13.28 to 13.35).
import type { Database } from '../../db/postgres/client.ts';
import type { AuditEventType } from '../../db/tables/audit-event-types.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import {
  type ClientFacts,
  type ClientRow,
  findClientRow,
  lockClients,
  setTestedAt,
} from '../../db/tables/clients.ts';
import { type ActContext, act, digestBasis, offerIf, type Subject } from '../acts/act.ts';
import { type Given, readOneOf } from '../acts/fields.ts';
import { AppError } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import type { RowState } from '../clients/book.ts';
import {
  addClient,
  type Change,
  changeClient,
  confirm,
  endSecret,
  isClientName,
  rotateSecret,
  secretNames,
  turnOff,
  turnOn,
} from '../clients/rows.ts';
import { tryWebhook } from '../events/nudges.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { requireAllowance, spendAllowance } from '../identity/ground/allowances.ts';
import { tellOtherAdministrators } from '../identity/ground/tell-administrators.ts';
import {
  addFields,
  factsOf,
  type Kinded,
  type ReadFacts,
  setFields,
  spellFacts,
  takes,
} from './client-fields.ts';

/** Searches only for valid names, because the database refuses some characters that can be typed. */
const findNamed = async (db: Database, named: { issuer: string; name: string }) =>
  isClientName(named.name) ? findClientRow(db, named) : undefined;

type NewClient = Kinded & { name: string; row: ClientRow | undefined };

/** If somebody has added the client since the form was made, `find` finds its row, so the form is out of date. */
const newClient: Subject<NewClient> = {
  name: 'new_client',
  keys: ['client'],
  mayLackSeen: true,
  lock: (trx) => lockClients(trx),
  find: async (db, { client: name = '' }, { issuer }) => ({
    thing: { name, row: await findNamed(db, { issuer, name }) },
    ...{ accountId: null, userId: null },
  }),
  answer: (result) => result,
};

const client: Subject<ClientRow> = {
  name: 'client',
  keys: ['client'],
  lock: (trx) => lockClients(trx),
  async find(db, { client: name = '' }, { issuer }) {
    const thing = await findNamed(db, { issuer, name });
    return thing && { thing, accountId: null, userId: null };
  },
  answer: (result) => ({ done: result !== undefined, ...(result as object | undefined) }),
};

/** Everything that a page shows of a row, so that nobody acts on an outdated page. */
const basisOf = ({ secrets, testedAt: _tested, changedAt: _changed, challengeAt: _, ...row }: ClientRow) => ({
  ...row,
  secrets: secrets.map(({ id }) => id),
});

export const digestRow = (row: ClientRow): string => digestBasis(basisOf(row));

const formBasis = (_db: unknown, row: ClientRow) => basisOf(row);

export type Context = Pick<ActContext<unknown>, 'trx' | 'author' | 'by'> & {
  deps: Pick<Dependencies, 'config' | 'now'>;
};

/** Details must contain no secret, and no digest of one. */
export function audit(
  { trx, by }: Context,
  type: AuditEventType,
  details: { client: string; [name: string]: unknown },
) {
  const written = JSON.parse(JSON.stringify(details)) as Record<string, Record<string, unknown>>;
  deferAuditEvent(trx, { ...by.trail, type, details: { ...by.trail.details, ...written } });
}

export const warn = ({ trx, deps, author }: Context, name: string, what: string): Promise<void> =>
  tellOtherAdministrators(trx, deps, {
    kind: 'client_changed',
    actorId: author.by === 'staff' ? author.actorId : undefined,
    // The actor gets the mail, too, in case somebody else is using the actor's session.
    tellsActor: true,
    details: { client: name, what },
  });

export async function addRow(
  context: Context,
  { name, kind, facts }: { name: string; kind: string; facts: ClientFacts },
): Promise<string> {
  const secret = await addClient(context.trx, context.deps, { name, kind, facts });
  audit(context, 'staff.add_client', { client: name, now: { kind, ...spellFacts(facts) } });
  return secret;
}

export async function setRow(
  context: Context,
  row: ClientRow,
  facts: Parameters<typeof changeClient>[3],
): Promise<Change | undefined> {
  const changed = await changeClient(context.trx, context.deps, row, facts);
  if (!changed) return undefined;
  const [was, now] = [spellFacts(changed.was), spellFacts(changed.now)];
  audit(context, 'staff.set_client', { client: row.name, was, now });
  return changed;
}

const turns = {
  off: { change: turnOff, event: 'staff.turn_client_off' },
  on: { change: turnOn, event: 'staff.turn_client_on' },
  confirm: { change: confirm, event: 'staff.confirm_client' },
} as const;

/** Returns false if the row is already in that state. */
export async function turnRow(context: Context, row: ClientRow, what: keyof typeof turns): Promise<boolean> {
  const { change, event } = turns[what];
  if (!(await change(context.trx, context.deps, row))) return false;
  audit(context, event, { client: row.name });
  return true;
}

const requireMore = ({ db }: Pick<Dependencies, 'db'>, _target: unknown, actorId: string) =>
  requireAllowance(db, 'staff.set_client', actorId);

/**
 * Counts an act towards the limit of the person who does it. Acts that end access have no limit, because a thief could use the
 * limit up to prevent such acts.
 */
async function spend({ trx, author }: Context): Promise<void> {
  if (author.by === 'staff') await spendAllowance(trx, 'staff.set_client', author.actorId);
}

/**
 * This instance applies the change immediately, and the other instances within two seconds. If the clients cannot be read, the
 * act is still done.
 */
async function follow<Result>(deps: Dependencies, result: Result): Promise<Result> {
  await deps.clients.refresh().catch((err) => deps.log.error({ err }, 'clients not read'));
  return result;
}

const add = act({
  about: newClient,
  right: { name: 'clients.add' },
  offers: () => [{ kind: 'hand-off' }, { kind: 'openid' }],
  command: {
    name: 'client:add',
    takes: { kind: { option: '--kind <kind>' }, ...takes },
    needsWhy: true,
    json: (_client, { result }) => ({ ...result }),
  },
  fields: addFields,
  formBasis: (_db, { row }) => row?.id ?? null,
  requireAllowance: requireMore,
  afterwards: follow,
  async do(context, { client: name, kind, ...read }) {
    await spend(context);
    const facts = factsOf(read) as ClientFacts;
    const secret = await addRow(context, { name, kind, facts });
    await warn(context, name, 'add');
    return { client: name, secret };
  },
});

const set = act({
  about: client,
  right: { name: 'clients.set' },
  offers: () => [{}],
  command: { name: 'client:set', takes, needsWhy: true },
  fields: setFields,
  formBasis,
  requireAllowance: requireMore,
  afterwards: follow,
  async do(context, read: ReadFacts) {
    const { target } = context;
    if (!(await setRow(context, target, factsOf(read)))) return undefined;
    await spend(context);
    await warn(context, target.name, 'set');
    return {};
  },
});

const rotate = act({
  about: client,
  right: { name: 'clients.rotate' },
  offers: ({ secrets }: ShownRow) => offerIf(secrets.length < 2),
  command: { name: 'client:rotate', needsWhy: true, json: (_client, { result }) => ({ ...result }) },
  fields: {},
  formBasis,
  requireAllowance: requireMore,
  afterwards: follow,
  async do(context) {
    const { trx, deps, target } = context;
    await spend(context);
    const secret = await rotateSecret(trx, deps, target);
    audit(context, 'staff.rotate_client', { client: target.name });
    await warn(context, target.name, 'rotate');
    return { secret };
  },
});

const end = act({
  about: client,
  right: { name: 'clients.endSecret' },
  offers: ({ secrets }: ShownRow) => (secrets.length < 2 ? [] : secretNames.map((which) => ({ which }))),
  command: { name: 'client:end-secret', takes: { which: '<which>' }, needsWhy: true },
  fields: { which: readOneOf(...secretNames) },
  formBasis,
  afterwards: follow,
  async do(context, { which }) {
    const { trx, target } = context;
    const { madeAt } = await endSecret(trx, target, which);
    audit(context, 'staff.end_client_secret', { client: target.name, which, made_at: madeAt });
    await warn(context, target.name, 'end_secret');
    return {};
  },
});

/** Builds an act without fields that changes one state of the row. */
const turn = <Name extends string>(
  { right, command, what }: { right: Name; command: string; what: keyof typeof turns },
  offers: (shown: ShownRow) => Given[],
) =>
  act({
    about: client,
    right: { name: right },
    offers,
    command: { name: command, needsWhy: true },
    fields: {},
    formBasis,
    afterwards: follow,
    async do(context) {
      const { target } = context;
      if (!(await turnRow(context, target, what))) return undefined;
      if (what === 'on') await spend(context);
      await warn(context, target.name, what);
      return {};
    },
  });

const waitMs = 10_000;

/** Tries the webhook. It changes nothing, so it sends no mail. */
const testWebhook = act({
  about: client,
  right: { name: 'clients.testWebhook' },
  offers: ({ state, eventsUrl }: ShownRow) => offerIf(state === 'on' && eventsUrl !== null),
  fields: {},
  formBasis,
  async do(context): Promise<{ client: string; taken?: boolean; reason?: string | null }> {
    const { trx, deps, target } = context;
    const { name, eventsUrl, offAt, isConfirmed, testedAt } = target;
    if (eventsUrl === null || offAt || !isConfirmed || deps.config.clients.has(name))
      throw new AppError('not_allowed', { detail: faultWords.webhook_none });
    const now = deps.now();
    const left = testedAt ? testedAt.getTime() + waitMs - now.getTime() : 0;
    if (left > 0 && left <= waitMs)
      throw new AppError('rate_limited', { headers: { 'Retry-After': String(Math.ceil(left / 1_000)) } });
    await setTestedAt(trx, target.id, now);
    audit(context, 'staff.test_webhook', { client: name });
    return { client: name };
  },
  // The call is made after the transaction, so that no transaction waits for the client's answer.
  async afterwards(deps, { client: name }) {
    await deps.clients.refresh();
    const target = deps.clients.get(name);
    if (target?.eventsUrl === undefined) throw new AppError('edited_meanwhile');
    const failure = await tryWebhook(deps, { ...target, eventsUrl: target.eventsUrl });
    return { client: name, taken: failure === undefined, reason: failure ?? null };
  },
});

export type ShownRow = Pick<ClientRow, 'name' | 'eventsUrl' | 'secrets' | 'offAt'> & { state: RowState };

/** The acts, by the intent of their form. */
export const clientActs = {
  'add-client': add,
  'set-client': set,
  'rotate-client': rotate,
  'end-client-secret': end,
  'turn-client-off': turn({ right: 'clients.turnOff', command: 'client:off', what: 'off' }, ({ offAt }) =>
    offerIf(offAt === null),
  ),
  'turn-client-on': turn({ right: 'clients.turnOn', command: 'client:on', what: 'on' }, ({ offAt, state }) =>
    offerIf(offAt !== null && state !== 'in_settings'),
  ),
  'confirm-client': turn(
    { right: 'clients.confirm', command: 'client:confirm', what: 'confirm' },
    ({ state }) => offerIf(state === 'unconfirmed'),
  ),
  'test-webhook': testWebhook,
};
