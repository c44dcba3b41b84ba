// The middleware of a client, for Express and for Node's own server. It answers the client's own paths and finds out who is
// logged in. Use it before any middleware that reads bodies.
import type { Profile } from './hand-off.ts';
import type { IdentityClient } from './index.ts';
import type { Answer, Incoming, Outgoing } from './listener.ts';
import { Refusal } from './refusals.ts';
import { identityRoutes, type RouteOptions } from './web.ts';

type Person = {
  /** Who is logged in. */
  person?: Profile | undefined;
  /** The value of the field `token` in the form that logs out. */
  logoutToken?: string;
};

declare global {
  namespace Express {
    interface Request extends Person {}
  }
}

type Middleware = (incoming: Incoming, outgoing: Outgoing, next: (error?: unknown) => void) => Promise<void>;

/**
 * Answers the login start, the callback, nudges and the log-out. For other paths it sets `request.person`, and calls the next
 * handler.
 */
export function identityMiddleware(identity: IdentityClient, options?: RouteOptions): Middleware {
  const answerRoute = identityRoutes(identity, options);
  return listen(identity, async (request, incoming) => {
    const answer = await answerRoute(request);
    if (answer) return answer;
    const found: Person = {
      person: await identity.currentPerson(request),
      logoutToken: await identity.logoutToken(request),
    };
    Object.assign(incoming, found);
    return undefined;
  });
}

/** Calls the next handler if somebody is logged in. Sends everybody else to the login, which leads back to this page. */
export const requireLogin = (identity: IdentityClient): Middleware =>
  listen(identity, async (request) => {
    const person = await identity.requireLogin(request);
    return person instanceof Response ? person : undefined;
  });

/** For a page that everybody may read: asks the identity service whether this browser is logged in there. */
export const loginSilently = (identity: IdentityClient): Middleware =>
  listen(identity, (request) => identity.loginSilently(request));

function listen(identity: IdentityClient, answer: Answer): Middleware {
  const answerOrRefuse: Answer = async (request, incoming) => {
    try {
      return await answer(request, incoming);
    } catch (error) {
      if (error instanceof Refusal) return identity.refuse(request, error);
      throw error;
    }
  };
  // Express gives every request a function `next`. Errors go to `next`, and not to this empty function.
  return identity.createListener(answerOrRefuse, () => {});
}
