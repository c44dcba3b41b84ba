// Reads the query of /oauth/authorize (contract 14.20 to 14.33; OpenID Connect Core 1.0 section 3.1.2.1, RFC 6749 section 4.1.1).
import type { Clients, OpenIdClient } from '../sso/clients.ts';
import { isOpenId } from '../sso/clients.ts';
import { invalidParameter } from '../web/requests.ts';

export const scopes = ['openid', 'profile', 'email', 'groups'] as const;

export type Scope = (typeof scopes)[number];

export const prompts = ['none', 'login', 'select_account', 'consent'] as const;

export const responseModes = ['query', 'form_post'] as const;

const known = [
  ...[
    'client_id',
    'redirect_uri',
    'response_type',
    'response_mode',
    'scope',
    'state',
    'nonce',
    'prompt',
    'max_age',
  ],
  ...['login_hint', 'ui_locales', 'id_token_hint', 'code_challenge', 'code_challenge_method', 'request'],
  ...['request_uri', 'registration', 'auth_after'],
];

/** The place to which the answer goes. The answer is a code or an error. */
export type Target = {
  client: OpenIdClient;
  redirectUri: string;
  mode: (typeof responseModes)[number];
  state: string | undefined;
};

export type AuthorizeRequest = {
  scope: Scope[];
  nonce: string | undefined;
  challenge: string | undefined;
  prompt: 'none' | 'login' | undefined;
  /** In Unix seconds. A credential must have been given since then. */
  authAfter: number;
  idTokenHint: string | undefined;
};

/** An error that goes back to the client in a redirect. */
export class AuthorizeError extends Error {
  readonly error: string;
  constructor(error: string, description: string) {
    super(description);
    this.error = error;
  }
}

const invalid = (description: string) => new AuthorizeError('invalid_request', description);

/** Reads who asks, and where the answer goes. Throws 400 `invalid_request`, which is shown as a page and never redirects. */
export function readTarget(clients: Clients, params: URLSearchParams): Target {
  const only = (name: string): string => {
    const [value, ...others] = params.getAll(name);
    if (value === undefined || others.length > 0) throw invalidParameter(name, 'Send it once.');
    return value;
  };
  const client = clients.get(only('client_id'));
  if (!isOpenId(client))
    throw invalidParameter('client_id', 'No product with this name logs in here in this way.');
  const redirectUri = only('redirect_uri');
  if (!client.redirectUris.includes(redirectUri))
    throw invalidParameter('redirect_uri', `It is not a registered redirect URI of ${client.title}.`);
  const state = params.getAll('state');
  return {
    client,
    redirectUri,
    mode: params.getAll('response_mode').join(' ') === 'form_post' ? 'form_post' : 'query',
    state: state.length === 1 && state[0] && !hasControl(state[0]) ? state[0] : undefined,
  };
}

const hasControl = (text: string) => /\p{Cc}/u.test(text);

/** Throws an `AuthorizeError`. */
export function readAuthorizeRequest(
  { pkce }: Pick<OpenIdClient, 'pkce'>,
  params: URLSearchParams,
  now: Date,
): AuthorizeRequest {
  for (const name of ['request', 'request_uri', 'registration'])
    if (params.has(name)) throw new AuthorizeError(`${name}_not_supported`, `${name} is not supported.`);
  const read = new Map<string, string>();
  for (const name of known) {
    const [value, ...others] = params.getAll(name);
    if (value === '' || others.length > 0) throw invalid(`${name} is empty or repeated.`);
    if (value !== undefined) read.set(name, value);
  }
  for (const name of ['state', 'nonce'])
    if (hasControl(read.get(name) ?? '')) throw invalid(`${name} has a control character.`);
  if (!read.has('response_type')) throw invalid('response_type is missing.');
  if (read.get('response_type') !== 'code')
    throw new AuthorizeError('unsupported_response_type', 'response_type must be code.');
  if (!responseModes.some((mode) => mode === (read.get('response_mode') ?? 'query')))
    throw invalid('response_mode must be query or form_post.');
  const asked = (read.get('scope') ?? '').split(' ');
  if (!asked.includes('openid')) throw new AuthorizeError('invalid_scope', 'scope must contain openid.');
  return {
    scope: scopes.filter((scope) => asked.includes(scope)),
    nonce: read.get('nonce'),
    challenge: readChallenge(pkce, read),
    ...readDemand(read, now),
    idTokenHint: read.get('id_token_hint'),
  };
}

