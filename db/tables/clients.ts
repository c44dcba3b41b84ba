// The only writer of `clients` and `client_secrets`. Both tables keep the clients that are not in the settings. Triggers raise
// the version in `client_changes` (db/schema.sql).
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

export type SecretRow = {
  id: string;
  madeAt: Date;
  sealed: Uint8Array;
  /** Identifies the key that sealed the secret. */
  keyId: string;
  /** When the client last called us with this secret, to the minute. */
  lastUsedAt: Date | null;
};

/** What staff and operators can choose for a client. */
export type ClientFacts = {
  title: string;
  callbackUrl: string;
  loginUrl: string | null;
  eventsUrl: string | null;
  listed: string[];
  roles: string[];
  needsFactor: boolean;
  /** Only clients of the kind `openid` have these. */
  redirectUris?: string[] | null | undefined;
  postLogoutUris?: string[] | null | undefined;
  backChannelUri?: string | null | undefined;
  pkce?: string | null | undefined;
  auth?: string | null | undefined;
};

export type ClientRow = ClientFacts & {
  id: string;
  issuer: string;
  name: string;
  kind: string;
  offAt: Date | null;
  /** False after a restore, until somebody has confirmed the row. */
  isConfirmed: boolean;
  testedAt: Date | null;
  /** When a client with the `pkce` `state-only` first sent a challenge. */
  challengeAt: Date | null;
  createdAt: Date;
  changedAt: Date;
  /** The older secret comes first. */
  secrets: SecretRow[];
};

/** The version differs after each change of a row and after each restore, so that instances know when to read the rows again. */
export async function findClientVersion(db: Database): Promise<number> {
  const row = await db
    .selectFrom('client_changes')
    .select(sql<number>`version::float8`.as('version'))
    .executeTakeFirst();
  return row?.version ?? 0;
}

const restores = sql<number>`(select count(*)::int from restores)`;

/**
 * Returns clients in the order of their names. One statement reads clients and secrets, so that both are as of the same moment.
 */
export async function listClientRows(db: Database, issuer: string, name?: string): Promise<ClientRow[]> {
  const rows = await db
    .selectFrom('clients as c')
    .leftJoin('client_secrets as s', 's.client_id', 'c.id')
    .select(['c.id', 'c.issuer', 'c.name', 'c.kind', 'c.title', 'c.callback_url as callbackUrl'])
    .select(['c.login_url as loginUrl', 'c.events_url as eventsUrl', 'c.listed', 'c.roles'])
    .select(['c.needs_factor as needsFactor', 'c.off_at as offAt', 'c.tested_at as testedAt'])
    .select(['c.created_at as createdAt', 'c.changed_at as changedAt', 'c.challenge_at as challengeAt'])
    .select(['c.redirect_uris as redirectUris', 'c.post_logout_uris as postLogoutUris', 'c.pkce', 'c.auth'])
    .select('c.back_channel_uri as backChannelUri')
    .select(sql<boolean>`c.restores = ${restores}`.as('isConfirmed'))
    .select(['s.id as secretId', 's.made_at as madeAt', 's.sealed', 's.key_id as keyId'])
    .select('s.last_used_at as lastUsedAt')
    .where('c.issuer', '=', issuer)
    .$if(name !== undefined, (query) => query.where('c.name', '=', name ?? ''))
    .orderBy('c.name')
    .orderBy('s.made_at')
    .orderBy('s.id')
    .execute();
  const found = new Map<string, ClientRow>();
  for (const { secretId, madeAt, sealed, keyId, lastUsedAt, ...client } of rows) {
    const known = found.get(client.id) ?? { ...client, secrets: [] };
    found.set(client.id, known);
    if (secretId !== null && madeAt !== null && sealed !== null && keyId !== null)
      known.secrets.push({ id: secretId, madeAt, sealed, keyId, lastUsedAt });
  }
  return [...found.values()];
}

export const findClientRow = async (
  db: Database,
  { issuer, name }: { issuer: string; name: string },
): Promise<ClientRow | undefined> => (await listClientRows(db, issuer, name))[0];

/** Transactions that add or change a client run one after another. Each transaction waits here for the previous one. */
export async function lockClients(trx: Transaction<DB>): Promise<void> {
  await trx.selectFrom('client_changes').select('version').forUpdate().execute();
}

