// Clients that hang: they keep a connection, and send or read too slowly, or not at all.
import { connect, type Socket } from 'node:net';

export type Hanging = {
  socket: Socket;
  /** How long after the first byte the other side dropped the connection. Never resolves if the other side keeps it. */
  dropped: Promise<number>;
  answer: () => string;
};

const head = (port: number) => `Host: localhost:${port}\r\nOrigin: http://localhost:${port}\r\n`;
const form = 'Content-Type: application/x-www-form-urlencoded\r\n';

/** What each hanging client sends first, and what it then sends again and again. */
export const habits = {
  'sends nothing': () => ['', ''],
  'sends its request line slowly': () => ['GET /lo', 'a'],
  'sends its headers slowly': (port) => [`GET /login HTTP/1.1\r\n${head(port)}X-Slow: `, 'a'],
  'sends its body slowly': (port) => [
    `POST /login HTTP/1.1\r\n${head(port)}${form}Content-Length: 1000\r\n\r\n`,
    'a',
  ],
  'sends its body slowly in pieces': (port) => [
    `POST /login HTTP/1.1\r\n${head(port)}${form}Transfer-Encoding: chunked\r\n\r\n`,
    '1\r\na\r\n',
  ],
} satisfies Record<string, (port: number) => [first: string, then: string]> as Record<
  string,
  (port: number) => [first: string, then: string]
>;

/** Opens a hanging client, which goes on until it is dropped or its socket is destroyed. */
export function openHanging(port: number, habit: string, pauseMs = 1_000): Hanging {
  const [first = '', then = ''] = habits[habit]?.(port) ?? [];
  const socket = connect(port, '127.0.0.1');
  const startedAt = performance.now();
  let answer = '';
  if (first) socket.write(first);
  const timer = then ? setInterval(() => socket.write(then), pauseMs) : undefined;
  socket.on('data', (data) => {
    answer += data;
  });
  socket.on('error', () => undefined);
  const dropped = new Promise<number>((done) => {
    socket.on('close', () => {
      clearInterval(timer);
      done(performance.now() - startedAt);
    });
  });
  return { socket, dropped, answer: () => answer };
}

/** Opens a client that asks for `path` again and again, and reads none of the answers. */
export function openDeaf(port: number, path: string): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  for (let n = 0; n < 200; n++) socket.write(`GET ${path} HTTP/1.1\r\n${head(port)}\r\n`);
  return socket;
}