function readChallenge(pkce: OpenIdClient['pkce'], read: ReadonlyMap<string, string>): string | undefined {
  const challenge = read.get('code_challenge');
  const method = read.get('code_challenge_method');
  if (challenge === undefined && method !== undefined) throw invalid('code_challenge is missing.');
  if (challenge !== undefined && method !== 'S256') throw invalid('code_challenge_method must be S256.');
  if (challenge !== undefined && !/^[A-Za-z0-9_-]{43}$/.test(challenge))
    throw invalid('code_challenge must be 43 characters of base64url.');
  if (pkce === 'required' && challenge === undefined) throw invalid('code_challenge is missing.');
  if (pkce === 'optional' && challenge === undefined && !read.has('nonce'))
    throw invalid('nonce or code_challenge is missing.');
  if (pkce === 'state-only' && !read.has('state')) throw invalid('state is missing.');
  return challenge;
}

/** Always sets `authAfter`, because every answer needs a credential that was given here. */
function readDemand(
  read: ReadonlyMap<string, string>,
  now: Date,
): Pick<AuthorizeRequest, 'prompt' | 'authAfter'> {
  const words = read.get('prompt')?.split(' ') ?? [];
  if (!words.every((word) => prompts.some((prompt) => prompt === word)))
    throw invalid('prompt has an unknown word.');
  if (words.includes('none') && words.length > 1) throw invalid('prompt has none beside another word.');
  const seconds = Math.floor(now.getTime() / 1_000);
  const [maxAge, after] = [read.get('max_age'), read.get('auth_after')];
  if (maxAge !== undefined && !/^\d{1,10}$/.test(maxAge))
    throw invalid('max_age must be a whole number of seconds.');
  if (after !== undefined && !/^\d{1,12}$/.test(after))
    throw invalid('auth_after must be a time in Unix seconds.');
  const isSilent = words.includes('none');
  // `max_age=0` means `prompt=login`.
  const asksAgain = words.includes('login') || words.includes('select_account') || Number(maxAge) === 0;
  const demands = [
    ...[0, Number(after ?? 0), asksAgain ? seconds : 0],
    maxAge === undefined ? 0 : seconds - Number(maxAge),
  ];
  return {
    prompt: isSilent ? 'none' : asksAgain ? 'login' : undefined,
    // The time is at most now, because no credential could satisfy a time in the future. There is one exception. If a new
    // credential is asked for under `none`, nobody can give it. Then the time is in the future, so that no credential satisfies
    // it.
    authAfter: isSilent && asksAgain ? seconds + 1 : Math.min(seconds, Math.max(...demands)),
  };
}

/**
 * Returns the path with which the same request goes on after the login. Each parameter keeps its spelling, so that the path does
 * not get longer. `auth_after` replaces `prompt` and `max_age`, because these would ask for the credential again and again.
 */
export function authorizePath(query: string, { authAfter }: Pick<AuthorizeRequest, 'authAfter'>): string {
  const kept = query.split('&').filter((pair) => {
    const [name = ''] = new URLSearchParams(pair).keys();
    return known.includes(name) && !['prompt', 'max_age', 'auth_after'].includes(name);
  });
  return `/oauth/authorize?${[...kept, ...(authAfter > 0 ? [`auth_after=${authAfter}`] : [])].join('&')}`;
}
