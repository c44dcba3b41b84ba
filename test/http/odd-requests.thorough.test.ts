// Wrong methods, bodies that are too large, malformed HTTP: the service refuses all of them, none with an internal error
// (contract 9.84 to 9.91).
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadPages } from '../../server/instance/build.ts';
import { listen } from '../../server/runtime/listen.ts';
import type { Listener } from '../../server/runtime/listener.ts';
import { openApp, type SendOptions } from '../support/app/app.ts';
import { exchange } from '../support/app/raw-http.ts';
import { quoted } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

let listener: Listener;
let customer: string;
const app = shared(openApp);
beforeAll(async () => {
  listener = await listen(app.fetch, { host: '127.0.0.1', port: 0, refuseHeaders: app.refuseHeaders });
  customer = await app.login('customer@example.test');
});
afterAll(() => listener.close(0));

const ask = (head: string, body?: string) => exchange(listener.port, head, body);

const credentials = { email: 'customer@example.test', password: 'local demo password' };
const read = ['GET', 'HEAD'];
const form = ['GET', 'HEAD', 'POST'];

describe('a method that a path does not support', () => {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
  const paths: [path: string, allowed: string[]][] = [
    ['/', read],
    ['/login', form],
    ['/logout', form],
    ['/profile', form],
    ['/profile/activity', read],
    ['/verify-email', form],
    ['/verify-email/confirm', form],
    ['/forgot-password', form],
    ['/set-password', form],
    ['/invoices/1', read],
    ['/dev/mail', read],
    ['/brand/none.css', read],
    ['/problems/not_found', read],
    ['/sso/profile', read],
    ['/sso/launch/marketplace', read],
    ['/demo/marketplace', form],
    ['/demo/marketplace/login', read],
    ['/demo/marketplace/callback', read],
    ['/healthz', read],
    ['/readyz', read],
  ];

  it.each(paths)('gets 405 with Allow at %s, and does nothing', async (path, allowed) => {
    const cookie = await app.login(credentials.email);
    const profile = async () => (await app.send('/sso/profile', { cookie })).text;
    const before = await profile();
    const body = new URLSearchParams({ ...credentials, intent: 'names', name: path, accountName: path });
    for (const method of methods.filter((name) => !allowed.includes(name))) {
      for (const accept of ['*/*', 'text/html']) {
        const answer = await app.send(path, { method, body, cookie, headers: { accept } });
        expect.soft(answer.status, method).toBe(405);
        expect.soft(answer.headers.get('allow')?.split(', ').sort(), method).toEqual(allowed);
        expect.soft(answer.headers.get('set-cookie'), method).toBeNull();
      }
    }
    expect(await profile()).toBe(before);
  });

  it.each([
    ['GET', '/trpc/profile.update', 'POST'],
    ['POST', '/trpc/profile.get', 'GET'],
  ])('gets 405 when it is %s %s, where only %s is allowed', async (method, path, allow) => {
    const body = method === 'POST' ? { json: {} } : {};
    const answer = await app.send(path, { method, cookie: customer, ...body });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toContain(allow);
    expect(JSON.parse(answer.text).error.json.data.problem).toBe('method_not_allowed');
  });
});

describe('a request body', () => {
  const limit = 64 * 1024;
  const login = (length: number) => `email=${'x'.repeat(length - 'email='.length)}`;
  const asStream = (text: string) => {
    const pieces = text.match(/.{1,10000}/g) ?? [];
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(piece));
      },
    });
  };
  const sent: [how: string, options: (text: string) => SendOptions][] = [
    ['with its length', (text) => ({ body: text, headers: { 'content-length': String(text.length) } })],
    ['in pieces', (text) => ({ body: asStream(text) })],
  ];

  // Contract 9.422.
  it.each(sent)('of 64 KiB is read, and one byte more gets 413, when sent %s', async (_, options) => {
    const post = (text: string) => {
      const { body, headers } = options(text);
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      return app.send('/login', { body, headers: { ...headers, ...type } });
    };
    expect((await post(login(limit))).status).toBe(401);
    const answer = await post(login(limit + 1));
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.text).code).toBe('body_too_large');
  });

  it.each(['/login', '/profile', '/trpc/profile.update', '/sso/profile', '/nowhere'])(
    'that announces too many bytes gets 413 at once at %s',
    async (path) => {
      const head = `POST ${path} HTTP/1.1\r\nOrigin: ${app.config.baseUrl}\r\nContent-Length: 1000000000`;
      expect(statusOf(await ask(head))).toBe(413);
    },
  );
});

