// A product that gets log-outs, keeps them, and answers as a test says.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt } from './client.ts';

export type Answering = (response: ServerResponse, nth: number) => void;

export const takes: Answering = (response) => response.writeHead(200).end();
export const fails: Answering = (response) => response.writeHead(500).end('no');
export const hangs: Answering = () => undefined;

type Received = {
  at: number;
  method: string;
  path: string;
  contentType: string;
  token: string;
  payload: ReturnType<typeof decodeJwt>['payload'];
};

export async function openBackChannel(answering: Answering = takes) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const token = new URLSearchParams(body).get('logout_token') ?? '';
    received.push({
      ...{ at: performance.now(), method: request.method ?? '', path: request.url ?? '', token },
      contentType: request.headers['content-type'] ?? '',
      payload: decodeJwt(token).payload,
    });
    target.answering(response, received.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const target = {
    answering,
    received,
    uri: `http://127.0.0.1:${port}/back-channel?from=identity`,
    of: (sub: string) => received.filter(({ payload }) => payload.sub === sub),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return target;
}
