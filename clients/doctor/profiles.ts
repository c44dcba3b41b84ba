// Tests whether a newer profile replaces the earlier one, as far as pages show it. One newer profile brings a name, a role and
// a capability. The next profile takes the role and the capability away (contract 3.40).
import { type Exam, type Played, play, tryOut } from './exam.ts';
import type { Wire } from './hand-offs.ts';
import { expectText, markedName } from './markup.ts';
import type { Answer } from './network.ts';
import { nobodyNamed } from './notes.ts';
import { manyScripts } from './right-hand-offs.ts';

const ids = ['newer_profile_ignored', 'role_kept'] as const;
/** A profile may change twice within a second, so a client must keep the milliseconds (contract 3.11). */
const stepMs = 1;
const newest = { role: 'merchant', account: { capabilities: ['sell_products'] } };
/** The words by which a page shows the role and the capability, if it does not translate them. */
const plainWords = ['merchant', 'sell_products'];

type Seen = Played & { pages: Answer[]; text: string; words: Words };

/** Call this after the other probes, because it changes a person whom they log in. */
export function probeProfiles(exam: Exam): Promise<void> {
  return tryOut(exam, ids, async () => {
    const { logins, notes } = exam;
    const before = await logIn(exam);
    const promoted =
      (await logInNewer(exam, { ...newest, name: markedName })) ??
      (await logInNewer(exam, { ...newest, name: plainName }));
    const after = await logInNewer(exam, {});
    noteCrash(exam, before, await logInNewer(exam, { name: manyScripts }));
    await logInNewer(exam, {});
    if (!before || !promoted || !after) return notes.miss(ids, 'A genuine hand-off was refused.');
    const again = await logins.open(promoted.browser, promoted.handOff);
    expectText(exam, 'a name', [...promoted.pages, again.answer], promoted.handOff.launchId);
    if (!logins.showsPeople()) return notes.miss(ids, nobodyNamed);
    noteName(exam, before, promoted);
    noteRole(exam, before, promoted, after);
  });
}

const plainName = 'Identity doctor (newest)';

/** Logs in with a profile that is a millisecond newer than the last one. */
async function logInNewer(exam: Exam, change: Wire): Promise<Seen | undefined> {
  const { profile } = exam.people;
  const newerAt = Date.parse(profile.profile_updated_at) + stepMs;
  profile.profile_updated_at = new Date(newerAt).toISOString();
  return logIn(exam, change);
}

/** Undefined if the client refuses the login. */
async function logIn(exam: Exam, change: Wire = {}): Promise<Seen | undefined> {
  const members = (payload: Wire) => Object.assign(payload.profile, change);
  const played = await play(exam, { part: 'profile', changes: { members } });
  if (played.outcome.kind !== 'taken') return undefined;
  const read = async () => exam.logins.readPages(played.browser);
  const [once, pages] = [await read(), await read()];
  const [first, text] = [once, pages].map((all) => all.map(({ text }) => text).join('\n')) as [
    string,
    string,
  ];
  // Some words are shown only right after a login, or change each time the page is read. So only words that are there both
  // times count.
  const earlier = countWords(first);
  const words = new Map([...countWords(text)].filter(([word, count]) => earlier.get(word) === count));
  return { ...played, pages: [...once, ...pages], text, words };
}

/** A client may fail if it puts the name in a place that accepts only some letters, such as a header. */
function noteCrash({ notes }: Exam, before: Seen | undefined, seen: Seen | undefined): void {
  const broken = seen?.pages.find(
    ({ status }, at) => status >= 500 && (before?.pages[at]?.status ?? 0) < 500,
  );
  if (broken)
    notes.find('crashes', {
      saw: `For a person called “${manyScripts}”, ${broken.url.pathname} was answered with ${broken.status}.`,
      launchId: seen?.handOff.launchId,
    });
}

function noteName({ notes, people }: Exam, before: Seen, promoted: Seen): void {
  if (!before.text.includes(people.profile.name))
    notes.miss('newer_profile_ignored', 'No page that was seen shows the name of a profile.');
  else if (!promoted.text.includes('(newest)'))
    notes.find('newer_profile_ignored', {
      saw: 'Sent a profile with another name, changed a millisecond later: the page shows the earlier name.',
      launchId: promoted.handOff.launchId,
    });
}

/** Looks for words that appeared with the role, and were still there after the role was taken away. */
function noteRole({ notes }: Exam, before: Seen, promoted: Seen, after: Seen): void {
  const [had, got, kept] = [before.words, promoted.words, after.words];
  const gained = [...got].filter(([word, count]) => count > (had.get(word) ?? 0));
  // A word that becomes more frequent with each login, such as in a list of logins, says nothing about the role. If the page
  // shows the earlier role again, the word `merchant` may be part of a list of changes.
  const isBack = (kept.get('customer') ?? 0) > (got.get('customer') ?? 0);
  const stayed = gained
    .filter(([word, count]) => kept.get(word) === count && !(isBack && word === 'merchant'))
    .map(([word]) => word);
  if (gained.length === 0) notes.miss('role_kept', 'No page that was seen shows a role or a capability.');
  else if (stayed.length === gained.length || plainWords.some((word) => stayed.includes(word)))
    notes.find('role_kept', {
      saw: `Took the role merchant and a capability away again with a newer profile: the page still says ${stayed.slice(0, 3).join(', ')}.`,
      launchId: after.handOff.launchId,
    });
}

type Words = Map<string, number>;

/** Counts how often each word is on the page. Leaves out names. */
function countWords(text: string): Words {
  const words: Words = new Map();
  const all = text.replace(/Identity doctor[^\n]{0,20}?\(?newe(?:st|r)\)?/g, '').toLowerCase();
  for (const [word] of all.matchAll(/[\p{L}_]{3,}/gu)) words.set(word, (words.get(word) ?? 0) + 1);
  return words;
}
