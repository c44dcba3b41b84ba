// The settings (contract section 8), read once at the start. Errors name settings and show no value except the correct issuer.
import type { Client } from '../sso/clients.ts';
import { readBillingFonts } from './billing-fonts.ts';
import { type Brand, BrandFiles, readBrand } from './brand.ts';
import { listUnreadSettings, readClients } from './clients.ts';
import { readHost, readMetricsPort, readProxyHeader, readTrustedProxies } from './network.ts';
import { type Asked, type Env, fileSettingOf, SettingsReader } from './reader.ts';
import { decodeKey, localSecrets } from './secret-forms.ts';

export type Config = {
  production: boolean;
  name: string;
  brand: Brand;
  brandFiles: BrandFiles;
  /** The `iss` of payloads, byte for byte. */
  issuer: string;
  /** The issuer as a URL, from which absolute URLs are made. */
  baseUrl: string;
  /** The clients of the settings that have a callback, by name. `Dependencies.clients` also has the clients of the database. */
  clients: ReadonlyMap<string, Client>;
  /** How long a payload lasts. */
  payloadTtlSeconds: number;
  /** Whether URLs of clients in the database may lead into private networks. */
  allowsPrivateNetworks: boolean;
  /** Settings that look like settings of a client, but belong to no client. */
  unreadSettings: string[];
  /** Settings that are set, but that only an earlier version read. */
  formerSettings: string[];
  /** If undefined, the inbound hand-off is off. */
  marketplaceInbound: { issuer: string; secrets: readonly string[]; ttlSeconds: number } | undefined;
  /** One or two secrets of the form `whsec_…`, like `paymentsSecrets`. If undefined, the endpoint is off. */
  crmSignupsSecrets: readonly string[] | undefined;
  paymentsSecrets: readonly string[] | undefined;
  /** Whether VIES, the EU's register, is asked about the VAT ids of customers. */
  vatCheck: 'off' | 'vies';
  /** The fonts in the order in which a character is looked for. The last one is the built-in font. */
  billingFonts: readonly Uint8Array[];
  /** One or two keys of 32 bytes. The first key encrypts. Both keys can decrypt. */
  encryptionKeys: readonly Uint8Array[];
  /** Whether administrators and managers need a second factor. */
  requiresAdminFactor: boolean;
  /** If undefined, the embedded database is used. */
  databaseUrl: string | undefined;
  /** If undefined, the folder is `.data` in the project. */
  embeddedDatabaseFolder: string | undefined;
  databasePoolSize: number;
  databasePreparedStatements: boolean;
  /** If undefined, mails are kept and shown at /dev/mail. */
  mail: { smtpUrl: string; from: string } | undefined;
  /** A `mailto:` or `https:` URL. */
  supportUrl: string | undefined;
  /** This email address gets a copy of each document. */
  billingArchiveEmail: string | undefined;
  /** A `mailto:` or `https:` URL. If undefined, there is no security.txt. */
  securityContact: string | undefined;
  signUp: 'open' | 'closed';
  privacyUrl: string | undefined;
  termsUrl: string | undefined;
  accessibilityUrl: string | undefined;
  port: number;
  host: string;
  /** If undefined, there is no /metrics. */
  metricsPort: number | undefined;
  logLevel: 'info' | 'error';
  /** How long to keep serving after a signal to stop, so that the balancer notices. */
  shutdownDelaySeconds: number;
  /** Whether to believe what the proxy at this IP address says about a client. */
  trustsProxy: (address: string) => boolean;
  /** The header that says roughly where a client is, in lower case. */
  placeHeader: string | undefined;
  /** The header with the id of a request, in lower case. If undefined, each request gets its id here. */
  requestIdHeader: string | undefined;
};

const localMarketplaceIssuer = 'https://marketplace.local.test';

/** Throws a ConfigError with one line for each setting at fault. */
export function readConfig(env: Env): Config {
  const { config, reader } = readAll(env);
  reader.throwFaults();
  return config;
}

function readAll(env: Env) {
  const reader = new SettingsReader(env);
  const config = readSettings(reader);
  reader.requireDistinctSecrets();
  return { config, reader };
}

