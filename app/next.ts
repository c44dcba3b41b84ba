// Where a person goes once they have done what a page asks for: the page's parameter `next`.
import type { LoaderFunctionArgs } from '@remix-run/node';

/** A path of this service, or undefined. */
export const nextOf = (request: Request, { transport }: LoaderFunctionArgs['context']): string | undefined =>
  transport.readOwnPath(transport.readQuery(request).get('next'));

/** The path of a page of ours that leads on to `next`. */
export const withNext = (page: string, next: string | undefined): string =>
  next ? `${page}${page.includes('?') ? '&' : '?'}next=${encodeURIComponent(next)}` : page;
