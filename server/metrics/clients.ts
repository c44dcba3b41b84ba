// How far each client is with its events (contract 10.25 to 10.27), as read from the database.
import { Gauge, type Registry } from 'prom-client';
import type { Delivery } from '../../db/tables/event-deliveries.ts';
import type { Clients } from '../sso/clients.ts';
import { sameEverywhere } from './at-scrape.ts';

/** A client that neither gets nudges nor pulls would be behind for ever, so only its newest number is shown. */
export function registerClients(registry: Registry, clients: Clients): (deliveries: Delivery[]) => void {
  const gauge = (name: string, help: string) =>
    new Gauge({
      name,
      help: `${help} ${sameEverywhere}`,
      labelNames: ['client'],
      registers: [registry],
    });
  const latest = gauge('identity_client_events_latest', 'The number of the newest event for a client.');
  const acknowledged = gauge(
    'identity_client_events_acknowledged',
    'Up to which event a client has read all.',
  );
  const behind = gauge('identity_client_events_behind', 'How many events a client has not read.');
  const oldest = gauge(
    'identity_client_events_oldest_seconds',
    'How old the oldest event is that a client has not read, in seconds; 0 where it has read all.',
  );
  const pulled = gauge(
    'identity_client_last_pull_timestamp_seconds',
    'When a client last pulled its events, in Unix seconds, to ten of them.',
  );
  const failing = gauge(
    'identity_nudges_failing',
    'Whether a client does not take the nudge about events that it has not read: 1 or 0.',
  );
  const taken = gauge(
    'identity_nudges_last_success_timestamp_seconds',
    'When a client last took a nudge, in Unix seconds.',
  );

  return (deliveries) => {
    for (const each of [latest, acknowledged, behind, oldest, pulled, failing, taken]) each.reset();
    for (const delivery of deliveries) {
      const { client, pulledAt, succeededAt } = delivery;
      const labels = { client };
      latest.set(labels, delivery.latest);
      if (!pulledAt && !clients.get(client)?.eventsUrl) continue;
      acknowledged.set(labels, delivery.acknowledged);
      behind.set(labels, delivery.behind);
      oldest.set(labels, delivery.oldestSeconds);
      failing.set(labels, delivery.isFailing ? 1 : 0);
      if (pulledAt) pulled.set(labels, pulledAt.getTime() / 1_000);
      if (succeededAt) taken.set(labels, succeededAt.getTime() / 1_000);
    }
  };
}
