// Events say what has changed about the people who were handed to this client, in order and without gaps. A pull continues from
// the end of the last one, so nothing is lost even if nudges are.
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

/** Its `type` says which members it has. The service may add members, and types: do nothing for a type that is not here. */
export type IdentityEvent =
  | EventOf<'profile.updated', 'occurred_at' | 'user_id' | 'profile'>
  | EventOf<'session.ended', 'occurred_at' | 'user_id' | 'sid'>
  | EventOf<'user.suspended' | 'user.restored' | 'user.deleted', 'occurred_at' | 'user_id'>
  | EventOf<'contract.updated', 'occurred_at' | 'user_id' | 'signup_id' | 'contract'>
  | EventOf<'erased'>;

/** If a pull was interrupted, each hook may be called again for the same event. */
export type EventHooks = {
  /** Ends your session of that login (the `sid` of its hand-off). The kit ends its own. */
  endSession?: (sid: string) => unknown;
  /** Gets each event, in order. `isNewer`: its profile is later than the kept one. If this throws, no profile is kept yet. */
  apply?: (event: IdentityEvent, isNewer: boolean) => unknown;
  /** Missed events can no longer be read. End all sessions of yours, and forget the profiles that you keep. */
  startOver?: () => unknown;
};

const limit = 1_000;
const answerWithinMs = 10_000;
/** A thousand of the largest events have less. */
const maxAnswerBytes = 8_388_608;
/** Every verifier refuses a hand-off that expired this long ago. */
const marginSeconds = 60;

/**
 * Pulls events until there are no more. Returns the number of the last event, or undefined if another pull is at work. Throws if
 * the service does not answer.
 */
export async function pullEvents(settings: Settings, hooks: EventHooks): Promise<number | undefined> {
  const claim = await settings.position.claim();
  if (!claim) return undefined;
  try {
    return await pullAll(settings, hooks, claim);
  } finally {
    // If this fails, another pull can take over after a while.
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
    // Asking for the empty page after the last event also tells the service that all was read.
    if (events.length === 0) return after;
    for (const event of events) {
      await applyEvent(settings, hooks, event);
      await advance(event.seq);
    }
  }
}

/** The steps are in this order so that an interrupted event can be applied again. */
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
    // Nobody can act on it, and it must not keep later events away.
    if (typeof sid !== 'string') return;
    // This comes first, so that a hand-off that arrives meanwhile starts no session that stays.
    await endedLogins.add(sid, toSeconds(now()) + ttlSeconds + marginSeconds);
    await endKept(hooks, () => sessions?.endLogin(sid));
    await hooks.endSession?.(sid);
  }
  if (type === 'user.deleted' && userId !== undefined) await profiles.forget(userId);
  if ((type === 'user.deleted' || type === 'user.suspended') && userId !== undefined)
    await endKept(hooks, () => sessions?.endPerson(userId));
  const isNewer = profile !== undefined && (await profiles.isNewer(profile));
  await hooks.apply?.(event, isNewer);
  // This comes last: if the hook throws, the event comes again and must still count as newer. A later profile from a callback
  // stays.
  if (isNewer) await profiles.apply(profile);
}

/** Ends sessions that the kit keeps. A client that keeps its own may have no table for them. */
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

/** Undefined if it is not JSON. */
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
    // The token must not follow a redirect to another host.
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
