// The clients as they are now (contract 13.1 to 13.11): the clients of the settings, and the rows of the database. Lookups read
// only memory. The job `clients` asks every second whether a row has changed.
import {
  type ClientRow,
  findClientVersion,
  listClientRows,
  noteSecretUses,
  replaceSealed,
  type SecretRow,
} from '../../db/tables/clients.ts';
import { listKeyRows, replaceSealedKey } from '../../db/tables/oidc-keys.ts';
import type { Dependencies, LiveClients, SigningKey } from '../ground/dependencies.ts';
import type { Config } from '../settings/config.ts';
import {
  type Audience,
  type Client,
  type Clients,
  isOpenId,
  type OpenIdClient,
  type Role,
} from '../sso/clients.ts';
import { addKey, findSigningKey, keepKeys, openKey, readKey, sealKey } from './keys.ts';
import { keyIdOf, openSecret, sealSecret } from './secrets.ts';

type Deps = Pick<Dependencies, 'config' | 'db' | 'log' | 'now'>;

/** A row has the first state that applies. Only a client that is `on` gets launches and webhooks, and may call this service. */
export type RowState = 'in_settings' | 'off' | 'unconfirmed' | 'unreadable' | 'on';

/** The state is never `unreadable` here, because only `openBook` knows whether the secrets can be opened. */
export function stateOf(
  { clients }: Pick<Config, 'clients'>,
  row: ClientRow,
): Exclude<RowState, 'unreadable'> {
  if (clients.has(row.name)) return 'in_settings';
  if (row.offAt) return 'off';
  return row.isConfirmed ? 'on' : 'unconfirmed';
}

/** Returns the clients of the settings alone, for code that works without a database. */
export function clientsOfSettings({ clients }: Pick<Config, 'clients'>): Clients {
  const all = [...clients.values()];
  return { get: (name) => clients.get(name), list: () => all };
}

const resealEveryMs = 60_000;
const usesEveryMs = 60_000;

export type Book = LiveClients & {
  /**
   * Records which secrets were used. Seals secrets and keys with the first encryption key if they are sealed with an older one.
   * Several instances may do this at the same time.
   */
  keepUp: (signal: AbortSignal) => Promise<void>;
};

/** Before `refresh`, the book has no rows. */
export function openBook(deps: Deps): Book {
  const { config, db, log, now } = deps;
  const settings = [...config.clients.values()];
  let present: { byName: ReadonlyMap<string, Client>; all: readonly Client[] } = {
    byName: config.clients,
    all: settings,
  };
  let version: number | undefined;
  let running: Promise<void> = Promise.resolve();
  /** An unchanged row keeps its `Client` object, because callers use this object as the key of what they cache. */
  let read = new Map<string, { facts: string; client: Client }>();
  const secretsOf = new WeakMap<Client, readonly SecretRow[]>();
  let keys: readonly SigningKey[] = [];
  const said = new Set<string>();
  const uses = new Map<string, Date>();
  const written = new Map<string, Date>();
  let resealedAt = Number.NEGATIVE_INFINITY;

  /** Logs what operators should know. Logs it only one time, because the rows are read again after each change. */
  function say(about: { client: string } | { kid: string }, what: keyof typeof words, isSo: boolean): void {
    const key = `${what} ${JSON.stringify(about)}`;
    if (!isSo) said.delete(key);
    else if (!said.has(key)) {
      said.add(key);
      log.record(about, words[what]);
    }
  }

  async function readRow(row: ClientRow): Promise<Client | undefined> {
    const state = stateOf(config, row);
    say({ client: row.name }, 'in_settings', state === 'in_settings');
    // A newer version of this service may have added a row of a kind that this version does not know.
    if (state !== 'on' || !['hand-off', 'openid'].includes(row.kind)) return undefined;
    const facts = JSON.stringify([
      { ...row, changedAt: null, testedAt: null },
      row.secrets.map(({ id, sealed }) => [id, [...sealed]]),
    ]);
    const known = read.get(row.id);
    if (known?.facts === facts) return known.client;
    const opened = await Promise.all(
      row.secrets.map(({ sealed }) => openSecret(config.encryptionKeys, row, sealed)),
    );
    const secrets = opened.filter((secret) => secret !== undefined);
    const isReadable = secrets.length === opened.length && secrets.length > 0;
    say({ client: row.name }, 'unreadable', !isReadable);
    if (!isReadable) return undefined;
    const client = toClient(row, secrets, config.payloadTtlSeconds);
    read.set(row.id, { facts, client });
    secretsOf.set(client, row.secrets);
    return client;
  }

  async function readKeys(): Promise<readonly SigningKey[]> {
    const rows = await listKeyRows(db, config.issuer);
    const known = new Map(keys.map((key) => [key.kid, key]));
    const opened = await Promise.all(
      rows.map(async (row) => known.get(row.kid) ?? (await readKey(config, row))),
    );
    for (const [at, { kid }] of rows.entries()) say({ kid }, 'unreadable_key', !opened[at]);
    const read = opened.filter((key) => key !== undefined);
    // If this instance can open a key, it makes none. If it made one for each key that it cannot open, instances with different
    // encryption keys would make keys for ever.
    if (findSigningKey(read, now())) return read;
    // Without a key, nothing can be signed. So this makes a key immediately, and does not wait for the job that makes the next
    // ones.
    const seen = rows.length;
    await addKey(deps, now(), async (present) => present.length === seen);
    return readKeys();
  }

  async function load(): Promise<void> {
    const found = await findClientVersion(db);
    if (found === version) return;
    const rows = await listClientRows(db, config.issuer);
    const clients = (await Promise.all(rows.map(readRow))).filter((client) => client !== undefined);
    const kept = new Set(clients);
    read = new Map([...read].filter(([, { client }]) => kept.has(client)));
    const all = [...settings, ...clients];
    const isSame = all.length === present.all.length && all.every((each, at) => each === present.all[at]);
    keys = all.some(isOpenId) ? await readKeys() : [];
    if (!isSame) present = { byName: new Map(all.map((client) => [client.name, client])), all };
    version = found;
  }

  async function writeUses(): Promise<void> {
    const taken = new Map(uses);
    uses.clear();
    if (taken.size === 0) return;
    try {
      await noteSecretUses(db, taken);
      for (const [id, at] of taken) written.set(id, at);
    } catch (error) {
      for (const [id, at] of taken) if (!uses.has(id)) uses.set(id, at);
      throw error;
    }
  }

  return {
    get: (name) => present.byName.get(name),
    list: () => present.all,
    keys: () => keys,
    refresh() {
      // Refreshes run one after the other, so that a caller sees at least what the database had at the time of the call.
      running = running.catch(() => undefined).then(load);
      return running;
    },
    noteUse(client, secret) {
      const id = secretsOf.get(client)?.[secret]?.id;
      if (id === undefined) return;
      const at = now();
      if (at.getTime() - (written.get(id)?.getTime() ?? 0) >= usesEveryMs) uses.set(id, at);
    },
    async keepUp(signal) {
      await writeUses();
      if (performance.now() - resealedAt < resealEveryMs) return;
      await resealRows(deps, signal);
      if (keys.length > 0) await keepKeys(deps);
      resealedAt = performance.now();
    },
  };
}

