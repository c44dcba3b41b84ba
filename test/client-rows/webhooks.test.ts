// Webhooks of clients in the database, and the act that tries one (contract 13.16 to 13.19 and 13.34).
import { sql } from 'kysely';
import { beforeAll, expect, it, vi } from 'vitest';
import { openApp, type TestApp } from '../support/app/app.ts';
import { production } from '../support/app/settings.ts';
import { answers, drops, type NudgeTarget, openTarget, takes } from '../support/events/nudge-target.ts';
import {
  addPerson,
  addSession,
  addStaff,
  call,
  readData,
  readOutcome,
  why,
} from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const clock = { ahead: 0 };
const now = () => new Date(Date.now() + clock.ahead);
const app = shared(() => openApp({ now }));
const strict = shared(() => openApp({ env: { ...production, IDENTITY_CLIENTS_PRIVATE_NETWORKS: 'on' } }));

let serial = 0;
async function add(at: TestApp, eventsUrl: string, callback = 'http://localhost:4000/cb') {
  const { cookie } = await addStaff(at);
  const client = `hook_${++serial}`;
  const answer = await call(at, 'clients.add', cookie, { client, callback, eventsUrl, why });
  expect(readOutcome(answer), answer.text).toBe('200');
  const ask = async () => {
    const listed = readData(await call(at, 'clients.list', cookie, undefined, true));
    const { seen } = listed.find(({ name }: { name: string }) => name === client).row;
    return call(at, 'clients.testWebhook', cookie, { client, why, seen });
  };
  return { client, ask };
}

/** Answers 101, as if a browser had asked for a WebSocket. */
const changesProtocol: typeof takes = ({ socket }) => {
  socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
};

let target: NudgeTarget;
beforeAll(async () => {
  target = await openTarget(takes);
  return () => target.close();
});

it('the webhook of a row says that there are new events, as one of the settings does (contract 13.2)', async () => {
  const { client } = await add(app, target.url);
  const { cookie } = await addSession(app, (await addPerson(app)).id);
  expect((await app.send(`/sso/launch/${client}`, { cookie })).status).toBe(303);
  await app.send('/logout', { cookie, form: {} });
  await vi.waitFor(
    () => {
      const [nudge] = target.received.filter((each) => each.client === client);
      expect(nudge?.headers['webhook-id']).toMatch(new RegExp(`^${client}_[1-9]$`));
    },
    { timeout: 10_000 },
  );
});

it('staff try it once in ten seconds, and read whether it was taken, or why not (contract 13.19 and 13.34)', async () => {
  const { client, ask } = await add(app, target.url);
  const first = await ask();
  expect(readData(first)).toEqual({ done: true, client, taken: true, reason: null });
  expect(target.received.at(-1)).toMatchObject({
    client,
    latest: 1,
    method: 'POST',
    path: '/events?from=identity',
  });
  expect(target.received.at(-1)?.headers['webhook-signature']).toMatch(/^v1,/);
  const again = await ask();
  expect(readOutcome(again)).toBe('429 rate_limited');
  const asked = async (answering: typeof takes) => {
    clock.ahead += 11_000;
    target.answering = answering;
    return readData(await ask()).reason;
  };
  expect(await asked(answers(500))).toBe('HTTP 500');
  expect(await asked(answers(302, { location: '/elsewhere' }))).toBe('redirected');
  expect(await asked(drops)).toBe('connection dropped');
  expect(await asked(changesProtocol)).toBe('connection dropped');
  expect(await asked(() => undefined)).toBe('timed out');
  target.answering = takes;
  expect(target.received.map(({ path }) => path)).not.toContain('/elsewhere');
});

it('is tried by one of 16 at once (contract 13.34)', async () => {
  const { client, ask } = await add(app, target.url);
  const outcomes = (await Promise.all(Array.from({ length: 16 }, ask))).map(readOutcome).sort();
  expect(outcomes).toEqual(['200', ...Array(15).fill('429 rate_limited')]);
  expect(target.received.filter((each) => each.client === client)).toHaveLength(1);
});

it('never goes to this machine in production, whatever the name says (contract 13.17)', async () => {
  const { client, ask } = await add(
    strict,
    'https://shop.example.test/events',
    'https://shop.example.test/cb',
  );
  // SQL sets localhost, because no act accepts it. No other name leads to this machine everywhere.
  await sql`update clients set events_url = 'https://localhost/events' where name = ${client}`.execute(
    strict.db,
  );
  expect(readData(await ask()).reason).toBe('address not allowed');
});

it('is not tried for a client without an address (contract 13.34)', async () => {
  const { ask } = await add(app, '');
  expect(readOutcome(await ask())).toBe('403 not_allowed');
});
