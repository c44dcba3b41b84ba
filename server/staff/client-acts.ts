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
import { type Field, type Given, readOneOf, refuse } from '../acts/fields.ts';
import { AppError } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import { nameSchema } from '../basics/names.ts';
import { textBounds } from '../basics/text.ts';
import { type AddressUse, findAddressFault } from '../clients/addresses.ts';
import type { RowState } from '../clients/book.ts';
import {
  addClient,
  type Change,
  changeClient,
  confirm,
  endSecret,
  findNameFault,
  isClientName,
  maxTitle,
  rotateSecret,
  secretNames,
  titleOf,
  turnOff,
  turnOn,
} from '../clients/rows.ts';
import { tryWebhook } from '../events/nudges.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { requireAllowance, spendAllowance } from '../identity/ground/allowances.ts';
import { tellOtherAdministrators } from '../identity/ground/tell-administrators.ts';
import { audiences, authRules, type Client, kinds, pkceRules, roles } from '../sso/clients.ts';

/** Facts as programs and the audit spell them. */
export const spellFacts = (facts: Partial<ClientFacts>): Record<string, unknown> => ({
  ...('title' in facts && { title: facts.title }),
  // The callback of a client of OpenID Connect is its first redirect URI.
  ...('callbackUrl' in facts && !facts.redirectUris && { callback_url: facts.callbackUrl }),
  ...('redirectUris' in facts && { redirect_uris: facts.redirectUris }),
  ...('postLogoutUris' in facts && { post_logout_uris: facts.postLogoutUris }),
  ...('backChannelUri' in facts && { back_channel_uri: facts.backChannelUri }),
  ...('pkce' in facts && { pkce: facts.pkce }),
  ...('auth' in facts && { auth: facts.auth }),
  ...('loginUrl' in facts && { login_url: facts.loginUrl }),
  ...('eventsUrl' in facts && { events_url: facts.eventsUrl }),
  ...('listed' in facts && { listed: facts.listed }),
  ...('roles' in facts && { roles: facts.roles }),
  ...('needsFactor' in facts && { factor: facts.needsFactor ? 'required' : 'optional' }),
});

/** Looks only for valid names, because the database refuses some characters that can be typed. */
const findNamed = async (db: Database, named: { issuer: string; name: string }) =>
  isClientName(named.name) ? findClientRow(db, named) : undefined;

/** What decides which fields a client has. A new client has none of these yet. */
type Kinded = { kind?: string; pkce?: ClientFacts['pkce']; auth?: ClientFacts['auth'] };

type NewClient = Kinded & { name: string; row: ClientRow | undefined };

/** If the client has been added meanwhile, its row is found, so that the form counts as out of date. */
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
    // The actor gets the mail, too, in case somebody else is using their session.
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

/** False if the row is already in that state. */
export async function turnRow(context: Context, row: ClientRow, what: keyof typeof turns): Promise<boolean> {
  const { change, event } = turns[what];
  if (!(await change(context.trx, context.deps, row))) return false;
  audit(context, event, { client: row.name });
  return true;
}

const requireMore = ({ db }: Pick<Dependencies, 'db'>, _target: unknown, actorId: string) =>
  requireAllowance(db, 'staff.set_client', actorId);

/** Acts that end access are not counted, because a thief could use up the count. */
async function spend({ trx, author }: Context): Promise<void> {
  if (author.by === 'staff') await spendAllowance(trx, 'staff.set_client', author.actorId);
}

/** This instance follows at once, and the others within two seconds. If this fails, the act is still done. */
async function follow<Result>(deps: Dependencies, result: Result): Promise<Result> {
  await deps.clients.refresh().catch((err) => deps.log.error({ err }, 'clients not read'));
  return result;
}

function readTitle(typed: string): string {
  const read = nameSchema.safeParse(typed);
  return read.success && [...read.data].length <= maxTitle ? read.data : refuse('client_title');
}

