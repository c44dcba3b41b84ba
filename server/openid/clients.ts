// Finds the clients of OpenID Connect that are turned on.
import { AppError } from '../basics/errors.ts';
import { type Clients, isOpenId, type OpenIdClient } from '../sso/clients.ts';

/** Throws 404 `not_configured` if there is no such client (contract 14.2). */
export function requireOpenIdClients(clients: Clients): OpenIdClient[] {
  const found = clients.list().filter(isOpenId);
  if (found.length === 0) throw new AppError('not_configured');
  return found;
}
