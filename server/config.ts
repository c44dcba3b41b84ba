// The settings (contract section 8): parsed once, every fault named at once and no value printed.
import proxyAddr from 'proxy-addr';
import { type Env, localSecrets, SettingsReader } from './settings-reader.ts';
import type { Client } from './sso/clients.ts';

export type Config = {
  production: boolean;
  /** `iss`, byte for byte. */
  issuer: string;
  /** The issuer without a slash at its end: what absolute URLs begin with. */
  baseUrl: string;
  ssoTtlSeconds: number;
  /** By name; only those with a callback. */
  clients: ReadonlyMap<string, Client>;
  /** Undefined: the inbound hand-off is off. */
  marketplaceInbound: { issuer: string; secrets: readonly string[]; ttlSeconds: number } | undefined;
  /** `whsec_…`, one or two. Undefined: the endpoint is off. */
  crmSignupsSecrets: readonly string[] | undefined;
  /** Undefined: the embedded database. */
  databaseUrl: string | undefined;
  /** Where the embedded database is kept. */
  embeddedDatabaseFolder: string | undefined;
  databasePoolSize: number;
  databasePreparedStatements: boolean;
  /** Undefined: mails are kept and shown. */
  mail: { smtpUrl: string; from: string } | undefined;
  port: number;
  host: string;
  /** Whether a proxy's address is trusted to tell the address of its client. */
  trustsProxy: (address: string) => boolean;
};

// Setting names of the first three differ from their clients' names (M).
const knownClients = [
  { name: 'marketplace', prefix: 'SSO_MARKETPLACE' },
  { name: 'network_site', prefix: 'SSO_WEBSITE' },
  { name: 'crm_app', prefix: 'SSO_CRM' },
];

const localMarketplaceIssuer = 'https://marketplace.local.test';

// A callback may carry a query of its own, but not the names that we append.
const reservedParameters = ['payload', 'signature', 'signature_next', 'state', 'error'];

/** Reads settings from an environment. Throws a ConfigError with one line for each setting at fault. */
export function readConfig(env: Env): Config {
  const reader = new SettingsReader(env, env.NODE_ENV === 'production');
  const { production } = reader;

  const port = reader.integer('PORT', { min: 1, max: 65_535, fallback: 3_000 });
  const issuer = reader.url('IDENTITY_ISSUER', { required: true, fallback: `http://localhost:${port}` });
  reader.faultIf(
    'IDENTITY_ISSUER',
    issuer !== undefined && issuer.replace(/\/$/, '') !== new URL(issuer).origin,
    'must be an origin: scheme, host and port, without a path',
  );
  const baseUrl = (issuer ?? '').replace(/\/$/, '');

  const config: Config = {
    production,
    issuer: issuer ?? '',
    baseUrl,
    ssoTtlSeconds: reader.integer('IDENTITY_SSO_TTL', { min: 30, max: 3_600, fallback: 300 }),
    clients: readClients(reader, baseUrl),
    marketplaceInbound: readMarketplaceInbound(reader),
    crmSignupsSecrets: reader.secrets('CRM_SIGNUPS_SECRET', {
      fallback: localSecrets.CRM_SIGNUPS_SECRET,
      form: 'whsec',
    }),
    databaseUrl: reader.url('DATABASE_URL', { required: true, schemes: ['postgres:', 'postgresql:'] }),
    embeddedDatabaseFolder: reader.text('EMBEDDED_DATABASE_FOLDER'),
    databasePoolSize: reader.integer('DATABASE_POOL_SIZE', { min: 1, max: 1_000, fallback: 10 }),
    databasePreparedStatements: reader.oneOf('DATABASE_PREPARED_STATEMENTS', ['on', 'off'], 'on') === 'on',
    mail: readMail(reader),
    port,
    host: reader.text('HOST') ?? (production ? '0.0.0.0' : '127.0.0.1'),
    trustsProxy: readTrustedProxies(reader),
  };
  reader.requireDistinctSecrets();
  reader.throwFaults();
  return config;
}

