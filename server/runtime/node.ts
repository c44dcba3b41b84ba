import { type Server, STATUS_CODES } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import {
  type Fetch,
  ListenError,
  type Listener,
  type ListenOptions,
  lingerMs,
  type RefuseHeaders,
} from './listener.ts';

// The connections of slow senders are closed (contract 9.150 and 9.151). `requestTimeout` includes the body.
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // The limit includes the request line. If a request is over the limit, `refuseUnread` answers while the request still
  // arrives.
  maxHeaderSize: 16 * 1024,
  // This is longer than a load balancer's usual 60 s, so that the balancer closes idle connections first.
  keepAliveTimeout: 65_000,
};
// If more connections than this wait to be accepted, the kernel drops some, and their clients try again a second later. Linux
// allows 4,096.
const waitingConnections = 4_096;
// If a client neither sends nor reads for this long, its connection is closed.
const silenceMs = 30_000;

export async function listen(fetch: Fetch, options: ListenOptions): Promise<Listener> {
  const { host, port } = options;
  const server = createAdaptorServer({
    fetch: (request, env) => {
      const { incoming } = env as HttpBindings;
      return fetch(request, {
        address: incoming.socket.remoteAddress ?? '',
        isArriving: () => !incoming.complete,
        node: env,
      });
    },
    serverOptions: limits,
    // Used if there is no `Host`, which HTTP/1.0 allows. Load balancers send none for /readyz.
    hostname: 'localhost',
  }) as Server;
  server.setTimeout(silenceMs);
  server.on('clientError', (error: ReadError, socket: AnsweringSocket) =>
    refuseUnread(error, socket, options.refuseHeaders),
  );
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    // Node remembers an IP address that was read before, so this reads it early. If there is no address, the client has gone
    // already. The client's tries could not be counted, so the connection is closed.
    if (socket.remoteAddress === undefined) socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      failed(new ListenError(error.code ?? '', options)),
    );
    server.listen({ port, host, backlog: waitingConnections }, done);
  });
  const closeIdle = () => {
    server.closeIdleConnections();
    // For Node, a connection that has never sent anything is not idle, so the line above leaves it open.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    async close(graceMs) {
      // Connections that have reached the port are accepted before it closes.
      await new Promise((done) => setImmediate(done));
      // This only stops listening. `server.close` would cut off idle connections immediately, and with them requests that are
      // just arriving.
      const closed = new Promise<void>((done) => NetServer.prototype.close.call(server, () => done()));
      const timers = [
        setTimeout(closeIdle, Math.min(lingerMs, graceMs)),
        setTimeout(() => server.closeAllConnections(), graceMs),
      ];
      await closed;
      for (const timer of timers) clearTimeout(timer);
      // This also stops Node's timer for the timeouts.
      server.close();
    },
  };
}

type ReadError = NodeJS.ErrnoException & { rawPacket?: Buffer };
// Node has no public name for whether an answer has begun. Node itself looks at this member before it answers an error.
type AnsweringSocket = Socket & { _httpMessage?: { _headerSent: boolean } };

const statusOfReadError: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers unreadable requests as Node does, but tells a person what to do about 431. */
function refuseUnread({ code = '', rawPacket }: ReadError, socket: AnsweringSocket, refuse?: RefuseHeaders) {
  // An earlier call of this function has answered the request already. This call is only about further bytes of that request.
  if (socket.writableEnded) return;
  if (!socket.writable || socket._httpMessage?._headerSent) {
    socket.destroy();
    return;
  }
  const status = statusOfReadError[code] ?? 400;
  const made = status === 431 ? refuse?.(readAccept(rawPacket)) : undefined;
  const { body = '', headers = {} } = made ?? {};
  const lines = Object.entries({
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  // If the connection were cut off while more is arriving, the answer would be lost.
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}

/**
 * If headers are too large, they nearly always have too many cookies, so the sender is nearly always a browser. Browsers send
 * `Accept` before their cookies. So `Accept` may have come in an earlier packet, which we no longer have. If this packet has no
 * `Accept`, we answer with a page.
 */
const readAccept = (packet: Buffer | undefined) =>
  /^accept:[ \t]*([\x20-\x7e]*)/im.exec(packet?.toString('latin1') ?? '')?.[1] ?? 'text/html';
