// Listening on Deno.
import type { Fetch } from '../shell.ts';
import { ListenError, type Listener, type ListenOptions } from './listen.ts';

type DenoServer = { addr: { port: number }; shutdown: () => Promise<void> };
declare const Deno: {
  serve: (
    options: { hostname: string; port: number; signal: AbortSignal; onListen: () => void },
    handler: (request: Request, info: { remoteAddr: { hostname: string } }) => Promise<Response>,
  ) => DenoServer;
};

export async function listen(fetch: Fetch, { host, port }: ListenOptions): Promise<Listener> {
  const abort = new AbortController();
  let server: DenoServer;
  try {
    server = Deno.serve(
      { hostname: host, port, signal: abort.signal, onListen: () => undefined },
      (request, info) => fetch(request, { address: info.remoteAddr.hostname }),
    );
  } catch (error) {
    throw new ListenError((error as { code?: string }).code ?? (error as Error).name, { host, port });
  }
  return {
    port: server.addr.port,
    async close(graceMs) {
      const timer = setTimeout(() => abort.abort(), graceMs);
      await server.shutdown();
      clearTimeout(timer);
    },
  };
}
