// Moves clients into the database from the settings, and to this issuer from another one (contract 13.90 to 13.95). The caller
// has locked the clients (`lockClients`).
import type { Transaction } from 'kysely';
import type { DB } from '../../db/schema.ts';
import {
  type ClientFacts,
  type ClientRow,
  findClientRow,
  listClientRows,
  replaceSealed,
  setIssuer,
  updateClient,
} from '../../db/tables/clients.ts';
import { invalidMember } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import type { Config } from '../settings/config.ts';
import type { Client } from '../sso/clients.ts';
import { type AddressUse, findAddressFault } from './addresses.ts';
import {
  addClientWith,
  type Change,
  changeClient,
  confirm,
  keepSecrets,
  maxClients,
  openSecrets,
} from './rows.ts';
import { sealSecret } from './secrets.ts';

type Deps = Pick<Dependencies, 'config' | 'now'>;

/** What changed about a row that was there before. */
type Replaced = { change: Change | undefined; hasNewSecrets: boolean; isOn: boolean; isConfirmed: boolean };

/**
 * Adds or changes the row to match the settings. `replaced` is left out for a new row. Returns undefined if the row matches
 * already.
 */
export async function adoptClient(
  trx: Transaction<DB>,
  deps: Deps,
  { client: { name, kind, secrets }, facts }: { client: Client; facts: ClientFacts },
): Promise<{ replaced?: Replaced } | undefined> {
  const { config, now } = deps;
  const row = await findClientRow(trx, { issuer: config.issuer, name });
  if (!row) {
    await addClientWith(trx, deps, { name, kind, facts }, secrets);
    return {};
  }
  if (row.kind !== kind) throw invalidMember('/client', faultWords.client_kind_other);
  const change = await changeClient(trx, deps, row, facts);
  const hasNewSecrets = await keepSecrets(trx, deps, row, secrets);
  if (row.offAt) await updateClient(trx, row.id, { offAt: null, now: now() });
  const isConfirmed = await confirm(trx, deps, row);
  const isOn = row.offAt !== null;
  return change || hasNewSecrets || isOn || isConfirmed
    ? { replaced: { change, hasNewSecrets, isOn, isConfirmed } }
    : undefined;
}

/**
 * `moved` has the names of the rows that were moved. Each other list has the names of rows that stay under their issuer for the
 * reason that its name says.
 */
export type Rebound = { moved: string[]; unreadable: string[]; taken: string[]; misaddressed: string[] };

/** A row from another mode may have addresses that this mode does not allow. */
function isMisaddressed({ production }: Pick<Config, 'production'>, row: ClientRow): boolean {
  const { kind, callbackUrl, loginUrl, eventsUrl, redirectUris, postLogoutUris, backChannelUri } = row;
  const isWrong = (urls: readonly (string | null | undefined)[] | null | undefined, use?: AddressUse) =>
    urls?.some((url) => url && findAddressFault(url, { production, use }));
  return [
    isWrong(kind === 'openid' ? redirectUris : [callbackUrl], kind === 'openid' ? 'redirect' : 'callback'),
    isWrong([loginUrl, eventsUrl, backChannelUri]),
    isWrong(postLogoutUris, 'post-logout'),
  ].some((each) => each);
}

/** Moves the rows of another issuer to the present one, and seals their secrets anew. */
export async function rebindClients(
  trx: Transaction<DB>,
  { config, now }: Deps,
  from: string,
): Promise<Rebound> {
  const { issuer, encryptionKeys: keys } = config;
  const rows = await listClientRows(trx, from);
  const present = await listClientRows(trx, issuer);
  const names = new Set(present.map(({ name }) => name));
  const result: Rebound = { moved: [], unreadable: [], taken: [], misaddressed: [] };
  if (rows.length + present.length > maxClients) throw invalidMember('/client', faultWords.clients_full);
  for (const row of rows) {
    const secrets = await openSecrets(config, row);
    if (!secrets || names.has(row.name) || isMisaddressed(config, row)) {
      result[!secrets ? 'unreadable' : names.has(row.name) ? 'taken' : 'misaddressed'].push(row.name);
      continue;
    }
    result.moved.push(row.name);
    await setIssuer(trx, row.id, { issuer, now: now() });
    for (const [at, secret] of row.secrets.entries())
      await replaceSealed(trx, secret, await sealSecret(keys, { ...row, issuer }, secrets[at] ?? ''));
  }
  return result;
}
