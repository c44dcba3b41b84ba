import { type Fetch, ListenError, type Listener, type ListenOptions, lingerMs } from './listener.ts';

type DenoServer = { addr: { port: number }; shutdown: () => Promise<void> };
declare const Deno: {
  serve: (
    options: { hostname: string; port: number; onListen: () => void },
    handler: (request: Request, info: { remoteAddr: { hostname: string } }) => Promise<Response>,
  ) => DenoServer;
};

// For handlers that are still at work if a body never arrives.
const lastMs = 1_000;

export async function listen(fetch: Fetch, options: ListenOptions): Promise<Listener> {
  const { host, port } = options;
  let underWay = 0;
  let server: DenoServer;
  try {
    server = Deno.serve({ hostname: host, port, onListen: () => undefined }, async (request, info) => {
      underWay++;
      try {
        return await fetch(request, { address: info.remoteAddr.hostname });
      } finally {
        underWay--;
      }
    });
  } catch (error) {
    throw new ListenError((error as { code?: string }).code ?? (error as Error).name, options);
  }
  return {
    port: server.addr.port,
    async close(graceMs) {
      const isOver = new Promise<void>((done) => setTimeout(done, graceMs));
      // `shutdown` cuts idle connections, and with them requests that are just arriving.
      await new Promise((done) => setTimeout(done, Math.min(lingerMs, graceMs)));
      // `shutdown` takes away the bodies that handlers still read, so wait for a moment in which no body is read. If a client
      // hangs, the others still get their answers in the end.
      const waitUntil = performance.now() + graceMs - lingerMs - lastMs;
      while (underWay > 0 && performance.now() < waitUntil) await new Promise((done) => setTimeout(done, 20));
      // Deno has no way to cut off what is left; the end of the process does.
      await Promise.race([server.shutdown(), isOver]);
    },
  };
}
