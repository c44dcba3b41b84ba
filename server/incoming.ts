// What the shell makes of a request as it arrives.
import proxyAddr from 'proxy-addr';
import { AppError } from './errors.ts';

export function clientAddress(
  request: Request,
  peer: string,
  trustsProxy: (address: string) => boolean,
): string {
  const message = {
    headers: { 'x-forwarded-for': request.headers.get('x-forwarded-for') ?? undefined },
    socket: { remoteAddress: peer },
  };
  return proxyAddr(message as never, trustsProxy);
}

/** The sender's own id for it, where that can be trusted in a log, or a new one. */
export function readRequestId(request: Request): string {
  const given = request.headers.get('x-request-id');
  return given && /^[\w=-]{1,255}$/.test(given) ? given : crypto.randomUUID();
}

/** The refusal of what no Request, or no route, can be made of. */
export function refuseUnroutable(request: Request): AppError | undefined {
  // Fetch knows no Request of these methods, and the framework trips over addresses in disguise.
  if (/^(TRACE|TRACK|CONNECT)$/.test(request.method)) {
    return new AppError('method_not_allowed', { headers: { Allow: 'GET, HEAD, POST' } });
  }
  return isPlainPath(pathOf(request.url)) ? undefined : new AppError('not_found');
}

/** Whether a path says what it means: decodable, and without a separator or dot in disguise. */
function isPlainPath(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
  } catch {
    return false;
  }
  return !/%(2e|2f|5c|00)/i.test(path);
}

/**
 * The request as Remix is to see it: on our own host, whatever Host and X-Forwarded-Host said, because its
 * cross-site check believes them; ours has run already. Its body is given, or there is none.
 */
export function canonicalRequest(request: Request, baseUrl: string, body?: Uint8Array<ArrayBuffer>): Request {
  const url = new URL(request.url);
  const headers = new Headers(request.headers);
  headers.set('host', new URL(baseUrl).host);
  headers.delete('x-forwarded-host');
  headers.delete('origin');
  if (url.searchParams.has('_data')) url.searchParams.delete('_data');
  return new Request(`${baseUrl}${url.pathname}${url.search}`, { method: request.method, headers, body });
}

/** The path of a whole URL, as it is spelt there. */
export const pathOf = (url: string) => /^[^/]+\/\/[^/?#]*([^?#]*)/.exec(url)?.[1] || '/';
