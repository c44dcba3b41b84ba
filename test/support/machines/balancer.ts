// HAProxy, nginx or Caddy in front of instances, on the files of docs/operate/files/, with a certificate that nobody trusts.
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:http2';
import { request } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isByPasskey } from '../../../server/web/requests.ts';
import { findFreePort } from '../app/process.ts';
import { renderOperateFile } from './operate-files.ts';
import {
  makeOwnFolder,
  type RunningProgram,
  requirePrograms,
  startProgram,
  writeOwnFile,
} from './programs.ts';

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

/** Whether the limits of the file apply to this machine, which sends all load. */
type Limits = { hasLimits?: boolean };

// The files exempt 192.0.2.10 from limits. Here the address of this machine takes its place.
const withoutLimits = { '192.0.2.10': '127.0.0.1' };

/** Starts HAProxy in front of the instances on `ports` of loopback. `replacements` change more of the file. */
export async function startBalancer(
  ports: [number, number],
  replacements: Record<string, string> = {},
  { hasLimits = false }: Limits = {},
): Promise<Balancer> {
  requirePrograms('/usr/sbin/haproxy');
  const { folder, key, certificate } = await makeTlsFolder();
  const [plainPort, port] = [await findFreePort(), await findFreePort()];
  const pem = join(folder, 'identity.pem');
  await writeOwnFile(pem, (await readFile(key, 'utf8')) + (await readFile(certificate, 'utf8')));
  const file = join(folder, 'haproxy.cfg');
  const config = renderOperateFile('haproxy.cfg', {
    'log /dev/log local0': 'log stdout format raw local0',
    '  user haproxy\n  group haproxy\n': '',
    // An unprivileged user may open fewer files than this number of connections needs.
    'maxconn 10000': 'maxconn 2000',
    'bind :80\n': `bind 127.0.0.1:${plainPort}\n`,
    'bind :443': `bind 127.0.0.1:${port}`,
    '/etc/haproxy/identity.pem': pem,
    ...addressesOf(ports),
    ...(hasLimits ? {} : withoutLimits),
    ...replacements,
  });
  await writeOwnFile(file, config);
  return await serve(folder, port, startProgram('/usr/sbin/haproxy', ['-db', '-f', file], { folder }));
}

/** Logs in that many times, and reads no answer before `close`: not a byte of a body leaves the balancer. */
export async function logInUnread({ port }: Balancer, count: number): Promise<{ close: () => void }> {
  const session = connect(`https://localhost:${port}`, {
    rejectUnauthorized: false,
    settings: { initialWindowSize: 0 },
  });
  await new Promise((done, failed) => session.once('connect', done).once('error', failed));
  for (let n = 0; n < count; n++) {
    const stream = session.request({ ':method': 'POST', ':path': '/login' });
    stream.on('error', () => undefined).end('email=e&password=p');
  }
  return { close: () => session.destroy() };
}

export type Nginx = Balancer & {
  /** Makes nginx read its file again, without these instances. */
  takeOut: (...ports: number[]) => Promise<void>;
  readAccessLog: () => Promise<string>;
};

export async function startNginx(
  ports: [number, number],
  { hasLimits = false }: Limits = {},
): Promise<Nginx> {
  requirePrograms('/usr/sbin/nginx');
  const { folder, key, certificate } = await makeTlsFolder();
  const [plainPort, port] = [await findFreePort(), await findFreePort()];
  const file = join(folder, 'nginx.conf');
  const writeConfig = (...out: number[]) => {
    const config = renderOperateFile('nginx.conf', {
      'user www-data;\n': '',
      'worker_rlimit_nofile 20000;\n': '',
      // An unprivileged user may open fewer files than this number of connections needs.
      'worker_connections 8000;': 'worker_connections 900;',
      '/run/nginx.pid': join(folder, 'nginx.pid'),
      '/var/log/nginx/error.log': 'stderr',
      '/var/log/nginx/access.log': join(folder, 'access.log'),
      'http {\n': `http {\n${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `  ${name}_temp_path ${join(folder, name)};\n`)
        .join('')}`,
      '    listen [::]:80;\n': '',
      'listen 80;': `listen 127.0.0.1:${plainPort};`,
      '    listen [::]:443 ssl http2;\n': '',
      'listen 443 ': `listen 127.0.0.1:${port} `,
      '/etc/nginx/identity.pem': certificate,
      '/etc/nginx/identity.key': key,
      'id.example.com': 'localhost',
      ...addressesOf(ports),
      ...(hasLimits ? {} : withoutLimits),
    });
    return writeOwnFile(
      file,
      out.reduce((text, one) => text.replaceAll(`127.0.0.1:${one} `, `127.0.0.1:${one} down `), config),
    );
  };
  await writeConfig();
  const nginx = startProgram('/usr/sbin/nginx', ['-c', file, '-g', 'daemon off;'], { folder });
  return {
    ...(await serve(folder, port, nginx)),
    readAccessLog: () => readFile(join(folder, 'access.log'), 'utf8'),
    async takeOut(...out) {
      await writeConfig(...out);
      nginx.signal('SIGHUP');
      // Waits until the new processes of nginx have taken over.
      await new Promise((done) => setTimeout(done, 1_000));
    },
  };
}

