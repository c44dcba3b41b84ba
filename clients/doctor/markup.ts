// Tests whether pages escape what came from outside: errors, parts of a URL, and members of a refused hand-off. profiles.ts
// looks at the names of people.
import type { Browser } from './browser.ts';
import { type Exam, makeFor, newBrowser, tryOut } from './exam.ts';
import type { Changes } from './hand-offs.ts';
import type { Answer } from './network.ts';
import { expired } from './wrong-hand-offs.ts';

const inText = '<i>identity-doctor</i>';
const mark = `'">${inText}`;
const inName = '<i>(newest)</i>';
/** A name with markup in it. A page must show it as text. */
export const markedName = `Identity doctor ${inName}`;

export async function probeMarkup(exam: Exam): Promise<void> {
  const { target, logins } = exam;
  const own = async (browser: Browser) => (await logins.start(browser)).state;
  const open = (sent: string, make: (browser: Browser) => Promise<URL> | URL) =>
    tryOut(exam, ['text_unescaped'], async () => {
      const browser = newBrowser(exam);
      expectText(exam, sent, [await logins.follow(browser, await browser.open(await make(browser)))]);
    });
  const atCallback = (query: Record<string, string>) => logins.addressOf(new URLSearchParams(query));
  await Promise.all([
    open('an error', async (browser) => atCallback({ error: mark, state: await own(browser) })),
    open('an error that nobody asked for', () => atCallback({ error: mark, state: mark })),
    open('an error with a description', async (browser) =>
      atCallback({
        ...{ error: 'access_denied', error_description: mark, message: mark, reason: mark, code: mark },
        state: await own(browser),
      }),
    ),
    open('a payload and a signature', () => atCallback({ payload: mark, signature: mark })),
    open('the login start an address', () => {
      const url = new URL(target.loginUrl);
      for (const name of ['error', 'message', 'reason', 'return_to', 'next'])
        if (!url.searchParams.has(name)) url.searchParams.set(name, mark);
      return url;
    }),
    ...Object.entries(refused).map(([words, members]) =>
      open(`a hand-off with ${words}`, async (browser) => {
        const { query } = await makeFor(exam, await logins.start(browser), {
          part: 'profile',
          changes: { members },
        });
        return logins.addressOf(query);
      }),
    ),
  ]);
}

/** Hand-offs that the client must refuse. Its page may say why, and name the person. */
const refused: Record<string, NonNullable<Changes['members']>> = {
  'another issuer': (payload) => Object.assign(payload, { iss: mark }),
  'another audience': (payload) => Object.assign(payload, { aud: mark, client: mark }),
  'a role that is none': ({ profile }) => Object.assign(profile, { role: mark, account: mark }),
  'a name, too late': (payload) => {
    expired(7_200).members?.(payload);
    payload.profile.name = mark;
  },
};

/** Notes a finding if a page contains the mark or the marked name unescaped. */
export function expectText(
  { notes }: Exam,
  sent: string,
  answers: readonly Answer[],
  launchId?: string,
): void {
  const found = answers.find(
    ({ headers, text }) => isPage(headers) && [inText, inName].some((each) => text.includes(each)),
  );
  if (found)
    notes.find('text_unescaped', {
      saw: `Sent ${sent} with markup in it: ${found.url.pathname} (${found.status}) has the markup as it was sent.`,
      launchId,
    });
}

/** If an answer has no content type, browsers guess one. */
const isPage = (headers: Headers) => /html|xml|svg/.test(headers.get('content-type') ?? 'html');
