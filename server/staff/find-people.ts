// Finds people by what they say on the telephone (contract 12.50 to 12.61). The calling code decides who may search.
import { validate } from 'uuid';
import type { Database } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import {
  findAmongNewest,
  findByTerms,
  findByWhole,
  type Hit,
  listNewest,
  type PersonFilters,
  statesToFilter,
} from '../../db/tables/person-words.ts';
import type { StaffRole } from '../acts/rights.ts';
import { AppError } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { readEmailAddress } from '../identity/ground/email-address.ts';
import { provider } from '../marketplace/accept-profile.ts';
import { stateOf } from './person.ts';
import { listWords } from './search-words.ts';

const maxHits = 50;
const maxCodePoints = 200;
// The search asks for one person more than it shows, to tell whether there are more people.
const limit = maxHits + 1;
// A search through this many people takes a few milliseconds, and finds a word that one person in a hundred has.
const newest = 4_000;

/** Throws 422 at `/q` for a text that is too long. */
export function readSearch(q: string): string {
  const text = q.trim();
  if (Array.from(text).length > maxCodePoints) refuse('/q', faultWords.search_long);
  return text;
}

/** Finds people by `q` and the filters. An empty `q` finds the newest people. */
export async function findPeople(
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  { q, role, state }: { q: string; role?: string | undefined; state?: string | undefined },
) {
  const text = readSearch(q);
  const filters = {
    role: readChoice('/role', role, ['user', 'manager', 'admin'] as const),
    state: readChoice('/state', state, statesToFilter),
  };
  // The newest people are listed even if they are not indexed yet.
  if (text === '' && !filters.role && !filters.state) return show(await listNewest(db, limit));
  const words = listNeeded(text);
  if (text !== '' && words.length === 0) return show([]);
  const whole = await findByWhole(db, { ...readKeys(text), now: now() }, filters, limit);
  const others = await findByWords(db, words, filters);
  const named = new Set(whole.map(({ id }) => id));
  return show([...whole, ...others.filter(({ id }) => !named.has(id))]);
}

function refuse(pointer: string, detail: string): never {
  throw new AppError('validation_failed', { errors: [{ pointer, detail }] });
}

function readChoice<T extends string>(
  pointer: string,
  text: string | undefined,
  choices: readonly T[],
): T | undefined {
  return text
    ? (choices.find((choice) => choice === text) ?? refuse(pointer, faultWords.choice_missing))
    : undefined;
}

const show = (hits: Hit[]) => ({
  people: hits.slice(0, maxHits).map((hit) => ({
    id: hit.id,
    email: hit.email,
    name: hit.name,
    account: hit.account,
    role: hit.role,
    state: stateOf(hit),
  })),
  more: hits.length > maxHits,
});

/** Leaves out a word if a longer word begins with it. The longest words come first. */
function listNeeded(text: string): string[] {
  const words = listWords(text).sort((a, b) => b.length - a.length);
  return words.filter((word, place) => !words.slice(0, place).some((longer) => longer.startsWith(word)));
}

export const readKeys = (text: string) => ({
  // No text in the database has U+0000, and Postgres refuses it.
  text: text.replaceAll('\0', '\ufffd'),
  email: readEmailAddress(text),
  userId: validate(text) ? text : undefined,
  invoiceNumber: /^[1-9]\d{0,17}$/.test(text) ? text : undefined,
  provider,
});

/** If many people have all words, the newest people are enough. If only few people have all words, the index finds them. */
async function findByWords(db: Database, words: string[], filters: PersonFilters): Promise<Hit[]> {
  const amongNewest = await findAmongNewest(db, words, filters, { newest, limit });
  if (amongNewest.length === limit) return amongNewest;
  const hits = await inTransaction(db, { by: 'service' }, (trx) => findByTerms(trx, words, filters, limit));
  return hits.sort((a, b) => (a.id < b.id ? 1 : -1));
}

/**
 * Finds people, or only members of the staff, by words, email address or id. If `q` is the whole email address of a person,
 * finds only that person, even a former member of the staff.
 */
export async function findNamed(
  deps: Pick<Dependencies, 'db' | 'now'>,
  { q, isStaff }: { q: string; isStaff: boolean },
) {
  const roles = isStaff ? ['admin', 'manager'] : [undefined];
  const found = await Promise.all(roles.map((role) => findPeople(deps, { q, role })));
  const address = readEmailAddress(q);
  let hits = found.flatMap((each) => each.people);
  if (isStaff && hits.length === 0 && address)
    hits = (await findPeople(deps, { q })).people.filter(({ email }) => email === address);
  const people = hits.map(({ id, name, email, role }) => ({ id, name, email, role }));
  const named = people.filter(({ email }) => email === address);
  return named.length === 1
    ? { people: named, more: false }
    : { people, more: found.some(({ more }) => more) };
}

type Found = ReturnType<typeof show>;

/** A manager sees only name, email address and role of other staff (contract 12.9). */
export function showHits(role: StaffRole, hits: Found['people'], { state }: { state?: string }) {
  const seesAll = ({ role: ofHit }: Found['people'][number]) => role === 'admin' || ofHit === 'user';
  return hits
    .filter((hit) => seesAll(hit) || !state)
    .map((hit) => (seesAll(hit) ? hit : { ...hit, account: null, state: null }));
}
