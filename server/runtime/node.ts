// Listening on Node.
import type { Server } from 'node:http';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import type { Fetch } from '../http/shell.ts';
import { ListenError, type Listener, type ListenOptions } from './listener.ts';

export async function listen(fetch: Fetch, { host, port }: ListenOptions): Promise<Listener> {
  const server = createAdaptorServer({
    fetch: (request, env) =>
      fetch(request, { ...env, address: (env as HttpBindings).incoming.socket.remoteAddress ?? '' }),
  }) as Server;
  // Longer than the usual 60 s of a balancer in front, so that it, not we, closes an idle connection.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((done, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      failed(new ListenError(error.code ?? '', { host, port })),
    );
    server.listen(port, host, done);
  });
  return {
    port: (server.address() as { port: number }).port,
    async close(graceMs) {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
