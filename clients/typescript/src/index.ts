// A client of the identity service: logins, sessions and events. It uses only web standards, so it runs on Node 20, on Deno and
// at the edge. Any framework works that can provide a `Request` and send a `Response`.
import { refuse } from './answers.ts';
import {
  type CallbackOptions,
  handleCallback,
  type LoginOptions,
  loginSilently,
  startLogin,
} from './callback.ts';
import { type Configuration, readConfiguration } from './config.ts';
import type { EventHooks } from './events.ts';
import { isReturnTo, type Profile } from './hand-off.ts';
import { type Answer, createListener } from './listener.ts';
import { receiveNudge } from './nudges.ts';
import { createReader } from './reader.ts';
import type { Refusal } from './refusals.ts';
import { buildLogoutToken, currentPerson, endSession, requireLogin } from './sessions.ts';
import { verifyHandOff } from './verify.ts';

export { launchId } from './bytes.ts';
export type { CallbackOptions, Login, LoginOptions } from './callback.ts';
export { type Configuration, ConfigurationError, type LogEntry } from './config.ts';
export type { EventHooks, IdentityEvent } from './events.ts';
export type { HandOff, Profile, Role } from './hand-off.ts';
export { Refusal, type RefusalCode, refusalStatuses } from './refusals.ts';
export { createSqlStores, type SqlOptions, type SqlQuery, sqlTables } from './sql-stores.ts';
export {
  type Claim,
  createMemoryStores,
  type EndedLogins,
  type NonceStore,
  type PositionStore,
  type ProfileStore,
  type Session,
  type SessionStore,
  type Stores,
} from './stores.ts';
export { type VerifyOptions, verifyHandOff } from './verify.ts';

export type IdentityClient = ReturnType<typeof createIdentityClient>;

/** Throws a ConfigurationError that names every fault. */
export function createIdentityClient(configuration: Configuration) {
  const settings = readConfiguration(configuration);
  const { callbackUrl, loginUrl } = settings;
  const reader = createReader(settings);
  /** The address that logs a browser out of the identity service, too. It leads back to the path `returnTo` on your site. */
  function logoutUrl(returnTo?: string): string {
    const query = new URLSearchParams({
      client: settings.client,
      ...(isReturnTo(returnTo) && { return_to: returnTo }),
    });
    return `${settings.baseUrl}/logout?${query}`;
  }
  return {
    /** The addresses of your callback and your login start. */
    addresses: { callbackUrl, loginUrl },
    /** Answers your login address: sends the browser to the identity service. */
    startLogin: (request: Request, options: LoginOptions = {}) => startLogin(settings, request, options),
    /** Answers your callback. Without `startSession`, here or in the configuration, the kit starts a session. */
    handleCallback: (request: Request, options: CallbackOptions = {}) =>
      handleCallback(settings, request, options),
    /** Who is logged in, with the newest profile that the kit knows. Throws a Refusal if a store is away. */
    currentPerson: (request: Request): Promise<Profile | undefined> =>
      currentPerson(settings, request, reader.readIfOld),
    /** Who is logged in, or the answer to send: the way to the login, which leads back to this page. */
    requireLogin: (request: Request) => requireLogin(settings, request, reader.readIfOld),
    /**
     * The answer to send first, so that a person who is logged in at the identity service is logged in here, too. Undefined if
     * this browser was asked in the last ten minutes, or has a session: then show your page.
     */
    loginSilently: (request: Request) => loginSilently(settings, request),
    /** The value of the field `token` in your form that logs out. Empty if the browser has no session. */
    logoutToken: (request: Request) => buildLogoutToken(settings, request),
    /**
     * Answers your form that logs out: ends the session here, and leads to the log-out of the identity service, which leads back
     * to the path `returnTo` on your site.
     */
    endSession: (request: Request, returnTo = '/') => endSession(settings, request, logoutUrl(returnTo)),
    /** Answers in place of a page whose `currentPerson` threw this refusal. */
    refuse: (request: Request, refusal: Refusal) => refuse(settings, request, refusal, settings.hooks),
    /**
     * A listener for Node's `createServer` and for Express. The URL of a request always has the callback's origin, whatever
     * `Host` says. The listener keeps an answer in memory until it is whole. If `answer` throws, the error goes to Express.
     * Without Express it goes to `onError`, and the answer is a 500.
     */
    createListener: (answer: Answer, onError: (error: unknown) => void) =>
      createListener(new URL(callbackUrl).origin, answer, onError),
    /** Returns the payload of a genuine hand-off, or throws a Refusal. Compares no state and uses no nonce up. */
    verifyHandOff: (query: URLSearchParams) => verifyHandOff(query, { ...settings, now: settings.now() }),
    /** Answers your address for nudges: 204 if the nudge is genuine. Then call `readEvents` or `pullEvents`. */
    receiveNudge: (request: Request) => receiveNudge(settings, request),
    /**
     * Applies all events since the last pull, and returns the number of the last one. Only one pull works at a time. A second
     * pull waits for the first, and returns undefined if that takes more than three seconds.
     */
    pullEvents: (hooks: EventHooks = {}) => reader.pull(hooks),
    /** Pulls events as `pullEvents` does, and says whether that worked. It never throws: what goes wrong is in the log. */
    readEvents: () => reader.read(),
    /** Keeps a profile if it is later than the kept one, and says whether it was. Callback and events do this on their own. */
    applyProfile: (profile: Profile) => settings.profiles.apply(profile),
    /** The newest profile of a person that the kit knows. */
    findPerson: (id: string) => settings.profiles.find(id),
    logoutUrl,
  };
}
