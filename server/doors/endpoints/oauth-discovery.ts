// Serves what clients of OpenID Connect read before they log anybody in (contract 14.10 to 14.16; OpenID Connect Discovery 1.0,
// RFC 8414).
import { listPublished } from '../../clients/keys.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { prompts, responseModes, scopes } from '../../openid/authorize-request.ts';
import { requireOpenIdClients } from '../../openid/clients.ts';
import { claimsOfScopes } from '../../openid/id-token.ts';
import { respond } from '../../web/answers.ts';

type Deps = Pick<Dependencies, 'clients' | 'config' | 'now'>;

const respondToAll = (body: unknown) =>
  respond(
    200,
    {
      'Content-Type': 'application/json',
      'Cache-Control': 'public, max-age=300',
      'Access-Control-Allow-Origin': '*',
    },
    JSON.stringify(body),
  );

/** Products switch on features by these members. So each member names only what this service can do. */
export function oauthDiscovery({ clients, config }: Deps): Response {
  requireOpenIdClients(clients);
  const { issuer, baseUrl } = config;
  return respondToAll({
    issuer,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    token_endpoint: `${baseUrl}/oauth/token`,
    userinfo_endpoint: `${baseUrl}/oauth/userinfo`,
    end_session_endpoint: `${baseUrl}/oauth/logout`,
    jwks_uri: `${baseUrl}/oauth/jwks`,
    response_types_supported: ['code'],
    response_modes_supported: responseModes,
    grant_types_supported: ['authorization_code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: scopes,
    claims_supported: [
      ...['sub', 'iss', 'aud', 'exp', 'iat', 'sid', 'auth_time', 'amr', 'nonce', 'at_hash'],
      ...Object.values(claimsOfScopes).flat(),
    ],
    prompt_values_supported: prompts,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    authorization_response_iss_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    claims_parameter_supported: false,
  });
}

export function oauthKeys({ clients, now }: Deps): Response {
  requireOpenIdClients(clients);
  return respondToAll({ keys: listPublished(clients.keys(), now()).map(({ publicJwk }) => publicJwk) });
}
