// Sends server-sent events from a demo client to its open pages.

// A stream sends something at this interval, because a silent connection is closed (server/runtime/node.ts).
const beatMs = 15_000;
const encoder = new TextEncoder();

export function createDemoStreams() {
  const open = new Set<() => void>();
  let hasEnded = false;
  return {
    /**
     * Sends the result of `read` immediately, so that the page misses nothing that happened before it was open. Sends it again
     * each time the watcher is called.
     */
    open(watchers: Set<() => void>, read: () => unknown): Response {
      let close = () => {};
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          const send = (text: string) => controller.enqueue(encoder.encode(`${text}\n\n`));
          const tell = () => send(`data: ${JSON.stringify(read())}`);
          const timer = setInterval(() => send(':'), beatMs);
          close = () => {
            clearInterval(timer);
            watchers.delete(tell);
            if (open.delete(close)) controller.close();
          };
          watchers.add(tell);
          open.add(close);
          tell();
          if (hasEnded) close();
        },
        cancel() {
          open.delete(close);
          close();
        },
      });
      return new Response(body, {
        headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' },
      });
    },
    /** Ends all streams, because an open page would keep the process from stopping. */
    end(): void {
      hasEnded = true;
      for (const close of open) close();
    },
  };
}
