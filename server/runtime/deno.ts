// Listening on Deno.
import type { Fetch } from '../http/shell.ts';
import { ListenError, type Listener, type ListenOptions } from './listener.ts';

type DenoServer = { addr: { port: number }; shutdown: () => Promise<void> };
declare const Deno: {
  serve: (
    options: { hostname: string; port: number; signal: AbortSignal; onListen: () => void },
    handler: (request: Request, info: { remoteAddr: { hostname: string } }) => Promise<Response>,
  ) => DenoServer;
};

export async function listen(fetch: Fetch, { host, port }: ListenOptions): Promise<Listener> {
  const abort = new AbortController();
  let underWay = 0;
  let server: DenoServer;
  try {
    server = Deno.serve(
      { hostname: host, port, signal: abort.signal, onListen: () => undefined },
      async (request, info) => {
        underWay++;
        try {
          return await fetch(request, { address: info.remoteAddr.hostname });
        } finally {
          underWay--;
        }
      },
    );
  } catch (error) {
    throw new ListenError((error as { code?: string }).code ?? (error as Error).name, { host, port });
  }
  return {
    port: server.addr.port,
    async close(graceMs) {
      const timer = setTimeout(() => abort.abort(), graceMs);
      // `shutdown` lets handlers finish, but takes away the bodies that they still read.
      while (underWay > 0 && !abort.signal.aborted) await new Promise((done) => setTimeout(done, 20));
      await server.shutdown();
      clearTimeout(timer);
    },
  };
}
