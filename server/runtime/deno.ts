import { type Fetch, ListenError, type Listener, type ListenOptions, lingerMs } from './listener.ts';

type DenoServer = { addr: { port: number }; shutdown: () => Promise<void> };
declare const Deno: {
  serve: (
    options: { hostname: string; port: number; onListen: () => void },
    handler: (request: Request, info: { remoteAddr: { hostname: string } }) => Promise<Response>,
  ) => DenoServer;
};

// `shutdown` is called at least this many milliseconds before the end, even if a request is still running, because its body may
// never arrive.
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
      // `shutdown` would cut off idle connections, and with them requests that are just arriving. So this waits before it calls
      // `shutdown`.
      await new Promise((done) => setTimeout(done, Math.min(lingerMs, graceMs)));
      // `shutdown` would cut off bodies that handlers are still reading. So this waits until every request is answered. If one
      // client hangs, the others still get their answers.
      const waitUntil = performance.now() + graceMs - lingerMs - lastMs;
      while (underWay > 0 && performance.now() < waitUntil) await new Promise((done) => setTimeout(done, 20));
      // Deno cannot cut off the remaining requests. The end of the process does that.
      await Promise.race([server.shutdown(), isOver]);
    },
  };
}
