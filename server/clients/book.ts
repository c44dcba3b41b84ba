// The clients that count now (contract 13.1 to 13.6).
import type { Config } from '../settings/config.ts';
import type { Clients } from '../sso/clients.ts';

export function clientsOfSettings({ clients }: Pick<Config, 'clients'>): Clients {
  const all = [...clients.values()];
  return { get: (name) => clients.get(name), list: () => all };
}
