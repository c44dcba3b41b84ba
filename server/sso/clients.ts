// The clients: the products of the trust group, as the settings and the rows of `clients` name them.

/** The people to whom a list of products can show a client (contract 8.61). */
export const audiences = ['everybody', 'merchants', 'administrators', 'visited', 'contract'] as const;

export type Audience = (typeof audiences)[number];

/** The roles of people, as in a payload (contract 3.9). */
export const roles = ['admin', 'merchant', 'customer'] as const;

export type Role = (typeof roles)[number];

type Common = {
  name: string;
  /**
   * Says where the client comes from. The URLs of a row in the database are checked more strictly, because no operator of this
   * machine chose them.
   */
  source: 'settings' | 'row';
  title: string;
  /** Paths of this service that serve the logo. */
  logoPath: string | undefined;
  logoDarkPath: string | undefined;
  callbackUrl: string;
  /** The URL that starts the client's own login. */
  loginUrl: string | undefined;
  /** The URL for nudges about events. */
  eventsUrl: string | undefined;
  /** `listedTo` only decides who sees the client in the list of products. It refuses nobody. */
  listedTo: readonly Audience[];
  /** Whether a session without a second factor gets no payload. */
  needsFactor: boolean;
  /** Who may enter. Everybody else is refused at the launch. */
  roles: readonly Role[];
  /** The first secret makes `signature`. The second, during a rotation, makes `signature_next`. */
  secrets: readonly string[];
  /** How long a payload for this client can be used. */
  ttlSeconds: number;
  /** Local mode only: the callback is the demo client of this service. */
  isDemo: boolean;
};

export const kinds = ['hand-off', 'openid'] as const;

export type HandOffClient = Common & { kind: 'hand-off' };

export const pkceRules = ['required', 'optional', 'state-only'] as const;

export const authRules = ['secret', 'none'] as const;

/** A product that logs people in by OpenID Connect (contract section 14). `callbackUrl` is the first of `redirectUris`. */
export type OpenIdClient = Common & {
  kind: 'openid';
  /** The id of the client's row. */
  id: string;
  redirectUris: readonly string[];
  postLogoutUris: readonly string[];
  backChannelUri: string | undefined;
  pkce: (typeof pkceRules)[number];
  /** `none`: the client has no secret. */
  auth: (typeof authRules)[number];
  /** If `pkce` is `state-only`: whether the client has ever sent a PKCE challenge. */
  sendsChallenge: boolean;
};

export type Client = HandOffClient | OpenIdClient;

export const isOpenId = (client: Client | undefined): client is OpenIdClient => client?.kind === 'openid';

/** The clients as they are now. Ask each time, because clients change while the service runs. */
export type Clients = {
  get: (name: string) => Client | undefined;
  /** Returns the same array until a client changes. */
  list: () => readonly Client[];
};
