// How a client in the database is added and changed (contract 13.3 to 13.11 and 13.20 to 13.27). The caller has locked the
// clients (`lockClients`), and has read the row after that.
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { DB } from '../../db/schema.ts';
import {
  type ClientFacts,
  type ClientRow,
  confirmClient,
  deleteSecret,
  findClientRow,
  insertClient,
  insertSecret,
  listClientRows,
  updateClient,
} from '../../db/tables/clients.ts';
import { AppError, invalidMember } from '../basics/errors.ts';
import { type FaultName, faultWords } from '../basics/fault-words.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { namesOfKnown } from '../settings/clients.ts';
import type { Config } from '../settings/config.ts';
import { makeSecret, openSecret, sealSecret } from './secrets.ts';

type Deps = Pick<Dependencies, 'config' | 'now'>;

export const maxClients = 200;
const maxSecrets = 2;
/** The longest title, in characters. */
export const maxTitle = 60;

/** These names are reserved, because pages and commands use them as words. */
const reserved = new Set([...namesOfKnown, 'identity', 'none', 'new', 'all']);

export const isClientName = (name: string): boolean => /^[a-z][a-z0-9_]{0,62}$/.test(name);

/** Says why the name is not allowed. Undefined if it is allowed, even if another row has it. */
export function findNameFault(name: string, { clients }: Pick<Config, 'clients'>): FaultName | undefined {
  if (!isClientName(name)) return 'client_name';
  return reserved.has(name) || clients.has(name) ? 'client_reserved' : undefined;
}

export const titleOf = (name: string): string =>
  name
    .replaceAll('_', ' ')
    .replace(/^./, (first) => first.toUpperCase())
    .slice(0, maxTitle);

const refuse = (fault: FaultName) => new AppError('edited_meanwhile', { detail: faultWords[fault] });

type NewClient = { name: string; kind: string; facts: ClientFacts };

/** Returns the secret, which nobody can read again. */
export async function addClient(trx: Transaction<DB>, deps: Deps, stated: NewClient): Promise<string> {
  const secret = makeSecret();
  await addClientWith(trx, deps, stated, [secret]);
  return secret;
}

/** Adds a client that has secrets already. `secrets` has the older secret first. */
export async function addClientWith(
  trx: Transaction<DB>,
  { config, now }: Deps,
  { name, kind, facts }: NewClient,
  secrets: readonly string[],
): Promise<void> {
  const { issuer } = config;
  if (await findClientRow(trx, { issuer, name })) throw refuse('client_taken');
  if ((await listClientRows(trx, issuer)).length >= maxClients)
    throw invalidMember('/client', faultWords.clients_full);
  const client = { id: uuidv7(), issuer, name };
  await insertClient(trx, { ...client, ...facts, kind, now: now() });
  await addSecrets(trx, config, client, secrets, now());
}

/** The first of the secrets is the older one. */
async function addSecrets(
  trx: Transaction<DB>,
  { encryptionKeys }: Pick<Config, 'encryptionKeys'>,
  client: Pick<ClientRow, 'id' | 'issuer' | 'name'>,
  secrets: readonly string[],
  madeAt: Date,
): Promise<void> {
  for (const [at, secret] of secrets.entries()) {
    const sealed = await sealSecret(encryptionKeys, client, secret);
    // Secrets are sorted by the time they were made, so each secret needs a time of its own to keep its place.
    const after = new Date(madeAt.getTime() + at);
    await insertSecret(trx, client.id, { id: uuidv7(), madeAt: after, ...sealed });
  }
}

export type Change = { was: Partial<ClientFacts>; now: Partial<ClientFacts> };

type SomeFacts = { [Name in keyof ClientFacts]?: ClientFacts[Name] | undefined };

