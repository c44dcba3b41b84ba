// Checks every answer of the login start and the callback: its headers, and whether it answers this hand-off.
import { parseUrl } from '../../server/basics/url.ts';
import type { Answer } from './network.ts';
import type { Notes } from './notes.ts';
import type { Outcome } from './outcome.ts';

/** A cookie with a shorter value cannot be a session. */
export const minSessionLength = 16;

/** Where the answer sends a browser: by a redirect, or by a page that redirects immediately. */
export function findTargets({ url, location, headers, text }: Answer): URL[] {
  const refreshed = [
    headers.get('refresh') ?? '',
    ...(text.match(/<meta\b[^<>]*>/gi) ?? []).filter((tag) => /http-equiv=.?refresh/i.test(tag)),
  ];
  const addresses = refreshed.flatMap(
    (each) => /(?:^|content=["']?)\s*[01]\s*;\s*url=\s*["']?([^"'>\s]+)/i.exec(each)?.[1] ?? [],
  );
  const targets = addresses.flatMap((each) => parseUrl(each, url) ?? []);
  return [...(location ? [location] : []), ...targets];
}

export function createAnswerChecks(notes: Notes) {
  const launchIds = new Set<string>();
  const sessionIds = new Set<string>();
  let hasRepeated = false;

  function checkHeaders({ headers, status }: Answer, where: 'callback' | 'login start'): void {
    const caching = headers.get('cache-control') ?? '';
    if (!/\bno-store\b/i.test(caching))
      notes.find(where === 'callback' ? 'callback_cached' : 'login_start_cached', {
        saw: `An answer of the ${where} (${status}) came ${caching ? `with "Cache-Control: ${caching}"` : 'without Cache-Control'}.`,
      });
    const policy = headers.get('referrer-policy');
    // An answer with 204 loads no page, so the browser sends no Referer.
    if (policy?.toLowerCase() !== 'no-referrer' && status !== 204)
      notes.find('referrer_sent', {
        saw: `An answer of the ${where} (${status}) came ${policy ? `with "Referrer-Policy: ${policy}"` : 'without Referrer-Policy'}.`,
      });
  }

  /**
   * A cache has answered if the answer is about another hand-off. A cache may have answered if the answer sets the session of
   * another browser.
   */
  function checkOrigin(
    { answer, launchId }: Outcome,
    { sessionCookies, held }: { sessionCookies: string[]; held: (string | undefined)[] },
  ): void {
    launchIds.add(launchId);
    const said = answer.headers.get('identity-launch');
    if (said !== null && said !== launchId) {
      if (launchIds.has(said))
        notes.find('cache_in_front', { saw: `The answer was about another hand-off, ${said}.`, launchId });
      else notes.find('launch_id_wrong', { saw: `The refusal named the launch ${said}.`, launchId });
    }
    const age = Number(answer.headers.get('age'));
    if (age > 0)
      notes.find('cache_in_front', { saw: `An answer came out of a cache (Age: ${age}).`, launchId });
    // One answer may set the same session for several paths.
    const given = new Set(
      answer.cookies.filter(({ name }) => sessionCookies.includes(name)).map(({ value }) => value),
    );
    for (const value of given) {
      if (value.length < minSessionLength || held.includes(value)) continue;
      hasRepeated ||= sessionIds.has(value);
      sessionIds.add(value);
    }
  }

  function checkRefusal({ kind, code, answer, launchId }: Outcome): void {
    if (kind === 'crashed' && code !== 'store_unavailable')
      // A client that redirects to a URL with a line break may crash, because no header can contain a line break.
      // `return_to_open` reports that already.
      notes.find('crashes', {
        saw: `A hand-off was answered with ${answer.status}.`,
        launchId,
        unless: 'return_to_open',
      });
    if (kind === 'refused' && code === undefined && answer.status >= 400)
      notes.find('refusal_code_missing', { saw: `A refusal (${answer.status}) did not say its code.` });
  }

  return {
    /** Whether two browsers were given the same session. */
    hasRepeatedSession: () => hasRepeated,
    checkLoginStart: (answer: Answer) => checkHeaders(answer, 'login start'),
    checkCallback(
      outcome: Outcome,
      session: { sessionCookies: string[]; held: (string | undefined)[] },
    ): void {
      const { answer, code } = outcome;
      // A 404 without a code means that the client has no callback at this URL.
      if (answer.status === 404 && code === undefined) return;
      // If the client is down, another server in front of it answers. That server's headers do not count.
      if (outcome.kind !== 'crashed') checkHeaders(answer, 'callback');
      checkOrigin(outcome, session);
      checkRefusal(outcome);
    },
  };
}