const readAddress =
  (use?: AddressUse): Field<unknown, string> =>
  (typed, { config }) => {
    const fault = findAddressFault(typed, { production: config.production, use });
    return fault ? refuse(fault) : typed;
  };

const readCallback = readAddress('callback');

/** `none` removes an address: a command cannot give an empty value. */
const readOptional: Field<unknown, string | null> = (typed, more) =>
  typed === '' || typed === 'none' ? null : readAddress()(typed, more);

const maxAddresses = 20;

/** White space separates them. */
const readAddresses =
  (use: AddressUse): Field<unknown, string[]> =>
  async (typed, more) => {
    const addresses = typed.split(/\s+/).filter((each) => each !== '');
    // A longer text has been cut.
    const isCut = typed.length > textBounds.redirectUris;
    if (isCut || addresses.length > maxAddresses || new Set(addresses).size < addresses.length)
      return refuse('addresses_many');
    return Promise.all(addresses.map((each) => readAddress(use)(each, more)));
  };

const readRedirectUris: Field<unknown, string[]> = async (typed, more) => {
  const read = await readAddresses('redirect')(typed, more);
  return read.length > 0 ? read : refuse('addresses_missing');
};

const readPostLogoutUris: Field<unknown, string[]> = (typed, more) =>
  typed === 'none' ? [] : readAddresses('post-logout')(typed, more);

const readWords = (words: readonly string[]) => (typed: string) => {
  const read = typed.split(',').map((word) => word.trim());
  return read.every((word) => words.includes(word))
    ? words.filter((word) => read.includes(word))
    : refuse('client_words');
};

const readFactor = Object.assign((typed: string) => readOneOf('required', 'optional')(typed) === 'required', {
  choices: ['required', 'optional'],
});

/** If the field is left out, `other` gives its value: a default, or undefined to keep the present value. */
const unlessGiven = <Value, Other>(
  name: keyof Given,
  read: Field<unknown, Value>,
  other: (given: Given) => Other,
): Field<unknown, Value | Other> =>
  Object.assign(
    ((typed, more) => (more.given[name] === undefined ? other(more.given) : read(typed, more))) as Field<
      unknown,
      Value | Other
    >,
    read.choices && { choices: read.choices },
  );

const stays = () => undefined;

const kindOf = ({ thing, given }: { thing: Kinded; given: Given }) => thing.kind ?? given.kind;

/** Refuses a value for a field that only clients of the other kind have. Programs and forms may leave such a field empty. */
const onlyOf = <Value>(kind: Client['kind'], field: Field<Kinded, Value>): Field<Kinded, Value | undefined> =>
  Object.assign(
    ((typed, more) => {
      if ((kindOf(more) === 'openid') === (kind === 'openid')) return field(typed, more);
      return typed === '' ? undefined : refuse(kind === 'openid' ? 'client_of_openid' : 'client_of_hand_off');
    }) as Field<Kinded, Value | undefined>,
    field.choices && { choices: field.choices },
  );

/** What is not given stays as it is. Without a secret, a code is only safe with PKCE (contract 14.6). */
const readPkce: Field<Kinded, string> = Object.assign(
  ((typed, { thing, given }) => {
    const pkce = given.pkce === undefined ? (thing.pkce ?? 'required') : readOneOf(...pkceRules)(typed);
    return pkce !== 'required' && (given.auth ?? thing.auth) === 'none' ? refuse('client_pkce') : pkce;
  }) as Field<Kinded, string>,
  { choices: pkceRules },
);

const readAuth: Field<Kinded, string> = Object.assign(
  ((typed, { thing, given }) =>
    given.auth === undefined ? (thing.auth ?? 'secret') : readOneOf(...authRules)(typed)) as Field<
    Kinded,
    string
  >,
  { choices: authRules },
);

