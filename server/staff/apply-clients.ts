// Changes the clients of the database to what a file says (contract 13.80 to 13.87). It does what the acts do, but sends only
// one mail about all changes.
import type { Database } from '../../db/postgres/client.ts';
import { type ClientFacts, type ClientRow, listClientRows } from '../../db/tables/clients.ts';
import { type Given, readFields } from '../acts/fields.ts';
import { AppError } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import { isObject } from '../basics/is-object.ts';
import { type Change, findChange, maxClients } from '../clients/rows.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { parseStrictJson, StrictJsonError } from '../sso/strict-json.ts';
import { addRow, type Context, setRow, turnRow, warn } from './client-acts.ts';
import { addFields, factsOf } from './client-fields.ts';

type Deps = Pick<Dependencies, 'config' | 'now'> & { db: Database };

export const maxFileKibibytes = 2_048;

/** `entry` counts from 1. A fault without `entry` is about the whole file. */
export type ClientFault = { entry?: number; name?: string | undefined; member?: string; detail: string };

type Entry = { entry: number; name: string; kind: string; facts: ClientFacts };
type Read = { entries: Entry[]; faults: ClientFault[] };

/** The fields of `add-client`, by the members of an entry. */
const members = {
  ...{ name: 'client', kind: 'kind', title: 'title', callback: 'callback', login_url: 'loginUrl' },
  ...{ events_url: 'eventsUrl', listed: 'listed', roles: 'roles', factor: 'factor' },
  ...{
    redirect_uris: 'redirectUris',
    post_logout_uris: 'postLogoutUris',
    back_channel_uri: 'backChannelUri',
  },
  ...{ pkce: 'pkce', auth: 'auth' },
} as const satisfies Record<string, keyof Given>;

/** The separator between the values of each list, as people type it. */
const separators = new Map([
  ...['listed', 'roles'].map((member): [string, string] => [member, ',']),
  ...['redirect_uris', 'post_logout_uris'].map((member): [string, string] => [member, ' ']),
]);

const words = {
  ...{ entry: 'Enter an object.', unknown: 'There is no such member.', text: 'Enter a text.' },
  ...{ list: 'Enter a list of texts.', twice: 'Another entry has this name.' },
  kind: 'The kind of a client never changes.',
  none: 'The file names no client, so --prune would turn off all.',
};

/** Reads a value of JSON as the field would be typed. Undefined if it has another type. */
function spellValue(member: string, value: unknown): string | undefined {
  const separator = separators.get(member);
  if (separator === undefined) return typeof value === 'string' ? value : undefined;
  // A value with a separator in it would be read as two values.
  const isOne = (each: unknown) =>
    typeof each === 'string' && each !== '' && !/\s/.test(each) && !each.includes(separator);
  return Array.isArray(value) && value.every(isOne) ? value.join(separator) : undefined;
}

const faultOfFile = (detail: string): Read => ({ entries: [], faults: [{ detail }] });

/** Reads every entry, so that one answer names all faults. */
export async function readClientFile(deps: Deps, bytes: Uint8Array): Promise<Read> {
  let file: unknown;
  try {
    file = parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    return faultOfFile(`The file cannot be read: ${error.message}.`);
  }
  if (!isObject(file) || !Array.isArray(file.clients) || Object.keys(file).length > 1)
    return faultOfFile('The file must be an object with the one member clients, which is a list.');
  if (file.clients.length > maxClients) return faultOfFile(`The file names more than ${maxClients} clients.`);
  const read: Read = { entries: [], faults: [] };
  const names = new Set<string>();
  for (const [at, stated] of file.clients.entries()) {
    const { found, faults } = await readEntry(deps, stated, at + 1);
    read.faults.push(...faults);
    if (!found) continue;
    if (names.has(found.name)) read.faults.push({ ...found, member: 'name', detail: words.twice });
    else read.entries.push(found);
    names.add(found.name);
  }
  return read;
}

async function readEntry(
  deps: Deps,
  stated: unknown,
  entry: number,
): Promise<{ found?: Entry; faults: ClientFault[] }> {
  if (!isObject(stated)) return { faults: [{ entry, detail: words.entry }] };
  const name = typeof stated.name === 'string' ? stated.name : undefined;
  const faults = new Map<string, string>();
  const given: Given = {};
  for (const [member, value] of Object.entries(stated)) {
    if (!Object.hasOwn(members, member)) faults.set(member, words.unknown);
    // Programs that write such files often write null for what they leave out.
    if (faults.has(member) || value === null) continue;
    const spelled = spellValue(member, value);
    if (spelled !== undefined) given[members[member as keyof typeof members]] = spelled;
    else faults.set(member, separators.has(member) ? words.list : words.text);
  }
  const read = await readFields(addFields, given, { ...deps, thing: {} }).catch((error) => {
    if (!(error instanceof AppError)) throw error;
    for (const { pointer, detail } of error.errors) {
      const [member = ''] = Object.entries(members).find(([, field]) => pointer === `/${field}`) ?? [];
      if (!faults.has(member)) faults.set(member, detail);
    }
  });
  if (!read || faults.size > 0)
    return { faults: [...faults].map(([member, detail]) => ({ entry, name, member, detail })) };
  const { client, kind, ...rest } = read;
  return { found: { entry, name: client, kind, facts: factsOf(rest) as ClientFacts }, faults: [] };
}

