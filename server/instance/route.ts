// What the HTTP shell knows of a route, and a route of the shell.

import type { Problem } from '../basics/errors.ts';
import type { Visit } from '../web/requests.ts';
import type { Backend } from './backend.ts';

export type RouteContext = { backend: Backend; visit: Visit };

export type Route = {
  /**
   * The path, in Hono's spelling: `/sso/launch/:client`, `/trpc/*`; but a variable part may have an ending, as in
   * `/invoices/:number.pdf`. If two routes match, the first one answers.
   */
  path: string;
  /** Any other method is refused. */
  methods: readonly string[];
  /** Headers for every answer, refusals included, unless the answer has its own. Names are in lower case. */
  headers?: Record<string, string>;
  /** A page is worth compressing. */
  isPage: boolean;
  /** A 200 is the same for everybody, and depends on nothing but the path. */
  isPublic?: boolean;
  /** `params` are the parts of the path that the pattern names. */
  handle: (request: Request, context: RouteContext, params: Record<string, string>) => Promise<Response>;
};

export type Pages = {
  routes: Route[];
  /** Makes the page that shows a person why a request was refused, whatever its URL. */
  showProblem: (
    problem: Problem,
    request: Request,
    context: RouteContext & { minutes?: number },
  ) => Promise<Response>;
};

/** The path in Hono's own spelling. A variable part with an ending has it in the parameter, too. */
export const spellForHono = (path: string): string => path.replace(/:(\w+)(\.\w+)$/, ':$1{[^/]+\\$2}');

/**
 * Finds the pattern of the route that a path leads to. Patterns without a variable part come first, and those with an ending
 * before those without.
 */
export function buildFindPattern(patterns: string[]): (path: string) => string | undefined {
  const forms = patterns.map((pattern) => {
    const text = pattern
      .replace(/[.+?^$()[\]|\\]/g, '\\$&')
      .replace(/\/\*$/, '(?:/.*)?')
      .replace(/:\w+/g, '[^/]+');
    return { pattern, form: new RegExp(`^${text}$`) };
  });
  return (path) => forms.find(({ form }) => form.test(path))?.pattern;
}
