// What loaders and actions of several pages read of a request.
import type { LoaderFunctionArgs } from '@remix-run/node';
import type { Procedures } from '../server/doors/trpc/router.ts';

/** What a link in an email brings along. */
export const tokenOf = (request: Request, { transport }: LoaderFunctionArgs['context']) =>
  transport.readQuery(request).get('token') ?? '';

/** What became of a link that does not work; null for one that works, or whose token is not ours. */
export async function explainLink(
  { request, context }: Pick<LoaderFunctionArgs, 'request' | 'context'>,
  purpose: Parameters<Procedures['deadLinks']['explain']>[0]['purpose'],
  works: boolean,
) {
  if (works) return null;
  return context.procedures.deadLinks.explain({ purpose, token: tokenOf(request, context) });
}

/** For a page with a token in its address, which must not leak through a Referer: the headers of a refused form, and that. */
export function noReferrer(headers: Headers): Headers {
  const all = new Headers(headers);
  all.set('Referrer-Policy', 'no-referrer');
  return all;
}
