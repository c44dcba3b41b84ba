// Tests whether somebody can guess or forge a session of the client. It changes and forges only sessions of the test people.
import { sha1, sha256, sha384, sha512 } from 'oslo/crypto';
import { base64, base64url, encodeHex } from 'oslo/encoding';
import { hmacSha256 } from '../../server/sso/hmac.ts';
import type { Browser } from './browser.ts';
import { type Exam, newBrowser, type Played, play, tryOut } from './exam.ts';
import { countDiffering, isShort, maxGuessable } from './guessing.ts';
import { readPayload } from './hand-offs.ts';
import { listKnownKeys } from './known-keys.ts';
import { isNamed } from './name-tags.ts';
import { nobodyNamed } from './notes.ts';
import type { Part } from './people.ts';
import { listChanged, listReadings } from './spellings.ts';

const ids = ['session_guessable', 'session_forgeable'] as const;
const maxVariants = 4;
const minPart = 6;
const minSignature = 16;

export function probeSessions(exam: Exam): Promise<void> {
  return tryOut(exam, ids, async () => {
    const { logins, notes } = exam;
    const missed = (why: string) => notes.miss(ids, why);
    const mine = [await play(exam), await play(exam), await play(exam)] as const;
    const other = await play(exam, { part: 'first' });
    if ([...mine, other].some(({ outcome }) => outcome.kind !== 'taken'))
      return missed('A genuine hand-off was refused.');
    const [first] = mine;
    const names = logins.showsPeople() ? await findSessions(exam, first.browser) : logins.proof();
    for (const name of names) await probeValues(exam, name, mine, other);
    if (!logins.showsPeople()) return missed(nobodyNamed);
    await probeSwapped(exam, first, other);
    for (const name of names) await probeFlipped(exam, name, mine);
    for (const name of names) await probeUnsigned(exam, name, mine);
    await probeRole(exam, first);
  });
}

/**
 * Finds the cookies that a login depends on. Without such a cookie nobody is logged in, or this cookie alone is enough to be
 * logged in.
 */
async function findSessions(exam: Exam, browser: Browser): Promise<string[]> {
  const found: string[] = [];
  for (const name of exam.logins.sessionCookies()) {
    const without = browser.copy((cookie) => (cookie.name === name ? [] : [cookie]));
    const alone = browser.copy((cookie) => (cookie.name === name ? [cookie] : []));
    if (!(await shows(exam, without, 'main')) || (await shows(exam, alone, 'main'))) found.push(name);
  }
  return found;
}

const shows = async ({ logins }: Exam, browser: Browser, part: Part) =>
  isNamed(await logins.findShown(browser), part);

/** Compares the values of one cookie in three logins of one person, and in a login of somebody else. */
async function probeValues(exam: Exam, name: string, mine: readonly Played[], other: Played): Promise<void> {
  const values = mine.map(({ browser }) => browser.valueOf(name) ?? '');
  const [value = ''] = values;
  const all = new Set(values);
  const found = (what: string) =>
    exam.notes.find('session_guessable', { saw: `${name} ${what}.`, unless: 'cache_in_front' });
  const said = await listSaid(mine[0] as Played);
  const readings = listReadings(value);
  const isSaid = (reading: string) =>
    said.some(
      (each) =>
        each === reading || (reading.length >= 16 && /^[0-9a-f]+$/i.test(each) && each.startsWith(reading)),
    );
  const key = await findKey(exam, value);
  if (readings.some(isSaid)) found('is made of what the hand-off says');
  else if (isShort(value)) found(`has only ${value.length} characters`);
  else if (all.size === values.length && countDiffering(values) <= maxGuessable)
    found(
      `counts up: from login to login only ${countDiffering(values)} of its ${value.length} characters differ`,
    );
  else if (all.size === 1 && countDiffering([value, other.browser.valueOf(name) ?? '']) <= maxGuessable)
    found('tells people apart by a few characters, and is the same for each login');
  else if (all.size === 1 && isOpaque(exam, readings))
    found('is the same for each login of a person, so no log-out can end it');
  else if (key) exam.notes.find('session_forgeable', { saw: `${name} is signed with ${key}.` });
}