const toColumns = (facts: Partial<ClientFacts>) => ({
  title: facts.title,
  callback_url: facts.callbackUrl,
  login_url: facts.loginUrl,
  events_url: facts.eventsUrl,
  listed: facts.listed,
  roles: facts.roles,
  needs_factor: facts.needsFactor,
  redirect_uris: facts.redirectUris,
  post_logout_uris: facts.postLogoutUris,
  back_channel_uri: facts.backChannelUri,
  pkce: facts.pkce,
  auth: facts.auth,
});

/** A new row is confirmed from the start. */
export async function insertClient(
  trx: Transaction<DB>,
  { id, issuer, name, kind, now, ...facts }: ClientFacts & Named & { id: string; kind: string; now: Date },
): Promise<void> {
  await trx
    .insertInto('clients')
    .values({
      ...{ id, issuer, name, kind, created_at: now, changed_at: now, restores },
      ...toColumns(facts),
      ...{ title: facts.title, callback_url: facts.callbackUrl, needs_factor: facts.needsFactor },
      ...{ listed: facts.listed, roles: facts.roles },
    })
    .execute();
}

type Named = { issuer: string; name: string };

export async function updateClient(
  trx: Transaction<DB>,
  id: string,
  { now, offAt, ...facts }: Partial<ClientFacts> & { now: Date; offAt?: Date | null },
): Promise<void> {
  await trx
    .updateTable('clients')
    .set({ ...toColumns(facts), ...(offAt !== undefined && { off_at: offAt }), changed_at: now })
    .where('id', '=', id)
    .execute();
}

export async function confirmClient(trx: Transaction<DB>, id: string, now: Date): Promise<void> {
  await trx.updateTable('clients').set({ restores, changed_at: now }).where('id', '=', id).execute();
}

export async function setTestedAt(trx: Transaction<DB>, id: string, now: Date): Promise<void> {
  await trx.updateTable('clients').set({ tested_at: now }).where('id', '=', id).execute();
}

/** If an earlier time is stored already, it stays. */
export async function noteChallenge(db: Database, id: string, now: Date): Promise<void> {
  const query = db.updateTable('clients').set({ challenge_at: now }).where('id', '=', id);
  await query.where('challenge_at', 'is', null).execute();
}

export async function insertSecret(
  trx: Transaction<DB>,
  clientId: string,
  { id, madeAt, sealed, keyId }: Omit<SecretRow, 'lastUsedAt'>,
): Promise<void> {
  const row = { id, client_id: clientId, made_at: madeAt, sealed, key_id: keyId };
  await trx.insertInto('client_secrets').values(row).execute();
}

export async function deleteSecret(trx: Transaction<DB>, id: string): Promise<void> {
  await trx.deleteFrom('client_secrets').where('id', '=', id).execute();
}

/**
 * Replaces a secret that was sealed with another key or for another issuer. Does nothing if somebody has replaced the secret
 * since it was read.
 */
export async function replaceSealed(
  db: Database,
  { id, sealed: was }: Pick<SecretRow, 'id' | 'sealed'>,
  { sealed, keyId }: Pick<SecretRow, 'sealed' | 'keyId'>,
): Promise<void> {
  await db
    .updateTable('client_secrets')
    .set({ sealed, key_id: keyId })
    .where('id', '=', id)
    .where('sealed', '=', was)
    .execute();
}

/**
 * Moves the row to another issuer. The caller must seal the row's secrets anew, because each secret is sealed for one issuer.
 */
export async function setIssuer(
  trx: Transaction<DB>,
  id: string,
  { issuer, now }: { issuer: string; now: Date },
): Promise<void> {
  await trx.updateTable('clients').set({ issuer, changed_at: now }).where('id', '=', id).execute();
}

/** Lists each issuer that has clients. */
export async function listIssuers(db: Database): Promise<string[]> {
  const rows = await db.selectFrom('clients').select('issuer').distinct().orderBy('issuer').execute();
  return rows.map(({ issuer }) => issuer);
}

/** Keeps the latest time, because instances may report uses in any order. */
export async function noteSecretUses(db: Database, uses: ReadonlyMap<string, Date>): Promise<void> {
  await sql`update client_secrets s set last_used_at = greatest(s.last_used_at, u.at)
    from unnest(${[...uses.keys()]}::uuid[], ${[...uses.values()]}::timestamptz[]) u (id, at) where s.id = u.id`.execute(
    db,
  );
}
