// The token with which a client reads from us (contract section 10). It is made from the signing secret, which so never
// travels.
import { AppError } from '../errors.ts';
import type { Client } from '../sso/clients.ts';
import { matchesAny, sign } from '../sso/hmac.ts';

/** Throws 401 `invalid_token` unless the request carries the token of that client. */
export async function requireClientToken(request: Request, client: Client | undefined): Promise<void> {
  const secrets = client?.secrets ?? [];
  const expected = await Promise.all(
    secrets.map((secret) => sign(secret, `identity events v1 ${client?.name}`)),
  );
  const token = /^bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
  if (!matchesAny(expected, [token]))
    throw new AppError('invalid_token', { headers: { 'WWW-Authenticate': 'Bearer' } });
}
