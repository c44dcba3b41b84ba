// Finds the page after a logout that a client started. It is a path on that client's own site (contract 4.27 and 4.28), or a
// URL that a client of OpenID Connect has registered (contract 14.60 to 14.64).
import { AppError } from '../../basics/errors.ts';
import { type Clients, isOpenId, type OpenIdClient } from '../../sso/clients.ts';
import {
  checkReturnTo,
  invalidParameter,
  readOwnPath,
  readParameter,
  readQuery,
} from '../../web/requests.ts';

type LogoutTarget = {
  url: string;
  /** Our path that redirects to `url` when nobody is logged in any more. */
  path: string;
  title: string;
};

/** For the page /logout. Undefined if no client started the logout. Throws 400 `invalid_request` and 404 `unknown_client`. */
export function readLogoutTarget(clients: Clients, asked: Pick<Request, 'url'>): LogoutTarget | undefined {
  const params = readQuery(asked);
  const next = readOwnPath(params.get('next'));
  if (next?.startsWith(`${oauthPath}?`)) return findWayBack(clients, readOauthLogout(next));
  const name = readParameter(params, 'client');
  const returnTo = readParameter(params, 'return_to');
  if (name === undefined) {
    if (returnTo === undefined) return undefined;
    throw invalidParameter('client', 'It must name the client whose path return_to is.');
  }
  const client = clients.get(name);
  // A client of OpenID Connect has registered URLs instead, and only /oauth/logout leads to them.
  if (client?.kind !== 'hand-off') throw new AppError('unknown_client');
  checkReturnTo(returnTo);
  // The path is added to the origin as text. It begins with a slash, so nothing in it can change the origin.
  const url = new URL(new URL(client.callbackUrl).origin + (returnTo ?? '/'));
  const path = `/logout?client=${client.name}${returnTo === undefined ? '' : `&return_to=${escapeShortly(returnTo)}`}`;
  return { url: url.href, path, title: client.title };
}

const oauthPath = '/oauth/logout';

const oauthParameters = [
  'id_token_hint',
  'client_id',
  'post_logout_redirect_uri',
  'state',
  'ui_locales',
] as const;

export type OauthLogout = {
  query: string;
  asked: Partial<Record<(typeof oauthParameters)[number], string>>;
};

/** Reads the query of /oauth/logout. Throws 400 `invalid_request` if a known parameter is empty or repeated. */
export function readOauthLogout(url: string): OauthLogout {
  const query = /\?([^#]*)/.exec(url)?.[1] ?? '';
  const params = new URLSearchParams(query);
  const pairs = oauthParameters.flatMap((name) => {
    const [value, ...others] = params.getAll(name);
    if (value === '' || others.length > 0) throw invalidParameter(name, 'Send it once, with a value.');
    return value === undefined ? [] : [[name, value]];
  });
  return { query, asked: Object.fromEntries(pairs) };
}

/**
 * Finds the page to return to. `hinted` is the client that the ID token was made for. Without an ID token, `client_id` names
 * the client. Undefined if the request names no page. Throws 400 `invalid_request`.
 */
export function findWayBack(
  clients: Clients,
  { query, asked }: OauthLogout,
  hinted?: OpenIdClient,
): LogoutTarget | undefined {
  const { client_id: name, post_logout_redirect_uri: uri, state } = asked;
  const client = hinted ?? clients.get(name ?? '');
  if (name !== undefined && (!isOpenId(client) || client.name !== name))
    throw invalidParameter('client_id', 'It must name the product for which the ID token was made.');
  if (uri === undefined) return undefined;
  if (!isOpenId(client) || !client.postLogoutUris.includes(uri))
    throw invalidParameter('post_logout_redirect_uri', 'It is not a registered address of the product.');
  const joint = uri.includes('?') ? '&' : '?';
  const url = state === undefined ? uri : `${uri}${joint}${new URLSearchParams({ state })}`;
  return { url, path: pathWithoutHint(query, client), title: client.title };
}

/**
 * Keeps the spelling of each parameter, so that the path does not get longer. Leaves out the ID token, because browsers show
 * the URL of a page.
 */
function pathWithoutHint(query: string, { name }: OpenIdClient): string {
  const kept = query.split('&').filter((pair) => {
    const [each = ''] = new URLSearchParams(pair).keys();
    return ['post_logout_redirect_uri', 'state'].includes(each);
  });
  return `${oauthPath}?${[`client_id=${name}`, ...kept].join('&')}`;
}

/** Escapes as little as possible, because the whole path is escaped once more when it is part of another URL. */
const escapeShortly = (value: string) => value.replace(/[%&+# ]/g, encodeURIComponent);
