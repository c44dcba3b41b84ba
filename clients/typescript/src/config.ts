// Reads the configuration of a client, and names its faults. All URLs come from here and none from a request, because the
// sender of a request chooses its `Host` and must not choose where people are sent.
import type { CallbackOptions } from './callback.ts';
import type { EventHooks } from './events.ts';
import { readIdentityUrl } from './identity-url.ts';
import type { RefusalCode } from './refusals.ts';
import type { Stores } from './stores.ts';

export type Configuration = Service & Site & Stores & Choices;

/**
 * `identityUrl` is `IDENTITY_URL`, such as `https://shop:SECRET@id.example.com`. It takes the place of `issuer`, `client` and
 * `secrets`.
 */
type Service = { identityUrl: string | undefined } | Parts;
type Parts = {
  /** The base URL of the identity service, exactly as the operator has set it. Each hand-off names it. */
  issuer: string;
  /** Your client's name at the identity service, such as `shop`. */
  client: string;
  /** One secret, or two during a rotation. Keep them on your server. */
  secrets: readonly string[];
};

/** `origin` is scheme, host and port of your site, such as `https://shop.example.com`. */
type Site = ({ origin: string | undefined } & Partial<Addresses>) | Addresses;
type Addresses = {
  /** By default `/sso/callback` at `origin`. */
  callbackUrl: string;
  /**
   * The start of your own login, which calls `startLogin`. By default `/login` at `origin`. `loginUrl` and `homeUrl` must be
   * at the callback's origin.
   */
  loginUrl: string;
};

type Choices = {
  /** Where a login leads if it names no page. By default, the start page of the callback's site. */
  homeUrl?: string;
  /** How many seconds a hand-off is valid, if the operator has set another time than 300 seconds. */
  ttlSeconds?: number;
  /** How long a session lasts if the kit keeps it: 60 to 2,592,000 seconds. The default is 12 hours. */
  maxSeconds?: number;
  /** Your functions for logins and events. A single call can be given other functions. */
  hooks?: CallbackOptions & EventHooks;
  /** Gets one entry for each login and each refusal. */
  log?: (entry: LogEntry) => void;
  /** Returns the current time. Tests may replace it. */
  now?: () => Date;
  fetch?: typeof fetch;
};

export type LogEntry = {
  /**
   * `opened_elsewhere`: a browser opened the login start or the callback at a URL that is not the configured one. `reason`
   * names that URL. `events_unread`: the events could not be read, and the kit will try again.
   */
  outcome: 'accepted' | 'opened_elsewhere' | 'events_unread' | RefusalCode;
  /** The id that the person sees on the page. The log of the identity service has it, too. */
  launchId: string | undefined;
  /** Tells you exactly what failed. */
  reason?: string;
  /** What to do about a refusal, and the page of the identity service that says more. */
  remedy?: string;
  page?: string;
  cause?: unknown;
};

export type Settings = Parts &
  Addresses &
  Stores &
  Required<Choices> & {
    /** The issuer without a slash at its end. */
    baseUrl: string;
    /**
     * The beginning of the names of cookies. With https it is `__Host-`, because then browsers let no other host set the
     * cookie. It is empty without https, which only a site on this machine may use.
     */
    hostPrefix: string;
    /** The names of the cookies of attempts begin with this. */
    cookiePrefix: string;
    isSecure: boolean;
  };

/**
 * Returns the URL at which the browser opened the login start, if its host is not the configured one. The callback would not
 * get a cookie that was set at that host. Use the URL only for the log, because the sender of the request chooses it.
 */
export function findOtherHost({ loginUrl }: Settings, request: Request): string | undefined {
  const { protocol, host } = new URL(loginUrl);
  const asked = request.headers.get('host') ?? new URL(request.url).host;
  const opened = `${protocol}//${asked.slice(0, 255)}/`;
  const isSame = parseUrl(opened)?.host === host;
  return isSame ? undefined : `opened at ${opened}, but loginUrl is ${loginUrl}`;
}

/** Returns the URL at which a browser opened the callback, if its path is not the configured one. Use it only for the log. */
export function findOtherPath({ callbackUrl }: Settings, request: Request): string | undefined {
  const [{ origin, pathname }, opened] = [new URL(callbackUrl), new URL(request.url).pathname];
  if (opened === pathname) return undefined;
  return `opened at ${origin}${opened.slice(0, 255)}, but callbackUrl is ${callbackUrl}`;
}

/** Names every fault of a configuration, but none of its values. */
export class ConfigurationError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration of this client is wrong:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'ConfigurationError';
    this.faults = faults;
  }
}

const reserved = ['payload', 'signature', 'signature_next', 'state', 'error'];
const minSecretBytes = 32;

/** A configuration that was not checked yet. It may have any parts. */
type Given = Stores & Choices & Partial<Parts & Addresses & { identityUrl: string; origin: string }>;

