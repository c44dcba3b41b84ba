// A demo client's attempts: each login that a browser starts has a state and a cookie of its own, and only a hand-off with
// such a state starts a session (contract section 3).
import type { Client } from '../sso/clients.ts';
import { matchesAny, sign } from '../sso/hmac.ts';
import type { Payload } from '../sso/payload.ts';
import { buildCookie, createToken, readCookies } from './demo-cookies.ts';

/** `mustProve`: it asked for a credential again, with `prompt=login`. */
type Attempt = { startedAtSeconds: number; mustProve: boolean };

const prefix = 'demo_attempt_';
const maxAttempts = 5;
const lifeSeconds = 600;
const leewaySeconds = 30;

/** A new attempt: its state, and the `Set-Cookie` values that keep it and drop the oldest beyond five. */
export async function startAttempt(client: Client, request: Request, now: Date, mustProve: boolean) {
  const state = createToken();
  const said = `${toSeconds(now)}.${mustProve ? 'prove' : 'any'}`;
  // Signed, because the person who is to give a credential could change it.
  const signature = await sign(client.secrets[0] ?? '', buildMessage(client, state, said));
  const dropped = listCookies(request).slice(0, 1 - maxAttempts);
  return {
    state,
    setCookies: [
      buildCookie(client.name, prefix + state, `${said}.${signature}`, lifeSeconds),
      ...dropped.map((name) => buildCookie(client.name, name, '', 0)),
    ],
  };
}

/** This browser's attempt with that state, if it started in the last ten minutes. */
export async function findAttempt(
  client: Client,
  request: Request,
  now: Date,
  state: string,
): Promise<Attempt | undefined> {
  const [startedAt, demand, signature] = readCookies(request)[prefix + state]?.split('.') ?? [];
  if (!signature) return undefined;
  const message = buildMessage(client, state, `${startedAt}.${demand}`);
  const expected = await Promise.all(client.secrets.map((secret) => sign(secret, message)));
  if (!matchesAny(expected, [signature])) return undefined;
  const startedAtSeconds = Number(startedAt);
  if (toSeconds(now) >= startedAtSeconds + lifeSeconds) return undefined;
  return { startedAtSeconds, mustProve: demand === 'prove' };
}

/** Whether the person gave a credential during the attempt. A session that a hand-off started has no `auth_time`. */
export const isProvedSince = ({ startedAtSeconds }: Attempt, { auth_time }: Payload) =>
  auth_time !== undefined && auth_time >= startedAtSeconds - leewaySeconds;

const buildMessage = ({ name }: Client, state: string, said: string) =>
  `demo attempt ${name} ${state} ${said}`;

const toSeconds = (instant: Date) => Math.floor(instant.getTime() / 1_000);

/** The names of this browser's attempts, the oldest first. */
function listCookies(request: Request): string[] {
  return Object.entries(readCookies(request))
    .filter(([name]) => name.startsWith(prefix))
    .sort(([, a], [, b]) => Number.parseInt(a ?? '', 10) - Number.parseInt(b ?? '', 10))
    .map(([name]) => name);
}
