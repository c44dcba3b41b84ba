// From which IP address a request comes, behind proxies that write the IP address in their own ways (contract 9.158 to 9.162).
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openApp, type SendOptions } from '../support/app/app.ts';
import { openClient } from '../support/app/trpc.ts';
import { cookieOf } from '../support/app/visitor.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(() => openApp({ env: { TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8:ffff::/48' } }));

const proxy = '10.0.0.1';

const login = (forwarded: string, options: SendOptions) =>
  app.send('/login', { from: proxy, headers: { 'x-forwarded-for': forwarded }, ...options });

async function addressOf(forwarded: string, from = proxy): Promise<unknown> {
  const form = { email: `${randomUUID()}@example.test`, password: 'wrong' };
  const id = (await login(forwarded, { form, from })).headers.get('x-request-id');
  const line = app.logged.find((each) => each.fields.requestId === id && each.message === 'login refused');
  return line?.fields.address;
}

describe('the address of a request', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:4711', '203.0.113.7'],
    ['2001:db8::7', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['[2001:db8::7]:4711', '2001:db8::7'],
    ['[2001:DB8:0::7]:1', '2001:db8::7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:65535', '203.0.113.7'],
    [' 203.0.113.7 ', '203.0.113.7'],
    ['198.51.100.1, 203.0.113.7:80', '203.0.113.7'],
    ['198.51.100.1,203.0.113.7:80 , 10.2.2.2:99', '203.0.113.7'],
    ['203.0.113.7, [2001:db8:ffff::1]:443,10.2.2.2', '203.0.113.7'],
    ['unknown, 203.0.113.7', '203.0.113.7'],
    [`${'x'.repeat(8_000)}, 203.0.113.7`, '203.0.113.7'],
    [',,203.0.113.7', '203.0.113.7'],
    ['10.2.2.2', '10.2.2.2'],
    ['', proxy],
  ])('that X-Forwarded-For: %s says', async (forwarded, address) => {
    expect(await addressOf(forwarded)).toBe(address);
  });

  it('is that of the connection where no proxy of ours made it', async () => {
    expect(await addressOf('203.0.113.7', '192.0.2.7')).toBe('192.0.2.7');
    expect(await addressOf('unknown', '192.0.2.7')).toBe('192.0.2.7');
  });

  it.each([
    ...['unknown', '_hidden', 'host.example', '203.0.113', '203.0.113.256', '203.0.113.07', '3405803783'],
    ...[
      '0xcb007107',
      '203.0.113.7:',
      '203.0.113.7:x',
      '203.0.113.7:123456',
      '203.0.113.7/24',
      '"203.0.113.7"',
    ],
    ...[
      '[203.0.113.7]:80',
      '2001:db8::7::',
      '[2001:db8::7',
      '[]',
      '[]:80',
      ':80',
      'for=203.0.113.7',
      'x'.repeat(5_000),
    ],
    ...[
      '203.0.113.7,',
      '203.0.113.7, ,',
      '203.0.113.7, unknown',
      'unknown, 10.2.2.2',
      '203.0.113.7 198.51.100.1',
    ],
    Array(20).fill('10.2.2.2').join(),
  ])('is not known where a proxy of ours says %s', async (forwarded) => {
    expect(await addressOf(forwarded)).toBe('');
  });
});

describe('a proxy that says no address', () => {
  it('is logged as an error, once', async () => {
    const instance = await openApp({ env: { TRUSTED_PROXIES: '10.0.0.0/8' } });
    await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        instance.send('/nowhere', {
          from: proxy,
          headers: { 'x-forwarded-for': `no address ${n}${'x'.repeat(90)}` },
        }),
      ),
    );
    expect(instance.logged.filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        fields: { proxy, said: expect.stringMatching(/^no address \d+x+$/) },
        message: expect.stringContaining('TRUSTED_PROXIES'),
      },
    ]);
    await instance.close();
  });

  it('leaves people a login, whose session and activity have no address', async () => {
    const form = { email: 'merchant@example.test', password: 'local demo password' };
    const answer = await login('unknown', { form });
    expect(answer.status).toBe(303);
    const sessions = await openClient(app.send, cookieOf(answer)).sessions.list.query();
    expect(sessions.find(({ current }) => current)?.address).toBe('');
  });
});
