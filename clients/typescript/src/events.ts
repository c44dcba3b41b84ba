// Events say what has changed about the people who were handed over to this client, in order and without gaps. Each pull begins
// after the last event of the pull before it. So no event is lost, even if nudges are lost.
import { readBody } from './body.ts';
import { hmac, toHex, utf8 } from './bytes.ts';
import type { Settings } from './config.ts';
import { findWrongProfileMember, memberOf, type Profile } from './hand-off.ts';
import type { Claim } from './stores.ts';
import { toSeconds } from './verify.ts';

type Members = {
  occurred_at: string;
  user_id: string;
  sid: string;
  profile: Profile;
  signup_id: string;
  contract: unknown;
};
type EventOf<Type extends string, Names extends keyof Members = never> = { seq: number; type: Type } & {
  [Name in Names]: Members[Name];
} & { [Name in Exclude<keyof Members, Names>]?: undefined };

/**
 * The `type` of an event says which members the event has. The service may add members and types. Ignore a type that is not
 * listed here.
 */
export type IdentityEvent =
  | EventOf<'profile.updated', 'occurred_at' | 'user_id' | 'profile'>
  | EventOf<'session.ended', 'occurred_at' | 'user_id' | 'sid'>
  | EventOf<'user.suspended' | 'user.restored' | 'user.deleted', 'occurred_at' | 'user_id'>
  | EventOf<'contract.updated', 'occurred_at' | 'user_id' | 'signup_id' | 'contract'>
  | EventOf<'erased'>;

/** Functions that pulls call. If a pull was interrupted, each may be called again for the same event. */
export type EventHooks = {
  /** Ends your session of the login with this `sid`. The kit ends its own sessions. */
  endSession?: (sid: string) => unknown;
  /**
   * Gets each event, in order. `isNewer` says that the event's profile is later than the kept one. If this throws, that
   * profile is not kept.
   */
  apply?: (event: IdentityEvent, isNewer: boolean) => unknown;
  /** Is called if missed events can no longer be read. End all your sessions, and delete the profiles that you keep. */
  startOver?: () => unknown;
};

const limit = 1_000;
const answerWithinMs = 10_000;
/** More bytes than a thousand of the largest events have. */
const maxAnswerBytes = 8_388_608;
/** Every verifier refuses a hand-off that expired longer ago than this. */
const marginSeconds = 60;

/**
 * Pulls events until there are no more. Returns the number of the last event. Returns undefined if another pull is at work.
 * Throws if the service does not answer.
 */
export async function pullEvents(settings: Settings, hooks: EventHooks): Promise<number | undefined> {
  const claim = await settings.position.claim();
  if (!claim) return undefined;
  try {
    return await pullAll(settings, hooks, claim);
  } finally {
    // If the release fails, another pull can take over after a while.
    await claim.release().catch(() => {});
  }
}

async function pullAll(settings: Settings, hooks: EventHooks, claim: Claim): Promise<number> {
  let after = claim.position;
  async function advance(to: number): Promise<void> {
    // An older event must not undo what another pull has applied.
    if (!(await claim.advance(to))) throw new Error('Another pull has taken over.');
    after = to;
  }
  for (;;) {
    const { status, answer } = await ask(settings, after);
    if (status === 410) {
      const next = readOldest(answer) - 1;
      if (next === after) throw new Error('/sso/events says to go on from where this was.');
      await hooks.startOver?.();
      await endKept(hooks, () => settings.sessions?.endAll());
      await settings.profiles.forgetAll();
      await advance(next);
      continue;
    }
    if (status !== 200) throw new Error(`/sso/events answered ${status} ${memberOf(answer, 'code') ?? ''}`);
    const events = readEvents(answer, after);
    // The request for the empty page after the last event tells the service that all events were read.
    if (events.length === 0) return after;
    for (const event of events) {
      await applyEvent(settings, hooks, event);
      await advance(event.seq);
    }
  }
}

