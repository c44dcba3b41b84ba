// People who are not logged in, on their way to the login page and back (contract 9.176 and 9.177).
import { redirectDocument } from '@remix-run/node';
import type { AppError } from '../server/basics/errors.ts';
import type { Procedures } from '../server/doors/trpc/router.ts';
import { type Args, keepRefused, pagePath, pathWith } from './refused.ts';

type Why = 'ended' | 'other-browser';

/**
 * A redirect to the login page, which comes back here. `values` are the fields of a form that arrived too late: they are kept
 * for the user whose session has ended.
 */
export async function toLogin(
  { request, context }: Args,
  { values, why }: { values?: Record<string, string>; why?: Why } = {},
): Promise<Response> {
  const { transport, procedures } = context;
  const session = await procedures.visitor.session();
  // Until 1.1.0: the script of a page of 0.6.0 sends forms, too.
  const isFromPage = transport.prefersHtml(request) || context.isPageData;
  const isLost = values !== undefined && session !== 'live' && isFromPage;
  const id = isLost && (await keepRefused({ code: 'ended', errors: {}, values }, { request, context }));
  const said = id || session === 'ended' ? 'ended' : session === 'none' ? why : undefined;
  const back = values
    ? pathWith({ request, context }, id || undefined)
    : pagePath(request) + new URL(request.url).search;
  const path = transport.loginPathTo(back);
  return redirectDocument(said ? `${path}&why=${said}` : path, 303);
}

/** The login page for another account, which comes back to this page. */
export const otherLoginPath = (request: Request) =>
  `/login?prompt=login&next=${encodeURIComponent(pagePath(request) + new URL(request.url).search)}`;

/** What a loader throws: a redirect to the login for people who are not logged in, or the refusal, which the shell answers. */
export async function loginOr(error: unknown, args: Args, why?: Why): Promise<Response | AppError> {
  if (error instanceof Response) return error;
  const { transport, visit } = args.context;
  const refusal = transport.readRefusal(error, visit);
  return refusal.code === 'login_required' ? toLogin(args, { why }) : refusal;
}

/** Sends people who are not logged in to the login page, and back from there; the shell answers the rest. */
export async function loadAccount<T>(
  args: Args,
  load: (procedures: Procedures) => Promise<T>,
  why?: Why,
): Promise<T & { saved: string | null }> {
  try {
    const loaded = await load(args.context.procedures);
    return { ...loaded, saved: args.context.transport.readQuery(args.request).get('saved') };
  } catch (error) {
    throw await loginOr(error, args, why);
  }
}

/** Loads the user, for the pages about their address. */
export const loadOwnAddress = (args: Args, why?: Why) =>
  loadAccount(args, (procedures) => procedures.address.describe(), why);