export async function startCaddy(ports: [number, number]): Promise<Balancer> {
  requirePrograms('/usr/bin/caddy');
  const { folder, key, certificate } = await makeTlsFolder();
  const [plainPort, port] = [await findFreePort(), await findFreePort()];
  const file = join(folder, 'Caddyfile');
  const config = renderOperateFile('Caddyfile', {
    // Another Caddy may run on this machine, so this Caddy has ports of its own.
    '{\n\tservers {\n': `{\n\tadmin off\n\thttp_port ${plainPort}\n\thttps_port ${port}\n\tservers {\n`,
    'id.example.com {\n': 'localhost {\n\tbind 127.0.0.1\n',
    '/etc/caddy/identity.pem': certificate,
    '/etc/caddy/identity.key': key,
    ...addressesOf(ports),
  });
  await writeOwnFile(file, config);
  const args = ['run', '--config', file, '--adapter', 'caddyfile'];
  return await serve(folder, port, startProgram('/usr/bin/caddy', args, { folder }));
}

async function makeTlsFolder() {
  const folder = await makeOwnFolder();
  const args =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext';
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const files = ['subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate];
  await run('openssl', [...args.split(' '), ...files]);
  for (const file of [key, certificate]) await writeOwnFile(file, await readFile(file, 'utf8'));
  return { folder, key, certificate };
}

const addressesOf = ([one, two]: [number, number]) => ({
  '10.0.0.11:3000': `127.0.0.1:${one}`,
  '10.0.0.12:3000': `127.0.0.1:${two}`,
});

/** Waits until the program answers on `port`. */
async function serve(folder: string, port: number, program: RunningProgram): Promise<Balancer> {
  const send: Balancer['send'] = (path, { body, ...options } = {}) =>
    new Promise((done, failed) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          path,
          servername: 'localhost',
          // Each request has a new connection. If a balancer fails on a connection that was used before, it leaves the next try
          // to the browser.
          agent: false,
          rejectUnauthorized: false,
          // By default, Node refuses answers with headers this long.
          maxHeaderSize: 65_536,
          ...options,
          headers: { host: `localhost:${port}`, ...options.headers },
        },
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
    await program.stop('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  };
  const hasStarted = await retry(() =>
    send('/').then(
      () => true,
      () => false,
    ),
  );
  if (hasStarted) return { port, send, output: program.output, close };
  await close();
  throw new Error(`The balancer did not start:\n${program.output()}`);
}

/** Asks again and again for 20 seconds. It does not use vitest, because the bench calls it, too. */
async function retry(isDone: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 200; tries++) {
    if (await isDone()) return true;
    await new Promise((done) => setTimeout(done, 100));
  }
  return false;
}

export type PlainBalancer = Pick<Balancer, 'port' | 'output' | 'close'>;

/** Starts a balancer without TLS, for measuring load: with TLS, little but TLS would be measured. */
export async function startPlainBalancer(ports: number[]): Promise<PlainBalancer> {
  requirePrograms('/usr/sbin/haproxy');
  const folder = await makeOwnFolder();
  const port = await findFreePort();
  const config = renderOperateFile('haproxy.cfg', {
    '  log /dev/log local0\n  user haproxy\n  group haproxy\n': '',
    '  bind :80\n  bind :443 ssl crt /etc/haproxy/identity.pem alpn h2,http/1.1\n': `  bind 127.0.0.1:${port}\n`,
    ...withoutLimits,
    // More connections need more open files than a shell allows.
    'maxconn 10000': 'maxconn 2000',
    '  http-request redirect scheme https code 308 unless { ssl_fc }\n': '',
    '  server one 10.0.0.11:3000\n  server two 10.0.0.12:3000\n': ports
      .map((instance, n) => `  server instance${n} 127.0.0.1:${instance}\n`)
      .join(''),
  });
  const file = join(folder, 'haproxy.cfg');
  await writeOwnFile(file, config);
  const haproxy = startProgram('/usr/sbin/haproxy', ['-db', '-f', file], { folder });
  await retry(() =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const close = async () => {
    await haproxy.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { port, output: haproxy.output, close };
}

/** Closes servers, with the connections that are still open. */
export function closeServers(servers: Server[]): void {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
}

/** Answers as an instance does: with the longest headers that an answer can have, or with 431 to a request with cookies. */
export function answerAtLength({ headers }: IncomingMessage, answer: ServerResponse): void {
  answer.setHeader('Location', `/login?next=${'n'.repeat(14_000)}`);
  answer.setHeader(
    'Set-Cookie',
    ['a', 'b', 'c'].map((cookie) => `${cookie}=${'c'.repeat(1_300)}`),
  );
  answer.writeHead(headers.cookie ? 431 : 303).end();
}

/** Paths of logins with a password, as attackers spell them. Version 1.0.0 answers the second path, too. */
const spellings = [
  '/login',
  '/login.data',
  '/%6cogin',
  '/x/../login',
  '/login?WITH=passkey',
  '/login?a;with=passkey',
];
spellings.push('/login?with=%70asskey', '/login?%77ith=passkey', '/login?with=x&with=passkeys');
export const spellLogin = (nth: number): string => spellings[nth % spellings.length] ?? '';

/** Makes logins with a password wait, however their path is spelled, and answers everything else. */
export const holdLogins =
  (waiting: ServerResponse[]) =>
  ({ method, url = '' }: IncomingMessage, answer: ServerResponse): void => {
    const isLogin = method === 'POST' && /^\/(x\/\.\.\/)?(login|%6cogin)(\.data)?(\?|$)/.test(url);
    if (isLogin && !isByPasskey(url)) waiting.push(answer);
    else answer.end('ok');
  };
