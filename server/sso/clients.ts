// The clients: the products of the trust group, as the settings name them.

/** To whom a client can be listed (contract 8.61). */
export const audiences = ['everybody', 'merchants', 'administrators', 'visited', 'contract'] as const;

export type Audience = (typeof audiences)[number];

export type Client = {
  name: string;
  title: string;
  /** A path at this service. */
  logoPath: string | undefined;
  callbackUrl: string;
  /** Where the client's own login starts. */
  loginUrl: string | undefined;
  /** Where nudges about events go. */
  eventsUrl: string | undefined;
  /** Who sees it among their products: everybody whom one of these words names. It refuses nobody. */
  listedTo: readonly Audience[];
  /** The first secret makes `signature`. The second, during a rotation, makes `signature_next`. */
  secrets: readonly string[];
  /** How long a payload for it can be used. */
  ttlSeconds: number;
  /** Local mode only: the callback is the demo client of this service. */
  isDemo: boolean;
};
