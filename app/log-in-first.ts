// Leads people who are not logged in to the login page and back (contract 9.176 and 9.177).
import { redirect } from '@remix-run/node';
import type { Procedures } from '../server/doors/trpc/router.ts';
import { type Args, keepRefused, pagePath, pathWith } from './refused.ts';

type Why = 'ended' | 'other-browser';

/**
 * Returns a redirect to the login page. The login leads back to this page. If people sent a form after their session had ended,
 * `values` are the fields of that form. They are kept for the user of the ended session.
 */
export async function toLogin(
  { request, context }: Args,
  { values, isLarge, why }: { values?: Record<string, string>; isLarge?: boolean; why?: Why } = {},
): Promise<Response> {
  const { transport, procedures } = context;
  const session = await procedures.visitor.session();
  const isLost = values !== undefined && session !== 'live' && transport.prefersHtml(request);
  const ended = { code: 'ended', errors: {}, values: values ?? {} };
  const id = isLost && (await keepRefused(ended, { request, context }, { isLarge }));
  const said = id || session === 'ended' ? 'ended' : session === 'none' ? why : undefined;
  const back = values
    ? pathWith({ request, context }, id || undefined)
    : pagePath(request) + new URL(request.url).search;
  const path = transport.loginPathTo(back);
  return redirect(said ? `${path}&why=${said}` : path, 303);
}

/** Returns the path of a login with another account. The login leads back to this page. */
export const otherLoginPath = (request: Request) =>
  `/login?prompt=login&next=${encodeURIComponent(pagePath(request) + new URL(request.url).search)}`;

/**
 * Sends people who are not logged in to the login page. The login leads back to this page. Leaves all other refusals to the
 * shell.
 */
export async function whenLoggedIn<T>(
  args: Args,
  load: (procedures: Procedures) => Promise<T>,
  why?: Why,
): Promise<T> {
  try {
    return await load(args.context.procedures);
  } catch (error) {
    if (error instanceof Response) throw error;
    const { transport, visit } = args.context;
    const refusal = transport.readRefusal(error, visit);
    throw refusal.code === 'login_required' ? await toLogin(args, { why }) : refusal;
  }
}

/** Loads a page of the account, with the outcome of the form that led here. */
export async function loadAccount<T>(
  args: Args,
  load: (procedures: Procedures) => Promise<T>,
): Promise<T & { saved: string | null }> {
  const loaded = await whenLoggedIn(args, load);
  return { ...loaded, saved: args.context.transport.readQuery(args.request).get('saved') };
}

export const loadOwnAddress = (args: Args, why?: Why) =>
  whenLoggedIn(args, (procedures) => procedures.address.describe(), why);
