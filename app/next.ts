// Where somebody goes on to once they have done what a page asks for: its parameter `next`.
import type { LoaderFunctionArgs } from '@remix-run/node';

/** A path of ours, or undefined. */
export const nextOf = (request: Request, { transport }: LoaderFunctionArgs['context']): string | undefined =>
  transport.readOwnPath(transport.readQuery(request).get('next'));

/** The way to a page of ours that goes on to `next`. */
export const withNext = (page: string, next: string | undefined): string =>
  next ? `${page}${page.includes('?') ? '&' : '?'}next=${encodeURIComponent(next)}` : page;