/** Lists what the hand-off says about the person and the login, and the digests of these texts. */
async function listSaid({ handOff }: Played): Promise<string[]> {
  const { sid, nonce, profile } = readPayload(handOff);
  const said = [profile.id, profile.email, sid, nonce, handOff.launchId];
  return [...said, ...(await Promise.all(said.map(digest))).flat()];
}

async function digest(text: string): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  const digests = await Promise.all([sha1, sha256, sha384, sha512].map((hash) => hash(bytes)));
  return digests
    .map((each) => new Uint8Array(each))
    .flatMap((each) => [encodeHex(each), base64.encode(each), spell(each)]);
}

const spell = (bytes: Uint8Array) => base64url.encode(bytes, { includePadding: false });

/**
 * Whether the value is a single piece that does not name the person. A signed value has several parts, and names the person.
 */
const isOpaque = ({ people }: Exam, readings: string[]) =>
  !readings.some(
    (each) => /[.:|]/.test(each) || each.includes(people.main.id) || each.includes(people.main.name),
  );

/** Returns the name of the well-known key that signed the value. Undefined if there is none. */
async function findKey({ target }: Exam, value: string): Promise<string | undefined> {
  for (const reading of listReadings(value, 1)) {
    const [, text = '', signature = ''] = /^(.+)[.](.{27,})$/s.exec(reading) ?? [];
    if (!signature) continue;
    for (const [key, words] of [...listKnownKeys(target), ['keyboard cat', '"keyboard cat"'] as const])
      for (const signed of [text, text.replace(/^s:/, '')]) {
        const mac = await hmacSha256(new TextEncoder().encode(key), new TextEncoder().encode(signed));
        const bytes = new Uint8Array(mac);
        const spelt = [
          encodeHex(bytes),
          base64.encode(bytes),
          base64.encode(bytes, { includePadding: false }),
          spell(bytes),
        ];
        if (spelt.includes(signature)) return words;
      }
  }
  return undefined;
}

/** Replaces what the session says about its person with what another person's hand-off says. */
async function probeSwapped(exam: Exam, mine: Played, other: Played): Promise<void> {
  const [from, to] = await Promise.all([listSaid(mine), listSaid(other)]);
  const names = [exam.people.main.name, exam.people.first.name];
  const pairs = new Map([
    ...from.map((each, at) => [each, to[at] ?? ''] as const),
    names as [string, string],
  ]);
  const swap = replaceAll(pairs);
  await probeChanged(exam, mine, swap, async (browser) =>
    (await shows(exam, browser, 'first')) ? 'somebody else was logged in' : undefined,
  );
}

function replaceAll(pairs: Map<string, string>): (text: string) => string {
  const texts = [...pairs.keys()].sort((a, b) => b.length - a.length);
  const any = new RegExp(texts.map((each) => each.replace(/[^\w]/g, '\\$&')).join('|'), 'g');
  return (text) => text.replace(any, (found) => pairs.get(found) ?? found);
}

/**
 * Applies `change` to each cookie alone, and then to all together. `judge` says in words what the change has done, or returns
 * undefined.
 */
async function probeChanged(
  exam: Exam,
  { browser, outcome }: Played,
  change: (text: string) => string,
  judge: (browser: Browser) => Promise<string | undefined>,
): Promise<void> {
  const variants = exam.logins.sessionCookies().flatMap((name) => {
    const changed = listVariants(browser.valueOf(name) ?? '', change);
    return changed.length > 0 ? [[name, changed] as const] : [];
  });
  const tries = variants.flatMap(([name, changed]) => changed.map((value) => new Map([[name, value]])));
  if (variants.length > 1) tries.push(new Map(variants.map(([name, [value = '']]) => [name, value])));
  for (const values of tries) {
    const copy = browser.copy((cookie) => [{ ...cookie, value: values.get(cookie.name) ?? cookie.value }]);
    const what = await judge(copy);
    if (what === undefined) continue;
    const saw = `Changed what ${[...values.keys()].join(' and ')} says: ${what}.`;
    return exam.notes.find('session_forgeable', { saw, launchId: outcome.launchId, unless: 'people_mixed' });
  }
}

