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
};

/** `fault` is a sentence about why browsers refuse it. */
export type Certificate = { validUntil: Date | undefined; fault: string | undefined };

export type Tools = {
  fetch: typeof fetch;
  now: () => Date;
  /** Undefined where nothing answers there. Without this function certificates are not looked at. */
  readCertificate?: (url: URL) => Promise<Certificate | undefined>;
};

/** The message is a sentence for the operator. */
export class CannotExamineError extends Error {}
