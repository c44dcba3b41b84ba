import type { Problem } from '../basics/errors.ts';
import type { Visit } from '../web/requests.ts';
import type { Backend } from './backend.ts';

export type RouteContext = { backend: Backend; visit: Visit };

export type Route = {
  /**
   * Patterns are written as in Hono, but a variable part may have an ending: `/invoices/:number.pdf`. The first route that
   * matches answers.
   */
  path: string;
  methods: readonly string[];
  /**
   * Headers for every answer of the route, including refusals. A header that the answer itself has is kept. Names are in lower
   * case.
   */
  headers?: Record<string, string>;
  /** Whether this is a page, which is worth compressing. */
  isPage: boolean;
  /** Whether a 200 is the same for everybody and depends only on the path. */
  isPublic?: boolean;
  handle: (request: Request, context: RouteContext, params: Record<string, string>) => Promise<Response>;
};

export type Pages = {
  routes: Route[];
  /** Makes the page that tells a person why a request was refused. */
  showProblem: (
    problem: Problem,
    request: Request,
    context: RouteContext & { minutes?: number },
  ) => Promise<Response>;
};

/** If a variable part has an ending, the value of its parameter contains that ending, too. */
export const spellForHono = (path: string): string => path.replace(/:(\w+)(\.\w+)$/, ':$1{[^/]+\\$2}');

/** Patterns without a variable part must come first, patterns with an ending second, and all others last. */
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
