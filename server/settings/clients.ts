// The settings of each client: the three built-in clients, and the clients in SSO_CLIENTS.
import { type Audience, roles as allRoles, audiences, type Client } from '../sso/clients.ts';
import { type BrandFiles, readLogo } from './brand.ts';
import type { SettingsReader } from './reader.ts';
import { localSecrets } from './secret-forms.ts';

// Two of the prefixes do not follow from the name of the client (contract 8.29).
type Known = { name: string; prefix: string; title: string; listedTo?: readonly Audience[] };
const knownClients: Known[] = [
  { name: 'marketplace', prefix: 'SSO_MARKETPLACE', title: 'Marketplace' },
  { name: 'network_site', prefix: 'SSO_WEBSITE', title: 'Network site' },
  { name: 'crm_app', prefix: 'SSO_CRM', title: 'CRM app', listedTo: ['visited', 'contract'] },
];

/** The names of the built-in clients, and the words in the prefixes of their settings. No other client has one of these names. */
export const namesOfKnown = knownClients.flatMap(({ name, prefix }) => [name, prefix.slice(4).toLowerCase()]);

const clientSetting =
  /^SSO_.+_(CALLBACK_URL|SECRET|SECRET_FILE|LOGIN_URL|EVENTS_URL|TITLE|LOGO_FILE|LOGO_DARK_FILE|LISTED|FACTOR|ROLES)$/;

/** Returns the prefix of a client's settings, such as `SSO_WEBSITE` for `network_site`. */
export const prefixOf = (client: string): string =>
  knownClients.find(({ name }) => name === client)?.prefix ?? derivePrefix(client);

const derivePrefix = (client: string) => `SSO_${client.toUpperCase()}`;

// A callback may have a query, but without the parameters that we append.
export const reservedParameters = ['payload', 'signature', 'signature_next', 'state', 'error'];

/** Returns clients with a callback, by name. In local mode the demo receiver is the default callback. */
export function readClients(
  reader: SettingsReader,
  { baseUrl, files, ttlSeconds }: { baseUrl: string; files: BrandFiles; ttlSeconds: number },
): Map<string, Client> {
  const shared = reader.production
    ? undefined
    : reader.secrets('IDENTITY_SSO_SECRET', { fallback: localSecrets.IDENTITY_SSO_SECRET });
  const clients = new Map<string, Client>();
  for (const { name, prefix, title: usual, listedTo: usually } of [
    ...knownClients,
    ...readLaterClients(reader),
  ]) {
    const callbackSetting = `${prefix}_CALLBACK_URL`;
    const secretSetting = `${prefix}_SECRET`;
    const callbackUrl = reader.url(callbackSetting, { reservedParameters });
    const loginUrl = reader.url(`${prefix}_LOGIN_URL`, {});
    const eventsUrl = reader.url(`${prefix}_EVENTS_URL`, {});
    const title = reader.title(`${prefix}_TITLE`, usual);
    const logo = readLogo(reader, files, `${prefix}_LOGO`);
    const listedTo = reader.someOf(`${prefix}_LISTED`, audiences, usually ?? ['everybody']);
    const needsFactor = reader.oneOf(`${prefix}_FACTOR`, ['required', 'optional'], 'optional') === 'required';
    const roles = reader.someOf(`${prefix}_ROLES`, allRoles, allRoles);
    const own = reader.secrets(secretSetting, {});
    if (reader.production) {
      reader.faultIf(
        secretSetting,
        callbackUrl !== undefined && own === undefined,
        `is missing (${callbackSetting} is set)`,
      );
      reader.faultIf(
        callbackSetting,
        callbackUrl === undefined && own !== undefined,
        `is missing (${secretSetting} is set)`,
      );
    }
    const secrets = own ?? shared ?? [];
    const client = {
      ...({ name, kind: 'hand-off', source: 'settings', title, loginUrl, eventsUrl } as const),
      ...{ ...logo, listedTo, roles, needsFactor, secrets, ttlSeconds },
    };
    if (callbackUrl) clients.set(name, { ...client, callbackUrl, isDemo: false });
    else if (!reader.production) {
      const demoUrl = `${baseUrl}/demo/${name}`;
      clients.set(name, {
        ...client,
        callbackUrl: `${demoUrl}/callback`,
        eventsUrl: eventsUrl ?? `${demoUrl}/events`,
        isDemo: true,
      });
    }
  }
  refuseMistakenNames(reader);
  return clients;
}

/**
 * Refuses a setting whose prefix is made from the name of a built-in client, if the client's prefix is a different one.
 * Otherwise the setting would be ignored silently.
 */
function refuseMistakenNames(reader: SettingsReader): void {
  for (const setting of listUnreadSettings(reader)) {
    const [, end = ''] = clientSetting.exec(setting) ?? [];
    const client = knownClients.find(({ name }) => setting === `${derivePrefix(name)}_${end}`);
    // A secret in a file counts as set, too.
    if (client && !reader.text(`${client.prefix}_${end.replace('SECRET_FILE', 'SECRET')}`))
      reader.faultIf(setting, true, `is not read: for ${client.name} set ${client.prefix}_${end} instead`);
  }
}

/** Lists settings that look like settings of a client but were not read. Call this after all clients are read. */
export function listUnreadSettings(reader: SettingsReader): string[] {
  return reader.listUnread(clientSetting);
}

const builtInOnes = `Built in are ${knownClients.map(({ name, prefix }) => `${name} (${prefix}_…)`).join(', ')}`;

function readLaterClients(reader: SettingsReader): Known[] {
  const names =
    reader
      .text('SSO_CLIENTS')
      ?.split(',')
      .map((name) => name.trim()) ?? [];
  const taken = new Set(namesOfKnown);
  return names.flatMap((name) => {
    const isRight = /^[a-z][a-z0-9_]{0,62}$/.test(name) && !taken.has(name);
    reader.faultIf(
      'SSO_CLIENTS',
      !isRight,
      `must be distinct names of lower-case letters, digits and underscores. ${builtInOnes}`,
    );
    taken.add(name);
    const title = name.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());
    return isRight ? [{ name, prefix: derivePrefix(name), title }] : [];
  });
}