/** For a JWT, also returns variants with `alg: none`, which need no signature. */
function listVariants(value: string, change: (text: string) => string): string[] {
  const changed = listChanged(value, change).slice(0, maxVariants);
  const unsigned = changed.flatMap((each) => {
    const [, payload] = each.split('.');
    return /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(each) ? [`${spellNone}.${payload}.`] : [];
  });
  return [...changed, ...unsigned];
}

const spellNone = base64url.encode(new TextEncoder().encode('{"alg":"none","typ":"JWT"}'), {
  includePadding: false,
});

/** Changes one character in each part of a cookie. If some parts differ between two logins, changes only those parts. */
async function probeFlipped(exam: Exam, name: string, [first, second]: readonly Played[]): Promise<void> {
  const browser = first?.browser ?? newBrowser(exam);
  const value = browser.valueOf(name) ?? '';
  const parts = [...value.matchAll(/[\w-]+/g)].filter(([part]) => part.length >= minPart);
  const fresh = parts.filter(([part]) => !second?.browser.valueOf(name)?.includes(part));
  for (const { 0: part, index } of (fresh.length > 0 ? fresh : parts).slice(0, maxVariants)) {
    const at = findFlip(value, index + Math.floor(part.length / 2));
    const flipped = value.slice(0, at) + flip(value[at] ?? '') + value.slice(at + 1);
    const copy = browser.copy((cookie) => [
      { ...cookie, value: cookie.name === name ? flipped : cookie.value },
    ]);
    if (!(await shows(exam, copy, 'main'))) continue;
    const saw = `Changed character ${at + 1} of ${name}: the person was still logged in.`;
    return exam.notes.find('session_forgeable', { saw, unless: 'people_mixed' });
  }
}

/**
 * Sends the cookie without its signature. A client may accept it, for example because it did not sign its cookies in earlier
 * versions.
 */
async function probeUnsigned(exam: Exam, name: string, [mine, next]: readonly Played[]): Promise<void> {
  const [value = '', other = ''] = [mine, next].map((played) => played?.browser.valueOf(name));
  for (const mark of ['.', '--', '|', ':', '~', '%']) {
    const at = value.lastIndexOf(mark);
    const end = value.slice(at);
    // A short end is no signature. An end that two different values share is no signature either: some servers append their own
    // name to each value, and ignore it when they read the value.
    if (!mine || at < minPart || end.length < minSignature || (value !== other && other.endsWith(end)))
      continue;
    const copy = mine.browser.copy((cookie) => [
      { ...cookie, value: cookie.name === name ? value.slice(0, at) : cookie.value },
    ]);
    if (await shows(exam, copy, 'main'))
      exam.notes.find('session_forgeable', {
        saw: `Cut the last part of ${name} off: the person was still logged in.`,
        unless: 'people_mixed',
      });
  }
}

/** Skips the two digits after a percent sign, because changing them may give another spelling of the same byte. */
const findFlip = (value: string, at: number) => (/%.?$/.test(value.slice(0, at)) ? at + 2 : at);
const flip = (character: string) =>
  character === 'X' ? 'Y' : /\d/.test(character) ? String((Number(character) + 1) % 10) : 'X';

/** Changes the role in each cookie that contains it. */
function probeRole(exam: Exam, played: Played): Promise<void> {
  const { role } = exam.people.main;
  const says = new RegExp(`^${role}$|role\\W{1,5}${role}\\b`, 'i');
  const change = (text: string) => (says.test(text) ? text.replace(role, 'merchant') : text);
  return probeChanged(exam, played, change, async (browser) =>
    (await shows(exam, browser, 'main')) ? 'the person was logged in with another role' : undefined,
  );
}
