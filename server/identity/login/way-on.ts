// Our paths that redirect to a client: a launch, a login by OpenID Connect, and a logout that a client started (contract 9.191
// and 14.19). Browsers apply the `form-action` of a page also to the redirects after its forms. So no form redirects to such a
// path: the form redirects to the page /go, and that page opens the path.
import { AppError } from '../../basics/errors.ts';
import { decodeIfPossible } from '../../basics/text.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Client, Clients } from '../../sso/clients.ts';
import { readOwnPath } from '../../web/requests.ts';
import { findWayBack, readLogoutTarget, readOauthLogout } from './logout-target.ts';

export type WayOn = {
  /** Contains only ASCII, because the path goes into a header. */
  path: string;
  /**
   * Where the person can start again. The parameters of one attempt are missing, because a client accepts a `state` only one
   * time.
   */
  again: string;
  title: string;
  isBack: boolean;
};

type Known = Pick<Dependencies, 'config' | 'clients'>;

export function findWayOn(known: Known, value: string | null | undefined): WayOn | undefined {
  const path = readOwnPath(value);
  if (path === undefined) return undefined;
  const url = new URL(path, known.config.baseUrl);
  if (url.pathname === '/logout' || url.pathname === '/oauth/logout') {
    const target = findTarget(known, url);
    return target && { path, again: path, title: target.title, isBack: true };
  }
  const client = findClientOfWay(known.clients, path);
  if (!client) return undefined;
  const { title } = client;
  if (client.kind === 'hand-off') return { path, again: `/sso/launch/${client.name}`, title, isBack: false };
  // A client of OpenID Connect begins each attempt itself, so the person starts again at the client's own page. A path from a
  // mail has only the client's name, so it leads to that page, too.
  const again = startOf(client);
  return { path: /[?&]redirect_uri=/.test(path) ? path : again, again, title, isBack: false };
}

/** Returns the page of a client's own site where a login begins. */
const startOf = ({ loginUrl, callbackUrl }: Client) => loginUrl ?? new URL('/', callbackUrl).href;

/** Finds the client of a path that begins a launch or a login by OpenID Connect. Other paths have no client. */
export function findClientOfWay(clients: Clients, path: string | undefined): Client | undefined {
  const [, name, query] =
    /^\/(?:sso\/launch\/([^/?#]+)(?:[?#]|$)|oauth\/authorize\?([^#]*))/.exec(path ?? '') ?? [];
  const asked =
    query === undefined ? decodeIfPossible(name ?? '') : new URLSearchParams(query).get('client_id');
  const client = clients.get(asked ?? '');
  return client?.kind === (query === undefined ? 'hand-off' : 'openid') ? client : undefined;
}

/** Returns where a logout leads. Undefined if no client started the logout, or if the logout is refused. */
function findTarget({ clients }: Known, url: URL) {
  try {
    return url.pathname === '/logout'
      ? readLogoutTarget(clients, { url: url.href })
      : findWayBack(clients, readOauthLogout(url.href));
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
