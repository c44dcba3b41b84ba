// The kit's answers to browsers. Their headers keep the answers out of caches, and hide the page's URL from other sites.
import type { Settings } from './config.ts';
import { buildRefusalPage, describe, logRefusal, privateHeaders, Refusal } from './refusals.ts';

export type RefusalHooks = {
  /** Whether this browser has a session already. Not needed if the kit keeps the sessions. */
  isLoggedIn?: ((request: Request) => unknown) | undefined;
  /** Returns your own answer, which replaces the kit's page. Is called for the errors of `prompt=none`, too. */
  onRefusal?: ((refusal: Refusal) => Promise<Response | undefined> | Response | undefined) | undefined;
};

export async function refuse(
  settings: Settings,
  request: Request,
  refusal: Refusal,
  { isLoggedIn, onRefusal }: RefusalHooks = {},
  allow = 'GET, HEAD',
): Promise<Response> {
  const headers = describe(refusal);
  if (refusal.code === 'state_missing') {
    let hasSession: unknown;
    try {
      hasSession = await isLoggedIn?.(request);
    } catch (away) {
      if (!(away instanceof Refusal)) throw away;
      away.launchId ??= refusal.launchId;
      return refuse(settings, request, away, { onRefusal });
    }
    logRefusal(settings, refusal);
    // No login of this browser asked for this hand-off. The redirect cannot loop, because a login that starts here puts a state
    // into its hand-off.
    const target = hasSession ? settings.homeUrl : settings.loginUrl;
    return answer(refusal.status, { ...headers, Location: target });
  }
  logRefusal(settings, refusal);
  const page = (await onRefusal?.(refusal)) ?? buildRefusalPage(refusal, settings);
  const more: Record<number, Record<string, string>> = { 405: { Allow: allow }, 503: { 'Retry-After': '5' } };
  return answer(page.status, { ...headers, ...more[refusal.status] }, page.headers, page.body);
}

export const isSpeculative = (request: Request) =>
  request.method === 'HEAD' || /\bprefetch\b/i.test(request.headers.get('sec-purpose') ?? '');

/** The answer has the headers in `given`, the headers in `base`, and the headers that every answer has. */
export function answer(
  status: number,
  given: Record<string, string> = {},
  base?: HeadersInit,
  body: BodyInit | null = null,
): Response {
  const headers = new Headers(base);
  for (const [name, value] of Object.entries({ ...privateHeaders, ...given })) headers.set(name, value);
  return new Response(body, { status, headers });
}

/** If a store throws, nobody is let in, and nobody is logged out. If a store throws a Refusal of its own, this passes it on. */
export async function fromStore<T>(ask: () => Promise<T> | T): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    throw new Refusal('store_unavailable', 'a store threw', { cause });
  }
}

/** Resolves the path on the callback's site, and never on another site. */
export function findTarget({ callbackUrl, homeUrl }: Settings, path: string | undefined): string {
  if (path === undefined) return homeUrl;
  const target = new URL(path, callbackUrl);
  return target.origin === new URL(callbackUrl).origin ? target.href : homeUrl;
}