function readClients(reader: SettingsReader, baseUrl: string): Map<string, Client> {
  // Outside production, clients without a secret of their own share this one.
  const shared = reader.production
    ? undefined
    : reader.secrets('IDENTITY_SSO_SECRET', { fallback: localSecrets.IDENTITY_SSO_SECRET });
  const clients = new Map<string, Client>();
  for (const { name, prefix } of [...knownClients, ...readLaterClients(reader)]) {
    const callbackSetting = `${prefix}_CALLBACK_URL`;
    const secretSetting = `${prefix}_SECRET`;
    const callbackUrl = reader.url(callbackSetting, { reservedParameters });
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
    if (callbackUrl) clients.set(name, { name, callbackUrl, secrets, isDemo: false });
    else if (!reader.production) {
      clients.set(name, { name, callbackUrl: `${baseUrl}/demo/${name}/callback`, secrets, isDemo: true });
    }
  }
  reader.faultIf(
    'SSO_MARKETPLACE_CALLBACK_URL',
    reader.production && clients.size === 0 && !reader.isAtFault(/_CALLBACK_URL$/),
    'or the callback of another client must be set: there is no client at all',
  );
  return clients;
}

function readLaterClients(reader: SettingsReader): { name: string; prefix: string }[] {
  const names =
    reader
      .text('SSO_CLIENTS')
      ?.split(',')
      .map((name) => name.trim()) ?? [];
  const taken = new Set([
    ...knownClients.flatMap(({ name, prefix }) => [name, prefix.slice(4).toLowerCase()]),
  ]);
  return names.flatMap((name) => {
    const isRight = /^[a-z][a-z0-9_]{0,62}$/.test(name) && !taken.has(name);
    reader.faultIf(
      'SSO_CLIENTS',
      !isRight,
      'must be distinct names of lower-case letters, digits and underscores, other than the built-in ones',
    );
    taken.add(name);
    return isRight ? [{ name, prefix: `SSO_${name.toUpperCase()}` }] : [];
  });
}

function readMarketplaceInbound(reader: SettingsReader): Config['marketplaceInbound'] {
  const ttlSeconds = reader.integer('MARKETPLACE_SSO_TTL', { min: 30, max: 3_600, fallback: 300 });
  const secrets = reader.secrets('MARKETPLACE_SSO_SECRET', { fallback: localSecrets.MARKETPLACE_SSO_SECRET });
  const issuer =
    reader.text('MARKETPLACE_SSO_ISSUER') ?? (reader.production ? undefined : localMarketplaceIssuer);
  reader.faultIf(
    'MARKETPLACE_SSO_ISSUER',
    reader.production && issuer !== undefined && !issuer.startsWith('https://'),
    'must be a URL of https://',
  );
  reader.faultIf(
    'MARKETPLACE_SSO_ISSUER',
    !issuer && secrets !== undefined,
    'is missing (MARKETPLACE_SSO_SECRET is set)',
  );
  reader.faultIf(
    'MARKETPLACE_SSO_SECRET',
    !secrets && issuer !== undefined,
    'is missing (MARKETPLACE_SSO_ISSUER is set)',
  );
  return issuer && secrets ? { issuer, secrets, ttlSeconds } : undefined;
}

function readMail(reader: SettingsReader): Config['mail'] {
  const smtpUrl = reader.url('SMTP_URL', { required: true, schemes: ['smtp:', 'smtps:'] });
  const from = reader.text('MAIL_FROM');
  reader.faultIf('MAIL_FROM', !from && (reader.production || smtpUrl !== undefined), 'is missing');
  reader.faultIf(
    'MAIL_FROM',
    from !== undefined && !/^[^@\p{Cc}]*[^@\s<>]+@[^@\s<>]+>?$/u.test(from),
    'must be a mail address',
  );
  return smtpUrl && from ? { smtpUrl, from } : undefined;
}

function readTrustedProxies(reader: SettingsReader): Config['trustsProxy'] {
  const proxies =
    reader
      .text('TRUSTED_PROXIES')
      ?.split(',')
      .map((proxy) => proxy.trim()) ?? [];
  try {
    const trusts = proxyAddr.compile(proxies);
    return (address) => trusts(address, 0);
  } catch {
    reader.faultIf(
      'TRUSTED_PROXIES',
      true,
      'must be addresses or subnets, comma-separated, or one of loopback, linklocal, uniquelocal',
    );
    return () => false;
  }
}
