// The settings (contract section 8): parsed once, every fault named at once and no value printed.
import proxyAddr from 'proxy-addr';
import { z } from 'zod';
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

/** Its message is for the operator: it names settings, never values. */
export class ConfigError extends Error {}

type Env = Record<string, string | undefined>;

// Setting names of the first three differ from their clients' names (M).
const knownClients = [
  { name: 'marketplace', prefix: 'SSO_MARKETPLACE' },
  { name: 'network_site', prefix: 'SSO_WEBSITE' },
  { name: 'crm_app', prefix: 'SSO_CRM' },
];

const localSecrets = {
  IDENTITY_SSO_SECRET: 'local-identity-sso-secret-do-not-use',
  MARKETPLACE_SSO_SECRET: 'local-marketplace-sso-secret-do-not-use',
  CRM_SIGNUPS_SECRET: 'whsec_bG9jYWwtY3JtLXNpZ251cHMtc2VjcmV0LWRvLW5vdC11c2U=',
};
// The second is that of the published test vectors; their other secrets show by their words.
const knownSecrets = new Set([
  ...Object.values(localSecrets),
  'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
]);
const localMarketplaceIssuer = 'https://marketplace.local.test';

const minSecretBytes = 32;
const placeholder =
  /change.?(?:me|it|this)|replace.?(?:me|this)|placeholder|do.?not.?use|your.?(?:own.?)?secret|example|dummy|insecure|^(?:test|local|dev|demo)[-_]|^(.{1,4})\1+$/i;

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

class SettingsReader {
  readonly production: boolean;
  readonly #env: Env;
  readonly #faults = new Map<string, string>();
  readonly #keys: { setting: string; key: string }[] = [];

  constructor(env: Env, production: boolean) {
    this.#env = env;
    this.production = production;
  }

  /** Set but empty counts as not set: that is how shells and compose files leave a setting out. */
  text(setting: string): string | undefined {
    return this.#env[setting]?.trim() || undefined;
  }

  faultIf(setting: string, condition: boolean, what: string): void {
    if (condition && !this.#faults.has(setting)) this.#faults.set(setting, what);
  }

  isAtFault(setting: RegExp): boolean {
    return [...this.#faults.keys()].some((name) => setting.test(name));
  }

  integer(setting: string, { min, max, fallback }: { min: number; max: number; fallback: number }): number {
    const text = this.text(setting);
    const parsed = z.coerce
      .number()
      .int()
      .min(min)
      .max(max)
      .safeParse(text ?? fallback);
    this.faultIf(
      setting,
      !parsed.success || (text !== undefined && !/^\d+$/.test(text)),
      `must be a whole number from ${min} to ${max}`,
    );
    return parsed.data ?? fallback;
  }

  oneOf<T extends string>(setting: string, values: readonly T[], fallback: T): T {
    const parsed = z.enum(values as [T, ...T[]]).safeParse(this.text(setting) ?? fallback);
    this.faultIf(setting, !parsed.success, `must be ${values.join(' or ')}`);
    return parsed.data ?? fallback;
  }

  /** Without `schemes`: http, and in production https only. */
  url(
    setting: string,
    options: { required?: boolean; fallback?: string; schemes?: string[]; reservedParameters?: string[] },
  ): string | undefined {
    const text = this.text(setting);
    if (!text) {
      this.faultIf(setting, options.required === true && this.production, 'is missing');
      return this.production ? undefined : options.fallback;
    }
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const schemes = options.schemes ?? (this.production ? ['https:'] : ['https:', 'http:']);
    this.faultIf(
      setting,
      !url || !schemes.includes(url.protocol),
      `must be a URL of ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    );
    if (!url || options.schemes) return url && text;
    this.faultIf(
      setting,
      Boolean(url.hash || url.username || url.password),
      'must be without a fragment and without a user',
    );
    this.faultIf(
      setting,
      options.reservedParameters?.some((name) => url.searchParams.has(name)) ?? false,
      `must not carry a parameter of ours (${options.reservedParameters?.join(', ')}) in its query`,
    );
    return text;
  }

  /** One secret, or two while a rotation is on. Never trimmed or changed: a key is the bytes as configured. */
  secrets(
    setting: string,
    { fallback, form }: { fallback?: string; form?: 'whsec' },
  ): readonly string[] | undefined {
    if (!this.text(setting)) return this.production || !fallback ? undefined : [fallback];
    const secrets = (this.#env[setting] ?? '').split(',');
    this.faultIf(setting, secrets.length > 2, 'must hold one secret, or two while a rotation is on');
    this.faultIf(
      setting,
      secrets.some((secret) => secret === '' || secret !== secret.trim()),
      'must not hold an empty secret or spaces around one',
    );
    for (const secret of secrets) {
      if (form === 'whsec') {
        this.faultIf(setting, !isWebhookSecret(secret), 'must be whsec_ and the base64 of 24 to 64 bytes');
      } else if (this.production) {
        this.faultIf(
          setting,
          new TextEncoder().encode(secret).length < minSecretBytes,
          `must be at least ${minSecretBytes} bytes long`,
        );
      }
      if (this.production) {
        const isKnown = knownSecrets.has(secret);
        this.faultIf(
          setting,
          isKnown || (form !== 'whsec' && placeholder.test(secret)),
          'is a known placeholder',
        );
      }
      for (const key of form === 'whsec' ? spellingsOfKey(secret) : [secret])
        this.#keys.push({ setting, key });
    }
    return secrets;
  }

  /** Production: a secret has one use, or who holds it for one could forge the other. */
  requireDistinctSecrets(): void {
    if (!this.production) return;
    for (const [index, { setting, key }] of this.#keys.entries()) {
      const other = this.#keys.find((candidate, at) => at !== index && candidate.key === key);
      if (other) this.faultIf(setting, true, `is used twice (also in ${other.setting})`);
    }
  }

  throwFaults(): void {
    if (this.#faults.size === 0) return;
    const lines = [...this.#faults].map(([setting, what]) => `  ${setting} ${what}`);
    throw new ConfigError(`The settings are not right:\n${lines.join('\n')}`);
  }
}

/** Standard Webhooks 1.0: `whsec_` and base64 of the key, in canonical spelling. */
function isWebhookSecret(secret: string): boolean {
  const text = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  if (!text || text.length % 4 !== 0) return false;
  const bytes = atob(text);
  return bytes.length >= 24 && bytes.length <= 64 && btoa(bytes) === text;
}

/** Who holds one of these can write down the others. */
function spellingsOfKey(secret: string): string[] {
  if (!isWebhookSecret(secret)) return [secret];
  const text = secret.slice('whsec_'.length);
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return [secret, text, new TextDecoder().decode(bytes)];
}
