// What administrators see of each client (contract 12.130 and 12.131). They never see a secret, or a part or digest of one.
import { listDeliveries } from '../../db/tables/event-deliveries.ts';
import { findLastCounted, listSumsSince } from '../../db/tables/sums-of-hours.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { type CallKind, secretPositions } from '../metrics/results.ts';
import { readKey, spellKey } from '../metrics/sums.ts';
import type { Config } from '../settings/config.ts';
import type { Client } from '../sso/clients.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/** What a client signs, and how many secrets it may use for that. */
function listCalls({ marketplaceInbound, crmSignupsSecrets }: Config, { name, secrets }: Client) {
  const calls: { kind: CallKind; secrets: number }[] = [{ kind: 'token', secrets: secrets.length }];
  if (name === 'marketplace' && marketplaceInbound)
    calls.push({ kind: 'hand_off', secrets: marketplaceInbound.secrets.length });
  if (name === 'crm_app' && crmSignupsSecrets)
    calls.push({ kind: 'signup', secrets: crmSignupsSecrets.length });
  return calls;
}

const keyOfLaunch = (client: string) => spellKey('identity_launches_total', { client, outcome: 'payload' });
const keyOfCall = (client: string, kind: CallKind, secret: string) =>
  spellKey('identity_client_calls_total', { client, kind, secret });

/** Launches, calls and refusals come from the sums of hours: they are up to ten seconds old, and begin with the first sums. */
export async function listClients({ db, config, now: clock }: Dependencies) {
  const now = clock();
  const clients = [...config.clients.values()];
  const names = clients.map(({ name }) => name);
  const keys = clients.flatMap((client) => [
    keyOfLaunch(client.name),
    ...listCalls(config, client).flatMap(({ kind }) =>
      secretPositions.map((secret) => keyOfCall(client.name, kind, secret)),
    ),
  ]);
  const [deliveries, counted, refused] = await Promise.all([
    listDeliveries(db, names),
    findLastCounted(db, { keys, now }),
    listSumsSince(db, { since: new Date(now.getTime() - dayMs), now, names: ['identity_refusals_total'] }),
  ]);
  const refusals = refused.map(({ key, count }) => ({ ...readKey(key).labels, count }));
  return clients.map((client) => {
    const { name, title, callbackUrl, loginUrl, eventsUrl, needsFactor, roles, isDemo } = client;
    const calls = listCalls(config, client).map(({ kind, secrets }) => {
      const used = secretPositions.flatMap((secret) => {
        const at = counted.get(keyOfCall(name, kind, secret));
        return at ? [{ secret, at }] : [];
      });
      const [last = null] = used.sort((one, other) => other.at.getTime() - one.at.getTime());
      return { kind, secrets, last };
    });
    const hasLogin = isDemo || loginUrl !== undefined;
    const delivery = deliveries.find(({ client: of }) => of === name);
    return {
      ...{ name, title, isDemo, callbackUrl, loginUrl: loginUrl ?? null, eventsUrl: eventsUrl ?? null },
      ...{ needsFactor, roles },
      calls,
      launchedAt: counted.get(keyOfLaunch(name)) ?? null,
      pulledAt: delivery?.pulledAt ?? null,
      behind: delivery?.behind ?? 0,
      oldestAt: delivery?.oldestAt ?? null,
      failedAt: delivery?.failedAt ?? null,
      failure: delivery?.failure ?? null,
      isFailing: delivery?.isFailing ?? false,
      refusals: refusals
        .flatMap((each: Record<string, unknown> & { count: number }) =>
          each.client === name ? [{ code: String(each.code), count: each.count }] : [],
        )
        .sort((one, other) => other.count - one.count),
      doctor: `npm run cli -- doctor ${name}${hasLogin ? '' : ' --login-url URL'}`,
    };
  });
}
