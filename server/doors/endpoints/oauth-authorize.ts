// GET and POST /oauth/authorize (contract 14.20 to 14.39): gives a product of OpenID Connect a code for the login in this
// browser.
import { base64 } from 'oslo/encoding';
import { v7 as uuidv7 } from 'uuid';
import { insertGrant } from '../../../db/tables/oidc-grants.ts';
import { AppError } from '../../basics/errors.ts';
import { escapeHtml } from '../../basics/escape-html.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { createToken, hashToken } from '../../identity/ground/tokens.ts';
import { decideEntry, entryRefusals, findPageOfRefusal } from '../../identity/person/entry.ts';
import { findSession, type LiveSession } from '../../identity/session/sessions.ts';
import type { LaunchOutcome } from '../../metrics/results.ts';
import {
  AuthorizeError,
  type AuthorizeRequest,
  authorizePath,
  readAuthorizeRequest,
  readTarget,
  type Target,
} from '../../openid/authorize-request.ts';
import { requireOpenIdClients } from '../../openid/clients.ts';
import { readHint } from '../../openid/id-token.ts';
import { readRawQuery, toGet } from '../../openid/raw-query.ts';
import { sha256 } from '../../runtime/hash.ts';
import { redirect, respond } from '../../web/answers.ts';
import { isSpeculative, type Visit } from '../../web/requests.ts';

export async function oauthAuthorize(deps: Dependencies, request: Request, visit: Visit): Promise<Response> {
  requireOpenIdClients(deps.clients);
  if (request.method === 'POST') return toGet(request);
  if (isSpeculative(request)) return respond(204);
  const query = readRawQuery(request.url);
  const params = new URLSearchParams(query);
  const target = readTarget(deps.clients, params);
  visit.client = target.client.name;
  try {
    const asked = readAuthorizeRequest(target.client, params, deps.now());
    return await authorize(deps, request, visit, { query, target, asked });
  } catch (thrown) {
    if (!(thrown instanceof AuthorizeError)) throw thrown;
    const { error, message } = thrown;
    return answer(deps, target, { error, error_description: message });
  }
}

async function authorize(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  { query, target, asked }: { query: string; target: Target; asked: AuthorizeRequest },
): Promise<Response> {
  const { client } = target;
  const count = (outcome: LaunchOutcome) => deps.metrics.countLaunch(client.name, outcome);
  const hint = asked.idTokenHint === undefined ? undefined : await readHint(deps, asked.idTokenHint);
  if (asked.idTokenHint !== undefined && hint?.client.id !== client.id)
    throw new AuthorizeError(
      'invalid_request',
      'id_token_hint is no ID token that was made here for this client.',
    );
  const found = await findSession(deps, request, visit);
  const decided = decideEntry(client, found, asked);
  const isAsked = decided === 'nobody' || decided === 'too_long_ago';
  if (hint && !isAsked && found?.state !== 'suspended' && found?.user.id !== hint.sub) {
    count('login_required');
    throw new AuthorizeError('login_required', 'Somebody else is logged in.');
  }
  const code = typeof decided === 'object' ? await makeCode(deps, target, asked, decided) : undefined;
  if (code !== undefined) {
    count('code');
    return answer(deps, target, { code });
  }
  const refusal = typeof decided === 'object' ? 'nobody' : decided;
  const { error, first } = entryRefusals[refusal];
  count(asked.prompt === 'none' ? error : first);
  if (asked.prompt === 'none') throw new AuthorizeError(error, 'A page would have to be shown.');
  return redirect(findPageOfRefusal(client, refusal, authorizePath(query, asked)));
}

/** Returns undefined if the person was logged out or erased while this ran. */
async function makeCode(
  { db, codesOfSession, now: clock }: Dependencies,
  { client, redirectUri }: Target,
  { scope, nonce, challenge, prompt }: AuthorizeRequest,
  { id: sessionId }: LiveSession,
): Promise<string | undefined> {
  await codesOfSession.countTry({ account: sessionId, address: '', device: undefined }).catch((refusal) => {
    if (prompt === 'none' && refusal instanceof AppError && refusal.code === 'rate_limited')
      throw new AuthorizeError('temporarily_unavailable', 'This session had too many codes within a minute.');
    throw refusal;
  });
  const code = createToken();
  const now = clock();
  const isMade = await insertGrant(db, {
    ...{ id: uuidv7(), clientId: client.id, sessionId, codeHash: hashToken(code) },
    ...{ redirectUri, scope, nonce: nonce ?? null, challenge: challenge ?? null, now },
  });
  return isMade ? code : undefined;
}

/** Sends the browser back to the client with a code or an error. */
function answer(
  { config }: Pick<Dependencies, 'config'>,
  { client, redirectUri, mode, state }: Target,
  result: Record<string, string>,
): Response {
  const pairs = Object.entries({ ...result, ...(state !== undefined && { state }), iss: config.issuer });
  if (mode === 'form_post') return respondForm(client.title, redirectUri, pairs);
  const joint = redirectUri.includes('?') ? '&' : '?';
  return redirect(`${redirectUri}${joint}${new URLSearchParams(pairs)}`);
}

const style = 'body{font:1rem/1.5 system-ui,sans-serif;margin:2rem}button{font:inherit;padding:.5rem 1rem}';
const script = 'document.forms[0].submit()';
const inlineHash = (text: string) => `'sha256-${base64.encode(sha256(text))}'`;
// There is no `form-action`, because the form posts to the product, which may redirect anywhere.
const policy = `default-src 'none'; style-src ${inlineHash(style)}; script-src ${inlineHash(script)}; base-uri 'none'; frame-ancestors 'none'`;

/** Builds the page of OAuth 2.0 Form Post Response Mode. Without script, the person presses its button. */
function respondForm(title: string, redirectUri: string, pairs: [string, string][]): Response {
  const inputs = pairs.map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  const body = [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Continue to ${escapeHtml(title)}</title>`,
    `<meta name="viewport" content="width=device-width"><style>${style}</style></head><body><main>`,
    `<h1>Continue to ${escapeHtml(title)}</h1><form method="post" action="${escapeHtml(redirectUri)}">${inputs.join('')}`,
    `<button>Continue</button></form></main><script>${script}</script></body></html>`,
  ].join('');
  return respond(
    200,
    { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy },
    body,
  );
}