const takes = {
  title: { option: '--title <text>' },
  callback: { option: '--callback <url>' },
  redirectUris: { option: '--redirect-uri <url>', isRepeated: true },
  postLogoutUris: { option: '--post-logout-uri <url>', isRepeated: true },
  backChannelUri: { option: '--back-channel-uri <url>' },
  pkce: { option: '--pkce <word>' },
  auth: { option: '--auth <word>' },
  loginUrl: { option: '--login-url <url>' },
  eventsUrl: { option: '--events-url <url>' },
  listed: { option: '--listed <words>' },
  roles: { option: '--roles <words>' },
  factor: { option: '--factor <word>' },
} as const;

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
  fields: {
    client(typed, { config }) {
      const fault = findNameFault(typed, config);
      return fault ? refuse(fault) : typed;
    },
    kind: (typed) => kinds.find((kind) => kind === (typed || 'hand-off')) ?? refuse('client_kind'),
    title: unlessGiven(
      'title',
      (typed, { given: { client: name = '' } }) => (typed === '' ? titleOf(name) : readTitle(typed)),
      ({ client: name = '' }) => titleOf(name),
    ),
    callback: onlyOf('hand-off', readCallback),
    redirectUris: onlyOf('openid', readRedirectUris),
    postLogoutUris: onlyOf('openid', readPostLogoutUris),
    backChannelUri: onlyOf('openid', readOptional),
    pkce: onlyOf('openid', readPkce),
    auth: onlyOf('openid', readAuth),
    loginUrl: readOptional,
    eventsUrl: onlyOf('hand-off', readOptional),
    listed: unlessGiven('listed', readWords(audiences), () => ['everybody']),
    roles: unlessGiven('roles', readWords(roles), ({ kind }) => (kind === 'openid' ? ['admin'] : [...roles])),
    factor: unlessGiven('factor', readFactor, () => false),
  },
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

type ReadFacts = {
  title: string | undefined;
  callback: string | undefined;
  redirectUris: string[] | undefined;
  postLogoutUris: string[] | undefined;
  backChannelUri: string | null | undefined;
  pkce: string | undefined;
  auth: string | undefined;
  loginUrl: string | null | undefined;
  eventsUrl: string | null | undefined;
  listed: string[] | undefined;
  roles: string[] | undefined;
  factor: boolean | undefined;
};

/** Lists each fact by name, because what was read also has other members, such as `why`. */
export const factsOf = ({
  redirectUris,
  postLogoutUris,
  backChannelUri,
  pkce,
  auth,
  ...read
}: ReadFacts) => ({
  ...{ title: read.title, callbackUrl: redirectUris?.[0] ?? read.callback },
  ...{ redirectUris, postLogoutUris, backChannelUri, pkce, auth },
  ...{ loginUrl: read.loginUrl, eventsUrl: read.eventsUrl },
  ...{ listed: read.listed, roles: read.roles, needsFactor: read.factor },
});

const set = act({
  about: client,
  right: { name: 'clients.set' },
  offers: () => [{}],
  command: { name: 'client:set', takes, needsWhy: true },
  fields: {
    title: unlessGiven('title', (typed) => readTitle(typed), stays),
    callback: onlyOf('hand-off', unlessGiven('callback', readCallback, stays)),
    redirectUris: onlyOf('openid', unlessGiven('redirectUris', readRedirectUris, stays)),
    postLogoutUris: onlyOf('openid', unlessGiven('postLogoutUris', readPostLogoutUris, stays)),
    backChannelUri: onlyOf('openid', unlessGiven('backChannelUri', readOptional, stays)),
    pkce: onlyOf('openid', readPkce),
    auth: onlyOf('openid', readAuth),
    loginUrl: unlessGiven('loginUrl', readOptional, stays),
    eventsUrl: onlyOf('hand-off', unlessGiven('eventsUrl', readOptional, stays)),
    listed: unlessGiven('listed', readWords(audiences), stays),
    roles: unlessGiven('roles', readWords(roles), stays),
    factor: unlessGiven('factor', readFactor, stays),
  },
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

/** An act without fields that changes one state of the row. */
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
