// GET and POST /oauth/logout (contract 14.60 to 14.65; OpenID Connect RP-Initiated Logout 1.0): a product of OpenID Connect
// logs this browser out.
import type { Dependencies } from '../../ground/dependencies.ts';
import { logout } from '../../identity/login/login.ts';
import { findWayBack, readOauthLogout } from '../../identity/login/logout-target.ts';
import { findSession } from '../../identity/session/sessions.ts';
import { requireOpenIdClients } from '../../openid/clients.ts';
import { readHint } from '../../openid/id-token.ts';
import { readRawQuery, toGet } from '../../openid/raw-query.ts';
import { redirect, respond } from '../../web/answers.ts';
import { invalidParameter, isSpeculative, type Visit } from '../../web/requests.ts';

export async function oauthLogout(deps: Dependencies, request: Request, visit: Visit): Promise<Response> {
  requireOpenIdClients(deps.clients);
  if (request.method === 'POST') return toGet(request);
  if (isSpeculative(request)) return respond(204);
  const read = readOauthLogout(`?${readRawQuery(request.url)}`);
  const { id_token_hint: token, client_id: clientId } = read.asked;
  const hint = token === undefined ? undefined : await readHint(deps, token);
  if (token !== undefined && !hint)
    throw invalidParameter(
      'id_token_hint',
      'It is not an ID token from this service for a product that is on.',
    );
  const back = findWayBack(deps.clients, read, hint?.client);
  visit.client = hint?.client.name ?? clientId;
  const session = await findSession(deps, request, visit, hint?.client.name);
  const onward = back?.url ?? '/login?logged_out';
  if (!session || session.state === 'suspended') return redirect(onward);
  if (hint && session.sid === hint.sid && session.user.id === hint.sub) {
    const ended = await logout(deps, request, visit);
    return redirect(onward, { 'Clear-Site-Data': '"cache"' }, [ended]);
  }
  return redirect(back ? `/logout?next=${encodeURIComponent(back.path)}` : '/logout');
}
