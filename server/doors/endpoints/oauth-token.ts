// POST /oauth/token (contract 14.40 to 14.51): exchanges a client's code for an ID token and an access token.
import { base64, base64url } from 'oslo/encoding';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import { noteChallenge } from '../../../db/tables/clients.ts';
import { recordLaunch } from '../../../db/tables/launches.ts';
import { deleteGrant, exchangeCode, findGrantByCode, type Grant } from '../../../db/tables/oidc-grants.ts';
import { AppError } from '../../basics/errors.ts';
import { decodeIfPossible, readHeader } from '../../basics/text.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { createToken, hashToken } from '../../identity/ground/tokens.ts';
import { sessionEndsAt, sessionLimits } from '../../identity/session/sessions.ts';
import { requireOpenIdClients } from '../../openid/clients.ts';
import { mayHave, tokenSeconds } from '../../openid/grants.ts';
import { buildIdToken } from '../../openid/id-token.ts';
import { answerOAuth, OAuthError } from '../../openid/oauth-error.ts';
import { sha256 } from '../../runtime/hash.ts';
import { isOpenId, type OpenIdClient } from '../../sso/clients.ts';
import { createNonce } from '../../sso/envelope.ts';
import { findMatch } from '../../sso/hmac.ts';
import { type Form, readForm, type Visit } from '../../web/requests.ts';

const codeMs = 60_000;

export async function oauthToken(deps: Dependencies, request: Request, visit: Visit): Promise<Response> {
  requireOpenIdClients(deps.clients);
  return answerOAuth(async () => {
    const form = await readTokenForm(request);
    const client = authenticate(deps, request, form);
    visit.client = client.name;
    if (form.get('grant_type') !== 'authorization_code')
      throw form.has('grant_type')
        ? new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code.')
        : new OAuthError('invalid_request', 'grant_type is missing.');
    return exchange(deps, visit, client, form);
  });
}

/** Treats an empty field as missing (RFC 6749 section 3.2). */
async function readTokenForm(request: Request): Promise<Form> {
  const form = await readForm(request).catch((error) => {
    throw error instanceof AppError && error.status < 500
      ? new OAuthError('invalid_request', error.detail)
      : error;
  });
  return new Map([...form].filter(([, value]) => value !== ''));
}

function authenticate({ clients, metrics }: Dependencies, request: Request, form: Form): OpenIdClient {
  const header = readHeader(request.headers, 'authorization') ?? '';
  const basic = /^basic +(\S+)$/i.exec(header)?.[1];
  const refuse = () =>
    new OAuthError('invalid_client', 'The client is unknown, or its secret is wrong.', 401, {
      ...(header && { 'WWW-Authenticate': 'Basic realm="token"' }),
    });
  if (header && basic === undefined) throw refuse();
  const [name, secret] =
    basic === undefined ? [form.get('client_id'), form.get('client_secret')] : readBasic(basic);
  if (basic !== undefined && form.has('client_secret'))
    throw new OAuthError('invalid_request', 'Send the secret in the header or in the body, not in both.');
  if (form.has('client_id') && form.get('client_id') !== name)
    throw new OAuthError('invalid_request', 'client_id is not the one in the header.');
  const client = clients.get(name ?? '');
  if (!isOpenId(client)) throw refuse();
  if (client.auth === 'none') return client;
  const matched = findMatch(client.secrets, [secret ?? '']);
  if (matched === undefined) throw refuse();
  metrics.countCall(client.name, 'token', matched);
  clients.noteUse(client, matched);
  return client;
}

/** Decodes the client id and the secret. Both are form-encoded (RFC 6749 section 2.3.1). */
function readBasic(encoded: string): string[] {
  try {
    const text = new TextDecoder().decode(base64.decode(encoded, { strict: false }));
    const [name = '', ...secret] = text.split(':');
    return [name, secret.join(':')].map((part) => decodeIfPossible(part.replaceAll('+', ' ')));
  } catch {
    return [];
  }
}

const invalidGrant = () =>
  new OAuthError('invalid_grant', 'The code is unknown, used or expired, or was made for another request.');

async function exchange(deps: Dependencies, visit: Visit, client: OpenIdClient, form: Form) {
  const [code, redirectUri, verifier] = [
    form.get('code'),
    form.get('redirect_uri'),
    form.get('code_verifier'),
  ];
  if (code === undefined) throw new OAuthError('invalid_request', 'code is missing.');
  if (redirectUri === undefined) throw new OAuthError('invalid_request', 'redirect_uri is missing.');
  const now = deps.now();
  const grant = await findGrantByCode(deps.read, hashToken(code), sessionLimits(now));
  if (grant?.clientId !== client.id) throw invalidGrant();
  visit.userId = grant.user.id;
  if (grant.exchangedAt) return endGrant(deps, grant);
  const isInTime = now.getTime() - grant.createdAt.getTime() < codeMs;
  if (
    !isInTime ||
    grant.redirectUri !== redirectUri ||
    !isVerified(client, grant, verifier) ||
    !mayHave(deps, client, grant)
  )
    throw invalidGrant();
  if (client.pkce === 'state-only' && grant.challenge !== null && !client.sendsChallenge)
    await noteChallenge(deps.db, client.id, now);

  const accessToken = createToken();
  const launched = { sessionId: grant.sessionId, client: client.name, sid: createNonce() };
  const sid = await inTransactionOf(visit, deps.db, async (trx) => {
    // `recordLaunch` comes first, because it locks the user and the session in the same order as an erasure. It also finds out
    // whether the session has ended. In that case the code is worth nothing.
    const [found, isFirst] = await Promise.all([
      recordLaunch(trx, launched),
      exchangeCode(trx, { id: grant.id, tokenHash: hashToken(accessToken), now }),
    ]);
    return isFirst ? found : null;
  });
  if (sid === null) return endGrant(deps, grant);
  if (sid === undefined) throw invalidGrant();
  const endsMs = Math.min(
    now.getTime() + tokenSeconds * 1_000,
    sessionEndsAt(grant.sessionCreatedAt).getTime(),
  );
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: Math.floor((endsMs - now.getTime()) / 1_000),
    scope: grant.scope.join(' '),
    id_token: await buildIdToken(deps, client, { ...grant, sid }, { ...grant, accessToken }),
  };
}

/** If a code is used twice, somebody else may have it. So the access token of the first use ends (RFC 6749 section 4.1.2). */
async function endGrant({ db }: Dependencies, { id }: Grant): Promise<never> {
  await deleteGrant(db, id);
  throw invalidGrant();
}

/**
 * The client may have begun to require a challenge after the code was made. If a client has no secret, only the challenge
 * protects the code.
 */
function isVerified({ pkce }: OpenIdClient, { challenge }: Grant, verifier: string | undefined): boolean {
  if (challenge === null) return pkce !== 'required' && verifier === undefined;
  if (verifier === undefined) return false;
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  return base64url.encode(sha256(verifier), { includePadding: false }) === challenge;
}
