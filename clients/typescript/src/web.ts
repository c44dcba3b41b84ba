// Answers the paths of a client, for every framework that uses `Request` and `Response`: Hono, Next, React Router, Deno,
// workers.
import type { IdentityClient } from './index.ts';
import { privateHeaders } from './refusals.ts';

export type RouteOptions = {
  /** The path for nudges. By default `/sso/events`. */
  eventsPath?: string;
  /** The path of the form that logs out. By default `/logout`. */
  logoutPath?: string;
};

/** Answers the login start, the callback, nudges and the log-out. Undefined for every other path. */
export function identityRoutes(
  identity: IdentityClient,
  { eventsPath = '/sso/events', logoutPath = '/logout' }: RouteOptions = {},
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
        if (!answer.ok || (await identity.readEvents())) return answer;
        // After a 503, the service sends the nudge again.
        return new Response(null, { status: 503, headers: { ...privateHeaders, 'Retry-After': '1' } });
      },
    ],
  ]);
  return async (request) => routes.get(new URL(request.url).pathname)?.(request);
}
