// However many pages somebody asks for, other people can log in and go to their products (contract 9.257).

import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { demoPassword as password } from '../../server/doors/demo/demo-users.ts';
import { answerWithinMs } from '../../server/web/deadline.ts';
import { openApp } from '../support/app/app.ts';
import { logIn } from '../support/app/visitor.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(() => openApp({ answerWithinMs }));
beforeAll(async () => {
  // The first requests take longer, because they load code.
  await comeIn('customer@example.test');
});

const html = { accept: 'text/html' };
const flooder = '203.0.113.9';
const other = '198.51.100.7';

/** Keeps `count` requests under way while `work` is done. Returns every status that an answer had. */
async function flood(count: number, ask: () => Promise<number>, work: () => Promise<unknown>) {
  const statuses = new Set<number>();
  let isOver = false;
  const loops = Array.from({ length: count }, async () => {
    while (!isOver) {
      // Lets the event loop read other requests in between, as it does if requests come over sockets.
      await sleep(0);
      const status = await ask();
      statuses.add(status);
      if (status === 503) await sleep(500);
    }
  });
  await sleep(10);
  await work().finally(() => {
    isOver = true;
  });
  await Promise.all(loops);
  return statuses;
}

async function comeIn(email: string): Promise<void> {
  const { status, headers } = await app.send('/login', { form: { email, password }, from: other });
  expect(status).toBe(303);
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  const launched = await app.send('/sso/launch/crm_app', { cookie, from: other });
  expect(launched.headers.get('location')).toContain('payload=');
}

const openAs = (path: string, cookie: string, from = flooder) =>
  app.send(path, { cookie, headers: html, from }).then(({ status }) => status);

describe.each([
  ['the page of bills, by one person', '/profile/billing', 200],
  ['the profile, by one person', '/profile', 200],
  ['the login, by nobody', '/login', 200],
  ['a page that there is not, by nobody', '/nowhere', 404],
])('64 at once of %s', (_, path, usual) => {
  it('leave everybody else their logins and launches', async () => {
    const isOwn = path.startsWith('/profile');
    const cookie = isOwn ? (await logIn(app.send, 'admin@example.test')).cookie() : '';
    expect(await openAs(path, cookie)).toBe(usual);
    const statuses = await flood(
      64,
      () => openAs(path, cookie),
      async () => {
        for (let n = 0; n < 5; n++) {
          await comeIn(n % 2 ? 'customer@example.test' : 'merchant@example.test');
          // Meanwhile another IP address gets its page.
          expect(await openAs('/login', '', other)).toBe(200);
        }
      },
    );
    // On a busy machine, the flood's own pages may come too late and end with 503.
    for (const status of statuses) expect([usual, 503]).toContain(status);
    expect(statuses).toContain(usual);
  });
});

it('addresses take turns: a page of another comes before most of 64 that were asked for first', async () => {
  let done = 0;
  const asked = Array.from({ length: 64 }, () => openAs('/login', '').finally(() => done++));
  expect(await openAs('/login', '', other)).toBe(200);
  expect(done).toBeLessThan(32);
  await Promise.all(asked);
});

it('so many pages of one address that the door would be full leave others their logins, and get 503 in time', async () => {
  const statuses = await flood(
    250,
    () => openAs('/login', ''),
    () => comeIn('customer@example.test'),
  );
  expect([...statuses].sort()).toEqual([200, 503]);
});

it('a page for which too many wait is the page of a 503', async () => {
  const answers = await Promise.all(
    Array.from({ length: 150 }, () => app.send('/login', { headers: html, from: flooder })),
  );
  const [refused] = answers.filter(({ status }) => status === 503);
  expect(refused?.text).toContain('<h1>Sorry, the service is unavailable</h1>');
  expect(refused?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(refused?.headers.get('cache-control')).toBe('no-store');
});
