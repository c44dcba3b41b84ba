// Moves clients into the database from the settings, and to this issuer from another one (contract 13.90 to 13.95). The caller has
// locked the clients (`lockClients`).
import type { Transaction } from 'kysely';
import type { DB } from '../../db/schema.ts';
import {
  type ClientFacts,
  findClientRow,
  listClientRows,
  replaceSealed,
  setIssuer,
  updateClient,
} from '../../db/tables/clients.ts';
import { invalidMember } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import type { Client } from '../sso/clients.ts';
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

/** Adds or changes the row to match the settings. Returns undefined if it matches already. */
export async function adoptClient(
  trx: Transaction<DB>,
  deps: Deps,
  { client: { name, kind, secrets }, facts }: { client: Client; facts: ClientFacts },
): Promise<{ isNew: boolean; change?: Change | undefined } | undefined> {
  const { config, now } = deps;
  const row = await findClientRow(trx, { issuer: config.issuer, name });
  if (!row) {
    await addClientWith(trx, deps, { name, kind, facts }, secrets);
    return { isNew: true };
  }
  const change = await changeClient(trx, deps, row, facts);
  const hasNewSecrets = await keepSecrets(trx, deps, row, secrets);
  if (row.offAt) await updateClient(trx, row.id, { offAt: null, now: now() });
  const isConfirmed = await confirm(trx, deps, row);
  return change || hasNewSecrets || row.offAt || isConfirmed ? { isNew: false, change } : undefined;
}

/** If a name is taken, no row is moved. A row with a secret that no key opens stays under its issuer. */
export type Rebound = { moved: string[]; unreadable: string[]; taken: string[] };

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
  const taken = rows.map(({ name }) => name).filter((name) => names.has(name));
  const result: Rebound = { moved: [], unreadable: [], taken };
  if (taken.length > 0) return result;
  if (rows.length + present.length > maxClients) throw invalidMember('/client', faultWords.clients_full);
  for (const row of rows) {
    const secrets = await openSecrets(config, row);
    result[secrets ? 'moved' : 'unreadable'].push(row.name);
    if (!secrets) continue;
    await setIssuer(trx, row.id, { issuer, now: now() });
    for (const [at, secret] of row.secrets.entries())
      await replaceSealed(trx, secret, await sealSecret(keys, { ...row, issuer }, secrets[at] ?? ''));
  }
  return result;
}
