// The clients that count now (contract 13.1 to 13.11): those of the settings, and the rows of the database. Lookups read only
// memory. The job `clients` asks every second whether a row has changed.
import {
  type ClientRow,
  findClientVersion,
  listClientRows,
  noteSecretUses,
  replaceSealed,
  type SecretRow,
} from '../../db/tables/clients.ts';
import type { Dependencies, LiveClients } from '../ground/dependencies.ts';
import type { Config } from '../settings/config.ts';
import type { Audience, Client, Clients, Role } from '../sso/clients.ts';
import { keyIdOf, openSecret, sealSecret } from './secrets.ts';

type Deps = Pick<Dependencies, 'config' | 'db' | 'log' | 'now'>;

/** A row has the first state that applies. People can open only a client that is `on`, and only it gets webhooks and may call. */
export type RowState = 'in_settings' | 'off' | 'unconfirmed' | 'unreadable' | 'on';

/** Never `unreadable`, because only `openBook` knows whether the secrets can be opened. */
export function stateOf(
  { clients }: Pick<Config, 'clients'>,
  row: ClientRow,
): Exclude<RowState, 'unreadable'> {
  if (clients.has(row.name)) return 'in_settings';
  if (row.offAt) return 'off';
  return row.isConfirmed ? 'on' : 'unconfirmed';
}

/** The clients of the settings alone, for code that works without a database. */
export function clientsOfSettings({ clients }: Pick<Config, 'clients'>): Clients {
  const all = [...clients.values()];
  return { get: (name) => clients.get(name), list: () => all };
}

const resealEveryMs = 60_000;
const usesEveryMs = 60_000;

export type Book = LiveClients & {
  /** Writes down which secrets were used, and seals anew what an older key has sealed. Several instances may do this at once. */
  keepUp: (signal: AbortSignal) => Promise<void>;
};

/** Knows no row before `refresh`. */
export function openBook(deps: Deps): Book {
  const { config, db, log, now } = deps;
  const settings = [...config.clients.values()];
  let present: { byName: ReadonlyMap<string, Client>; all: readonly Client[] } = {
    byName: config.clients,
    all: settings,
  };
  let version: number | undefined;
  let running: Promise<void> = Promise.resolve();
  /** An unchanged row keeps its `Client` object, because callers cache by it what they have made from it. */
  let read = new Map<string, { facts: string; client: Client }>();
  const secretsOf = new WeakMap<Client, readonly SecretRow[]>();
  const said = new Set<string>();
  const uses = new Map<string, Date>();
  const written = new Map<string, Date>();
  let resealedAt = Number.NEGATIVE_INFINITY;

  /** Logs what operators should know, but only once, because the rows are read again after each change. */
  function say(row: ClientRow, what: 'in_settings' | 'unreadable', isSo: boolean): void {
    const key = `${what} ${row.id}`;
    if (!isSo) said.delete(key);
    else if (!said.has(key)) {
      said.add(key);
      log.record({ client: row.name }, words[what]);
    }
  }

  async function readRow(row: ClientRow): Promise<Client | undefined> {
    const state = stateOf(config, row);
    say(row, 'in_settings', state === 'in_settings');
    // A newer version may have added a row of another kind.
    if (state !== 'on' || row.kind !== 'hand-off') return undefined;
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
    say(row, 'unreadable', !isReadable);
    if (!isReadable) return undefined;
    const client = toClient(row, secrets, config.payloadTtlSeconds);
    read.set(row.id, { facts, client });
    secretsOf.set(client, row.secrets);
    return client;
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
    refresh() {
      // Refreshes run one after the other, so that a caller sees at least what the database had when it called.
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
      resealedAt = performance.now();
    },
  };
}

const words = {
  in_settings: 'the settings name a client that is also a row of the database: the row is off',
  unreadable: 'no key opens the secrets of a client: it is refused',
};

function toClient(row: ClientRow, secrets: readonly string[], ttlSeconds: number): Client {
  const { name, title, callbackUrl, loginUrl, eventsUrl, needsFactor } = row;
  return {
    ...({ name, kind: 'hand-off', source: 'row', title, callbackUrl, needsFactor } as const),
    ...{ logoPath: undefined, loginUrl: loginUrl ?? undefined, eventsUrl: eventsUrl ?? undefined },
    ...{ listedTo: row.listed as Audience[], roles: row.roles as Role[] },
    ...{ secrets, ttlSeconds, isDemo: false },
  };
}

/** Seals with the first key each secret that another key has sealed (contract 13.26). */
export async function resealRows(
  { config, db, log }: Pick<Dependencies, 'config' | 'db' | 'log'>,
  signal?: AbortSignal,
): Promise<void> {
  const { encryptionKeys: keys, issuer } = config;
  const present = keyIdOf(keys[0]);
  const listOlder = async () =>
    (await listClientRows(db, issuer)).flatMap((row) =>
      row.secrets.filter(({ keyId }) => keyId !== present).map((secret) => ({ row, secret })),
    );
  let resealed = 0;
  for (const { row, secret } of await listOlder()) {
    if (signal?.aborted) return;
    const plain = await openSecret(keys, row, secret.sealed);
    if (plain === undefined) continue;
    await replaceSealed(db, secret, await sealSecret(keys, row, plain));
    resealed++;
  }
  if (resealed === 0) return;
  const left = (await listOlder()).length;
  log.record(
    { resealed, left },
    left === 0 ? 'no secret of a client is sealed with an older key' : 'secrets of clients are sealed anew',
  );
}
