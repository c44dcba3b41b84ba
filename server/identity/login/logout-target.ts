// Where a logout that a client started goes on (contract 4.27 and 4.28): to a path on that client's own site, never elsewhere.
import { AppError } from '../../basics/errors.ts';
import { checkReturnTo, invalidParameter, readParameter, readQuery } from '../../http/requests.ts';
import type { Config } from '../../settings/config.ts';

/** The target, or undefined if no client started the logout. Throws 400 `invalid_request` and 404 `unknown_client`. */
export function readLogoutTarget(
  { clients }: Config,
  request: Request,
): { url: string; title: string } | undefined {
  const params = readQuery(request);
  const name = readParameter(params, 'client');
  const returnTo = readParameter(params, 'return_to');
  if (name === undefined) {
    if (returnTo === undefined) return undefined;
    throw invalidParameter('client', 'It must name the client whose path return_to is.');
  }
  const client = clients.get(name);
  if (!client) throw new AppError('unknown_client');
  checkReturnTo(returnTo);
  // The path follows the origin as text: what comes after its first slash cannot change the origin.
  const url = new URL(new URL(client.callbackUrl).origin + (returnTo ?? '/'));
  return { url: url.href, title: client.title };
}