/** Throws a ConfigurationError that names all faults at once. */
export function readConfiguration(configuration: Configuration): Settings {
  const { identityUrl, origin, ...more }: Given = configuration as Given;
  const parts = readIdentityUrl(identityUrl);
  const site = origin?.replace(/\/$/, '');
  const paths = { callbackUrl: `${site}/sso/callback`, loginUrl: `${site}/login` };
  const given = { issuer: '', client: '', secrets: [], ...paths, ...more, ...parts };
  const faults: string[] = [];
  const faultIf = (isFault: boolean, words: string) => isFault && faults.push(words);
  const readUrl = (
    name: 'issuer' | 'callbackUrl' | 'loginUrl' | 'homeUrl',
    text: unknown,
  ): URL | undefined => {
    const url = typeof text === 'string' ? parseUrl(text) : undefined;
    faultIf(!url, `${name} must be a whole address, such as https://shop.example.com/`);
    if (!url) return undefined;
    const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isThisMachine(url));
    faultIf(!isSafe, `${name} must be https, or on this machine`);
    faultIf(url.username !== '' || url.password !== '', `${name} must have no user or password in it`);
    faultIf(url.href.includes('#'), `${name} must have no # in it`);
    return isSafe ? url : undefined;
  };

  const issuer = readUrl('issuer', given.issuer);
  faultIf(
    issuer !== undefined && given.issuer.replace(/\/$/, '') !== issuer.origin,
    'issuer must be scheme, host and port alone',
  );
  const callback = readUrl('callbackUrl', given.callbackUrl);
  faultIf(
    reserved.some((name) => callback?.searchParams.has(name)),
    `callbackUrl must have none of the parameters ${reserved.join(', ')}`,
  );
  const login = readUrl('loginUrl', given.loginUrl);
  const home =
    given.homeUrl === undefined ? callback && new URL('/', callback) : readUrl('homeUrl', given.homeUrl);
  const isElsewhere = (url: URL | undefined) =>
    callback !== undefined && url !== undefined && url.origin !== callback.origin;
  faultIf(
    isElsewhere(login),
    'loginUrl must have the scheme, host and port of callbackUrl: they share a cookie',
  );
  faultIf(isElsewhere(home), 'homeUrl must have the scheme, host and port of callbackUrl');
  faultIf(
    typeof given.client !== 'string' || !/^[a-z][a-z0-9_]{0,62}$/.test(given.client),
    'client must be the name that the operator gave you: lower-case letters, digits and underscores',
  );
  // Plain http is allowed only on this machine. There, a short secret is enough to try things out.
  faults.push(...findSecretFaults(given.secrets, callback?.protocol === 'http:'));
  const { ttlSeconds = 300 } = given;
  faultIf(
    !Number.isInteger(ttlSeconds) || ttlSeconds < 30 || ttlSeconds > 3_600,
    'ttlSeconds must be a whole number from 30 to 3,600',
  );
  const { maxSeconds = 43_200 } = given;
  faultIf(
    !Number.isInteger(maxSeconds) || maxSeconds < 60 || maxSeconds > 2_592_000,
    'maxSeconds must be a whole number from 60 to 2,592,000',
  );
  for (const name of ['nonces', 'profiles', 'endedLogins', 'position'] as const)
    faultIf(
      typeof given[name] !== 'object',
      `${name} is missing: spread createMemoryStores() or createSqlStores()`,
    );
  if (!parts && (identityUrl !== undefined || !('issuer' in more)))
    throw new ConfigurationError([
      'identityUrl must be like https://shop:SECRET@id.example.com, with your secret percent-encoded',
      ...faults.filter((fault) => !/^(?:issuer|client|secrets) /.test(fault)),
    ]);
  if (faults.length > 0 || !issuer || !callback || !home) throw new ConfigurationError(faults);

  const isSecure = callback.protocol === 'https:';
  const hostPrefix = isSecure ? '__Host-' : '';
  return {
    ...given,
    baseUrl: issuer.origin,
    homeUrl: home.href,
    ttlSeconds,
    maxSeconds,
    hooks: given.hooks ?? {},
    log: (entry) => given.log?.(withoutControls(entry)),
    now: given.now ?? (() => new Date()),
    fetch: given.fetch ?? ((...asked) => fetch(...asked)),
    isSecure,
    hostPrefix,
    cookiePrefix: `${hostPrefix}identity_attempt_`,
  };
}

/**
 * A reason may quote what a stranger sent, such as `Host`. Control characters in it could change how a terminal shows the log.
 */
const withoutControls = ({ reason, ...entry }: LogEntry): LogEntry =>
  reason === undefined ? entry : { ...entry, reason: reason.replace(/\p{Cc}/gu, '?') };

function findSecretFaults(secrets: unknown, isLocal: boolean): string[] {
  const isList = Array.isArray(secrets) && secrets.every((secret) => typeof secret === 'string');
  if (!isList || secrets.length < 1 || secrets.length > 2)
    return ['secrets must be a list of one or two texts'];
  const isShort = (secret: string) => new TextEncoder().encode(secret).length < minSecretBytes;
  return [
    secrets.some((secret) => secret !== secret.trim()) &&
      'secrets must have no space or line break around them',
    secrets.some((secret) => secret.includes(',')) &&
      'secrets must be given one by one, not with a comma between them',
    new Set(secrets).size < secrets.length && 'secrets must be different from each other',
    secrets.includes('') && 'secrets must not be empty',
    !isLocal && secrets.some(isShort) && `secrets must have ${minSecretBytes} bytes or more`,
  ].filter((fault) => fault !== false);
}

const isThisMachine = ({ hostname }: URL) =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127\.\d+\.\d+\.\d+$/.test(hostname);

/** Undefined if the text is no URL. In Node 20, `URL.canParse` refuses Latin letters such as ü after some thousand calls. */
function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
