// What administrators see of each client (contract 12.130 and 12.131). They never see a secret, or a part or digest of one.
import { type ClientRow, listClientRows } from '../../db/tables/clients.ts';
import { listDeliveries } from '../../db/tables/event-deliveries.ts';
import { findLastCounted, listSumsSince } from '../../db/tables/sums-of-hours.ts';
import { type RowState, stateOf } from '../clients/book.ts';
import { keyIdOf } from '../clients/secrets.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { type CallKind, secretPositions } from '../metrics/results.ts';
import { readKey, spellKey } from '../metrics/sums.ts';
import type { Config } from '../settings/config.ts';
import type { Client, Role } from '../sso/clients.ts';
import { digestRow } from './client-acts.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/** Returns the kinds of calls that a client signs, and how many secrets it may use for each. */
function listCalls({ marketplaceInbound, crmSignupsSecrets }: Config, { name, secrets }: Known) {
  const calls: { kind: CallKind; secrets: number }[] = [{ kind: 'token', secrets }];
  if (name === 'marketplace' && marketplaceInbound)
    calls.push({ kind: 'hand_off', secrets: marketplaceInbound.secrets.length });
  if (name === 'crm_app' && crmSignupsSecrets)
    calls.push({ kind: 'signup', secrets: crmSignupsSecrets.length });
  return calls;
}

/** A client of OpenID Connect gets a code instead of a payload. */
const keyOfLaunch = ({ name, kind }: Pick<Known, 'name' | 'kind'>) =>
  spellKey('identity_launches_total', { client: name, outcome: kind === 'openid' ? 'code' : 'payload' });
const keyOfCall = (client: string, kind: CallKind, secret: string) =>
  spellKey('identity_client_calls_total', { client, kind, secret });

type Known = Pick<Client, 'name' | 'title' | 'callbackUrl' | 'isDemo' | 'roles' | 'needsFactor' | 'kind'> & {
  loginUrl: string | null;
  eventsUrl: string | null;
  /** How many secrets the client has. */
  secrets: number;
  row: ClientRow | undefined;
};

/** Returns the clients of the settings, then all other rows of the database, even rows that are off or unconfirmed. */
export async function listKnown({ clients, config, db }: Pick<Dependencies, 'clients' | 'config' | 'db'>) {
  await clients.refresh();
  const rows = await listClientRows(db, config.issuer);
  const ofSettings = [...config.clients.values()].map(
    ({ loginUrl = null, eventsUrl = null, secrets, ...client }): Known => ({
      ...client,
      ...{ loginUrl, eventsUrl, secrets: secrets.length },
      row: rows.find(({ name }) => name === client.name),
    }),
  );
  const ofRows = rows
    .filter(({ name }) => !config.clients.has(name))
    .map(
      (row): Known => ({
        ...row,
        ...{
          roles: row.roles as Role[],
          kind: row.kind as Client['kind'],
          isDemo: false,
          secrets: row.secrets.length,
          row,
        },
      }),
    );
  return [...ofSettings, ...ofRows];
}

export function showRow({ clients, config }: Pick<Dependencies, 'clients' | 'config'>, row: ClientRow) {
  const known = stateOf(config, row);
  const state: RowState = known === 'on' && !clients.get(row.name) ? 'unreadable' : known;
  const { kind, listed, offAt, createdAt, changedAt } = row;
  const { redirectUris, postLogoutUris, backChannelUri, pkce, auth, challengeAt } = row;
  return {
    ...{ state, kind, listed, offAt, createdAt, changedAt },
    ...(redirectUris && { redirectUris, postLogoutUris, backChannelUri, pkce, auth, challengeAt }),
    secrets: row.secrets.map(({ madeAt, lastUsedAt, keyId }) => ({
      ...{ madeAt, lastUsedAt },
      isOfOlderKey: keyId !== keyIdOf(config.encryptionKeys[0]),
    })),
    seen: digestRow(row),
  };
}

/**
 * Launches, calls and refusals come from the sums of hours. The sums are up to ten seconds old, and count nothing from before
 * the first sum was stored. The last use of a row's secret is accurate to a minute.
 */
export async function listClients(deps: Dependencies) {
  const { db, config, now: clock } = deps;
  const now = clock();
  const known = await listKnown(deps);
  const keys = known.flatMap((client) => [
    keyOfLaunch(client),
    ...listCalls(config, client).flatMap(({ kind }) =>
      secretPositions.map((secret) => keyOfCall(client.name, kind, secret)),
    ),
  ]);
  const [deliveries, counted, refused] = await Promise.all([
    // Only clients of the kind `hand-off` have events to read.
    listDeliveries(
      db,
      known.filter(({ kind }) => kind === 'hand-off').map(({ name }) => name),
    ),
    findLastCounted(db, { keys, now }),
    listSumsSince(db, { since: new Date(now.getTime() - dayMs), now, names: ['identity_refusals_total'] }),
  ]);
  const refusals = refused.map(({ key, count }) => ({ ...readKey(key).labels, count }));
  return known.map((client) => {
    const { name, title, callbackUrl, loginUrl, eventsUrl, needsFactor, roles, isDemo, row } = client;
    const calls = listCalls(config, client).map(({ kind, secrets }) => {
      const used = secretPositions.flatMap((secret, place) => {
        // The last use of a row's secret is stored with the secret. The sums know only the secret's place, which changes when
        // the first secret ends.
        const at =
          kind === 'token' && row && !config.clients.has(name)
            ? row.secrets[place]?.lastUsedAt
            : counted.get(keyOfCall(name, kind, secret));
        return at ? [{ secret, at }] : [];
      });
      const [last = null] = used.sort((one, other) => other.at.getTime() - one.at.getTime());
      return { kind, secrets, last };
    });
    const hasLogin = isDemo || loginUrl !== null;
    const delivery = deliveries.find(({ client: of }) => of === name);
    return {
      ...{ name, title, isDemo, callbackUrl, loginUrl, eventsUrl, needsFactor, roles },
      row: row ? showRow(deps, row) : null,
      calls,
      launchedAt: counted.get(keyOfLaunch(client)) ?? null,
      pulledAt: delivery?.pulledAt ?? null,
      behind: delivery?.behind ?? 0,
      oldestAt: delivery?.oldestAt ?? null,
      takenAt: delivery?.succeededAt ?? null,
      failedAt: delivery?.failedAt ?? null,
      failure: delivery?.failure ?? null,
      isFailing: delivery?.isFailing ?? false,
      refusals: refusals
        .flatMap((each: Record<string, unknown> & { count: number }) =>
          each.client === name ? [{ code: String(each.code), count: each.count }] : [],
        )
        .sort((one, other) => other.count - one.count),
      doctor:
        client.kind === 'openid'
          ? null
          : `npm run cli -- doctor ${name}${hasLogin ? '' : ' --login-url URL'}`,
    };
  });
}
