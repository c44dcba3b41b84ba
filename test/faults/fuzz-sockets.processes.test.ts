// Generated requests on the wire, whole and broken, to the built service: it answers or closes the connection, and keeps
// running.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadPages } from '../../server/instance/build.ts';
import { type Config, readConfig } from '../../server/settings/config.ts';
import { findFreePort, type RunningProcess, type Runtime, startService } from '../support/app/process.ts';
import { cloneDatabase, type TestDatabase } from '../support/database/postgres.ts';
import { byForm } from '../support/faults/faults.ts';
import { buildRequests, type FuzzRequest, signRequest } from '../support/faults/fuzz.ts';
import { headerText } from '../support/faults/odd-text.ts';
import { fc } from '../support/run/random.ts';

const runtimes = byForm<Runtime[]>({ short: ['node'], long: ['node', 'deno'] });
const batches = byForm({ short: 10, long: 200 });
const batchSize = 20;
const longestMs = 1_000;
const triesInTime = 3;
// The service may wait for the rest of a broken request, so the test gives up first.
const patienceWithBrokenMs = 250;

type Break = (bytes: Buffer) => Buffer;

const insertBefore =
  (mark: string, more: string): Break =>
  (bytes: Buffer) => {
    const at = bytes.indexOf(mark);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(more, 'latin1'), bytes.subarray(at)]);
  };

const breaks: fc.Arbitrary<Break> = fc.oneof(
  fc
    .double({ min: 0, max: 0.99, noNaN: true })
    .map((share) => (bytes: Buffer) => bytes.subarray(0, bytes.length * share)),
  fc
    .array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 5 })
    .map((flips) => (bytes: Buffer) => {
      const broken = Buffer.from(bytes);
      for (const [at, byte] of flips) broken[at % broken.length] = byte;
      return broken;
    }),
  headerText.map((value) => insertBefore('Host:', `${value}\r\n`)),
  fc
    .constantFrom('-1', '1e3', '+5', '0x10', '99999999999999999999', '5\r\nContent-Length: 6', ' ')
    .map((length) => insertBefore('Host:', `Content-Length: ${length}\r\n`)),
  fc
    .constantFrom(
      'zz\r\n',
      '5\r\nab\r\n',
      'ffffffffffffffff\r\n',
      '0\r\n\r\nGET / HTTP/1.1\r\n',
      '1;\0=x\r\na\r\n0\r\n\r\n',
    )
    .map((chunks) => (bytes: Buffer) => {
      const head = bytes.subarray(0, bytes.indexOf('\r\n\r\n') + 2);
      return Buffer.concat([head, Buffer.from(`Transfer-Encoding: chunked\r\n\r\n${chunks}`, 'latin1')]);
    }),
  fc
    .constantFrom(
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\x16\x03\x01\x02\0',
      'GET /\r\n\r\n',
      '\r\n'.repeat(50),
    )
    .map((start) => (bytes: Buffer) => Buffer.concat([Buffer.from(start, 'latin1'), bytes])),
  fc.nat(60_000).map((length) => insertBefore('Host:', `X-Long: ${'x'.repeat(length)}\r\n`)),
  fc.constant((bytes: Buffer) => Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')),
);

type Sent = { request: FuzzRequest; broken: Break | undefined };

function render({ method, target, headers, body }: FuzzRequest, { host }: URL): Buffer {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body ? [`Content-Length: ${body.length}`] : []),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)]);
}

/** Returns the status, or undefined if the connection was closed without one. */
function exchange(port: number, bytes: Buffer, patienceMs: number): Promise<{ status?: number; ms: number }> {
  const startedAt = performance.now();
  return new Promise((done) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const timer = setTimeout(() => socket.destroy(), patienceMs);
    socket.on('data', (data) => {
      answer += data.toString('latin1');
    });
    // The service may close the connection before it has read all of a request that it refuses.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1];
      done({ ms: performance.now() - startedAt, ...(status && { status: Number(status) }) });
    });
  });
}

describe.each(runtimes)('the service on %s', (runtime) => {
  let database: TestDatabase;
  let service: RunningProcess;
  let config: Config;
  let requests: fc.Arbitrary<Sent[]>;
  beforeAll(async () => {
    database = await cloneDatabase(inject('templateUrl'));
    const port = await findFreePort();
    config = readConfig({ PORT: String(port) });
    service = await startService(runtime, port, { DATABASE_URL: database.url });
    const patterns = [...(await loadPages()).routes.map(({ path }) => path), '/healthz', '/readyz'];
    requests = fc.array(
      fc.record({
        request: buildRequests(config, patterns),
        broken: fc.option(breaks, { freq: 1, nil: undefined }),
      }),
      { minLength: batchSize, maxLength: batchSize },
    );
  });
  afterAll(async () => {
    service.child.kill('SIGTERM');
    await service.exited;
    await database.drop();
  });

  async function send({ request, broken }: Sent): Promise<{ status?: number; ms: number }> {
    const bytes = render(await signRequest(config, request), new URL(config.baseUrl));
    if (broken) return exchange(config.port, broken(bytes), patienceWithBrokenMs);
    let answer = await exchange(config.port, bytes, 15_000);
    for (let tries = 1; answer.ms > longestMs && tries < triesInTime; tries++)
      answer = await exchange(config.port, bytes, 15_000);
    return answer;
  }

  it(`goes on after ${batches * batchSize} generated requests, whole and broken`, async () => {
    let whole = 0;
    const property = fc.asyncProperty(requests, async (batch) => {
      for (const [at, { status, ms }] of (await Promise.all(batch.map(send))).entries()) {
        const what = `${batch[at]?.request.method} ${batch[at]?.request.target}`;
        expect([500, 503], what).not.toContain(status);
        if (batch[at]?.broken) continue;
        whole++;
        expect(status, what).toBeGreaterThanOrEqual(200);
        expect(ms, what).toBeLessThan(longestMs);
      }
    });
    await fc.assert(property, { numRuns: batches });
    expect(whole).toBeGreaterThan((batches * batchSize) / 4);
    expect(service.child.exitCode).toBeNull();
    expect((await fetch(`${config.baseUrl}/readyz`)).status).toBe(200);
    const lines = service.output().split('\n');
    expect(lines.filter((line) => /"level":[56]0|unhandled|uncaught/i.test(line))).toEqual([]);
  }, 900_000);
});
