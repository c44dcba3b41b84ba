// What a client does with events. The doctor appends events to the database of a real service, from which the client reads
// them.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listDeliveries } from '../../db/tables/event-deliveries.ts';
import { createEventWriter } from '../../server/doors/cli/doctor-events.ts';
import { openApp, type TestApp } from '../support/app/app.ts';
import { appendEvents } from '../support/events/client-events.ts';
import { createClients } from './broken/typescript.ts';
import { faultsOf } from './harness/broken.ts';
import { settings } from './harness/clients.ts';
import { openInProcess, passOn, sawOf } from './harness/in-process.ts';
import { operatorSettings, runDoctor } from './harness/run-doctor.ts';

const { examineClient, listen, close } = openInProcess();
const clients: string[] = [
  ...['right', 'events_logout_ignored', 'events_suspension_ignored', 'events_deletion_ignored'],
  ...['events_page_missed', 'events_order_ignored', 'events_ended_login_taken'],
  ...['events_end_others', 'events_restored_ignored', 'events_profile_ignored', 'newest_login_only'],
  'events_erased_stops',
];

const secretOf = (client: string) => `the-secret-of-${client}-which-is-its-own`;
const settingOf = (client: string) => `SSO_${client.toUpperCase()}`;

let app: TestApp;
let issuer = '';
beforeAll(async () => {
  issuer = await listen(passOn(() => app));
  const own = clients.flatMap((client) => [
    [`${settingOf(client)}_CALLBACK_URL`, 'http://localhost:9/callback'],
    [`${settingOf(client)}_SECRET`, secretOf(client)],
  ]);
  const ofShop = operatorSettings('http://localhost:9', 'right');
  app = await openApp({
    env: {
      IDENTITY_ISSUER: issuer,
      ...Object.fromEntries(own),
      ...ofShop,
      SSO_CLIENTS: ['shop', ...clients].join(),
    },
  });
});
afterAll(async () => {
  await app?.close();
  await close();
});

const examine = (client: string) => {
  const secrets = [secretOf(client)];
  return examineClient({
    name: client,
    secrets,
    options: { issuer, client, secrets, ...(client !== 'reads_nothing' && { pullsFrom: issuer }) },
    at: () => ({ client, issuer }),
    tools: {
      findReads: async () => (await listDeliveries(app.db, [client]))[0] ?? '',
      events: createEventWriter(app.db, client),
    },
  });
};

const listRows = async (of: { client: string } | { except: string }) => {
  const isOf = 'client' in of ? sql`client = ${of.client}` : sql`client <> ${of.except}`;
  const { rows } = await sql<{ type: string; user_id: string | null; body: unknown }>`
    select type, user_id, body from events where ${isOf} order by id`.execute(app.db);
  return rows;
};

it('lets a right client be, and leaves nothing about its people but that they are deleted (contract 3.41, 3.42)', async () => {
  await appendEvents(app.db, 'bystander', 3);
  const others = await listRows({ except: 'right' });
  const report = await examine('right');
  expect(report).toMatchObject({ verdict: 'right', findings: [], unseen: [], hasEvents: true });
  const rows = await listRows({ client: 'right' });
  expect(rows.length).toBeGreaterThan(100);
  const left = rows.filter(({ type }) => type !== 'erased');
  expect(left.map(({ type }) => type)).toEqual(Array(4).fill('user.deleted'));
  for (const row of rows) expect(row.body).toBe(null);
  expect(new Set(left.map(({ user_id }) => user_id?.slice(0, 15)))).toEqual(new Set(['00000000-0000-7']));
  expect(await listRows({ except: 'right' })).toEqual(others);
  const again = await examine('right');
  expect(again).toMatchObject({ verdict: 'right', findings: [] });
  const ids = (await listRows({ client: 'right' })).flatMap(({ type, user_id }) =>
    type === 'erased' ? [] : [user_id],
  );
  expect(new Set(ids).size).toBe(8);
});

