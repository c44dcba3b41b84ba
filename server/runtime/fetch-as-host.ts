// A `fetch` with a given `Host`, or to a given IP address. Plain `fetch` can do neither: it resolves names by itself, and it
// sends its own `Host` or, over https, asks for the given host's certificate.
import { lookup } from 'node:dns/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';

/** With a `Host` it does only what the doctor needs: it follows no redirect, and bodies are text. */
export const fetchAsHost: typeof fetch = async (input, init = {}) => {
  const headers = new Headers(init.headers);
  return headers.has('host')
    ? send(new URL(String(input)), { ...init, headers: Object.fromEntries(headers) }, toResponse)
    : fetch(input, init);
};

/** Returns the IP addresses of a host. If `host` is an IP address, returns that address. */
export const lookUp = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/** Connects to the given IP address, and asks for the certificate of the URL's name. Follows no redirect, and reads no body. */
export const fetchAt = (
  address: string,
  url: string,
  init: Pick<Sent, 'method' | 'headers' | 'body' | 'signal'>,
): Promise<{ status: number }> =>
  send(new URL(url), { ...init, address }, (message) => {
    message.destroy();
    return { status: message.statusCode ?? 0 };
  });

type Sent = {
  method?: string | undefined;
  headers: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal | null | undefined;
  address?: string;
};

function send<T>(
  url: URL,
  { method, headers, body, signal, address }: Sent,
  read: (message: IncomingMessage) => T,
): Promise<T> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return new Promise((done, failed) => {
    const sent = request(
      url,
      {
        method,
        headers: { ...(address !== undefined && { host: url.host }), ...headers },
        // Without this, Node would ask for the certificate of the name in `Host`.
        servername: isIP(host) === 0 ? host : '',
        ...(address !== undefined && { hostname: address }),
        agent: false,
        ...(signal && { signal }),
      },
      (message) => {
        try {
          done(read(message));
        } catch (error) {
          sent.destroy();
          failed(error);
        }
      },
    );
    // Without this, the promise would never settle if the answer changes the protocol.
    sent.on('upgrade', (_message, socket) => {
      socket.destroy();
      failed(new Error('the connection was closed by a change of protocol'));
    });
    // If the connection is cut off after the answer, that is no failure.
    sent.on('error', failed);
    sent.end(body ?? undefined);
  });
}

function toResponse(message: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = message;
  const headers = new Headers();
  for (let n = 0; n < rawHeaders.length; n += 2) headers.append(rawHeaders[n] ?? '', rawHeaders[n + 1] ?? '');
  const hasNoBody = status === 204 || status === 205 || status === 304;
  if (hasNoBody) message.resume();
  return new Response(hasNoBody ? null : (Readable.toWeb(message) as ReadableStream), { status, headers });
}