/** The steps are in this order so that an event can be applied again after an interruption. */
export async function applyEvent(
  {
    endedLogins,
    profiles,
    sessions,
    ttlSeconds,
    now,
  }: Pick<Settings, 'endedLogins' | 'profiles' | 'sessions' | 'ttlSeconds' | 'now'>,
  hooks: EventHooks,
  event: IdentityEvent,
): Promise<void> {
  const { type, sid, profile, user_id: userId } = event;
  if (type === 'session.ended') {
    // An event without a `sid` names no login to end. It is skipped, so that it does not hold up later events.
    if (typeof sid !== 'string') return;
    // The end of the login is kept first. From then on, a hand-off of this login cannot start a session that stays.
    await endedLogins.add(sid, toSeconds(now()) + ttlSeconds + marginSeconds);
    await endKept(hooks, () => sessions?.endLogin(sid));
    await hooks.endSession?.(sid);
  }
  if (type === 'user.deleted' && userId !== undefined) await profiles.forget(userId);
  if ((type === 'user.deleted' || type === 'user.suspended') && userId !== undefined)
    await endKept(hooks, () => sessions?.endPerson(userId));
  const isNewer = profile !== undefined && (await profiles.isNewer(profile));
  await hooks.apply?.(event, isNewer);
  // The profile is kept last. If the hook throws, the event comes again, and its profile must then still count as newer. If a
  // callback has kept a later profile since, that profile stays.
  if (isNewer) await profiles.apply(profile);
}

/** Ends sessions that the kit keeps. A client that keeps its own sessions may have no such store. */
async function endKept({ endSession }: EventHooks, end: () => Promise<void> | undefined): Promise<void> {
  try {
    await end();
  } catch (error) {
    if (!endSession) throw error;
  }
}

async function ask(settings: Settings, after: number) {
  // During a rotation, the service may have only one of the two secrets.
  const [first = '', second] = settings.secrets;
  let response = await askWith(settings, first, after);
  if (response.status === 401 && second !== undefined) {
    await response.body?.cancel();
    response = await askWith(settings, second, after);
  }
  return { status: response.status, answer: await readAnswer(response) };
}

/** Undefined if the body is not JSON. */
async function readAnswer(response: Response): Promise<unknown> {
  const bytes = await readBody(response, maxAnswerBytes);
  if (!bytes) throw new Error(`/sso/events answered with more than ${maxAnswerBytes} bytes.`);
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

async function askWith(
  { baseUrl, client, fetch }: Settings,
  secret: string,
  after: number,
): Promise<Response> {
  const token = toHex(await hmac(utf8(secret), utf8(`identity events v1 ${client}`)));
  return fetch(`${baseUrl}/sso/events?after=${after}&limit=${limit}`, {
    headers: { Authorization: `Bearer ${token}` },
    // A redirect is not followed, because it could send the token to another host.
    redirect: 'manual',
    signal: AbortSignal.timeout(answerWithinMs),
  });
}

function readOldest(answer: unknown): number {
  const oldest = memberOf(answer, 'oldest');
  if (Number.isSafeInteger(oldest) && Number(oldest) >= 1) return Number(oldest);
  throw new Error('/sso/events answered 410 without the number of the oldest event.');
}

function readEvents(answer: unknown, after: number): IdentityEvent[] {
  const events = memberOf(answer, 'events');
  if (!Array.isArray(events)) throw new Error('/sso/events answered without events.');
  let last = after;
  for (const event of events) {
    const { seq, type, profile } = event ?? {};
    if (!(Number.isSafeInteger(seq) && seq === last + 1 && typeof type === 'string'))
      throw new Error(`/sso/events answered with events out of order after ${last}.`);
    const wrong = profile === undefined ? undefined : findWrongProfileMember(profile);
    if (wrong) throw new Error(`The profile of event ${seq} is wrong at ${wrong}.`);
    last = seq;
  }
  return events;
}
