// Listening on Node.
import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import type { Fetch } from '../http/door.ts';
import { ListenError, type Listener, type ListenOptions, lingerMs } from './listener.ts';

// Slow senders are dropped: contract 9.150 to 9.153. A body arrives within the time of its request.
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // The request line counts too. A larger request is answered 431 as it arrives.
  maxHeaderSize: 16 * 1024,
  // Longer than the usual 60 s of a balancer in front, so that it, not we, closes an idle connection.
  keepAliveTimeout: 65_000,
};
// If more connections wait to be taken, the kernel drops some, and their clients try again a second later. Linux allows 4,096.
const waitingConnections = 4_096;
// A client that neither sends nor reads for so long is dropped, such as one that does not read its answer.
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
    // For a request without Host, as HTTP/1.0 allows and balancers send for /readyz.
    hostname: 'localhost',
  }) as Server;
  server.setTimeout(silenceMs);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    // Node keeps the address once it was asked for. A client without one has gone already: nobody reads its answers, and its
    // tries could not be counted by address.
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
    // Node does not count connections that have never sent anything as idle.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    async close(graceMs) {
      // Takes connections that have reached the port before the port closes.
      await new Promise((done) => setImmediate(done));
      // `server.close` would cut idle connections at once, and with them requests that are just arriving.
      const closed = new Promise<void>((done) => NetServer.prototype.close.call(server, () => done()));
      const timers = [
        setTimeout(closeIdle, Math.min(lingerMs, graceMs)),
        setTimeout(() => server.closeAllConnections(), graceMs),
      ];
      await closed;
      for (const timer of timers) clearTimeout(timer);
      // Also ends Node's watch on the timeouts.
      server.close();
    },
  };
}
