// GET and POST /oauth/userinfo (contract 14.55 to 14.58; OpenID Connect Core 1.0 section 5.3): sends a client the claims of a
// person.
import { findGrantByToken } from '../../../db/tables/oidc-grants.ts';
import { readHeader } from '../../basics/text.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { hashToken } from '../../identity/ground/tokens.ts';
import { sessionLimits } from '../../identity/session/sessions.ts';
import { requireOpenIdClients } from '../../openid/clients.ts';
import { mayHave, tokenSeconds } from '../../openid/grants.ts';
import { buildClaims } from '../../openid/id-token.ts';
import { answerOAuth, OAuthError } from '../../openid/oauth-error.ts';
import type { Visit } from '../../web/requests.ts';

export async function oauthUserinfo(deps: Dependencies, request: Request, visit: Visit): Promise<Response> {
  const clients = requireOpenIdClients(deps.clients);
  return answerOAuth(async () => {
    const token = /^bearer +(\S+)$/i.exec(readHeader(request.headers, 'authorization') ?? '')?.[1];
    if (token === undefined) throw refuse('Bearer');
    const now = deps.now();
    const exchangedAfter = new Date(now.getTime() - tokenSeconds * 1_000);
    const grant = await findGrantByToken(
      deps.read,
      { tokenHash: hashToken(token), exchangedAfter },
      sessionLimits(now),
    );
    const client = clients.find(({ id }) => id === grant?.clientId);
    if (!grant || !client || !mayHave(deps, client, grant)) throw refuse('Bearer error="invalid_token"');
    visit.client = client.name;
    visit.userId = grant.user.id;
    return { sub: grant.user.id, ...buildClaims(grant.user, grant.scope) };
  });
}

const refuse = (challenge: string) =>
  new OAuthError('invalid_token', 'The access token is missing, unknown or has ended.', 401, {
    'WWW-Authenticate': challenge,
  });