const words = {
  in_settings: 'the settings name a client that is also a row of the database: the row is off',
  unreadable: 'no key opens the secrets of a client: it is refused',
  unreadable_key: 'no key opens a key that signs ID tokens: another one is made',
};

function toClient(row: ClientRow, secrets: readonly string[], ttlSeconds: number): Client {
  const { name, title, callbackUrl, loginUrl, eventsUrl, needsFactor } = row;
  const common = {
    ...({ name, source: 'row', title, callbackUrl, needsFactor } as const),
    ...{ logoPath: undefined, logoDarkPath: undefined },
    ...{ loginUrl: loginUrl ?? undefined, eventsUrl: eventsUrl ?? undefined },
    ...{ listedTo: row.listed as Audience[], roles: row.roles as Role[] },
    ...{ secrets, ttlSeconds, isDemo: false },
  };
  if (row.kind === 'hand-off') return { ...common, kind: 'hand-off' };
  return {
    ...common,
    ...{ kind: 'openid', id: row.id, sendsChallenge: row.challengeAt !== null },
    ...{ redirectUris: row.redirectUris ?? [], postLogoutUris: row.postLogoutUris ?? [] },
    backChannelUri: row.backChannelUri ?? undefined,
    ...{ pkce: row.pkce as OpenIdClient['pkce'], auth: row.auth as OpenIdClient['auth'] },
  };
}

/**
 * Looks for secrets and signing keys that are not sealed with the first encryption key, and seals them with it (contract 13.26
 * and 14.80).
 */
export async function resealRows(
  { config, db, log }: Pick<Dependencies, 'config' | 'db' | 'log'>,
  signal?: AbortSignal,
): Promise<void> {
  const { encryptionKeys: keys, issuer } = config;
  const present = keyIdOf(keys[0]);
  const isOlder = ({ keyId }: { keyId: string }) => keyId !== present;
  async function listOlder(): Promise<(() => Promise<boolean>)[]> {
    const secrets = (await listClientRows(db, issuer)).flatMap((row) =>
      row.secrets.filter(isOlder).map((secret) => async () => {
        const plain = await openSecret(keys, row, secret.sealed);
        if (plain !== undefined) await replaceSealed(db, secret, await sealSecret(keys, row, plain));
        return plain !== undefined;
      }),
    );
    const signing = (await listKeyRows(db, issuer)).filter(isOlder).map((row) => async () => {
      const pem = await openKey(config, row);
      if (pem !== undefined) await replaceSealedKey(db, row, await sealKey(config, row.kid, pem));
      return pem !== undefined;
    });
    return [...secrets, ...signing];
  }
  let resealed = 0;
  for (const reseal of await listOlder()) {
    if (signal?.aborted) return;
    if (await reseal()) resealed++;
  }
  if (resealed === 0) return;
  const left = (await listOlder()).length;
  log.record(
    { resealed, left },
    left === 0 ? 'no secret of a client is sealed with an older key' : 'secrets of clients are sealed anew',
  );
}
