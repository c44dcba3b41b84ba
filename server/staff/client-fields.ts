// The fields of clients in the database, and how each is read (contract 13.31, 13.32 and 14.3 to 14.8).
import type { ClientFacts } from '../../db/tables/clients.ts';
import { type Field, type Fields, type Given, readOneOf, refuse } from '../acts/fields.ts';
import { nameSchema } from '../basics/names.ts';
import { textBounds } from '../basics/text.ts';
import { type AddressUse, findAddressFault } from '../clients/addresses.ts';
import { findNameFault, maxTitle, titleOf } from '../clients/rows.ts';
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

/** Facts that decide which fields a client has. A new client has none of these yet. */
export type Kinded = { kind?: string; pkce?: ClientFacts['pkce']; auth?: ClientFacts['auth'] };

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

/** `none` removes the address, because a command cannot give an empty value. */
const readOptional: Field<unknown, string | null> = (typed, more) =>
  typed === '' || typed === 'none' ? null : readAddress()(typed, more);

const maxAddresses = 20;

/** White space separates the addresses. */
const readAddresses =
  (use: AddressUse): Field<unknown, string[]> =>
  async (typed, more) => {
    const addresses = typed.split(/\s+/).filter((each) => each !== '');
    // A text longer than this bound was cut when it was received, so its end is missing.
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

/**
 * If PKCE is not given, it stays as it is. A client without a secret must require PKCE, because nothing else protects its codes
 * (contract 14.6).
 */
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

export const takes = {
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

export type ReadFacts = {
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

/** Lists each fact by name, because the fields that were read also include others, such as `why`. */
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

const readName: Field<unknown, string> = (typed, { config }) => {
  const fault = findNameFault(typed, config);
  return fault ? refuse(fault) : typed;
};

/** Reads the fields of a new client. A field that is left out has its default. */
export const addFields = {
  client: readName,
  kind: (typed: string) => kinds.find((kind) => kind === (typed || 'hand-off')) ?? refuse('client_kind'),
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
} satisfies Fields<Kinded, unknown>;

/** Reads the fields of an existing client. A field that is left out stays as it is. */
export const setFields = {
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
} satisfies Fields<Kinded, unknown>;
