// Finds the place on a client's page that says who is logged in. Pages may name other people too, for example in a list of
// customers. So a place counts only if each of two people finds their own name there, and a visitor finds no name.
import { type Part, parts, type TestPeople } from './people.ts';

/** The marks (id and name) by which a page may name a person. */
const marks = ['id', 'name'] as const;
type Mark = (typeof marks)[number];

/** The text around a mark. What differs from person to person is left out. */
type NameTag = { mark: Mark; before: string; after: string };
export type NameTags = Partial<Record<Mark, NameTag>>;

/** The person whom a page names, by each mark. */
export type Shown = Partial<Record<Mark, Part>>;
export const isNamed = (shown: Shown, part: Part) => Object.values(shown).includes(part);

type Pages = { main: string; profile: string; visitor: string };

// How many characters around a mark to look at. The smallest number that works is used.
const lengths = [0, 4, 12, 40];
const longest = Math.max(...lengths);

// Each mark of each person is replaced by a character of its own, from Unicode's private use area.
const tokenOf = (mark: Mark, part: Part) =>
  String.fromCharCode(0xe000 + marks.indexOf(mark) * parts.length + parts.indexOf(part));
const anyToken = /[\ue000-\ue0ff]/g;

/** The pages come from the browsers of two people. Both were logged in when the pages were read. */
export function findNameTags(people: TestPeople, pages: Pages): NameTags {
  const [main, profile, visitor] = [pages.main, pages.profile, pages.visitor].map((page) =>
    tokenize(people, page),
  ) as [string, string, string];
  const tells = (tag: NameTag) =>
    readNameTag(main, tag) === 'main' &&
    readNameTag(profile, tag) === 'profile' &&
    listNamed(visitor, tag).length === 0;
  const found = marks.map((mark) => [mark, listNameTags(main, mark).find(tells)] as const);
  return Object.fromEntries(found.filter(([, tag]) => tag));
}

/**
 * Returns the person whom both pages name, if the pages name nobody else. Then one browser shows the person of the other
 * browser.
 */
export function findOnlyNamed(people: TestPeople, pages: [string, string]): Part | undefined {
  const [one, other] = pages.map((page) => {
    const text = tokenize(people, page);
    return parts.filter((part) => marks.some((mark) => text.includes(tokenOf(mark, part))));
  });
  return one?.length === 1 && other?.length === 1 && one[0] === other[0] ? one[0] : undefined;
}

export function readNameTags(people: TestPeople, tags: NameTags, text: string): Shown {
  const page = tokenize(people, text);
  const read = Object.values(tags).map((tag) => [tag.mark, readNameTag(page, tag)] as const);
  return Object.fromEntries(read.filter(([, part]) => part));
}

/** The person whom the page names in this place. Undefined if it names nobody, or several people. */
function readNameTag(page: string, tag: NameTag): Part | undefined {
  const [part, ...others] = listNamed(page, tag);
  return others.length === 0 ? part : undefined;
}

const listNamed = (page: string, { mark, before, after }: NameTag): Part[] =>
  parts.filter((part) =>
    listIndexes(page, tokenOf(mark, part)).some(
      (at) => readBefore(page, at, before.length) === before && readAfter(page, at, after.length) === after,
    ),
  );

/** If a page names somebody in more places than this, the other places are left out. */
const maxPlaces = 50;

/** The places of the first person's mark. Places with the least text around them come first. */
function listNameTags(page: string, mark: Mark): NameTag[] {
  const places = listIndexes(page, tokenOf(mark, 'main')).slice(0, maxPlaces);
  return lengths.flatMap((length) =>
    places.flatMap((at) => [
      { mark, before: readBefore(page, at, length), after: '' },
      { mark, before: '', after: readAfter(page, at, length) },
    ]),
  );
}

const readBefore = (page: string, at: number, length: number) => hideTokens(page.slice(at - length, at));
const readAfter = (page: string, at: number, length: number) =>
  hideTokens(page.slice(at + 1, at + 1 + length));
const hideTokens = (text: string) => text.replace(anyToken, '\ue100');

function listIndexes(page: string, token: string): number[] {
  const indexes: number[] = [];
  for (let at = page.indexOf(token); at >= 0; at = page.indexOf(token, at + 1)) indexes.push(at);
  return indexes;
}

/** Replaces each mark by its token, and removes what differs between people. */
function tokenize(people: TestPeople, page: string): string {
  const replaced = parts
    .flatMap((part) => marks.map((mark) => ({ text: people[part][mark], token: tokenOf(mark, part) })))
    // Longer texts are replaced first, because one person's name is the beginning of the other names.
    .sort((a, b) => b.text.length - a.text.length)
    .reduce((text, { text: mark, token }) => text.replaceAll(mark, token), page.replace(anyToken, ''));
  const edge = '\0'.repeat(longest);
  return edge + hideNumbers(replaced) + edge;
}

/** Removes from the text what differs from answer to answer: numbers, ids and email addresses. */
export const hideNumbers = (text: string) =>
  text.replace(/(?<![\w.-])[\w.-]+@[\w.-]+|(?<![\w-])[\w-]*\d[\w-]*/g, '0');
