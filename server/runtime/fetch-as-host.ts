// `fetch` with a given `Host`. Plain `fetch` either sends a `Host` of its own or, over https, expects a certificate for the given
// host.
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';

/** With a `Host` it does only what the doctor needs: it follows no redirect, and a body is text. */
export const fetchAsHost: typeof fetch = async (input, init = {}) => {
  const headers = new Headers(init.headers);
  return headers.has('host') ? send(new URL(String(input)), headers, init) : fetch(input, init);
};

function send(url: URL, headers: Headers, { method, body, signal }: RequestInit): Promise<Response> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return new Promise((done, failed) => {
    const sent = request(
      url,
      {
        method,
        headers: Object.fromEntries(headers),
        // Without this, Node takes the name for the certificate from the header.
        servername: isIP(host) === 0 ? host : '',
        agent: false,
        ...(signal && { signal }),
      },
      (message) => {
        try {
          done(toResponse(message));
        } catch (error) {
          sent.destroy();
          failed(error);
        }
      },
    );
    sent.once('error', failed);
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
