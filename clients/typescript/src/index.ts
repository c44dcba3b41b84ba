// A client of the identity service: logins, hand-offs and events. It uses only web standards, so it runs on Node 20, on Deno and
// at the edge. Any framework works that can provide a `Request` and send a `Response`.
import { type CallbackOptions, handleCallback, type LoginOptions, startLogin } from './callback.ts';
import { type Configuration, readConfiguration } from './config.ts';
import { type EventHooks, pullEvents } from './events.ts';
import { isReturnTo, type Profile } from './hand-off.ts';
import { type Answer, createListener } from './listener.ts';
import { receiveNudge } from './nudges.ts';
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
  type Stores,
} from './stores.ts';
export { type VerifyOptions, verifyHandOff } from './verify.ts';

export type IdentityClient = ReturnType<typeof createIdentityClient>;

/** Throws a ConfigurationError that names every fault. */
export function createIdentityClient(configuration: Configuration) {
  const settings = readConfiguration(configuration);
  return {
    /** Answers your login address: sends the browser to the identity service. */
    startLogin: (request: Request, options: LoginOptions = {}) => startLogin(settings, request, options),
    /** Answers your callback. */
    handleCallback: (request: Request, options: CallbackOptions) =>
      handleCallback(settings, request, options),
    /**
     * A listener for Node's `createServer` and for Express. The URL of a request always has the callback's origin, whatever
     * `Host` says. The listener keeps an answer in memory until it is whole. If `answer` throws, the error goes to Express.
     * Without Express it goes to `onError`, and the answer is a 500.
     */
    createListener: (answer: Answer, onError: (error: unknown) => void) =>
      createListener(new URL(settings.callbackUrl).origin, answer, onError),
    /** Returns the payload of a genuine hand-off, or throws a Refusal. Compares no state and uses no nonce up. */
    verifyHandOff: (query: URLSearchParams) => verifyHandOff(query, { ...settings, now: settings.now() }),
    /** Answers your address for nudges: 204 if the nudge is genuine. Then call `pullEvents`. */
    receiveNudge: (request: Request) => receiveNudge(settings, request),
    /**
     * Applies all events since the last pull, and returns the number of the last one. Only one pull works at a time. A second
     * pull waits for the first, and returns undefined if that takes more than three seconds.
     */
    pullEvents: (hooks: EventHooks) => pullEvents(settings, hooks),
    /** Keeps a profile if it is later than the kept one, and says whether it was. Callback and events do this on their own. */
    applyProfile: (profile: Profile) => settings.profiles.apply(profile),
    /** The address that logs a browser out of the identity service, too. It leads back to the path `returnTo` on your site. */
    logoutUrl(returnTo?: string): string {
      const query = new URLSearchParams({
        client: settings.client,
        ...(isReturnTo(returnTo) && { return_to: returnTo }),
      });
      return `${settings.baseUrl}/logout?${query}`;
    },
  };
}