export type Deed = 'add' | 'set' | 'on' | 'off' | 'confirm';

export type Step = {
  name: string;
  deeds: Deed[];
  change?: Change | undefined;
  entry?: Entry;
  row?: ClientRow | undefined;
};

/** `unconfirmed` has the clients of the file that stay unconfirmed. `same` counts clients that are as the file says. */
export type Plan = { steps: Step[]; faults: ClientFault[]; unconfirmed: string[]; same: number };

/** Returns what has to be done. The plan stays true while the clients are locked. */
export async function planApply(
  deps: Deps,
  { entries, faults }: Read,
  { prune, afterRestore }: { prune: boolean; afterRestore: boolean },
): Promise<Plan> {
  const { config, db } = deps;
  const rows = new Map((await listClientRows(db, config.issuer)).map((row) => [row.name, row]));
  const plan: Plan = { steps: [], faults: [...faults], unconfirmed: [], same: 0 };
  let count = rows.size;
  for (const entry of entries) {
    const { name, kind, facts } = entry;
    const row = rows.get(name);
    if (!row && ++count > maxClients)
      plan.faults.push({ ...entry, member: 'name', detail: faultWords.clients_full });
    if (row && row.kind !== kind) plan.faults.push({ ...entry, member: 'kind', detail: words.kind });
    const change = row && findChange(row, facts);
    const deeds: Deed[] = row ? [] : ['add'];
    if (change) deeds.push('set');
    if (row?.offAt) deeds.push('on');
    // Without `afterRestore`, no client is confirmed. With it, a client that differs from the file is not confirmed either,
    // because somebody has to look at what the restore brought back.
    if (row && !row.isConfirmed && (!afterRestore || deeds.length > 0)) plan.unconfirmed.push(name);
    else if (row && !row.isConfirmed) deeds.push('confirm');
    if (deeds.length > 0) plan.steps.push({ name, deeds, change, entry, row });
    else plan.same++;
  }
  // With `prune`, a file without clients is a fault, because a script that failed halfway may have written it.
  if (prune && entries.length === 0 && faults.length === 0) plan.faults.push({ detail: words.none });
  const named = new Set(entries.map(({ name }) => name));
  const pruned = [...rows.values()].filter(
    ({ name, offAt }) => prune && !offAt && !named.has(name) && !config.clients.has(name),
  );
  plan.steps.push(...pruned.map((row) => ({ name: row.name, deeds: ['off' as const], row })));
  plan.faults.sort((one, other) => (one.entry ?? 0) - (other.entry ?? 0));
  return plan;
}

export type NewSecret = { name: string; secret: string };

/** Returns the secrets of the new clients, which nobody can read again. */
export async function performApply(context: Context, { steps }: Plan): Promise<NewSecret[]> {
  const secrets: NewSecret[] = [];
  for (const { name, deeds, entry, row } of steps)
    for (const deed of deeds) {
      if (deed === 'add') {
        if (entry) secrets.push({ name, secret: await addRow(context, entry) });
      } else if (deed === 'set') {
        if (entry && row) await setRow(context, row, entry.facts);
      } else if (row) await turnRow(context, row, deed);
    }
  if (steps.length > 0) await warn(context, sayApplied(steps), 'apply');
  return secrets;
}

export const deedWords: Record<Deed, string> = {
  ...{ add: 'added', set: 'changed', on: 'turned on', off: 'turned off', confirm: 'confirmed' },
};

/** The mail names at most this many clients for each kind of change, because 200 clients may have changed. */
const mostNames = 20;

export function listNames(names: readonly string[]): string {
  const left = names.length - mostNames;
  const listed = names.slice(0, mostNames).join(', ');
  return left > 0 ? `${listed} and ${left} more` : listed;
}

function sayApplied(steps: readonly Step[]): string {
  const deeds = Object.keys(deedWords) as Deed[];
  const named = deeds.map((deed) => ({
    deed,
    names: steps.filter(({ deeds: done }) => done.includes(deed)).map(({ name }) => name),
  }));
  return named
    .filter(({ names }) => names.length > 0)
    .map(({ deed, names }) => `${deedWords[deed]} ${listNames(names)}`)
    .join('; ');
}
