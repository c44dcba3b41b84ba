import { AppError } from '../basics/errors.ts';
import { nameSchema } from '../basics/names.ts';
import { decodeIfPossible, readHeader, readNamedHeader } from '../basics/text.ts';
import type { Config } from '../settings/config.ts';
import { isThisMachine } from '../settings/this-machine.ts';

/** Returns the request id that a trusted proxy sends, if it has the form of an id. */
export function readRequestId(
  request: Request,
  peer: string,
  { requestIdHeader, trustsProxy }: Pick<Config, 'requestIdHeader' | 'trustsProxy'>,
): string | undefined {
  if (!requestIdHeader || !trustsProxy(peer)) return undefined;
  return /^[\w=-]{1,255}$/.exec(readNamedHeader(request.headers, requestIdHeader))?.[0];
}

const maxPlaceLength = 60;

/** Returns roughly where the client is, if a trusted proxy says so. */
export function readPlace(
  request: Request,
  peer: string,
  { placeHeader, trustsProxy }: Pick<Config, 'placeHeader' | 'trustsProxy'>,
): string | undefined {
  if (!placeHeader || !trustsProxy(peer)) return undefined;
  const text = decodeHeader(readNamedHeader(request.headers, placeHeader)).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    '',
  );
  const place = Array.from(text.trim()).slice(0, maxPlaceLength).join('');
  return nameSchema.safeParse(place).data;
}

/** Decodes a header. Proxies send UTF-8, but Request reads each byte as a character. */
function decodeHeader(text: string): string {
  if (!/^[\0-\xff]*$/.test(text)) return text;
  try {
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return text;
  }
}

/** Returns whether a request names this machine, both in its URL and in its `Host` if it has one. */
export function isForThisMachine(request: Request): boolean {
  const hosts = [/^[^/]+\/\/([^/?#]*)/.exec(request.url)?.[1], readHeader(request.headers, 'host')];
  return hosts.every((host) => host === null || isThisMachine(host?.replace(/:\d*$/, '') ?? ''));
}

export function refuseUnroutable(request: Request): AppError | undefined {
  // The class Request allows none of these methods.
  if (/^(TRACE|TRACK|CONNECT)$/.test(request.method)) {
    return new AppError('method_not_allowed', { headers: { Allow: 'GET, HEAD, POST' } });
  }
  return isPlainPath(pathOf(request.url)) ? undefined : new AppError('not_found');
}

/**
 * Returns whether a path can be decoded, has no `.` or `..` as a part, and has no escaped dot, slash, backslash or zero byte.
 * The framework would find another route for any other path.
 */
function isPlainPath(path: string): boolean {
  // Node resolves `.` and `..` before we see the path, but Deno does not. Such a path is refused, because later code would read
  // it as another path.
  if (/\/\.\.?(?:\/|$)/.test(path)) return false;
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
  } catch {
    return false;
  }
  return !/%(2e|2f|5c|00)/i.test(path);
}

/** Returns the path of a whole URL, as the URL spells it. */
export const pathOf = (url: string) => /^[^/]+\/\/[^/?#]*([^?#]*)/.exec(url)?.[1] || '/';

/** Returns whether a path is /admin or below it, in any spelling. */
export const isOfStaff = (path: string): boolean =>
  /^\/[%a]/.test(path) && /^\/admin(?:[/.]|$)/.test(decodeIfPossible(path));
