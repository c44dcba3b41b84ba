// Finds the page after a logout that a client started (contract 4.27 and 4.28). It is always on that client's own site.
import { AppError } from '../../basics/errors.ts';
import type { Clients } from '../../sso/clients.ts';
import { checkReturnTo, invalidParameter, readParameter, readQuery } from '../../web/requests.ts';

type LogoutTarget = {
  url: string;
  path: string;
  title: string;
};

/** Undefined if no client started the logout. Throws 400 `invalid_request` and 404 `unknown_client`. */
export function readLogoutTarget(clients: Clients, asked: Pick<Request, 'url'>): LogoutTarget | undefined {
  const params = readQuery(asked);
  const name = readParameter(params, 'client');
  const returnTo = readParameter(params, 'return_to');
  if (name === undefined) {
    if (returnTo === undefined) return undefined;
    throw invalidParameter('client', 'It must name the client whose path return_to is.');
  }
  const client = clients.get(name);
  if (!client) throw new AppError('unknown_client');
  checkReturnTo(returnTo);
  // The path is added to the origin as text. It begins with a slash, so nothing in it can change the origin.
  const url = new URL(new URL(client.callbackUrl).origin + (returnTo ?? '/'));
  const path = `/logout?client=${client.name}${returnTo === undefined ? '' : `&return_to=${escapeShortly(returnTo)}`}`;
  return { url: url.href, path, title: client.title };
}

/** Escapes as little as possible, because the whole path is escaped once more when it is part of another URL. */
const escapeShortly = (value: string) => value.replace(/[%&+# ]/g, encodeURIComponent);
