// Reads the queries of /oauth/authorize and /oauth/logout (contract 14.11 and 14.21).
import { AppError } from '../basics/errors.ts';
import { redirect } from '../web/answers.ts';
import { pathOf } from '../web/incoming.ts';
import { readAllFields } from '../web/requests.ts';

const maxLength = 8_000;
/**
 * The pages before the login carry this query inside their own query, where it is escaped. If that makes a `Location` longer
 * than 14 KiB, the `Location` loses its query (contract 9.303). So the escaped query has a limit.
 */
const maxEscapedLength = 14_000;

/** Returns the text behind the `?`. Throws 414 `uri_too_long`. */
export function readRawQuery(url: string): string {
  // `readOwnPath` refuses a path that contains a backslash, even in its query, and browsers leave a backslash in a query as it
  // is. So it is escaped here.
  const query = (/\?([^#]*)/.exec(url)?.[1] ?? '').replaceAll('\\', '%5C');
  const escaped = new URLSearchParams([['', query]]).toString();
  if (query.length > maxLength || escaped.length > maxEscapedLength) throw new AppError('uri_too_long');
  return query;
}

/** Redirects a POST to the same request by GET, because a POST from another site carries no `Lax` cookie. */
export async function toGet(request: Request): Promise<Response> {
  const query = (await readAllFields(request)).toString();
  return redirect(`${pathOf(request.url)}?${readRawQuery(`?${query}`)}`);
}
