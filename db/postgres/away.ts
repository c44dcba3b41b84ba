// What an error of the database means for its connection and for the request.

// Classes of SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). 08 is about the connection, and 53 about
// too few resources. 57 is an intervention by an operator, which includes a shutdown and a statement that ran out of time.
const awayClass = /^(08|53|57)/;
const awayCode = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTCONN',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // The server is read-only: it is a standby now, but was the primary until a moment ago.
  '25006',
  // A prepared statement is missing or exists already. Either preparing it failed, or it belongs to another connection.
  '26000',
  '42P05',
]);
// pg gives no code to its own errors.
const awayMessage =
  /connection terminated|timeout exceeded when trying to connect|timeout expired|query read timeout|not queryable|connection ended/i;

const codeOf = (error: Error) => (error as { code?: string }).code;

/** Returns whether the database is away or does not answer in time. In both cases, the query is not at fault. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (code && (awayCode.has(code) || (code.length === 5 && awayClass.test(code)))) return true;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway);
  return awayMessage.test(error.message);
}

/**
 * Returns whether the work failed because of other transactions. Either it waited too long for a lock (55P03), or another
 * transaction was first in every attempt (class 40).
 */
export function isDatabaseBusy(error: unknown): boolean {
  return isLockedTooLong(error) || (error instanceof Error && /^40...$/.test(codeOf(error) ?? ''));
}

/** Returns whether the statement waited too long for a lock. If so, it changed nothing. */
export const isLockedTooLong = (error: unknown): boolean =>
  error instanceof Error && codeOf(error) === '55P03';

/**
 * Returns whether the connection must be closed after the error. After a statement that ran out of time (57014), a connection
 * still works.
 */
export const breaksConnection = (error: unknown): boolean =>
  isDatabaseAway(error) && codeOf(error as Error) !== '57014';

/**
 * Returns whether the server refused the statement, which then changed nothing. Returns false if the connection broke, because
 * the statement may have run.
 */
export const isUndone = (error: unknown) =>
  error instanceof Error && /^(?!08|57P)[0-9A-Z]{5}$/.test(codeOf(error) ?? '');

export const isReadOnly = (error: unknown) => error instanceof Error && codeOf(error) === '25006';

export const isSilence = (error: unknown) =>
  error instanceof Error && /query read timeout/i.test(error.message);

/** Builds an error of our own that is handled like Postgres's error with the SQLSTATE `code`. */
export const buildAway = (code: string, message: string) => Object.assign(new Error(message), { code });
