// A wire between the service and its database that a test can cut or silence.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Wire = {
  /** The database through this wire. */
  url: string;
  /** Breaks all connections, and every new one. */
  cut: () => void;
  /** Accepts everything and answers nothing, on old and new connections. */
  swallow: () => void;
  /** The same for old connections only: new ones work. */
  strand: () => void;
  /** New connections work again. */
  restore: () => void;
  close: () => void;
};

export async function openWire(databaseUrl: string): Promise<Wire> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const stranded = new WeakSet<Socket>();
  let mode: 'open' | 'cut' | 'silent' = 'open';

  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (mode === 'cut') return client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('data', (data) => mode === 'open' && !stranded.has(from) && to.write(data));
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));

  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cut() {
      mode = 'cut';
      breakAll();
    },
    swallow() {
      mode = 'silent';
    },
    strand() {
      for (const socket of sockets) stranded.add(socket);
    },
    restore() {
      // What was swallowed is lost, so those connections cannot continue.
      if (mode === 'silent') breakAll();
      mode = 'open';
    },
    close() {
      server.close();
      breakAll();
    },
  };
}
