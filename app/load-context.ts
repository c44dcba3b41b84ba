// What a route's loader and action find in Remix's load context.
import type { Problem } from '../server/basics/errors.ts';
import type { RouteContext } from '../server/http/route.ts';

declare module '@remix-run/server-runtime' {
  interface AppLoadContext extends RouteContext {
    /** The method of the request. After an action, Remix calls the loaders with a GET. */
    method: string;
    /** Whether there is a page at that path. */
    hasPage: (path: string) => boolean;
    /** The page is the same for everybody, so caches may keep it. */
    isPublic?: boolean;
    /** For the page /problems/{code} only: the refusal to show, under whatever URL it came up. */
    problem?: Problem;
    /** What an action, a loader or a component of a page threw. */
    thrown?: unknown;
  }
  interface Future {
    v3_singleFetch: true;
  }
}