// On a busy machine, a client sometimes needs more than two seconds to read after a nudge.
it.each(clients.slice(1, -1))('finds %s (contract 3.43)', { retry: 2 }, async (name) => {
  const report = await examine(name);
  // A client that skips the events of a suspension has this finding, too.
  const more = name === 'events_suspension_ignored' ? ['events_ended_login_taken'] : [];
  const found = name === 'newest_login_only' ? 'events_logout_ignored' : name;
  expect(faultsOf(report), sawOf(report)).toEqual([...more, found]);
});

it('finds a client that reads no further than to an erased event (contract 10.13 and 3.43)', async () => {
  const report = await examine('events_erased_stops');
  expect(faultsOf(report), sawOf(report)).toContain('events_erased_stops');
});

it('is not sure of a client that takes nudges and reads nothing', async () => {
  const report = await examine('reads_nothing');
  expect(report.findings.map(({ id }) => id)).toEqual(['events_not_pulled']);
  expect(report.unseen).toContainEqual({
    id: 'events_logout_ignored',
    why: expect.stringContaining('had not read it in time'),
  });
});

it('refuses events about anybody else (contract 3.41)', async () => {
  const { append, forget } = createEventWriter(app.db, 'right');
  const userId = '0190f5a0-0000-7000-8000-000000000001';
  await expect(append([{ type: 'user.deleted', userId }])).rejects.toThrow('not the id of a test person');
  await expect(forget([userId])).rejects.toThrow('not the id of a test person');
});

it('leaves nothing after an error, either (contract 3.42)', async () => {
  const client = 'events_page_missed';
  const before = (await listRows({ client })).length;
  const { append, forget } = createEventWriter(app.db, client);
  const failing = {
    forget,
    append: async (events: Parameters<typeof append>[0]) => {
      await append(events);
      throw new Error('away');
    },
  };
  const secrets = [secretOf(client)];
  const run = examineClient({
    secrets,
    options: { issuer, client, secrets },
    at: () => ({ client, issuer }),
    tools: { findReads: async () => (await listDeliveries(app.db, [client]))[0] ?? '', events: failing },
  });
  await expect(run).rejects.toThrow('away');
  const added = (await listRows({ client })).slice(before).map(({ type }) => type);
  expect(added).toEqual(['erased', ...Array(4).fill('user.deleted')]);
});

it('forgets its people if it ends before the events (contract 3.42)', async () => {
  const client = 'events_restored_ignored';
  const before = (await listRows({ client })).length;
  let left = 100;
  const secrets = [secretOf(client)];
  const report = await examineClient({
    secrets,
    options: { issuer, client, secrets },
    at: () => ({ client, issuer }),
    front: (serve) => async (request, response) => {
      if (request.url?.includes('/login') && left-- < 0) response.writeHead(200).end();
      else await serve(request, response);
    },
    tools: { events: createEventWriter(app.db, client) },
  });
  expect(report.verdict).toBe('not_examined');
  const added = (await listRows({ client })).slice(before).map(({ type }) => type);
  expect(added).toEqual(Array(4).fill('user.deleted'));
});

it('the command does it with --events, and says without it what it could not see', async () => {
  const client = createClients({ ...settings, issuer, pullsFrom: issuer });
  const own = operatorSettings(await listen(client), 'right');
  const env = { ...own, IDENTITY_ISSUER: issuer, DATABASE_URL: app.databaseUrl };
  const { code, out } = await runDoctor(['shop', '--events'], env);
  expect({ code, out }).toEqual({ code: 0, out: expect.not.stringContaining('without --events') });
  expect((await listRows({ client: 'shop' })).filter(({ type }) => type === 'user.deleted').length).toBe(4);
  const without = await runDoctor(['shop'], env);
  expect(without.out).toContain(
    'What it does with an event, such as a log-out: without --events none is appended.',
  );
});
