// GET /sso/launch/{client} (contract section 4): hands the login of this browser over to a client in a signed payload.
// The target is always the configured callback. Nothing in the request changes the target or `iss`.

import { isDatabaseBusy } from '../../../db/postgres/away.ts';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import { recordLaunch, tryRecordLaunch } from '../../../db/tables/launches.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { findStop } from '../../identity/person/launch-stops.ts';
import { buildStandardProfile } from '../../identity/person/profile.ts';
import { asksForCode, setUpPath } from '../../identity/session/second-factor.ts';
import { type BrowserSession, findSession, type LiveSession } from '../../identity/session/sessions.ts';
import type { LaunchOutcome } from '../../metrics/results.ts';
import type { Client } from '../../sso/clients.ts';
import { createNonce, sealEnvelope } from '../../sso/envelope.ts';
import { type Payload, stateForm } from '../../sso/payload.ts';
import { redirect, respond } from '../../web/answers.ts';
import { buildLaunchId } from '../../web/launch-id.ts';
import {
  checkReturnTo,
  invalidParameter,
  isSpeculative,
  readParameter,
  readQuery,
  type Visit,
} from '../../web/requests.ts';

export async function launch(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  name: string,
): Promise<Response> {
  if (isSpeculative(request)) return respond(204);

  const { clients, metrics } = deps;
  const client = clients.get(name);
  if (!client) throw new AppError('unknown_client');
  visit.client = client.name;
  const asked = readLaunch(readQuery(request), deps.now());
  const found = await findSession(deps, request, visit, client.name);
  const login = await recordFirstLaunch(deps, visit, client, checkLogin(found, client, asked));

  if (typeof login === 'object') {
    const payload = buildPayload(deps, client, login, asked);
    visit.launchId = buildLaunchId(payload.nonce);
    const sealed = await sealOrRefuse(payload, client);
    metrics.countLaunch(client.name, 'payload');
    return redirectToClient(client, sealed);
  }
  const { error, page, first } = refusals[login];
  metrics.countLaunch(client.name, asked.prompt === 'none' ? error : first);
  if (asked.prompt === 'none') return redirectToClient(client, { error, state: asked.state });
  if (page === undefined) throw refuseEntry(client);
  const next = encodeURIComponent(launchPath(client, asked));
  const why = login === 'too_long_ago' ? '&why=asked-again' : '';
  return redirect(`${page}${page.includes('?') ? '&' : '?'}next=${next}${why}`);
}

type Asked = {
  state?: string;
  returnTo?: string;
  /** `none`: never show a page. `login`: ask for a credential again. */
  prompt?: 'none' | 'login';
  /** Unix seconds: a credential must have been given since then. */
  authAfter?: number;
};

/** 30 days. */
export const maxAgeLimit = 2_592_000;

function readLaunch(params: URLSearchParams, now: Date): Asked {
  const state = readParameter(params, 'state');
  const returnTo = readParameter(params, 'return_to');
  const prompt = readParameter(params, 'prompt');
  const maxAge = readSeconds(params, 'max_age', maxAgeLimit);
  const authAfter = readSeconds(params, 'auth_after', Number.MAX_SAFE_INTEGER);
  if (state !== undefined && !stateForm.test(state)) {
    throw invalidParameter('state', 'It must be 1 to 512 letters, digits or the characters . _ ~ -');
  }
  checkReturnTo(returnTo);
  if (prompt !== undefined && prompt !== 'none' && prompt !== 'login') {
    throw invalidParameter('prompt', 'It must be none or login.');
  }
  const seconds = Math.floor(now.getTime() / 1_000);
  const demands = [
    authAfter,
    maxAge === undefined ? undefined : seconds - maxAge,
    prompt === 'login' ? seconds : undefined,
  ].filter((demand) => demand !== undefined);
  return {
    state,
    returnTo,
    prompt,
    // No credential could meet a time in the future, so the time is at most now.
    ...(demands.length > 0 && { authAfter: Math.min(seconds, Math.max(...demands)) }),
  };
}

function readSeconds(
  params: URLSearchParams,
  name: 'max_age' | 'auth_after',
  max: number,
): number | undefined {
  const text = readParameter(params, name);
  if (text === undefined) return undefined;
  const seconds = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= max))
    throw invalidParameter(name, `It must be a whole number of seconds, at most ${max}.`);
  return seconds;
}