describe('headers over 16 KiB (contract 9.263)', () => {
  const cookies = (size: number) => `Cookie: many=${'x'.repeat(size)}`;
  const host = () => `Host: localhost:${listener.port}`;
  const send = (lines: string[], packets = 1) =>
    new Promise<string>((done) => {
      const text = `${lines.join('\r\n')}\r\n\r\n`;
      const socket = connect(listener.port, '127.0.0.1');
      let answer = '';
      socket.on('data', (data) => {
        answer += data;
      });
      socket.on('error', () => undefined);
      socket.on('close', () => done(answer));
      const size = Math.ceil(text.length / packets);
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const next = () => {
        const piece = pieces.shift();
        if (piece !== undefined && socket.writable) socket.write(piece, () => setTimeout(next, 20));
      };
      next();
    });

  it.each([
    ['one packet', 17_000, 1],
    ['several packets', 60_000, 6],
    ['far more than is read', 900_000, 2],
  ])('in %s get a page that says to delete cookies', async (_, size, packets) => {
    const lines = ['GET /profile HTTP/1.1', host(), 'Accept: text/html,*/*;q=0.8', cookies(size)];
    const answer = await send(lines, packets);
    expect(statusOf(answer)).toBe(431);
    expect(answer).toContain('<h1>Your browser sent too much</h1>');
    expect(answer).toContain('Delete the cookies');
    expect(answer).toContain('href="/login"');
    expect(answer).toMatch(/^content-security-policy: .*default-src 'none'/im);
    expect(answer).toMatch(/^cache-control: no-store\r$/im);
    expect(answer).toMatch(/^connection: close\r$/im);
    expect(answer).not.toContain('xxxx');
    const [, length] = /^content-length: (\d+)\r$/im.exec(answer) ?? [];
    expect(Buffer.byteLength(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toBe(Number(length));
  });

  it('are a problem document for a program', async () => {
    const answer = await send(['GET /sso/profile HTTP/1.1', host(), 'Accept: */*', cookies(17_000)]);
    expect(statusOf(answer)).toBe(431);
    const problem = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
    expect(problem).toMatchObject({ status: 431, code: 'headers_too_large' });
  });

  it('are no other refusal: below the bound a request is answered, and what is no HTTP is 400', async () => {
    expect(statusOf(await send(['GET /readyz HTTP/1.1', host(), 'Connection: close', cookies(15_000)]))).toBe(
      200,
    );
    expect(await send(['NONSENSE'])).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  });
});

it('an address of 15,000 characters makes no headers of over 18 KiB, whatever page it is for (contract 9.303)', async () => {
  const { routes } = await loadPages();
  const pages = routes.filter(({ path, methods }) => methods.includes('GET') && !/^\/dev/.test(path));
  const paths = [...pages.map(({ path }) => path), '/nowhere', '/login/', '/admin/nothing'].map((path) =>
    path.replace(':client', 'marketplace').replace(/:\w+|\*$/g, 'x'),
  );
  const query = `${'/'.repeat(7_000)}&next=/profile?${'/'.repeat(8_000)}`;
  for (const path of paths) {
    for (const cookie of ['', customer]) {
      const { status, headers } = await app.send(`${path}?${query}`, {
        cookie,
        headers: { accept: 'text/html' },
      });
      const bytes = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
      expect(bytes, `${path} ${status}`).toBeLessThan(18 * 1_024);
    }
  }
}, 300_000);

const halves = [
  { how: 'of known length', rest: 'Content-Length: 9\r\n\r\nab' },
  { how: 'in chunks', rest: 'Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n' },
];
it.each(
  halves.flatMap(({ how, rest }) =>
    ['/login', '/sso/marketplace/callback'].map((path) => [path, how, rest] as const),
  ),
)(
  'a request to %s, given up half way through a body %s, is logged but is no error',
  async (path, _, rest) => {
    const before = app.logged.length;
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost:3000\r\nOrigin: ${app.config.baseUrl}`;
    const socket = connect(listener.port, '127.0.0.1');
    socket.write(`${head}\r\nContent-Type: application/x-www-form-urlencoded\r\n${rest}`);
    setTimeout(() => socket.destroy(), 1_000);
    await vi.waitFor(() => expect(app.logged.length).toBeGreaterThan(before), 15_000);
    expect(app.logged.slice(before).filter(({ level }) => level === 'error')).toEqual([]);
  },
);

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);

describe('malformed HTTP', () => {
  const heads = [
    ...['/%E0%A4%A', '/sso/launch/%E0%A4%A', '/problems/%E0%A4%A', '/demo/%ff', '/trpc/%E0%A4%A'],
    ...['/login?next=%E0%A4%A', '/login%2Edata', '/.data', '/..data', '/profile.data?_routes=nonsense'],
    ...['/login?_data=', '/profile?_data=routes%2Fprofile', '/sso/profile?_data=x', '/nowhere?_data=root'],
    ...['//', '//login', '///evil.example/%2f..', '/../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd'],
    ...['/assets/%00', '/assets/%ff', '/assets/', '/trpc/__proto__', '/trpc/profile.get?input=%7B'],
    ...['*', 'login', '/a\\b', '/\xff', `/${'x'.repeat(12_000)}`, `/login?${'x'.repeat(20_000)}`],
    'http://evil.example/login',
  ].map((target) => `GET ${target} HTTP/1.1`);

  const methods = ['TRACE', 'OPTIONS', 'SEARCH', 'NONSENSE', 'get'];
  heads.push(...methods.flatMap((name) => [`${name} /login HTTP/1.1`, `${name} /sso/profile HTTP/1.1`]));

  const headers = [
    ...['Host: ', 'Host: a b', 'Host: evil.example:99999', 'Host: user@evil.example', 'Host: /../'],
    ...['Accept: text/html;;;q=abc', 'Accept-Encoding: gzip;q=x, *;q=-1', 'Range: bytes=5-1'],
    ...['Cookie: \xff=\xfe; =; identity_session=\xff', `Cookie: ${'a=b; '.repeat(3_000)}`],
    ...['X-Forwarded-For: ,,, nonsense', 'X-Request-Id: \xff', 'If-None-Match: "', 'Content-Length: -1'],
    ...['Expect: nonsense', 'Upgrade: websocket', 'X-Remix-SPA-Mode: yes', 'Sec-Purpose: \xff'],
  ];
  heads.push(...headers.map((line) => `GET /login HTTP/1.1\r\n${line}`));
  heads.push(...headers.map((line) => `GET /sso/profile HTTP/1.1\r\n${line}`));

  it.each(quoted(heads))('such as %s gets an answer, and is no internal error', async (_, head) => {
    const before = app.logged.length;
    for (const accept of ['*/*', 'text/html']) {
      const answer = await ask(/^accept:/im.test(head) ? head : `${head}\r\nAccept: ${accept}`);
      expect(statusOf(answer)).toBeGreaterThanOrEqual(200);
      expect(statusOf(answer)).toBeLessThan(500);
      expect(answer).not.toMatch(/root:|node_modules|\n\s+at /);
    }
    expect(app.logged.slice(before).filter(({ level }) => level === 'error')).toEqual([]);
  });

  it.each(['/demo/../callback', '/demo/..', '/./login', '/sso/launch/../../healthz'])(
    'such as the path %s, which Deno does not resolve, leads nowhere',
    async (path) => {
      const before = app.logged.length;
      const request = new Request(`${app.config.baseUrl}/`);
      Object.defineProperty(request, 'url', { value: app.config.baseUrl + path });
      expect((await app.fetch(request, { address: '192.0.2.1' })).status).toBe(404);
      expect(app.logged.slice(before).filter(({ level }) => level === 'error')).toEqual([]);
    },
  );

  it.each([
    ['multipart/form-data', 'abc'],
    ['multipart/form-data; boundary=', 'abc'],
    ['multipart/form-data; boundary=x', '--x\r\nContent-Disposition: nonsense\r\n\r\n'],
    ['application/x-www-form-urlencoded; charset=utf-16', 'email=%E0%A4%A&%=%'],
    ['application/x-www-form-urlencoded', 'email=a%00b%40example.test&password=%00'],
    ['application/x-www-form-urlencoded', `email=%ED%A0%80@example.test&password=${'\xff'.repeat(9)}`],
    ['application/x-www-form-urlencoded', '&'.repeat(60_000)],
    ['application/json', '{"json":'],
    ['text/html', '<form>'],
  ])('such as a body that is not really %s gets a refusal (case %#)', async (type, body) => {
    for (const path of ['/login', '/profile', '/trpc/profile.update']) {
      const lines = [
        `POST ${path} HTTP/1.1`,
        `Origin: ${app.config.baseUrl}`,
        `Content-Type: ${type}`,
        `Content-Length: ${Buffer.byteLength(body, 'latin1')}`,
        ...(path === '/login' ? [] : [`Cookie: ${customer}`]),
      ];
      expect([400, 401, 415], path).toContain(statusOf(await ask(lines.join('\r\n'), body)));
    }
  });

  it('leaves the service running', async () => {
    expect(statusOf(await ask('GET /readyz HTTP/1.1'))).toBe(200);
  });
});
