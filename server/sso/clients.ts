// The clients: the products of the trust group, as the settings name them.
import type { StandardProfile } from './payload.ts';

/** To whom a client can be listed (contract 8.61). */
export const audiences = ['everybody', 'merchants', 'administrators', 'visited', 'contract'] as const;

export type Audience = (typeof audiences)[number];

export type Client = {
  name: string;
  title: string;
  /** A path at this service. */
  logoPath: string | undefined;
  callbackUrl: string;
  /** The address that starts the client's own login. */
  loginUrl: string | undefined;
  /** The address for nudges about events. */
  eventsUrl: string | undefined;
  /** These words only decide who sees the client in the list of products. They refuse nobody. */
  listedTo: readonly Audience[];
  /** Whether a session without a second factor gets no payload. */
  needsFactor: boolean;
  /** Who may enter. Everybody else is refused at the launch. */
  roles: readonly StandardProfile['role'][];
  /** The first secret makes `signature`. The second, during a rotation, makes `signature_next`. */
  secrets: readonly string[];
  /** How long a payload for this client can be used. */
  ttlSeconds: number;
  /** Local mode only: the callback is the demo client of this service. */
  isDemo: boolean;
};
