// HAProxy in front of instances of the service, on docs/operate/files/haproxy.cfg, with a certificate that nobody trusts.
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { findFreePort } from '../app/process.ts';
import { renderOperateFile } from './operate-files.ts';
import { makeOwnFolder, requirePrograms, startProgram, writeOwnFile } from './programs.ts';

const run = promisify(execFile);

export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; text: string };

export type Balancer = {
  port: number;
  send: (
    path: string,
    options?: { method?: string; headers?: Record<string, string>; body?: string },
  ) => Promise<Answer>;
  output: () => string;
  close: () => Promise<void>;
};

/** Starts HAProxy in front of the instances on `ports` of loopback; `replacements` change more of the file. */
export async function startBalancer(
  ports: [number, number],
  replacements: Record<string, string> = {},
): Promise<Balancer> {
  requirePrograms('/usr/sbin/haproxy');
  const folder = await makeOwnFolder();
  const [plainPort, port] = [await findFreePort(), await findFreePort()];
  const args =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost';
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  await run('openssl', [...args.split(' '), '-keyout', key, '-out', certificate]);
  const pem = join(folder, 'identity.pem');
  await writeOwnFile(pem, (await readFile(key, 'utf8')) + (await readFile(certificate, 'utf8')));
  const file = join(folder, 'haproxy.cfg');
  const config = renderOperateFile('haproxy.cfg', {
    'log /dev/log local0': 'log stdout format raw local0',
    '  user haproxy\n  group haproxy\n': '',
    // An unprivileged user may not have as many open files.
    'maxconn 10000': 'maxconn 2000',
    'bind :80\n': `bind 127.0.0.1:${plainPort}\n`,
    'bind :443': `bind 127.0.0.1:${port}`,
    '/etc/haproxy/identity.pem': pem,
    '10.0.0.11:3000': `127.0.0.1:${ports[0]}`,
    '10.0.0.12:3000': `127.0.0.1:${ports[1]}`,
    ...replacements,
  });
  await writeOwnFile(file, config);
  const haproxy = startProgram('/usr/sbin/haproxy', ['-db', '-f', file], { folder });

  const send: Balancer['send'] = (path, { body, ...options } = {}) =>
    new Promise((done, failed) => {
      const sent = request(
        // A new connection for each request: on a used one, HAProxy leaves it to the browser to try again.
        { host: '127.0.0.1', port, path, agent: false, rejectUnauthorized: false, ...options },
        (answer) => {
          let text = '';
          answer.on('data', (chunk) => {
            text += chunk;
          });
          answer.on('end', () => done({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
          answer.on('error', failed);
        },
      );
      sent.on('error', failed);
      sent.end(body);
    });
  const close = async () => {
    await haproxy.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await vi.waitFor(() => send('/'), 10_000);
  } catch (error) {
    await close();
    throw new Error(`HAProxy did not start:\n${haproxy.output()}`, { cause: error });
  }
  return { port, send, output: haproxy.output, close };
}

export type PlainBalancer = Pick<Balancer, 'port' | 'output' | 'close'>;

/** Starts a balancer without TLS, for loads: with TLS they would measure little else. */
export async function startPlainBalancer(ports: number[]): Promise<PlainBalancer> {
  requirePrograms('/usr/sbin/haproxy');
  const folder = await makeOwnFolder();
  const port = await findFreePort();
  const config = renderOperateFile('haproxy.cfg', {
    '  log /dev/log local0\n  user haproxy\n  group haproxy\n': '',
    '  bind :80\n  bind :443 ssl crt /etc/haproxy/identity.pem alpn h2,http/1.1\n': `  bind 127.0.0.1:${port}\n`,
    // More connections take more files than a shell may open.
    'maxconn 10000': 'maxconn 2000',
    '  http-request redirect scheme https code 308 unless { ssl_fc }\n': '',
    '  server one 10.0.0.11:3000\n  server two 10.0.0.12:3000\n': ports
      .map((instance, n) => `  server instance${n} 127.0.0.1:${instance}\n`)
      .join(''),
  });
  const file = join(folder, 'haproxy.cfg');
  await writeOwnFile(file, config);
  const haproxy = startProgram('/usr/sbin/haproxy', ['-db', '-f', file], { folder });
  // Without vitest, because the bench uses this too.
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (let tries = 0; tries < 200 && !(await isReady()); tries++)
    await new Promise((done) => setTimeout(done, 100));
  const close = async () => {
    await haproxy.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { port, output: haproxy.output, close };
}
