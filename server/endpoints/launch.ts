// GET /sso/launch/{client} (contract section 4): hands the login of this browser over to a client, signed.
//
// The target is always the configured callback: nothing in the request changes it, or `iss`.
import type { Session } from '../../db/sessions.ts';
import { AppError } from '../errors.ts';
import { redirect, respond } from '../http/answers.ts';
import { invalidParameter, isSpeculative, readParameter, readQuery } from '../http/requests.ts';
import { buildStandardProfile } from '../identity/profile.ts';
import { findSession } from '../identity/sessions.ts';
import type { Services } from '../services.ts';
import type { Client } from '../sso/clients.ts';
import { createNonce, sealEnvelope } from '../sso/envelope.ts';
import { isReturnTo, type Payload } from '../sso/payload.ts';

export async function launch(services: Services, request: Request, name: string): Promise<Response> {
  if (isSpeculative(request)) return respond(204);

  const client = services.config.clients.get(name);
  if (!client) throw new AppError('unknown_client');
  const asked = readLaunch(readQuery(request));
  const login = checkLogin(await findSession(services, request));
  const next = `next=${encodeURIComponent(launchPath(client, asked))}`;

  if (asked.prompt === 'login') return redirect(`/login?prompt=login&${next}`);
  if (typeof login === 'object') {
    const payload = buildPayload(services, client, login, asked);
    return redirectToClient(client, await sealOrRefuse(payload, client));
  }
  if (asked.prompt === 'none') return redirectToClient(client, { error: login, state: asked.state });
  return redirect(`${pageFor[login]}?${next}`);
}

type Asked = { state?: string; returnTo?: string; prompt?: 'none' | 'login' };

function readLaunch(params: URLSearchParams): Asked {
  const state = readParameter(params, 'state');
  const returnTo = readParameter(params, 'return_to');
  const prompt = readParameter(params, 'prompt');
  if (state !== undefined && !/^[A-Za-z0-9._~-]{1,512}$/.test(state)) {
    throw invalidParameter('state', 'It must be 1 to 512 letters, digits or the characters . _ ~ -');
  }
  if (returnTo !== undefined && !isReturnTo(returnTo)) {
    throw invalidParameter(
      'return_to',
      'It must be a path on your own site: one slash at the start, at most 2,048 characters.',
    );
  }
  if (prompt !== undefined && prompt !== 'none' && prompt !== 'login') {
    throw invalidParameter('prompt', 'It must be none or login.');
  }
  return { state, returnTo, prompt };
}

// Why no payload leaves, and the page that helps. The names are the error codes of OpenID Connect Core 1.0, section
// 3.1.2.6, and RFC 6749, section 4.1.2.1.
const pageFor = { login_required: '/login', access_denied: '/login', interaction_required: '/verify-email' };

/** The session, or why no payload leaves for it. */
function checkLogin(session: Session | 'suspended' | undefined): Session | keyof typeof pageFor {
  if (session === 'suspended') return 'access_denied';
  if (!session) return 'login_required';
  return session.user.emailVerifiedAt ? session : 'interaction_required';
}

/** The same launch, for after the login. Without `prompt`, which would ask for the password again and again. */
function launchPath(client: Client, { state, returnTo }: Asked): string {
  const query = new URLSearchParams({ ...(state && { state }), ...(returnTo && { return_to: returnTo }) });
  return `/sso/launch/${client.name}${query.size > 0 ? `?${query}` : ''}`;
}

function buildPayload({ config, now }: Services, client: Client, session: Session, asked: Asked): Payload {
  const iat = Math.floor(now().getTime() / 1_000);
  return {
    iss: config.issuer,
    aud: client.name,
    iat,
    exp: iat + config.ssoTtlSeconds,
    nonce: createNonce(),
    client: client.name,
    profile: buildStandardProfile(session.user),
    ...(asked.state && { state: asked.state }),
    ...(asked.returnTo && { return_to: asked.returnTo }),
  };
}

/** Only `return_to` is long enough to make a payload too long. */
async function sealOrRefuse(payload: Payload, client: Client) {
  try {
    return await sealEnvelope(payload, client.secrets);
  } catch (error) {
    if (error instanceof RangeError)
      throw invalidParameter('return_to', 'It makes the payload too long. Use a shorter path.');
    throw error;
  }
}

function redirectToClient(client: Client, params: Record<string, string | undefined>): Response {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== undefined) query.set(name, value);
  return redirect(startOf(client) + query);
}

const starts = new WeakMap<Client, string>();

/** The callback up to where parameters are appended, as text, so its own query keeps its spelling. Parsed once. */
function startOf(client: Client): string {
  const known = starts.get(client);
  if (known) return known;
  const url = new URL(client.callbackUrl);
  url.hash = '';
  const start = `${url.href.replace(/\?$/, '')}${url.search ? '&' : '?'}`;
  starts.set(client, start);
  return start;
}