/** `from` is the setting that the value comes from, or `default`. */
export type SettingInForce = { name: string; value: string; from: string };

/** Lists the settings for operators, even if some settings are at fault. Shows no secret, and no value at fault. */
export function listInForce(env: Env): SettingInForce[] {
  const { reader } = readAll(env);
  return [...reader.asked].map(([name, { isSecret, fallback }]) => {
    const source = reader.findSource(name);
    const shown = isSecret && source ? 'set' : (reader.text(name) ?? (isSecret ? undefined : fallback));
    return {
      name,
      value: reader.faults.has(name) ? 'at fault' : (shown ?? 'not set'),
      from: source ?? 'default',
    };
  });
}

/** Returns the names of all settings, and of the files of secrets. `SSO_<NAME>_…` are settings of a client in SSO_CLIENTS. */
export const listSettings = (): string[] =>
  [...describeSettings({})].flatMap(([name, { isSecret }]) =>
    isSecret ? [name, fileSettingOf(name)] : [name],
  );

export function describeSettings(env: Env): Map<string, Asked> {
  const reader = new SettingsReader({ ...env, SSO_CLIENTS: 'name' });
  readSettings(reader);
  return new Map(
    [...reader.asked].map(([name, asked]) => [name.replace(/^SSO_NAME_/, 'SSO_<NAME>_'), asked]),
  );
}

function readSettings(reader: SettingsReader): Config {
  const { production } = reader;

  const port = reader.integer('PORT', { min: 1, max: 65_535, fallback: 3_000 });
  const fallback = new URL(`http://localhost:${port}`).origin;
  const issuer = reader.url('IDENTITY_ISSUER', { required: true, fallback, isOrigin: true }) ?? '';
  // This setting is only checked here, because server/runtime needs it before there is a Config.
  if (reader.text('PASSWORD_HASHING_THREADS', { form: '1 to 64' }))
    reader.integer('PASSWORD_HASHING_THREADS', { min: 1, max: 64, fallback: 1 });

  const name = reader.title('IDENTITY_NAME', 'Identity');
  const brandFiles = new BrandFiles();
  const ttlSeconds = reader.integer('IDENTITY_SSO_TTL', { min: 30, max: 3_600, fallback: 300 });

  return {
    production,
    name,
    brand: readBrand(reader, brandFiles, name),
    brandFiles,
    issuer,
    baseUrl: issuer,
    clients: readClients(reader, { baseUrl: issuer, files: brandFiles, ttlSeconds }),
    payloadTtlSeconds: ttlSeconds,
    allowsPrivateNetworks: reader.oneOf('IDENTITY_CLIENTS_PRIVATE_NETWORKS', ['on', 'off'], 'off') === 'on',
    unreadSettings: listUnreadSettings(reader),
    formerSettings: reader.listUnread(/^BILLING_RETENTION_YEARS$/),
    marketplaceInbound: readMarketplaceInbound(reader),
    crmSignupsSecrets: reader.secrets('CRM_SIGNUPS_SECRET', {
      fallback: localSecrets.CRM_SIGNUPS_SECRET,
      form: 'whsec',
    }),
    paymentsSecrets: reader.secrets('PAYMENTS_SECRET', {
      fallback: localSecrets.PAYMENTS_SECRET,
      form: 'whsec',
    }),
    vatCheck: reader.oneOf('VAT_CHECK', ['off', 'vies'], 'off'),
    billingFonts: readBillingFonts(reader),
    encryptionKeys: readEncryptionKeys(reader),
    requiresAdminFactor:
      reader.oneOf(
        'IDENTITY_ADMIN_SECOND_FACTOR',
        ['required', 'optional'],
        production ? 'required' : 'optional',
      ) === 'required',
    databaseUrl: reader.url('DATABASE_URL', {
      required: true,
      schemes: ['postgres:', 'postgresql:'],
      isSecret: true,
    }),
    embeddedDatabaseFolder: reader.text('EMBEDDED_DATABASE_FOLDER'),
    databasePoolSize: reader.integer('DATABASE_POOL_SIZE', { min: 1, max: 1_000, fallback: 10 }),
    databasePreparedStatements: reader.oneOf('DATABASE_PREPARED_STATEMENTS', ['on', 'off'], 'on') === 'on',
    mail: readMail(reader),
    supportUrl: reader.url('IDENTITY_SUPPORT_URL', { schemes: ['mailto:', 'https:'] }),
    billingArchiveEmail: readArchiveEmail(reader),
    securityContact: reader.url('IDENTITY_SECURITY_CONTACT', { schemes: ['mailto:', 'https:'] }),
    signUp: reader.oneOf('IDENTITY_SIGN_UP', ['open', 'closed'], 'open'),
    privacyUrl: reader.url('IDENTITY_PRIVACY_URL', { schemes: ['https:'] }),
    termsUrl: reader.url('IDENTITY_TERMS_URL', { schemes: ['https:'] }),
    accessibilityUrl: reader.url('IDENTITY_ACCESSIBILITY_URL', { schemes: ['https:'] }),
    port,
    host: readHost(reader),
    metricsPort: readMetricsPort(reader, port),
    logLevel: reader.oneOf('LOG_LEVEL', ['info', 'error'], 'info'),
    shutdownDelaySeconds: reader.integer('SHUTDOWN_DELAY_SECONDS', {
      min: 0,
      max: 60,
      fallback: production ? 5 : 0,
    }),
    trustsProxy: readTrustedProxies(reader),
    placeHeader: readProxyHeader(reader, 'IDENTITY_PLACE_HEADER'),
    requestIdHeader: readProxyHeader(reader, 'IDENTITY_REQUEST_ID_HEADER'),
  };
}

