// Helpers for pages that open from a link in an email.
import type { AppLoadContext } from '@remix-run/node';
import type { Procedures } from '../server/doors/trpc/router.ts';
import type { Args } from './refused.ts';

export const tokenOf = (request: Request, { transport }: AppLoadContext) =>
  transport.readQuery(request).get('token') ?? '';

/**
 * Returns why a link does not work, such as that it was used already. Null if the link works, or if we do not know its token.
 */
export async function explainLink(
  { request, context }: Args,
  purpose: Parameters<Procedures['deadLinks']['explain']>[0]['purpose'],
  works: boolean,
) {
  if (works) return null;
  return context.procedures.deadLinks.explain({ purpose, token: tokenOf(request, context) });
}

/** The `headers` of a page whose URL contains a token: a Referer header must not leak the token. */
export function noReferrer({ actionHeaders }: { actionHeaders: Headers }): Headers {
  const all = new Headers(actionHeaders);
  all.set('Referrer-Policy', 'no-referrer');
  return all;
}
