// GET /sso/launch/{client} (contract section 4): carries the login of this browser to a client, signed.
//
// The target is only ever the configured callback: nothing in the request changes it or `iss`.
import { base64url } from 'oslo/encoding';
import type { Services } from '../backend.ts';
import { AppError } from '../errors.ts';
import {
  invalidParameter,
  isSpeculative,
  readParameter,
  readQuery,
  redirect,
  requireMethod,
  respond,
  toAppError,
} from '../http.ts';
import { findSession, type Session } from '../identity/sessions.ts';
import { buildStandardProfile } from '../identity/standard-profile.ts';
import type { Client } from '../sso/clients.ts';
import { sealEnvelope } from '../sso/envelope.ts';
import { isReturnTo, type Payload } from '../sso/payload.ts';

const launchHeaders = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };

export async function launch(services: Services, request: Request, name: string): Promise<Response> {
  try {
    return await answer(services, request, name);
  } catch (error) {
    throw toAppError(error).with(launchHeaders);
  }
}

async function answer(services: Services, request: Request, name: string): Promise<Response> {
  const { config } = services;
  requireMethod(request, ['GET', 'HEAD']);
  if (isSpeculative(request)) return respond(204, launchHeaders);

  const client = config.clients.get(name);
  if (!client) throw new AppError('unknown_client');
  const asked = readLaunch(readQuery(request));
  const session = await findSession(services, request);

  if (asked.prompt === 'none') {
    const refusal = refusalWithoutPage(session);
    if (refusal) return redirectTo(client, { error: refusal, state: asked.state });
  }
  const here = launchPath(client, asked);
  // Without `prompt`, so that the launch goes on after the password instead of asking for it for ever.
  if (asked.prompt === 'login') return redirectHere(`/login?prompt=login&next=${encodeURIComponent(here)}`);
  if (!session || session === 'suspended') return redirectHere(`/login?next=${encodeURIComponent(here)}`);
  if (!session.user.emailVerifiedAt) return redirectHere(`/verify-email?next=${encodeURIComponent(here)}`);

  const payload = buildPayload(services, client, session, asked);
  return redirectTo(client, await sealOrRefuse(payload, client));
}

type Asked = { state?: string; returnTo?: string; prompt?: 'none' | 'login' };

function readLaunch(params: URLSearchParams): Asked {
  const state = readParameter(params, 'state');
  const returnTo = readParameter(params, 'return_to');
  const prompt = readParameter(params, 'prompt');
  if (state !== undefined && !/^[A-Za-z0-9._~-]{1,512}$/.test(state)) {
    throw invalidParameter('state', 'It takes 1 to 512 letters, digits and . _ ~ -');
  }
  if (returnTo !== undefined && !isReturnTo(returnTo)) {
    throw invalidParameter(
      'return_to',
      'It takes a path on your own site that starts with one slash, of at most 2,048 characters.',
    );
  }
  if (prompt !== undefined && prompt !== 'none' && prompt !== 'login') {
    throw invalidParameter('prompt', 'It takes none or login.');
  }
  return { state, returnTo, prompt };
}

// The error codes of OpenID Connect Core 1.0, section 3.1.2.6, and RFC 6749, section 4.1.2.1.
function refusalWithoutPage(session: Session | 'suspended' | undefined): string | undefined {
  if (session === 'suspended') return 'access_denied';
  if (!session) return 'login_required';
  return session.user.emailVerifiedAt ? undefined : 'interaction_required';
}

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
    nonce: base64url.encode(crypto.getRandomValues(new Uint8Array(16)), { includePadding: false }),
    client: client.name,
    profile: buildStandardProfile(session.user),
    ...(asked.state && { state: asked.state }),
    ...(asked.returnTo && { return_to: asked.returnTo }),
  };
}

/** Only `return_to` has no bound in bytes, so only it can make a payload too long. */
async function sealOrRefuse(payload: Payload, client: Client) {
  try {
    return await sealEnvelope(payload, client.secrets);
  } catch (error) {
    if (error instanceof RangeError) throw invalidParameter('return_to', 'It makes the payload too long.');
    throw error;
  }
}

function redirectTo(client: Client, params: Record<string, string | undefined>): Response {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== undefined) query.set(name, value);
  return redirect(startOf(client) + query, launchHeaders);
}

const starts = new WeakMap<Client, string>();

/** The callback with its `?` or `&`: what is appended as text leaves its own query as it was spelt. Parsed once. */
function startOf(client: Client): string {
  const known = starts.get(client);
  if (known) return known;
  const url = new URL(client.callbackUrl);
  url.hash = '';
  const start = `${url.href.replace(/\?$/, '')}${url.search ? '&' : '?'}`;
  starts.set(client, start);
  return start;
}

const redirectHere = (path: string) => redirect(path, launchHeaders);