// Each reason for sending no payload, with its error, the page that helps, if one does, and its name in the metrics. The errors
// are from OpenID Connect Core 1.0, section 3.1.2.6, and RFC 6749, section 4.1.2.1.
const refusals = {
  nobody: { error: 'login_required', page: '/login', first: 'login' },
  too_long_ago: { error: 'login_required', page: '/login?prompt=login', first: 'login' },
  suspended: { error: 'access_denied', page: '/login', first: 'login' },
  leaving: { error: 'interaction_required', page: '/profile/delete', first: 'deletion' },
  unproved: { error: 'interaction_required', page: '/verify-email', first: 'verify_email' },
  not_let_in: { error: 'access_denied', page: undefined, first: 'client_not_allowed' },
  owes_code: { error: 'interaction_required', page: '/login/code', first: 'second_factor' },
  owes_factor: { error: 'interaction_required', page: setUpPath, first: 'second_factor' },
} as const satisfies Record<string, { error: LaunchOutcome; page: string | undefined; first: LaunchOutcome }>;

/** Returns the session, or the first reason why no payload is sent (contract 4.29). */
function checkLogin(
  session: BrowserSession | undefined,
  client: Client,
  { prompt, authAfter }: Asked,
): LiveSession | keyof typeof refusals {
  if (!session) return 'nobody';
  if (session.state === 'suspended') return 'suspended';
  // `login` asks for a credential even if one was given within the same second.
  if (prompt === 'login') return 'too_long_ago';
  if (authAfter !== undefined && (secondsOf(session.authTime) ?? Number.NEGATIVE_INFINITY) < authAfter)
    return 'too_long_ago';
  const stop = findStop(client, session.user);
  if (stop) return stop;
  const isComplete = session.state === 'live' && (!client.needsFactor || session.amr.includes('mfa'));
  if (isComplete) return session;
  return asksForCode(session.user) ? 'owes_code' : 'owes_factor';
}

/** The page of the refusal names the client, and offers a login with another account (contract 13.53). */
const refuseEntry = ({ title }: Client) =>
  new AppError('client_not_allowed', {
    detail: `${title} is not open to your account. Log in with another account, if you have one. Contact support if you think that this is wrong.`,
  });

const secondsOf = (at: Date | null) => (at ? Math.floor(at.getTime() / 1_000) : undefined);

/** Records the first launch of a session to a client before the payload is sent. The result has the `sid`. */
async function recordFirstLaunch(
  { db }: Dependencies,
  visit: Visit,
  client: Client,
  login: ReturnType<typeof checkLogin>,
): Promise<(LiveSession & { sid: string }) | keyof typeof refusals> {
  if (typeof login !== 'object') return login;
  if (login.sid) return { ...login, sid: login.sid };
  const launched = { sessionId: login.id, client: client.name, sid: createNonce() };
  // One statement outside a transaction saves two round trips. If another transaction has locked the rows, the statement runs
  // again in a transaction, which waits and retries.
  const sid = await tryRecordLaunch(db, launched).catch((error) => {
    if (!isDatabaseBusy(error)) throw error;
    return inTransactionOf(visit, db, (trx) => recordLaunch(trx, launched));
  });
  // The user was logged out, suspended or erased meanwhile.
  return sid === undefined ? 'nobody' : { ...login, sid };
}

/** Returns where to go on after the login. `prompt` is left out, because it would ask for the password again and again. */
function launchPath(client: Client, { state, returnTo, authAfter }: Asked): string {
  const query = new URLSearchParams({
    ...(state && { state }),
    ...(returnTo && { return_to: returnTo }),
    ...(authAfter !== undefined && { auth_after: String(authAfter) }),
  });
  return `/sso/launch/${client.name}${query.size > 0 ? `?${query}` : ''}`;
}

function buildPayload(
  { config, now }: Dependencies,
  client: Client,
  session: LiveSession & { sid: string },
  asked: Asked,
): Payload {
  const iat = Math.floor(now().getTime() / 1_000);
  const authTime = secondsOf(session.authTime);
  return {
    iss: config.issuer,
    aud: client.name,
    iat,
    exp: iat + client.ttlSeconds,
    nonce: createNonce(),
    client: client.name,
    sid: session.sid,
    ...(authTime !== undefined && { auth_time: authTime }),
    amr: session.amr,
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

/** Returns the callback, ready to append parameters. It is handled as text, so that the callback's own query stays as it is. */
function startOf(client: Client): string {
  const known = starts.get(client);
  if (known) return known;
  const url = new URL(client.callbackUrl);
  url.hash = '';
  const start = `${url.href.replace(/\?$/, '')}${url.search ? '&' : '?'}`;
  starts.set(client, start);
  return start;
}
