// GET /sso/launch/{client} (contract section 4): hands the login in this browser over to a client, in a signed payload. The
// payload always goes to the configured callback. Nothing in the request changes that target or `iss`.

import { isDatabaseBusy } from '../../../db/postgres/away.ts';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import { recordLaunch, tryRecordLaunch } from '../../../db/tables/launches.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import {
  decideEntry,
  type EntryRefusal,
  entryRefusals,
  findPageOfRefusal,
  secondsOf,
} from '../../identity/person/entry.ts';
import { buildStandardProfile } from '../../identity/person/profile.ts';
import { findSession, type LiveSession } from '../../identity/session/sessions.ts';
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
  if (client?.kind !== 'hand-off') throw new AppError('unknown_client');
  visit.client = client.name;
  const asked = readLaunch(readQuery(request), deps.now());
  const found = await findSession(deps, request, visit, client.name);
  const login = await recordFirstLaunch(deps, visit, client, decideEntry(client, found, asked));

  if (typeof login === 'object') {
    const payload = buildPayload(deps, client, login, asked);
    visit.launchId = buildLaunchId(payload.nonce);
    const sealed = await sealOrRefuse(payload, client);
    metrics.countLaunch(client.name, 'payload');
    return redirectToClient(client, sealed);
  }
  const { error, first } = entryRefusals[login];
  metrics.countLaunch(client.name, asked.prompt === 'none' ? error : first);
  if (asked.prompt === 'none') return redirectToClient(client, { error, state: asked.state });
  return redirect(findPageOfRefusal(client, login, launchPath(client, asked)));
}

type Asked = {
  state?: string;
  returnTo?: string;
  /** `none` means never to show a page, and `login` to ask for a credential again. */
  prompt?: 'none' | 'login';
  /** In Unix seconds. A credential must have been given at this time or later. */
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
    // The time is at most now, because no credential could satisfy a time in the future.
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

/** Records the first launch of a session to a client, before the payload is sent. Returns the launch record's `sid`. */
async function recordFirstLaunch(
  { db }: Dependencies,
  visit: Visit,
  client: Client,
  login: LiveSession | EntryRefusal,
): Promise<(LiveSession & { sid: string }) | EntryRefusal> {
  if (typeof login !== 'object') return login;
  if (login.sid) return { ...login, sid: login.sid };
  const launched = { sessionId: login.id, client: client.name, sid: createNonce() };
  // Uses one statement outside a transaction, which saves two round trips. If another transaction has locked the rows, the
  // statement runs again in a transaction, which waits and retries.
  const sid = await tryRecordLaunch(db, launched).catch((error) => {
    if (!isDatabaseBusy(error)) throw error;
    return inTransactionOf(visit, db, (trx) => recordLaunch(trx, launched));
  });
  // The user was logged out, suspended or erased while this ran.
  return sid === undefined ? 'nobody' : { ...login, sid };
}

/**
 * Returns the path on which the launch goes on after a login. The path has no `prompt`, because it would ask for a credential
 * after each login.
 */
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

/**
 * Returns the callback in a form to which parameters can be appended. It stays text, so that the callback's own query does not
 * change.
 */
function startOf(client: Client): string {
  const known = starts.get(client);
  if (known) return known;
  const url = new URL(client.callbackUrl);
  url.hash = '';
  const start = `${url.href.replace(/\?$/, '')}${url.search ? '&' : '?'}`;
  starts.set(client, start);
  return start;
}
