// A client of the identity service: logins, sessions and events. It uses only web standards, so it runs on Node 20, on Deno
// and at the edge. It works with any framework that can provide a `Request` and send a `Response`.
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
  /**
   * Returns the URL that logs a browser out of the identity service, too. From there, the browser goes to the path `returnTo`
   * on your site.
   */
  function logoutUrl(returnTo?: string): string {
    const query = new URLSearchParams({
      client: settings.client,
      ...(isReturnTo(returnTo) && { return_to: returnTo }),
    });
    return `${settings.baseUrl}/logout?${query}`;
  }
  return {
    /** The URLs of your callback and your login start. */
    addresses: { callbackUrl, loginUrl },
    /** Answers your login start: redirects the browser to the identity service. */
    startLogin: (request: Request, options: LoginOptions = {}) => startLogin(settings, request, options),
    /** Answers your callback. The kit starts its own session, unless `startSession` is given here or in the configuration. */
    handleCallback: (request: Request, options: CallbackOptions = {}) =>
      handleCallback(settings, request, options),
    /** Returns who is logged in, with the newest profile that the kit knows. Throws a Refusal if a store does not answer. */
    currentPerson: (request: Request): Promise<Profile | undefined> =>
      currentPerson(settings, request, reader.readIfOld),
    /**
     * Returns who is logged in. If nobody is, returns the answer to send: a redirect to the login, which leads back to this
     * page.
     */
    requireLogin: (request: Request) => requireLogin(settings, request, reader.readIfOld),
    /**
     * Logs the person in here if they are logged in at the identity service. If this returns an answer, send it. If this
     * returns undefined, show your page: this browser has a session, or was asked about in the last ten minutes.
     */
    loginSilently: (request: Request) => loginSilently(settings, request),
    /** The value of the field `token` in your form that logs out. Empty if the browser has no session. */
    logoutToken: (request: Request) => buildLogoutToken(settings, request),
    /**
     * Answers your form that logs out: ends the session here, and redirects to the log-out of the identity service. From
     * there, the browser goes to the path `returnTo` on your site.
     */
    endSession: (request: Request, returnTo = '/') => endSession(settings, request, logoutUrl(returnTo)),
    /** The answer to send if `currentPerson` threw this refusal. */
    refuse: (request: Request, refusal: Refusal) => refuse(settings, request, refusal, settings.hooks),
    /**
     * A listener for Node's `createServer` and for Express. The URL of a request always has the callback's origin, even if
     * `Host` says something else. The listener keeps an answer in memory until it is complete. If `answer` throws, Express
     * gets the error. Without Express, `onError` gets it, and the answer is a 500.
     */
    createListener: (answer: Answer, onError: (error: unknown) => void) =>
      createListener(new URL(callbackUrl).origin, answer, onError),
    /**
     * Returns the payload of a genuine hand-off, or throws a Refusal. Does not compare the state, and does not use the nonce
     * up.
     */
    verifyHandOff: (query: URLSearchParams) => verifyHandOff(query, { ...settings, now: settings.now() }),
    /** Answers a nudge, with 204 if it is genuine. After a 204, call `readEvents` or `pullEvents`. */
    receiveNudge: (request: Request) => receiveNudge(settings, request),
    /**
     * Applies all events since the last pull, and returns the number of the last event. Only one pull works at a time. A second
     * pull waits for the first, and returns undefined if that takes more than three seconds.
     */
    pullEvents: (hooks: EventHooks = {}) => reader.pull(hooks),
    /** Pulls events as `pullEvents` does, and returns whether that worked. It never throws: it logs errors. */
    readEvents: () => reader.read(),
    /**
     * Keeps a profile if it is later than the kept one. Returns whether it was kept. The callback and the events do this on
     * their own.
     */
    applyProfile: (profile: Profile) => settings.profiles.apply(profile),
    /** The newest profile of a person that the kit knows. */
    findPerson: (id: string) => settings.profiles.find(id),
    logoutUrl,
  };
}
