// Turns sites into a listener of Node's own server. A site answers below `/<name>/`.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Site } from './site.ts';
import { commonHeaders, type Question, type Reply } from './web.ts';

const maxBodyBytes = 65_536;

export function createListener(sites: Map<string, Site>) {
  let server: Server | undefined;
  const close = () => {
    for (const site of sites.values()) site.stop();
  };

  async function answer(request: IncomingMessage): Promise<Reply> {
    const { method = 'GET' } = request;
    // The host does not matter, because all redirects are paths.
    const url = new URL(`http://127.0.0.1${request.url?.startsWith('/') ? request.url : '/'}`);
    const [, name = '', page, ...more] = url.pathname.split('/');
    const site = sites.get(name);
    if (!site) return { status: 404, text: 'There is no such site.\n' };
    if (page === undefined) return { status: 308, headers: { Location: `/${name}/${url.search}` } };
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request) {
      size += chunk.length;
      if (size > maxBodyBytes) return { status: 413, headers: { Connection: 'close' } };
      chunks.push(chunk);
    }
    const question: Question = {
      request,
      method,
      url,
      page: [page, ...more].join('/'),
      cookies: site.readCookies(request.headers.cookie),
      body: Buffer.concat(chunks),
    };
    return site.answer(question);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!server) {
      server = (request.socket as typeof request.socket & { server?: Server }).server;
      server?.once('close', close);
    }
    try {
      send(response, await answer(request));
    } catch {
      send(response, { status: 500, text: 'Something went wrong.\n' });
    }
  }

  function send(response: ServerResponse, { status, headers, text }: Reply): void {
    const plain = { 'Content-Type': 'text/plain; charset=utf-8' };
    response.writeHead(status, { ...commonHeaders, ...(text !== undefined && plain), ...headers });
    response.end(text);
  }

  return Object.assign(serve, { close });
}
