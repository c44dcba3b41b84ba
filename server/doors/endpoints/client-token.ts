// The token with which a client reads from us (contract 10.19 to 10.20). It is derived from the signing secret, so that the
// client never sends the secret itself.

import { AppError } from '../../basics/errors.ts';
import { readHeader } from '../../basics/text.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Client } from '../../sso/clients.ts';
import { findMatch, sign } from '../../sso/hmac.ts';

/**
 * Returns the client whose token the request carries. If a token is wrong, the time that this takes does not show which part of
 * it is right. Throws 401 `invalid_token`.
 */
export async function requireTokenOwner(
  { metrics, clients: book }: Pick<Dependencies, 'metrics' | 'clients'>,
  request: Request,
  clients: readonly Client[],
): Promise<Client> {
  const token = /^bearer +(\S+)$/i.exec(readHeader(request.headers, 'authorization') ?? '')?.[1] ?? '';
  const owners = clients.filter(({ kind }) => kind === 'hand-off');
  const tokens = await Promise.all(owners.map(buildTokens));
  const [owned] = owners.flatMap((owner, at) => {
    const secret = findMatch(tokens[at] ?? [], [token]);
    return secret === undefined ? [] : [{ owner, secret }];
  });
  if (!owned) throw new AppError('invalid_token', { headers: { 'WWW-Authenticate': 'Bearer' } });
  metrics.countCall(owned.owner.name, 'token', owned.secret);
  book.noteUse(owned.owner, owned.secret);
  return owned.owner;
}

const tokensOf = new WeakMap<Client, Promise<string[]>>();

/**
 * Returns the client's tokens, one for each secret. The tokens are kept, because deriving the tokens of hundreds of clients
 * takes long.
 */
function buildTokens(client: Client): Promise<string[]> {
  const { name, secrets } = client;
  const known = tokensOf.get(client);
  const tokens = known ?? Promise.all(secrets.map((secret) => sign(secret, `identity events v1 ${name}`)));
  if (!known) tokensOf.set(client, tokens);
  return tokens;
}
