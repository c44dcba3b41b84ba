// A server that gets the nudges of a client, keeps them, and answers as a test says.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ReceivedNudge = {
  at: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  /** The `client` that the nudge names. */
  client: string;
  latest: number;
};

/** `nth` counts from 1. */
export type Answering = (response: ServerResponse, nth: number, request: IncomingMessage) => void;

export const takes: Answering = (response) => response.writeHead(204).end();
export const answers =
  (status: number, headers: Record<string, string> = {}): Answering =>
  (response) =>
    response.writeHead(status, headers).end('{"ignored":true}');
export const drops: Answering = (response) => response.socket?.destroy();
export const hangs: Answering = () => undefined;

export type NudgeTarget = Awaited<ReturnType<typeof openTarget>>;

export async function openTarget(answering: Answering, atPort = 0) {
  const received: ReceivedNudge[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const { method = '', url: path = '' } = request;
    received.push({ at: performance.now(), method, path, headers, body, ...JSON.parse(body || '{}') });
    target.answering(response, received.length, request);
  });
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(atPort);
  const { port } = server.address() as AddressInfo;
  const target = {
    answering,
    received,
    url: `http://127.0.0.1:${port}/events?from=identity`,
    numbers: () => received.map(({ latest }) => latest),
    /** Stops listening: from now on connections are refused. */
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
    reopen: () => listen(port),
  };
  return target;
}
