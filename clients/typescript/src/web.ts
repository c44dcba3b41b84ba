// The addresses of a client, for everything that gives a `Request` and takes a `Response`: Hono, Next, React Router, Deno, workers.
import type { IdentityClient } from './index.ts';

export type RouteOptions = {
  /** Where nudges go: by default `/sso/events`. */
  eventsPath?: string;
  /** Where the form that logs out goes: by default `/logout`. */
  logoutPath?: string;
  /** At the edge, keeps the process alive until the events are read, after the answer. */
  waitUntil?: (reading: Promise<void>) => void;
};

/** Answers the login start, the callback, nudges and the log-out. Undefined for every other path. */
export function identityRoutes(
  identity: IdentityClient,
  { eventsPath = '/sso/events', logoutPath = '/logout', waitUntil }: RouteOptions = {},
): (request: Request) => Promise<Response | undefined> {
  const { callbackUrl, loginUrl } = identity.addresses;
  const routes = new Map<string, (request: Request) => Promise<Response>>([
    [new URL(loginUrl).pathname, (request) => identity.startLogin(request)],
    [new URL(callbackUrl).pathname, (request) => identity.handleCallback(request)],
    [logoutPath, (request) => identity.endSession(request)],
    [
      eventsPath,
      async (request) => {
        const answer = await identity.receiveNudge(request);
        // The nudge is answered first, because reading may take longer than a nudge waits.
        const reading = answer.ok ? identity.readEvents() : undefined;
        if (reading) waitUntil?.(reading);
        return answer;
      },
    ],
  ]);
  return async (request) => routes.get(new URL(request.url).pathname)?.(request);
}
