// Clients that send slowly, too much, or in ambiguous forms. On Deno the proxy drops slow clients (docs/operate/proxy.md).
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { describe, expect, inject, it } from 'vitest';
import { findFreePort, type RunningProcess, type Runtime, startService } from '../support/app/process.ts';
import { cloneDatabase, type TestDatabase } from '../support/database/postgres.ts';
import { byForm } from '../support/faults/faults.ts';
import { type Hanging, habits, openHanging } from '../support/faults/hanging.ts';
import { percentile, runOpenLoop } from '../support/load/open-loop.ts';
import { shared } from '../support/run/shared.ts';

type Service = RunningProcess & { port: number };

async function openService(runtime: Runtime): Promise<Service & { close: () => Promise<void> }> {
  const database: TestDatabase = await cloneDatabase(inject('templateUrl'));
  const port = await findFreePort();
  const service = await startService(runtime, port, { DATABASE_URL: database.url });
  return {
    port,
    ...service,
    async close() {
      service.child.kill('SIGKILL');
      await service.exited;
      await database.drop();
    },
  };
}

/** Reads until the connection closes, or until nothing more has come for a while. */
function exchange(port: number, parts: string[], patienceMs = 5_000): Promise<string> {
  return new Promise((done) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', async () => {
      for (const part of parts) {
        if (socket.destroyed) break;
        await new Promise((written) => socket.write(part, 'latin1', written));
      }
    });
    socket.setTimeout(patienceMs, () => socket.destroy());
    socket.on('data', (data) => {
      answer += data.toString('latin1');
      socket.setTimeout(2_000);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => done(answer));
  });
}

const statusesOf = (answer: string) =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

it('slow clients on Node are dropped within 15 s, while others are served as ever (contract 9.150)', async () => {
  const service = await openService('node');
  const count = byForm({ short: 50, long: 500 });
  const measureOthers = async (seconds: number) => {
    const ask = () => ({ kind: 'launch', method: 'GET' as const, path: '/sso/launch/marketplace' });
    const sent = await runOpenLoop({ port: service.port, perSecond: 100, seconds, ask });
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([303]));
    return percentile(
      sent.map(({ ms }) => ms),
      0.99,
    );
  };
  await measureOthers(byForm({ short: 1, long: 5 }));
  const usualMs = await measureOthers(byForm({ short: 2, long: 10 }));
  const names = Object.keys(habits);
  const clients: Hanging[] = [];
  for (let n = 0; n < count; n++) {
    clients.push(openHanging(service.port, names[n % names.length] ?? ''));
    // The clients start at different moments, so that they do not all send at the same moment of each second.
    await pause(2);
  }
  const meanwhileMs = await measureOthers(byForm({ short: 5, long: 10 }));
  for (const { dropped } of clients) expect(await dropped).toBeLessThan(15_000);
  for (const { answer } of clients) expect(statusesOf(answer())).toEqual(['408']);
  // The short form does not check times, because other tests run on this machine beside it.
  if (byForm({ short: false, long: true })) expect(meanwhileMs).toBeLessThan(2 * usualMs + 20);
  await service.close();
});

describe.each<Runtime>(['node', 'deno'])('on %s', (runtime) => {
  const service = shared(() => openService(runtime));

  const head = () => `Host: localhost:${service.port}\r\nOrigin: http://localhost:${service.port}\r\n`;
  const residentBytes = async () => {
    const status = await readFile(`/proc/${service.child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1_024;
  };

  it('a body over 64 KiB is refused on every path, and not kept', async () => {
    const piece = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const many = Array(200).fill(piece) as string[];
    const paths = ['/login', '/profile', '/sso/profile', '/trpc/profile.update', '/nowhere'];
    const sendAll = async (times: number) => {
      const answers = [...paths, '/integrations/crm/signups'].flatMap((path) => {
        const start = `POST ${path} HTTP/1.1\r\n${head()}`;
        return ['Content-Length: 4000000000', 'Transfer-Encoding: chunked'].flatMap((length) =>
          Array.from({ length: times }, async () => ({
            path,
            length,
            statuses: statusesOf(await exchange(service.port, [`${start}${length}\r\n\r\n`, ...many])),
          })),
        );
      });
      for (const { statuses, path, length } of await Promise.all(answers))
        expect(statuses, `${path}, ${length}`).toEqual(['413']);
    };
    // A process that has just started grows with its first requests, whatever they ask for.
    await sendAll(1);
    const before = await residentBytes();
    await sendAll(4);
    expect((await residentBytes()) - before).toBeLessThan(64 * 1_024 * 1_024);
  });

  it('a body with GET is refused on every path where it is long or of unknown length', async () => {
    const refuse = async (path: string, rest: string) =>
      statusesOf(await exchange(service.port, [`GET ${path} HTTP/1.1\r\n${head()}${rest}`]))[0];
    const paths = ['/login', '/healthz', '/sso/profile', '/nowhere'];
    const long = paths.map((path) => refuse(path, `Content-Length: 70000\r\n\r\n${'x'.repeat(100)}`));
    expect(await Promise.all(long)).toEqual(paths.map(() => '413'));
    // Contract 9.153.
    const unknown = paths.map((path) =>
      refuse(path, 'Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'),
    );
    expect(await Promise.all(unknown)).toEqual(paths.map(() => '400'));
  });

  it.each([
    ['two lengths', 'Content-Length: 3\r\nContent-Length: 30\r\n\r\na=b'],
    ['a length and pieces', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n0\r\n\r\n'],
    ['pieces and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\na=b\r\n0\r\n\r\n'],
    ['an unknown encoding', 'Transfer-Encoding: xchunked\r\n\r\na=b'],
    ['pieces that are not the last encoding', 'Transfer-Encoding: chunked, identity\r\n\r\na=b'],
    ['a space before the colon', 'Transfer-Encoding : chunked\r\n\r\n3\r\na=b\r\n0\r\n\r\n'],
    ['a folded header', 'X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\na=b'],
    ['a length with a sign', 'Content-Length: +3\r\n\r\na=b'],
  ])('a request with %s is refused, and its connection closed', async (_, rest) => {
    const form = 'Content-Type: application/x-www-form-urlencoded\r\n';
    const answer = await exchange(service.port, [
      `POST /login HTTP/1.1\r\n${head()}${form}${rest}GET /healthz HTTP/1.1\r\n${head()}\r\n`,
    ]);
    expect(statusesOf(answer)).toEqual(['400']);
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  });

  it('pipelined requests are answered in turn', async () => {
    const paths = ['/healthz', '/nowhere', '/sso/profile', '/readyz'];
    const answer = await exchange(service.port, [
      paths.map((path) => `GET ${path} HTTP/1.1\r\n${head()}\r\n`).join(''),
    ]);
    expect(statusesOf(answer)).toEqual(['200', '404', '401', '200']);
  });

  // Deno reads some 200 KiB before it refuses.
  it.each(runtime === 'node' ? [17, 300] : [300])(
    'a request line or headers of %i KiB are refused at once',
    async (size) => {
      const long = 'x'.repeat(size * 1_024);
      for (const request of [
        `GET /${long} HTTP/1.1\r\n${head()}\r\n`,
        `GET /healthz HTTP/1.1\r\n${head()}X-Long: ${long}\r\n\r\n`,
        `GET /healthz HTTP/1.1\r\n${head()}${'X-Many: yes\r\n'.repeat((size * 1_024) / 'X-Many'.length)}\r\n`,
      ]) {
        const [status] = statusesOf(await exchange(service.port, [request]));
        expect(['400', '414', '431']).toContain(status);
      }
    },
  );
});
