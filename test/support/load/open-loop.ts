// Load in an open loop: requests are sent on time, even if earlier ones have no answer. It speaks HTTP itself, at little cost.
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Asked } from '../../bench/population.ts';

export type Sent = {
  kind: string;
  /** The status; 0 if the connection broke, or nothing came in time. */
  status: number;
  /** Milliseconds from the time at which the request was due. */
  ms: number;
  /** Milliseconds from the time at which the request was sent. This leaves out the wait for a connection. */
  msOnConnection: number;
  /** When the request was due, in milliseconds since the start. */
  at: number;
  /** The answer, if it is an error of the server. */
  text?: string;
};

export type OpenLoop = {
  port: number;
  /** Whether the port speaks TLS; any certificate will do. */
  tls?: boolean;
  perSecond: number;
  seconds: number;
  ask: () => Asked & { kind: string };
  /**
   * The most connections at the same time, as with a balancer. Further requests wait for a free connection, and the wait counts
   * in their time.
   */
  connections?: number;
  /** How many connections are open before the load starts, as a balancer keeps them. */
  kept?: number;
  /** A request that waits longer counts as failed. */
  patienceMs?: number;
  /** Whether a request is sent again, as browsers do, if the other side has closed a connection that was used before. */
  sendsAgain?: boolean;
  /** Ends the load early. If `perSecond` is more than `connections` can carry, the load is a flood until this signal comes. */
  signal?: AbortSignal;
};

type Waiting = { kind: string; at: number; done: (status: number, text?: string) => void };

/** Runs the load. Resolves with every request when all of them have an answer or have waited too long. */
export async function runOpenLoop(load: OpenLoop): Promise<Sent[]> {
  const {
    port,
    tls = false,
    perSecond,
    seconds,
    ask,
    patienceMs = 10_000,
    connections = Number.POSITIVE_INFINITY,
    kept = 0,
    sendsAgain = false,
    signal,
  } = load;
  const sent: Sent[] = [];
  const free: Connection[] = [];
  const open = new Set<Connection>();
  for (let opened = 0; opened < kept; opened++) free.push(openConnection(port, tls, open));
  const startedAt = performance.now();
  let underWay = 0;
  let made = 0;
  // Takes the connection that was used last, so that the other side can close idle ones. Skips connections that the other side
  // has closed already.
  const takeKept = () => {
    for (let next = free.pop(); next; next = free.pop()) if (next.isUsable()) return next;
    return undefined;
  };
  const send = () => {
    const at = (made++ * 1_000) / perSecond;
    const asked = ask();
    underWay++;
    const keptConnection = takeKept();
    let connection = keptConnection ?? openConnection(port, tls, open);
    let mayGoAgain = sendsAgain && keptConnection !== undefined;
    let isDone = false;
    const sentAt = performance.now();
    const finish = (status: number, text?: string) => {
      if (isDone) return;
      if (status === 0 && mayGoAgain) {
        mayGoAgain = false;
        connection = openConnection(port, tls, open);
        connection.send(request, waiting);
        return;
      }
      isDone = true;
      underWay--;
      clearTimeout(timer);
      sent.push({
        kind: asked.kind,
        status,
        at,
        ms: performance.now() - startedAt - at,
        msOnConnection: performance.now() - sentAt,
        ...(text && { text }),
      });
      if (connection.isUsable()) free.push(connection);
    };
    const timer = setTimeout(() => {
      mayGoAgain = false;
      connection.break();
    }, patienceMs);
    const [request, waiting] = [writeRequest(port, asked), { kind: asked.kind, at, done: finish }];
    connection.send(request, waiting);
  };
  await new Promise<void>((done) => {
    const tick = setInterval(() => {
      const elapsed = performance.now() - startedAt;
      const due = Math.min(elapsed, seconds * 1_000) * (perSecond / 1_000);
      while (!signal?.aborted && made < due && (free.length > 0 || open.size < connections)) send();
      const isOver = (elapsed >= seconds * 1_000 && made >= due) || signal?.aborted;
      if (!isOver || underWay > 0) return;
      clearInterval(tick);
      done();
    }, 2);
  });
  for (const connection of open) connection.break();
  return sent;
}

type Connection = {
  send: (request: string, waiting: Waiting) => void;
  isUsable: () => boolean;
  break: () => void;
};

function openConnection(port: number, tls: boolean, open: Set<Connection>): Connection {
  const options = { host: '127.0.0.1', port };
  const socket: Socket = tls
    ? connectTls({ ...options, servername: 'localhost', rejectUnauthorized: false })
    : connect(options);
  socket.setNoDelay(true);
  let waiting: Waiting | undefined;
  let isClosed = false;
  let got = '';
  let needed = 0;
  const settle = (status: number) => {
    const { done } = waiting ?? {};
    const text = status >= 500 ? got : undefined;
    waiting = undefined;
    got = '';
    needed = 0;
    done?.(status, text);
  };
  const end = () => {
    isClosed = true;
    open.delete(connection);
    settle(0);
  };
  socket.on('data', (data) => {
    got += data.toString('latin1');
    if (needed === 0) {
      const headEnd = got.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = got.slice(0, headEnd);
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      // Pages come in chunks, and the last chunk is empty.
      needed = length === undefined ? -1 : headEnd + 4 + Number(length);
      if (/\r\nconnection: *close/i.test(head)) isClosed = true;
    }
    const isWhole = needed < 0 ? got.endsWith('\r\n0\r\n\r\n') || isBodiless(got) : got.length >= needed;
    if (!isWhole) return;
    // Deno leaves it to the client to close the connection.
    if (isClosed) socket.end();
    settle(Number(got.slice(9, 12)));
  });
  socket.on('error', () => undefined);
  socket.on('close', end);
  const connection: Connection = {
    send(request, next) {
      waiting = next;
      socket.write(request, 'latin1');
    },
    isUsable: () => !isClosed,
    break() {
      socket.destroy();
      end();
    },
  };
  open.add(connection);
  return connection;
}

const isBodiless = (got: string) => /^HTTP\/1\.1 (204|304) /.test(got);

function writeRequest(port: number, { method, path, headers = {}, body = '' }: Asked): string {
  const all = {
    host: `localhost:${port}`,
    ...headers,
    ...(method === 'POST' && { 'content-length': String(body.length) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n');
}

/** The value that this part of the times does not exceed: 0.99 gives the 99th percentile. */
export function percentile(times: number[], part: number): number {
  const sorted = [...times].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
