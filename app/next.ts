// Where a person goes once they have done what a page asks for: the page's parameter `next`.
import type { LoaderFunctionArgs } from '@remix-run/node';

type Context = LoaderFunctionArgs['context'];

/** A path of this service, or undefined. */
export const nextOf = (request: Request, { transport }: Context): string | undefined =>
  transport.readOwnPath(transport.readQuery(request).get('next'));

/** The path of a page of ours that leads on to `next`. */
export const withNext = (page: string, next: string | undefined): string =>
  next ? `${page}${page.includes('?') ? '&' : '?'}next=${encodeURIComponent(next)}` : page;

/**
 * Where the answer to a form redirects to. For a path that leads to a client, that is the page in between: browsers hold all
 * the redirects after a form to the `form-action` of its page, which names no client (contract 9.191).
 */
export const leadOn = (path: string, { site }: Context): string =>
  site.findWayOn(path) ? withNext('/go', path) : path;

/**
 * Where a page redirects to that has nothing to ask. A form may have led to the page, so the page in between comes first here,
 * too. Whoever pressed Back has been at the client already, and is not sent there again (contract 9.194).
 */
export function leadPast(path: string, request: Request, context: Context): string {
  const target = leadOn(path, context);
  return target !== path && context.transport.isWithoutClick(request) ? `${target}&stay` : target;
}
