// How a client in the database is added and changed (contract 13.3 to 13.11 and 13.20 to 13.27). The caller has locked the clients
// (`lockClients`), and read the row since.
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
  isTakenElsewhere,
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

const maxClients = 200;
const maxSecrets = 2;
/** In characters. */
export const maxTitle = 60;

/** Pages and commands use these words. */
const reserved = new Set([...namesOfKnown, 'identity', 'none', 'new', 'all']);

export const isClientName = (name: string): boolean => /^[a-z][a-z0-9_]{0,62}$/.test(name);

/** Undefined if a new client may have the name. It may be taken. */
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

/** Returns the secret, which nobody can read again. */
export async function addClient(
  trx: Transaction<DB>,
  { config, now }: Deps,
  { name, kind, facts }: { name: string; kind: string; facts: ClientFacts },
  secret = makeSecret(),
): Promise<string> {
  const { issuer } = config;
  if (await findClientRow(trx, { issuer, name })) throw refuse('client_taken');
  // Events are numbered by the name of the client, so it would read those of the other issuer.
  if (await isTakenElsewhere(trx, { issuer, name })) throw refuse('client_elsewhere');
  if ((await listClientRows(trx, issuer)).length >= maxClients)
    throw invalidMember('/client', faultWords.clients_full);
  const client = { id: uuidv7(), issuer, name };
  await insertClient(trx, { ...client, ...facts, kind, now: now() });
  return addSecret(trx, config, client, { madeAt: now(), secret });
}

async function addSecret(
  trx: Transaction<DB>,
  { encryptionKeys }: Pick<Config, 'encryptionKeys'>,
  client: Pick<ClientRow, 'id' | 'issuer' | 'name'>,
  { madeAt, secret = makeSecret() }: { madeAt: Date; secret?: string },
): Promise<string> {
  const sealed = await sealSecret(encryptionKeys, client, secret);
  await insertSecret(trx, client.id, { id: uuidv7(), madeAt, ...sealed });
  return secret;
}

export type Change = { was: Partial<ClientFacts>; now: Partial<ClientFacts> };

/** Returns what has changed, or undefined if nothing has. A member that is undefined stays. */
export async function changeClient(
  trx: Transaction<DB>,
  { now }: Deps,
  row: ClientRow,
  facts: { [Name in keyof ClientFacts]?: ClientFacts[Name] | undefined },
): Promise<Change | undefined> {
  const names = (Object.keys(facts) as (keyof ClientFacts)[]).filter(
    (name) => facts[name] !== undefined && JSON.stringify(facts[name]) !== JSON.stringify(row[name]),
  );
  if (names.length === 0) return undefined;
  const pick = (from: typeof facts) =>
    Object.fromEntries(names.map((name) => [name, from[name]])) as Partial<ClientFacts>;
  await updateClient(trx, row.id, { ...pick(facts), now: now() });
  return { was: pick(row), now: pick(facts) };
}

/** Returns the new secret. The older one goes on working. Throws 409 `edited_meanwhile` if there are two. */
export async function rotateSecret(
  trx: Transaction<DB>,
  { config, now }: Deps,
  row: ClientRow,
): Promise<string> {
  if (row.secrets.length >= maxSecrets) throw refuse('client_secrets_full');
  // The newer secret comes second, also if the clock of the instance that made the first was ahead.
  const after = Math.max(now().getTime(), ...row.secrets.map(({ madeAt }) => madeAt.getTime() + 1));
  return addSecret(trx, config, row, { madeAt: new Date(after) });
}

/** Makes this the only secret of the client, if it is not. */
export async function keepOneSecret(
  trx: Transaction<DB>,
  { config, now }: Deps,
  row: ClientRow,
  secret: string,
): Promise<void> {
  const opened = await Promise.all(
    row.secrets.map(({ sealed }) => openSecret(config.encryptionKeys, row, sealed)),
  );
  if (opened.length === 1 && opened[0] === secret) return;
  for (const { id } of row.secrets) await deleteSecret(trx, id);
  await addSecret(trx, config, row, { madeAt: now(), secret });
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

/** False if the client is off already. */
export async function turnOff(trx: Transaction<DB>, { now }: Deps, row: ClientRow): Promise<boolean> {
  if (row.offAt) return false;
  await updateClient(trx, row.id, { offAt: now(), now: now() });
  return true;
}

/** False if the client is on already. Throws 409 `edited_meanwhile` if the settings name it. */
export async function turnOn(trx: Transaction<DB>, { config, now }: Deps, row: ClientRow): Promise<boolean> {
  if (config.clients.has(row.name)) throw refuse('client_in_settings');
  if (!row.offAt) return false;
  await updateClient(trx, row.id, { offAt: null, now: now() });
  return true;
}

/** After a restore. False if the client is confirmed already. */
export async function confirm(trx: Transaction<DB>, { now }: Deps, row: ClientRow): Promise<boolean> {
  if (row.isConfirmed) return false;
  await confirmClient(trx, row.id, now());
  return true;
}
