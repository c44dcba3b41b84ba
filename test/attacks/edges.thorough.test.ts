// Attacks on limits and mails, made through a reverse proxy or with a name that anybody can choose. Each succeeded in an
// earlier version.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listen } from '../../server/runtime/node.ts';
import { openApp } from '../support/app/app.ts';
import { shared } from '../support/run/shared.ts';

const proxy = '10.0.0.1';

const app = shared(() => openApp({ env: { TRUSTED_PROXIES: '10.0.0.0/8' } }));

const guess = (forwarded: string, email = `${randomUUID()}@example.test`) =>
  app.send('/login', {
    from: proxy,
    headers: { 'x-forwarded-for': forwarded },
    form: { email, password: 'wrong' },
  });

async function guessTimes(times: number, forwarded: (index: number) => string, email?: string) {
  const statuses: Record<number, number> = {};
  for (let first = 0; first < times; first += 16)
    for (const { status } of await Promise.all(
      Array.from({ length: Math.min(16, times - first) }, (_, n) => guess(forwarded(first + n), email)),
    ))
      statuses[status] = (statuses[status] ?? 0) + 1;
  return statuses;
}

describe('behind a proxy that writes ports', () => {
  it('a stranger uses up their own tries, and nobody else’s', async () => {
    expect(await guessTimes(110, (n) => `203.0.113.7:${1_024 + n}`)).toEqual({ 401: 100, 429: 10 });
    expect((await guess('203.0.113.7')).status).toBe(429);
    expect((await guess('203.0.113.8:1024')).status).toBe(401);
  });

  it('a stranger with IPv6 does as well', async () => {
    expect(await guessTimes(110, (n) => `[2001:db8:7::${n.toString(16)}]:${1_024 + n}`)).toEqual({
      401: 100,
      429: 10,
    });
    expect((await guess('2001:db8:7::1')).status).toBe(429);
    expect((await guess('[2001:db8:8::1]:1024')).status).toBe(401);
  });
});

describe('behind a proxy that writes no address', () => {
  it('strangers use up nobody’s tries', async () => {
    expect(await guessTimes(112, () => 'unknown')).toEqual({ 401: 112 });
    const form = { email: 'merchant@example.test', password: 'local demo password' };
    const owner = await app.send('/login', { from: proxy, headers: { 'x-forwarded-for': 'unknown' }, form });
    expect(owner.status).toBe(303);
  });

  it('the guesses at one account are limited as usual, with any text in the header', async () => {
    const email = 'customer@example.test';
    expect(await guessTimes(112, (n) => `hidden-${n}`, email)).toEqual({ 401: 100, 429: 12 });
  });
});

it('a visitor escapes no limit by what they send before the proxy adds their address', async () => {
  const sent = (n: number) => ['unknown', '', `192.0.2.${n}`, '10.0.0.9', `[::${n}]:1`, ','.repeat(n)][n % 6];
  expect(await guessTimes(112, (n) => `${sent(n)}, 198.51.100.9:${n + 1}`)).toEqual({ 401: 100, 429: 12 });
});

it('a visitor escapes no limit by resetting the connection behind the request', async () => {
  const addresses: string[] = [];
  const listener = await listen(
    (_, { address }) => {
      addresses.push(address);
      return new Response();
    },
    { host: '127.0.0.1', port: 0 },
  );
  const send = (reset: boolean) =>
    new Promise<void>((done) => {
      const socket = connect(listener.port, '127.0.0.1', () => {
        socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
        if (reset) socket.resetAndDestroy();
      });
      socket.once('data', () => socket.destroy());
      socket.once('close', () => done());
    });
  await Promise.all(Array.from({ length: 64 }, () => send(true)));
  await send(false);
  await listener.close(0);
  expect([...new Set(addresses)]).toEqual(['127.0.0.1']);
});
