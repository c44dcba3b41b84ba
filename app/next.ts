// The parameter `next` of a page: where people go after they have done what the page asks for.
import type { AppLoadContext } from '@remix-run/node';

export const nextOf = (request: Request, { transport }: AppLoadContext): string | undefined =>
  transport.readOwnPath(transport.readQuery(request).get('next'));

export const withNext = (page: string, next: string | undefined): string =>
  next ? `${page}${page.includes('?') ? '&' : '?'}next=${encodeURIComponent(next)}` : page;

/**
 * The path to which the answer to a form redirects. A page's Content-Security-Policy has a `form-action` that names no
 * client, and browsers apply it to all redirects after the form. So a path to a client first leads to /go (contract 9.191).
 */
export const leadOn = (path: string, { site }: AppLoadContext): string =>
  site.findWayOn(path) ? withNext('/go', path) : path;

/**
 * The path to which a page redirects if it has nothing to ask. A form may have led here, so a path to a client first leads to
 * /go. If people come back to this page from the client with the Back button, /go does not send them to the client a second
 * time (contract 9.194).
 */
export function leadPast(path: string, request: Request, context: AppLoadContext): string {
  const target = leadOn(path, context);
  return target !== path && context.transport.isWithoutClick(request) ? `${target}&stay` : target;
}
