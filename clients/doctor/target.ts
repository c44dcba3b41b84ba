// What the doctor examines, and what it works with. This folder uses only web standards. The caller provides `fetch`, the clock
// and, if it can, a way to look at a certificate.

import type { StandardProfile } from '../../server/sso/payload.ts';

/** A client as the settings name it. */
export type Target = {
  client: string;
  /** The `iss` of hand-offs, byte for byte. */
  issuer: string;
  callbackUrl: string;
  /** The address that starts the client's own login. */
  loginUrl: string;
  /** The client's address for nudges, if it has one. */
  eventsUrl: string | undefined;
  secrets: readonly string[];
  /** Further keys that everybody may know, such as those in published examples. */
  publicKeys?: readonly string[];
  ttlSeconds: number;
  /** Set if the service's own demo client stands in for the client: the name of the missing setting. */
  demoUnless?: string | undefined;
};

/** `fault` is a sentence about why browsers refuse the certificate. */
export type Certificate = { validUntil: Date | undefined; fault: string | undefined };

/** How far a client has read its events, by the service's database. The database notes a read at most every ten seconds. */
export type Reads = {
  /** The number of the newest event, or 0 if there is none. `acknowledged` is the last one that the client has read. */
  latest: number;
  acknowledged: number;
  behind: number;
  /** The last read that was answered, and its age. */
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
  /** Appends events to the client's sequence. Returns the number of the last one. */
  append: (events: readonly OwnEvent[]) => Promise<number>;
  /** Leaves nothing about these people but that they are to be forgotten. */
  forget: (userIds: readonly string[]) => Promise<void>;
};

/** Finds the reads, or says in a sentence why they cannot be seen. */
export type FindReads = () => Promise<Reads | string>;

export type Tools = {
  /** Unlike the usual `fetch`, this one sends the `Host` header that it is given. */
  fetch: typeof fetch;
  now: () => Date;
  /** Resolves with undefined if nothing answers. Without this function the doctor does not look at certificates. */
  readCertificate?: (url: URL) => Promise<Certificate | undefined>;
  /** Without this function the doctor does not look whether the client reads after a nudge. */
  findReads?: FindReads;
  /** Appends events. Without it the doctor does not look what the client does with one. */
  events?: EventWriter | undefined;
  /** The most requests a minute. */
  pace?: number | undefined;
};

/** Its message is one sentence for the operator. */
export class CannotExamineError extends Error {}