/** Returns what differs, or undefined if nothing does. A member that is undefined is not compared. */
export function findChange(row: ClientRow, facts: SomeFacts): Change | undefined {
  const names = (Object.keys(facts) as (keyof ClientFacts)[]).filter(
    (name) => facts[name] !== undefined && JSON.stringify(facts[name]) !== JSON.stringify(row[name]),
  );
  if (names.length === 0) return undefined;
  const pick = (from: SomeFacts) =>
    Object.fromEntries(names.map((name) => [name, from[name]])) as Partial<ClientFacts>;
  return { was: pick(row), now: pick(facts) };
}

/** Returns what has changed, or undefined if nothing has. */
export async function changeClient(
  trx: Transaction<DB>,
  { now }: Deps,
  row: ClientRow,
  facts: SomeFacts,
): Promise<Change | undefined> {
  const change = findChange(row, facts);
  if (change) await updateClient(trx, row.id, { ...change.now, now: now() });
  return change;
}

/**
 * Returns the new secret. The older secret still works. Throws 409 `edited_meanwhile` if the client has two secrets already.
 */
export async function rotateSecret(
  trx: Transaction<DB>,
  { config, now }: Deps,
  row: ClientRow,
): Promise<string> {
  if (row.secrets.length >= maxSecrets) throw refuse('client_secrets_full');
  // The new secret must come second, even if the clock of the instance that made the first secret was ahead.
  const after = Math.max(now().getTime(), ...row.secrets.map(({ madeAt }) => madeAt.getTime() + 1));
  const secret = makeSecret();
  await addSecrets(trx, config, row, [secret], new Date(after));
  return secret;
}

/** Returns the secrets of a client, the older first. Undefined if no key opens one of them. */
export async function openSecrets(
  { encryptionKeys }: Pick<Config, 'encryptionKeys'>,
  row: ClientRow,
): Promise<string[] | undefined> {
  const opened = await Promise.all(row.secrets.map(({ sealed }) => openSecret(encryptionKeys, row, sealed)));
  return opened.every((secret) => secret !== undefined) ? opened : undefined;
}

/** Replaces the client's secrets. `secrets` has the older secret first. False if the client has these secrets already. */
export async function keepSecrets(
  trx: Transaction<DB>,
  { config, now }: Deps,
  row: ClientRow,
  secrets: readonly string[],
): Promise<boolean> {
  if (JSON.stringify(await openSecrets(config, row)) === JSON.stringify(secrets)) return false;
  for (const { id } of row.secrets) await deleteSecret(trx, id);
  await addSecrets(trx, config, row, secrets, now());
  return true;
}

export const secretNames = ['first', 'second'] as const;

/** Throws 409 `edited_meanwhile` if the client would have no secret left. */
export async function endSecret(
  trx: Transaction<DB>,
  row: ClientRow,
  which: (typeof secretNames)[number],
): Promise<{ madeAt: Date }> {
  const secret = row.secrets[secretNames.indexOf(which)];
  if (!secret || row.secrets.length < maxSecrets) throw refuse('client_secret_last');
  await deleteSecret(trx, secret.id);
  return secret;
}

/** Returns false if the client is off already. */
export async function turnOff(trx: Transaction<DB>, { now }: Deps, row: ClientRow): Promise<boolean> {
  if (row.offAt) return false;
  await updateClient(trx, row.id, { offAt: now(), now: now() });
  return true;
}

/** Returns false if the client is on already. Throws 409 `edited_meanwhile` if the settings name it. */
export async function turnOn(trx: Transaction<DB>, { config, now }: Deps, row: ClientRow): Promise<boolean> {
  if (config.clients.has(row.name)) throw refuse('client_in_settings');
  if (!row.offAt) return false;
  await updateClient(trx, row.id, { offAt: null, now: now() });
  return true;
}

/** Confirms a row that a restore has brought back. False if the client is confirmed already. */
export async function confirm(trx: Transaction<DB>, { now }: Deps, row: ClientRow): Promise<boolean> {
  if (row.isConfirmed) return false;
  await confirmClient(trx, row.id, now());
  return true;
}