function readMarketplaceInbound(reader: SettingsReader): Config['marketplaceInbound'] {
  const ttlSeconds = reader.integer('MARKETPLACE_SSO_TTL', { min: 30, max: 3_600, fallback: 300 });
  const secrets = reader.secrets('MARKETPLACE_SSO_SECRET', { fallback: localSecrets.MARKETPLACE_SSO_SECRET });
  const fallback = reader.production ? undefined : localMarketplaceIssuer;
  const issuer = reader.text('MARKETPLACE_SSO_ISSUER', fallback ? { fallback } : {}) ?? fallback;
  reader.faultIf(
    'MARKETPLACE_SSO_ISSUER',
    reader.production && issuer !== undefined && !issuer.startsWith('https://'),
    'must be a URL that starts with https://',
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

function readEncryptionKeys(reader: SettingsReader): Uint8Array[] {
  const keys = reader.secrets('IDENTITY_ENCRYPTION_KEY', {
    fallback: localSecrets.IDENTITY_ENCRYPTION_KEY,
    form: 'key',
    required: true,
  });
  return (keys ?? []).map(decodeKey).filter((key) => key !== undefined);
}

function readArchiveEmail(reader: SettingsReader): string | undefined {
  const email = reader.text('BILLING_ARCHIVE_EMAIL');
  const isAddress = email === undefined || /^[^@\s<>",\p{Cc}]+@[^@\s<>",\p{Cc}]+$/u.test(email);
  reader.faultIf('BILLING_ARCHIVE_EMAIL', !isAddress, 'must be one email address');
  return email;
}

function readMail(reader: SettingsReader): Config['mail'] {
  const smtpUrl = reader.url('SMTP_URL', {
    required: true,
    schemes: ['smtp:', 'smtps:'],
    isSecret: true,
  });
  const from = reader.text('MAIL_FROM');
  reader.faultIf('MAIL_FROM', !from && (reader.production || smtpUrl !== undefined), 'is missing');
  reader.faultIf(
    'MAIL_FROM',
    from !== undefined && !/^[^@\p{Cc}]*[^@\s<>]+@[^@\s<>]+>?$/u.test(from),
    'must be an email address',
  );
  const tls = smtpUrl ? new URL(smtpUrl).searchParams.getAll('tls') : [];
  reader.faultIf(
    'SMTP_URL',
    tls.length > 0 && tls.join() !== 'off',
    'may say tls=off, and nothing else for tls',
  );
  return smtpUrl && from ? { smtpUrl, from } : undefined;
}
