// Turns a request of Node's own server, which Express uses too, into a `Request`. Turns a `Response` into Node's answer.

export type Incoming = AsyncIterable<Uint8Array> & {
  method?: string | undefined;
  url?: string | undefined;
  /** Express sets this. Express's `url` lacks the path at which a router is mounted. */
  originalUrl?: string;
  headers: Record<string, string | string[] | undefined>;
  /** Whether the whole request has arrived. */
  complete: boolean;
};

export type Outgoing = {
  statusCode: number;
  headersSent?: boolean;
  setHeader(name: string, value: string): unknown;
  appendHeader(name: string, value: string): unknown;
  end(body: Uint8Array): unknown;
};

/** Returns undefined if the next handler has to answer. There is a next handler only with Express. */
export type Answer = (
  request: Request,
  incoming: Incoming,
) => Promise<Response | undefined> | Response | undefined;

/** Neither a strange request nor an error of `answer` may end the process. */
export function createListener(origin: string, answer: Answer, onError: (error: unknown) => void) {
  return async (incoming: Incoming, outgoing: Outgoing, next?: (error?: unknown) => void): Promise<void> => {
    try {
      const request = readRequest(origin, incoming);
      const response = request ? await answer(request, incoming) : new Response(null, { status: 400 });
      if (!response && next) return next();
      await send(response ?? new Response(null, { status: 404 }), incoming, outgoing);
    } catch (error) {
      if (next) return next(error);
      try {
        onError(error);
        if (!outgoing.headersSent) await send(new Response(null, { status: 500 }), incoming, outgoing);
      } catch {
        // The sender has gone, so there is nobody to tell.
      }
    }
  };
}

/**
 * Undefined if no `Request` can be made, for example for `TRACE`, or if the first line has a whole URL. The request's origin
 * is always `origin`.
 */
function readRequest(origin: string, incoming: Incoming): Request | undefined {
  const { method = 'GET', originalUrl, url = '', headers } = incoming;
  const path = originalUrl ?? url;
  if (!path.startsWith('/')) return undefined;
  const pairs = Object.entries(headers).flatMap(([name, value = []]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  const body =
    method === 'GET' || method === 'HEAD' ? {} : { body: streamBody(incoming), duplex: 'half' as const };
  try {
    return new Request(origin + path, { method, headers: pairs, ...body });
  } catch {
    return undefined;
  }
}

/** Reads from the sender only as much as the reader asks for. */
function streamBody(incoming: Incoming): ReadableStream<Uint8Array> {
  let chunks: AsyncIterator<Uint8Array> | undefined;
  return new ReadableStream(
    {
      async pull(controller) {
        // The iterator is made at the first read. If nothing is read here, the next handler can still read the body.
        chunks ??= incoming[Symbol.asyncIterator]();
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

async function send(response: Response, incoming: Incoming, outgoing: Outgoing): Promise<void> {
  const body = new Uint8Array(await response.arrayBuffer());
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) if (name !== 'set-cookie') outgoing.setHeader(name, value);
  for (const cookie of response.headers.getSetCookie()) outgoing.appendHeader('Set-Cookie', cookie);
  // Closes the connection, because the sender may never end the body.
  if (!incoming.complete) outgoing.setHeader('Connection', 'close');
  outgoing.end(body);
}
