// What the doctor examines, and what it works with. Everything in this folder is in web standards: the caller gives `fetch`,
// the clock and, if it can, a look at a certificate.

/** A client as the settings name it. */
export type Target = {
  client: string;
  /** `iss`, byte for byte. */
  issuer: string;
  callbackUrl: string;
  /** Where the client's own login starts. */
  loginUrl: string;
  /** The client's address for nudges, if it has one. */
  eventsUrl: string | undefined;
  secrets: readonly string[];
  ttlSeconds: number;
  /** Set if the service's own demo client stands in the client's place: the name of the missing setting. */
  demoUnless?: string | undefined;
};

/** `fault` is a sentence about why browsers refuse the certificate. */
export type Certificate = { validUntil: Date | undefined; fault: string | undefined };

/** How far a client has read its events, by the service's database. A read is noted there every ten seconds at most. */
export type Reads = {
  /** The number of the newest event, 0 if there is none, and of the last event that the client has read. */
  latest: number;
  acknowledged: number;
  behind: number;
  /** The last read that was answered, and its age. */
  pulledAt: Date | null;
  pulledSeconds: number | null;
};
/** Finds the reads; or a sentence about why they cannot be seen. */
export type FindReads = () => Promise<Reads | string>;

export type Tools = {
  /** This `fetch` sends a header `Host` as it is given, wherever the request goes. */
  fetch: typeof fetch;
  now: () => Date;
  /** Gives undefined if nothing answers. Without this function the doctor does not look at certificates. */
  readCertificate?: (url: URL) => Promise<Certificate | undefined>;
  /** Without this function the doctor does not look whether the client reads after a nudge. */
  findReads?: FindReads;
};

/** An error with a message that is a sentence for the operator. */
export class CannotExamineError extends Error {}
