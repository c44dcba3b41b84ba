// What an error of the database means for its connection, and for the request that met it.

// https://www.postgresql.org/docs/current/errcodes-appendix.html: class 08 (connection), 53 (resources),
// 57 (operator intervention, which is also a shutdown and a statement that ran out of time).
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
  // Read-only: a standby, which was the primary until a moment ago.
  '25006',
  // No such prepared statement, or it exists already: preparing it failed, or it is another connection's.
  '26000',
  '42P05',
]);
// pg gives no code to its own errors.
const awayMessage =
  /connection terminated|timeout exceeded when trying to connect|timeout expired|query read timeout|not queryable|connection ended/i;

const codeOf = (error: Error) => (error as { code?: string }).code;

/** Whether an error means "the database is away or does not answer in time", and not a fault of the query. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (code && (awayCode.has(code) || (code.length === 5 && awayClass.test(code)))) return true;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway);
  return awayMessage.test(error.message);
}

/** Whether other transactions held what a statement needed for too long (55P03), or came first again and again (class 40). */
export function isDatabaseBusy(error: unknown): boolean {
  return isLockedTooLong(error) || (error instanceof Error && /^40...$/.test(codeOf(error) ?? ''));
}

/** Whether another transaction held what a statement needed for too long. The statement did nothing. */
export const isLockedTooLong = (error: unknown): boolean =>
  error instanceof Error && codeOf(error) === '55P03';

/** Whether the connection is of no use any more. After a statement that ran out of time (57014), a connection still works. */
export const breaksConnection = (error: unknown): boolean =>
  isDatabaseAway(error) && codeOf(error as Error) !== '57014';

/** Whether a statement surely did nothing: the server refused it. Of one whose connection broke, nobody here can tell. */
export const isUndone = (error: unknown) =>
  error instanceof Error && /^(?!08|57P)[0-9A-Z]{5}$/.test(codeOf(error) ?? '');

/** Whether the server is no primary any more, or was told to be read-only. */
export const isReadOnly = (error: unknown) => error instanceof Error && codeOf(error) === '25006';

/** Whether nothing came back in time. */
export const isSilence = (error: unknown) =>
  error instanceof Error && /query read timeout/i.test(error.message);

/** An error of our own that is handled like Postgres' error with that SQLSTATE. */
export const buildAway = (code: string, message: string) => Object.assign(new Error(message), { code });
