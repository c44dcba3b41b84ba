// What the doctor examines, and the tools that it needs. This folder uses only web standards. The caller provides `fetch`,
// the clock and, if it can, a way to look at a certificate.

import type { StandardProfile } from '../../server/sso/payload.ts';

/** A client as the settings describe it. */
export type Target = {
  client: string;
  /** The `iss` of hand-offs, byte for byte. */
  issuer: string;
  callbackUrl: string;
  loginUrl: string;
  eventsUrl: string | undefined;
  secrets: readonly string[];
  /** More keys that everybody may know, such as keys in published examples. */
  publicKeys?: readonly string[];
  ttlSeconds: number;
  /** The name of the missing setting, if the service's own demo client stands in for the client. */
  demoUnless?: string | undefined;
};

/** `fault` is a sentence that says why browsers refuse the certificate. */
export type Certificate = { validUntil: Date | undefined; fault: string | undefined };

/**
 * How far a client has read its events, as the service's database says. The database notes a read at most every ten seconds.
 */
export type Reads = {
  /**
   * The number of the newest event, or 0 if there is none. `acknowledged` is the number of the last event that the client has
   * read.
   */
  latest: number;
  acknowledged: number;
  behind: number;
  /** When the service last answered a read, and how many seconds ago that was. */
  pulledAt: Date | null;
  pulledSeconds: number | null;
};
/** An event about one of the doctor's own people, or about nobody. `occurred_at` is when it is appended. */
export type OwnEvent =
  | { type: 'erased' }
  | ({ userId: string } & (
      | { type: 'profile.updated'; profile: StandardProfile }
      | { type: 'session.ended'; sid: string }
      | { type: 'user.suspended' | 'user.restored' | 'user.deleted' }
    ));
export type EventWriter = {
  /** Appends events to the client's sequence. Returns the number of the last event. */
  append: (events: readonly OwnEvent[]) => Promise<number>;
  /** Deletes everything about these people, and appends events that say to forget them. */
  forget: (userIds: readonly string[]) => Promise<void>;
};

/** Returns the client's reads, or a sentence that says why nobody can see them. */
export type FindReads = () => Promise<Reads | string>;

export type Tools = {
  /** Unlike the usual `fetch`, this function sends the `Host` header that it is given. */
  fetch: typeof fetch;
  now: () => Date;
  /** Resolves with undefined if nothing answers. If this function is missing, the doctor does not look at certificates. */
  readCertificate?: (url: URL) => Promise<Certificate | undefined>;
  /** If this function is missing, the doctor does not check whether the client reads after a nudge. */
  findReads?: FindReads;
  /** Appends events. If this is missing, the doctor does not check what the client does with events. */
  events?: EventWriter | undefined;
  /** The most requests that the doctor may send in a minute. */
  pace?: number | undefined;
};

/** The message is one sentence for the operator. */
export class CannotExamineError extends Error {}
