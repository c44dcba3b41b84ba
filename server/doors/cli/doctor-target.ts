// Reads from the settings what the doctor has to examine.
import type { Target } from '../../../clients/doctor/target.ts';
import { parseUrl } from '../../basics/url.ts';
import { deriveSecret } from '../../clients/local.ts';
import { environment } from '../../runtime/process.ts';
import { prefixOf } from '../../settings/clients.ts';
import type { Config } from '../../settings/config.ts';
import { SettingsReader } from '../../settings/reader.ts';
import { localSecrets } from '../../settings/secret-forms.ts';
import { isThisMachine } from '../../settings/this-machine.ts';
import type { Clients } from '../../sso/clients.ts';
import { CommandError } from './command.ts';

/** Options that replace settings. */
export type Addresses = { url?: string; loginUrl?: string; eventsUrl?: string };

const listPublicKeys = async (name: string) => [...Object.values(localSecrets), await deriveSecret(name)];

/**
 * Uses only the settings of this client, and none of the service's own. So the doctor can run beside the client's own tests
 * (contract 3.37).
 */
export async function readTargetElsewhere(
  issuer: string,
  name: string,
  { url, loginUrl, eventsUrl }: Addresses,
): Promise<Target> {
  // NODE_ENV is left out, because the reader requires more in production, such as https everywhere.
  const reader = new SettingsReader({ ...environment, NODE_ENV: undefined });
  const require = <T>(end: string, value: T | undefined): T => {
    if (value === undefined) throw new CommandError(`With --service, set ${prefixOf(name)}_${end}, too.`);
    return value;
  };
  const read = (end: string) => reader.text(`${prefixOf(name)}_${end}`);
  const nudges = eventsUrl ?? read('EVENTS_URL');
  const target = {
    client: name,
    issuer: requireAddress('--service', issuer),
    callbackUrl: requireAddress('--url', require('CALLBACK_URL', url ?? read('CALLBACK_URL'))),
    loginUrl: requireAddress('--login-url', require('LOGIN_URL', loginUrl ?? read('LOGIN_URL'))),
    eventsUrl: nudges && requireAddress('--events-url', nudges),
    secrets: require('SECRET', reader.secrets(`${prefixOf(name)}_SECRET`, {})),
    publicKeys: await listPublicKeys(name),
    ttlSeconds: reader.integer('IDENTITY_SSO_TTL', { min: 30, max: 3_600, fallback: 300 }),
  };
  reader.throwFaults();
  if (new URL(issuer).origin !== issuer)
    throw new CommandError('--service must be an origin, such as https://id.example.com.');
  return target;
}

/** Uses the settings of the service, and the clients in its database. */
export async function readTarget(
  config: Config,
  clients: Clients,
  name: string,
  options: Addresses,
): Promise<Target> {
  const client = clients.get(name);
  if (!client) throw new CommandError(describeMissing(config, clients, name));
  if (client.kind === 'openid')
    throw new CommandError(
      `${name} speaks OpenID Connect, and the doctor examines hand-offs only. The page of the client says what has worked.`,
    );
  const { callbackUrl, secrets, ttlSeconds } = client;
  const isDemo = client.isDemo && !options.url;
  const setLogin = isDemo ? `${config.baseUrl}/demo/${name}/login` : client.loginUrl;
  const loginUrl = options.loginUrl ?? setLogin;
  if (!loginUrl)
    throw new CommandError(
      `Where the login of ${name} starts is not set: ${client.source === 'row' ? 'use client:set --login-url' : `set ${prefixOf(name)}_LOGIN_URL`}, or give --login-url.`,
    );
  // With --url, the doctor examines a client elsewhere, which has its own URL for nudges. If the client in the settings is only
  // our demo client, the demo client's URL for nudges is not used.
  const setEvents = client.isDemo && !isDemo ? undefined : client.eventsUrl;
  const eventsUrl = options.eventsUrl ?? setEvents;
  return {
    client: name,
    issuer: config.issuer,
    callbackUrl: requireAddress('--url', options.url ?? callbackUrl),
    loginUrl: requireAddress('--login-url', loginUrl),
    eventsUrl: eventsUrl && requireAddress('--events-url', eventsUrl),
    secrets,
    publicKeys: await listPublicKeys(name),
    ttlSeconds,
    demoUnless: isDemo ? `${prefixOf(name)}_CALLBACK_URL` : undefined,
  };
}

function describeMissing({ unreadSettings }: Config, clients: Clients, name: string): string {
  const known = clients.list().map((client) => `${client.name}${client.isDemo ? ' (a demo client)' : ''}`);
  return [
    `No client ${name} is set here. The clients are: ${known.join(', ')}.`,
    ...(unreadSettings.length > 0 ? [`No client has the settings ${unreadSettings.join(', ')}.`] : []),
    `Run this with the environment of the service. There SSO_CLIENTS names further clients, and ${prefixOf(name)}_CALLBACK_URL says where this one takes hand-offs.`,
  ].join('\n');
}

/** A hand-off to this URL logs somebody in, so it must not travel unencrypted. */
function requireAddress(option: string, text: string): string {
  const url = parseUrl(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname));
  if (!url || !isSafe || url.username || url.password || url.hash)
    throw new CommandError(
      `${option} must be an https URL, or one on this machine, without user name and fragment.`,
    );
  return text;
}
