// What the HTTP shell knows of a route, and what a route knows of the shell.

import type { Problem } from '../basics/errors.ts';
import type { Backend } from '../instance/backend.ts';
import type { Visit } from './requests.ts';

export type RouteContext = { backend: Backend; visit: Visit };

export type Route = {
  /** In Hono's spelling: `/sso/launch/:client`, `/trpc/*`. Of two routes that match, the first one answers. */
  path: string;
  /** Any other method is refused. */
  methods: readonly string[];
  /** For every answer, refusals included, unless it has its own. Names are in lower case. */
  headers?: Record<string, string>;
  /** A page runs scripts, so it gets a nonce, and it is worth compressing. */
  isPage: boolean;
  /** `params` are the parts of the path that the pattern names. */
  handle: (request: Request, context: RouteContext, params: Record<string, string>) => Promise<Response>;
};

export type Pages = {
  routes: Route[];
  /** The page that shows the refusal of a request to a person, under whatever URL it came up. */
  showProblem: (problem: Problem, request: Request, context: RouteContext) => Promise<Response>;
};

/** Finds the pattern of the route that a path leads to, of those without a variable part first. */
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
