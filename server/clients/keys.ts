// The keys that sign ID tokens and logout tokens (contract 14.80 to 14.87). They are RSA keys, because RS256 is the one
// algorithm that every product of OpenID Connect knows. The book of clients reads the keys together with the rows.
import { exportJWK, exportPKCS8, generateKeyPair, importPKCS8 } from 'jose';
import type { Transaction } from 'kysely';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { lockClients } from '../../db/tables/clients.ts';
import { deleteKeys, insertKey, type KeyRow, listKeyRows } from '../../db/tables/oidc-keys.ts';
import { seal, unseal } from '../basics/sealing.ts';
import type { Dependencies, SigningKey } from '../ground/dependencies.ts';
import type { Config } from '../settings/config.ts';
import { keyIdOf } from './secrets.ts';

type Deps = Pick<Dependencies, 'config' | 'db' | 'now'>;

const dayMs = 24 * 60 * 60 * 1_000;
const signsForDays = 90;
const publishedBeforeDays = 1;
const publishedAfterDays = 2;
const countsForHintsAfterDays = 30;

const contextOf = (issuer: string, kid: string) => `openid key ${issuer} ${kid}`;

export async function sealKey({ issuer, encryptionKeys }: Config, kid: string, pem: string) {
  const sealed = await seal(encryptionKeys, contextOf(issuer, kid), new TextEncoder().encode(pem));
  return { sealed, keyId: keyIdOf(encryptionKeys[0]) };
}

export async function openKey(
  { issuer, encryptionKeys }: Config,
  { kid, sealed }: Pick<KeyRow, 'kid' | 'sealed'>,
): Promise<string | undefined> {
  const opened = await unseal(encryptionKeys, contextOf(issuer, kid), sealed);
  return opened && new TextDecoder().decode(opened.plain);
}

/** Returns undefined if no key of the settings opens the private key. */
export async function readKey(config: Config, row: KeyRow): Promise<SigningKey | undefined> {
  const pem = await openKey(config, row);
  if (pem === undefined) return undefined;
  const privateKey = await importPKCS8(pem, 'RS256', { extractable: true });
  const { n = '', e = '' } = await exportJWK(privateKey);
  const publicJwk = { kty: 'RSA', n, e, kid: row.kid, use: 'sig', alg: 'RS256' } as const;
  return { kid: row.kid, usedFrom: row.usedFrom, privateKey, publicJwk };
}

/**
 * The newest key that has begun to sign. `keys` are sorted by `usedFrom`, the latest first. If no key has begun to sign,
 * because a clock is slow, this is the earliest key.
 */
export const findSigningKey = (keys: readonly SigningKey[], now: Date): SigningKey | undefined =>
  keys.find(({ usedFrom }) => usedFrom <= now) ?? keys.at(-1);

/** When the next key took over from the key at place `at`. Undefined before that time. */
const followedAt = <Key extends Pick<KeyRow, 'usedFrom'>>(keys: readonly Key[], at: number, now: Date) =>
  keys.slice(0, at).findLast(({ usedFrom }) => usedFrom <= now)?.usedFrom;

const countsUntil =
  (days: number, now: Date) =>
  <Key extends Pick<KeyRow, 'usedFrom'>>(_key: Key, at: number, keys: readonly Key[]) => {
    const followed = followedAt(keys, at, now);
    return followed === undefined || followed.getTime() > now.getTime() - days * dayMs;
  };

export const listPublished = (keys: readonly SigningKey[], now: Date): SigningKey[] =>
  keys.filter(countsUntil(publishedAfterDays, now));

/** The keys whose ID tokens are accepted as hints. */
export const listForHints = (keys: readonly SigningKey[], now: Date): SigningKey[] =>
  keys.filter(countsUntil(countsForHintsAfterDays, now));

/** Returns whether the first key, or the next one, has to be made. */
const needsKey = (keys: readonly Pick<KeyRow, 'usedFrom'>[], now: Date): boolean =>
  !keys[0] || keys[0].usedFrom.getTime() + (signsForDays - publishedBeforeDays) * dayMs <= now.getTime();

/**
 * Makes a key if one is due, and deletes keys whose ID tokens are no longer accepted as hints. Several instances may do this at
 * the same time.
 */
export async function keepKeys(deps: Deps): Promise<void> {
  const { config, db, now: clock } = deps;
  const now = clock();
  const rows = await listKeyRows(db, config.issuer);
  const old = rows.filter((...of) => !countsUntil(countsForHintsAfterDays, now)(...of));
  if (old.length > 0)
    await deleteKeys(
      db,
      old.map(({ kid }) => kid),
    );
  if (!needsKey(rows, now)) return;
  const usedFrom = rows.length > 0 ? new Date(now.getTime() + publishedBeforeDays * dayMs) : now;
  await addKey(deps, usedFrom, async (present) => needsKey(present, now));
}

/** Making a key takes a few tenths of a second, so callers do it before they take the lock. */
export async function makeKey(config: Config, usedFrom: Date): Promise<KeyRow> {
  const { privateKey } = await generateKeyPair('RS256', { modulusLength: 2_048, extractable: true });
  const kid = crypto.randomUUID();
  return { kid, usedFrom, ...(await sealKey(config, kid, await exportPKCS8(privateKey))) };
}

/** Adds a key, which signs from its `usedFrom` on. With `revokes`, ends all other keys, and returns their ids. */
export async function rotateKeys(
  trx: Transaction<DB>,
  { issuer }: Config,
  key: KeyRow,
  { revokes }: { revokes: boolean },
): Promise<string[]> {
  await lockClients(trx);
  const revoked = revokes ? (await listKeyRows(trx, issuer)).map(({ kid }) => kid) : [];
  if (revoked.length > 0) await deleteKeys(trx, revoked);
  await insertKey(trx, issuer, key);
  return revoked;
}

/**
 * Makes a key, but adds it only if `isNeeded` says so under the lock. So if several instances do this at the same time, only
 * one adds a key.
 */
export async function addKey(
  deps: Deps,
  usedFrom: Date,
  isNeeded: (present: KeyRow[]) => Promise<boolean>,
): Promise<void> {
  const { config, db } = deps;
  const key = await makeKey(config, usedFrom);
  await inTransaction(db, { by: 'service', cause: 'keys' }, async (trx) => {
    await lockClients(trx);
    if (await isNeeded(await listKeyRows(trx, config.issuer))) await insertKey(trx, config.issuer, key);
  });
}
