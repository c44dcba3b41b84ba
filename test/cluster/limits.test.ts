// What HAProxy and nginx allow one IP address (docs/operate/proxy.md): an office can work, and a flood is refused before it
// reaches an instance.
import { createServer, type ServerResponse } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Balancer, closeServers, startBalancer, startNginx } from '../support/machines/balancer.ts';

type Got = { status: number; retryAfter: string | undefined };

/** Asks over one connection, as a browser does. */
function ask(session: ClientHttp2Session, path: string, method = 'GET'): Promise<Got> {
  return new Promise((done, failed) => {
    const stream = session.request({ ':path': path, ':method': method });
    stream.on('response', (headers) =>
      done({ status: Number(headers[':status']), retryAfter: headers['retry-after']?.toString() }),
    );
    stream.on('error', failed);
    stream.resume().end();
  });
}

const page = (answer: ServerResponse) => {
  answer.end('ok');
};

describe.each([
  ['HAProxy', (ports: [number, number]) => startBalancer(ports, {}, { hasLimits: true })],
  ['nginx', (ports: [number, number]) => startNginx(ports, { hasLimits: true })],
])('%s', (_, start) => {
  let handle = page;
  let count = 0;
  const servers = [0, 1].map(() =>
    createServer((request, answer) => {
      if (request.url === '/readyz') {
        answer.end();
        return;
      }
      count++;
      handle(answer);
    }),
  );
  let balancer: Balancer;
  // Each test starts a proxy of its own, so no tries are counted yet.
  beforeEach(async () => {
    handle = page;
    const ports = servers.map((server) => (server.address() as AddressInfo).port);
    balancer = await start([ports[0] ?? 0, ports[1] ?? 0]);
    count = 0;
    return () => balancer.close();
  });
  beforeAll(async () => {
    for (const server of servers) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });
  afterAll(() => closeServers(servers));

  const open = () =>
    new Promise<ClientHttp2Session>((done, failed) => {
      const session = connect(`https://localhost:${balancer.port}`, { rejectUnauthorized: false });
      session.once('connect', () => done(session)).once('error', failed);
    });

  it('lets sixty people behind one address log in in the same moment, each with the files of the pages', async () => {
    const way = ['/login', '/login', '/sso/launch/marketplace', '/profile', '/profile/security'];
    const logIn = async () => {
      const session = await open();
      const all: Got[] = [];
      for (const [n, path] of way.entries()) {
        all.push(await ask(session, path, n === 1 ? 'POST' : 'GET'));
        if (n === 0)
          all.push(
            ...(await Promise.all(Array.from({ length: 12 }, (_, n) => ask(session, `/assets/${n}.js`)))),
          );
      }
      session.close();
      return all;
    };
    // An office may have more than 20 logins under way at the same time. The test sends 20 at a time, because here one computer
    // makes all of them.
    const answers: Got[] = [];
    for (let group = 0; group < 3; group++)
      answers.push(...(await Promise.all(Array.from({ length: 20 }, logIn))).flat());
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answers).toHaveLength(60 * 17);
  });

  it('refuses requests from one address that are too many in ten seconds, and says when to come again', async () => {
    const answers: Got[] = [];
    for (let n = 0; n < 4; n++) {
      const session = await open();
      for (let m = 0; m < 20; m++)
        answers.push(...(await Promise.all(Array.from({ length: 20 }, () => ask(session, '/login')))));
      session.close();
    }
    const refused = answers.filter(({ status }) => status === 429);
    // If the requests take longer, the proxy allows more of them, so the exact number varies.
    expect(refused.length).toBeGreaterThan(200);
    expect(new Set(refused.map(({ retryAfter }) => retryAfter))).toEqual(new Set(['10']));
    expect(answers.length - refused.length).toBe(count);
    // A few of the allowed requests only checked whether the proxy was there.
    expect(count).toBeGreaterThan(590);
    // Cached files are not counted.
    const session = await open();
    expect((await ask(session, '/assets/a.js')).status).toBe(200);
    session.close();
  });

  it('refuses forms that are too many in ten seconds, and no pages for that', async () => {
    const session = await open();
    const answers: Got[] = [];
    for (let n = 0; n < 15; n++)
      answers.push(
        ...(await Promise.all(Array.from({ length: 20 }, () => ask(session, '/signup/confirm', 'POST')))),
      );
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(100);
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(20);
    expect((await ask(session, '/login')).status).toBe(200);
    // The proxy does not count signed requests among the forms.
    expect((await ask(session, '/integrations/crm/signups', 'POST')).status).toBe(200);
    session.close();
  });

  it('lets one address have sixty requests under way, and refuses more at once', async () => {
    const waiting: ServerResponse[] = [];
    handle = (answer) => {
      waiting.push(answer);
    };
    const session = await open();
    const held = Array.from({ length: 60 }, () => ask(session, '/profile/billing'));
    await vi.waitFor(() => expect(waiting).toHaveLength(60), 20_000);
    const more = await Promise.all(Array.from({ length: 4 }, () => ask(session, '/profile/billing')));
    expect(more).toEqual(Array.from({ length: 4 }, () => ({ status: 429, retryAfter: '10' })));
    handle = page;
    expect((await ask(session, '/assets/a.js')).status).toBe(200);
    for (const answer of waiting) answer.end('ok');
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(held.map(() => 200));
    expect((await ask(session, '/profile')).status).toBe(200);
    session.close();
  });
});
