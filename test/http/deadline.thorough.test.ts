// The deadline of an answer: 503 within three seconds, even if a request waits for many statements (contract 9.98).
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { demoPassword as password } from '../../server/doors/demo/demo-users.ts';
import type { SendOptions } from '../support/app/app.ts';
import { buildSignup, signMessage } from '../support/crm/crm.ts';
import { expectUnavailable, openAway } from '../support/faults/away.ts';
import { shared } from '../support/run/shared.ts';

const away = shared(openAway);

const names = { intent: 'names', name: 'Too Late', accountName: 'Too Late' };
const login = { email: 'customer@example.test', password };
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

it('is for all statements together, and what comes after it is not done', async () => {
  const { app, wire, ask } = away;
  const look = async () =>
    (await sql`select id, name, (select count(*) from sessions) from users`.execute(app.db)).rows;
  const before = await look();
  await Promise.all(Array.from({ length: 5 }, () => ask('/readyz')));
  // Each statement gets its answer in time, but all of them together take far longer than the deadline.
  wire.delay(600);
  const startedAt = performance.now();
  await Promise.all([
    expectUnavailable(ask('/profile', { form: names })),
    expectUnavailable(ask('/login', { form: login, cookie: '' })),
  ]);
  expect(performance.now() - startedAt).toBeLessThan(6_000);
  await pause(4_000);
  wire.restore();
  expect(await look()).toEqual(before);
  await away.expectNothingLost();
});

it('does not run while the client sends a body', async () => {
  const { app, ask } = away;
  const signup = JSON.stringify(buildSignup('slow-body'));
  const sent: [path: string, body: string, headers: Record<string, string>][] = [
    [
      '/trpc/profile.update',
      JSON.stringify({ json: { name: 'Maya Merchant' } }),
      { 'content-type': 'application/json' },
    ],
    [
      '/profile',
      new URLSearchParams({ intent: 'names' }).toString(),
      { 'content-type': 'application/x-www-form-urlencoded' },
    ],
    ['/integrations/crm/signups', signup, signMessage(app.config.crmSignupsSecrets?.[0] ?? '', signup)],
  ];
  const statuses = await Promise.all(
    sent.map(async ([path, body, headers]) => {
      const options: SendOptions = {
        method: 'POST',
        headers: { ...headers, 'content-length': String(body.length) },
        body: sendSlowly(body),
      };
      return (await ask(path, options)).status;
    }),
  );
  expect(statuses).toEqual([200, 303, 201]);
});

function sendSlowly(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(text.slice(0, 5)));
      await pause(3_500);
      controller.enqueue(new TextEncoder().encode(text.slice(5)));
      controller.close();
    },
  });
}
