import { connect } from 'node:net';

/** Sends the head of a request byte for byte, and reads until the service closes the connection. */
export function exchange(port: number, head: string, body = ''): Promise<string> {
  const lines = /^host:/im.test(head) ? head : `${head}\r\nHost: localhost:3000`;
  return new Promise((done, failed) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`${lines}\r\nConnection: close\r\n\r\n${body}`, 'latin1');
    });
    socket.setTimeout(15_000, () => socket.destroy(new Error('no answer')));
    socket.on('data', (data) => {
      answer += data.toString('latin1');
    });
    socket.on('error', (error) => (answer ? done(answer) : failed(error)));
    socket.on('end', () => done(answer));
    socket.on('close', () => done(answer));
  });
}
