// What the doctor examines, and what it works with. Everything in this folder is in web standards: the caller gives
// `fetch`, the clock and, where it can, a look at a certificate.

/** A client as the settings name it. */
export type Target = {
  client: string;
  /** `iss`, byte for byte. */
  issuer: string;
  callbackUrl: string;
  /** Where the client's own login starts. */
  loginUrl: string;
  /** Where it takes nudges, if it does. */
  eventsUrl: string | undefined;
  secrets: readonly string[];
  ttlSeconds: number;
  /** Of the demo client of the service itself: the setting without which it is in the client's place. */
  demoUnless?: string | undefined;
};

/** `fault` is a sentence about why browsers refuse it. */
export type Certificate = { validUntil: Date | undefined; fault: string | undefined };

/** How far a client has read its events, by the service's database. A read is noted there every ten seconds at most. */
export type Reads = {
  /** The newest number, 0 where there is none, and that of the last event that it has read. */
  latest: number;
  acknowledged: number;
  behind: number;
  /** The last read that was answered, and its age. */
  pulledAt: Date | null;
  pulledSeconds: number | null;
};
/** Or a sentence about why that cannot be seen. */
export type FindReads = () => Promise<Reads | string>;

export type Tools = {
  /** It sends a header `Host` as it is given, wherever the request goes. */
  fetch: typeof fetch;
  now: () => Date;
  /** Undefined where nothing answers there. Without this function certificates are not looked at. */
  readCertificate?: (url: URL) => Promise<Certificate | undefined>;
  /** Without this function nobody looks whether a nudge is followed by a read. */
  findReads?: FindReads;
};

/** The message is a sentence for the operator. */
export class CannotExamineError extends Error {}
