// Tests the pages of somebody who is logged in: whether shared caches may keep the pages, and whether a log-out ends the
// session. The doctor finds a form or link by its words, such as "Log out".
import { parseUrl } from '../../server/basics/url.ts';
import type { Browser } from './browser.ts';
import { type Exam, play, tryOut } from './exam.ts';
import { isNamed } from './name-tags.ts';
import type { Answer } from './network.ts';
import { nobodyNamed } from './notes.ts';

const ids = ['page_cached', 'log_out_keeps_session'] as const;
const isLogOut = (text: string) => /\b(?:log|sign)[ _-]?o(?:ut|ff)\b|\babmelden\b|\bcerrar sesi/i.test(text);

export function probeLogOuts(exam: Exam): Promise<void> {
  return tryOut(exam, ids, async () => {
    const { logins, notes } = exam;
    if (!logins.showsPeople()) return notes.miss(ids, nobodyNamed);
    const { browser, outcome } = await play(exam);
    if (outcome.kind !== 'taken') return;
    const pages = await logins.readPages(browser);
    noteCaching(exam, pages);
    const copy = browser.copy();
    if (!(await logOut(exam, browser, pages))) return;
    if (isNamed(await logins.findShown(copy), 'main'))
      notes.find('log_out_keeps_session', {
        saw: 'Logged out, and then sent the cookies of before: the person was still logged in.',
      });
  });
}

function noteCaching({ notes, people }: Exam, pages: Answer[]): void {
  for (const { url, headers, text } of pages) {
    const caching = headers.get('cache-control') ?? '';
    const isShared = /\bpublic\b|\bs-maxage\b/i.test(caching);
    const isKept = !/\bno-store\b|\bprivate\b|\bs-maxage=0\b|\bno-cache\b/i.test(caching);
    const isForAll = !/\bcookie\b|\*/i.test(headers.get('vary') ?? '');
    if (isShared && isKept && isForAll && text.includes(people.main.name))
      notes.find('page_cached', {
        saw: `${url.pathname} came with "Cache-Control: ${caching}" to somebody who is logged in.`,
      });
  }
}

/**
 * Presses the log-out of these pages. If the answer asks whether to log out, presses the log-out there, too. Returns whether
 * the person is logged out.
 */
async function logOut(exam: Exam, browser: Browser, pages: Answer[]): Promise<boolean> {
  const { logins } = exam;
  let seen = pages;
  for (let step = 0; step < 2; step++) {
    const answer = await pressLogOut(browser, seen);
    if (!answer) return false;
    const shown = await logins.follow(browser, answer);
    if (!isNamed(await logins.findShown(browser), 'main')) return true;
    seen = [shown];
  }
  return false;
}

async function pressLogOut(browser: Browser, pages: Answer[]): Promise<Answer | undefined> {
  for (const { url, text } of pages) {
    const isOwn = (target: URL | undefined) => target?.origin === url.origin;
    for (const form of listElements(text, 'form').filter(isLogOut)) {
      const target = parseUrl(readAttribute(form, 'action') ?? '', url);
      if (!target || !isOwn(target)) continue;
      const fields = new URLSearchParams();
      const inputs = [...form.matchAll(/<input\b[^<>]*>/gi)]
        .map(([input]) => input)
        .filter((input) => readAttribute(input, 'type')?.toLowerCase() === 'hidden' || isLogOut(input));
      for (const input of [...inputs, ...listElements(form, 'button').filter(isLogOut).slice(0, 1)]) {
        const name = readAttribute(input, 'name');
        if (name) fields.append(name, readAttribute(input, 'value') ?? '');
      }
      if (!/^post$/i.test(readAttribute(form, 'method') ?? '')) {
        target.search = String(fields);
        return browser.open(target);
      }
      const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: url.origin };
      return browser.open(target, { method: 'POST', headers, body: String(fields) });
    }
    for (const link of listElements(text, 'a').filter(isLogOut)) {
      const target = parseUrl(readAttribute(link, 'href') ?? '', url);
      if (target && isOwn(target)) return browser.open(target);
    }
  }
  return undefined;
}

/** Finds the elements with this name. Takes linear time, even if a page has many start tags without an end tag. */
const listElements = (text: string, name: string): string[] =>
  text
    .split(new RegExp(`</${name}>`, 'i'))
    .slice(0, -1)
    .flatMap(
      (part) =>
        part
          .split(new RegExp(`<${name}(?=[\\s>])`, 'i'))
          .slice(1)
          .at(-1) ?? [],
    );

/** Returns the value of an attribute of the first tag, and decodes its entities. */
function readAttribute(element: string, name: string): string | undefined {
  const [attributes = ''] = element.replace(/^<\w+/, '').split('>', 1);
  const [, double, single, plain] =
    new RegExp(`\\b${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(attributes) ?? [];
  return (double ?? single ?? plain)
    ?.replace(/&#x([\da-f]{1,5});/gi, (_, digits) => String.fromCodePoint(Number.parseInt(digits, 16)))
    .replace(/&#(\d{1,6});/g, (_, digits) => String.fromCodePoint(Number(digits)))
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&');
}
