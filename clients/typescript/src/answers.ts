// The answers of this kit to browsers. Each has the headers that keep it out of caches, and its address from the next site.
import type { Settings } from './config.ts';
import { buildRefusalPage, describe, logRefusal, privateHeaders, Refusal } from './refusals.ts';

export type RefusalHooks = {
  /** Whether this browser has a session already. If the kit keeps the sessions, it knows. */
  isLoggedIn?: ((request: Request) => unknown) | undefined;
  /** Your own answer in place of the kit's page. It is also called for the errors of `prompt=none`. */
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
    // This redirects only if nobody asked for the hand-off. It cannot loop, because the next hand-off has a state.
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

/** The headers are those given, the headers of `base`, and the headers that every answer has. */
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

/** If a store throws, nobody is let in, and nobody is logged out. A store may also throw a refusal. */
export async function fromStore<T>(ask: () => Promise<T> | T): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    throw new Refusal('store_unavailable', 'a store threw', { cause });
  }
}

/** The path on the site of the callback, and on no other site. */
export function findTarget({ callbackUrl, homeUrl }: Settings, path: string | undefined): string {
  if (path === undefined) return homeUrl;
  const target = new URL(path, callbackUrl);
  return target.origin === new URL(callbackUrl).origin ? target.href : homeUrl;
}
