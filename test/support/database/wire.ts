// A TCP connection between the service and its database that a test can cut or silence.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Wire = {
  /** The URL of the database through this wire. */
  url: string;
  /** Breaks all connections, and every new one. */
  cut: () => void;
  /** Accepts everything and answers nothing, on old and new connections. */
  swallow: () => void;
  /** Accepts everything and answers nothing on old connections only: new ones work. */
  strand: () => void;
  /** Passes on what the service sends, and nothing that comes back. */
  deafen: () => void;
  /** Delays every answer by this time. */
  delay: (ms: number) => void;
  /** New connections work again. */
  restore: () => void;
  close: () => void;
};

/**
 * Called with all that the service sends. `lost`: it does not arrive, and the connection breaks. `unanswered`: it arrives, and the
 * connection breaks before the answer comes.
 */
type OnSend = (data: Buffer) => 'lost' | 'unanswered' | undefined;

export async function openWire(databaseUrl: string, onSend?: OnSend): Promise<Wire> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const stranded = new WeakSet<Socket>();
  let mode: 'open' | 'cut' | 'silent' | 'deaf' = 'open';
  let delayMs = 0;

  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (mode === 'cut') return client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('data', (data) => {
        if (stranded.has(from) || (mode !== 'open' && !(mode === 'deaf' && from === client))) return;
        const fate = from === client ? onSend?.(data) : undefined;
        if (fate === 'lost') return void client.destroy();
        if (fate === 'unanswered') {
          stranded.add(upstream);
          return void to.write(data, () => setTimeout(() => client.destroy(), 300));
        }
        if (delayMs > 0 && from === upstream) setTimeout(() => to.write(data), delayMs);
        else to.write(data);
      });
      // Without this, the database would wait for a client that has hung up.
      from.on('end', () => to.end());
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
  // With `host` in the URL, the driver would use the Unix socket and not this port.
  url.searchParams.delete('host');
  return {
    url: url.href,
    cut() {
      mode = 'cut';
      breakAll();
    },
    swallow() {
      mode = 'silent';
    },
    deafen() {
      mode = 'deaf';
    },
    delay(ms) {
      delayMs = ms;
    },
    strand() {
      for (const socket of sockets) stranded.add(socket);
    },
    restore() {
      // Swallowed bytes are lost, so their connections cannot go on.
      if (mode === 'silent' || mode === 'deaf') breakAll();
      mode = 'open';
      delayMs = 0;
    },
    close() {
      server.close();
      breakAll();
    },
  };
}
