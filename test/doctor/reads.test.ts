// Whether a client reads its events after it accepts a nudge. The doctor looks this up in the database of a real service.
import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, expect, it } from 'vitest';
import type { Report } from '../../clients/doctor/examine.ts';
import type { Reads } from '../../clients/doctor/target.ts';
import { listDeliveries, recordPull } from '../../db/tables/event-deliveries.ts';
import { openApp, type TestApp } from '../support/app/app.ts';
import { appendEvents } from '../support/events/client-events.ts';
import { shared } from '../support/run/shared.ts';
import { createClients } from './broken/typescript.ts';
import { settings } from './harness/clients.ts';
import { type Handler, openInProcess, passOn } from './harness/in-process.ts';
import { operatorSettings, runDoctor } from './harness/run-doctor.ts';

const { examineClient, listen, close } = openInProcess();
const app = shared(openApp);
afterEach(close);

const secret = 'a-secret-that-no-other-client-has';

/** What a client of that name does after it has answered a nudge. */
type OnNudge = (client: string, body: string) => unknown;

const watchNudges =
  (onTaken: (body: string) => unknown) =>
  (handler: Handler): Handler =>
  (request, response) => {
    if (request.url?.endsWith('/events')) {
      const chunks: Buffer[] = [];
      request.on('data', (chunk) => chunks.push(chunk));
      response.once('finish', () => {
        if (response.statusCode === 204) onTaken(Buffer.concat(chunks).toString());
      });
    }
    return handler(request, response);
  };

/** Examines with the database, or without it for the reason that `findReads` gives. */
const examine = (client: string, onNudge: OnNudge, findReads?: () => Promise<Reads | string>) =>
  examineClient({
    options: { client, secrets: [secret] },
    secrets: [secret],
    at: () => ({ client }),
    front: watchNudges((body) => onNudge(client, body)),
    tools: { findReads: findReads ?? (async () => (await listDeliveries(app.db, [client]))[0] ?? '') },
  });

const pull = (after: number) => (client: string) => recordPull(app.db, { client, after });
const age = (client: string, interval: string) =>
  sql`update event_deliveries set pulled_at = now() - ${interval}::interval where client = ${client}`.execute(
    app.db,
  );
const nothing: OnNudge = () => undefined;
const idsOf = ({ findings }: Report) => findings.map(({ id }) => id);
const countEvents = async () =>
  Number((await sql<{ n: string }>`select count(*) as n from events`.execute(app.db)).rows[0]?.n);

it('a client that reads when it is nudged is right', async () => {
  const report = await examine('reads', pull(0));
  expect(report).toMatchObject({ verdict: 'right', findings: [], unseen: [] });
});

it('one that never read anything is wrong', async () => {
  const report = await examine('never', nothing);
  expect(idsOf(report)).toEqual(['events_not_pulled']);
  expect(report).toMatchObject({ verdict: 'wrong', unseen: [] });
  expect(report.findings[0]?.saw).toBe(
    'It took a nudge, and read no events within 5 seconds. It never read any.',
  );
});

it('one that has more to read, and read nothing for hours, is wrong', async () => {
  await appendEvents(app.db, 'behind', 5);
  await pull(2)('behind');
  await age('behind', '3 hours');
  const before = await countEvents();
  const report = await examine('behind', nothing);
  expect(idsOf(report)).toEqual(['events_not_pulled']);
  expect(report.findings[0]?.saw).toMatch(/It read them last at \S+Z, and has 3 more to read\.$/);
  expect(await countEvents()).toBe(before);
});

it('one that reads by a timer is advised to read when it is nudged, too', async () => {
  await appendEvents(app.db, 'timer', 2);
  await pull(1)('timer');
  await age('timer', '20 minutes');
  const report = await examine('timer', nothing);
  expect(idsOf(report)).toEqual(['events_pulled_late']);
  expect(report.verdict).toBe('right');
});

it('one that has just read is right: another read is not noted yet', async () => {
  await pull(0)('just');
  expect(await examine('just', nothing)).toMatchObject({ verdict: 'right', findings: [], unseen: [] });
});

it('one that has read all there is may know so, and nothing can be seen', async () => {
  await appendEvents(app.db, 'knows', 4);
  await pull(4)('knows');
  await age('knows', '2 days');
  const bodies: string[] = [];
  const report = await examine('knows', (_, body) => bodies.push(body));
  expect(report).toMatchObject({ verdict: 'right', findings: [] });
  expect(report.unseen).toEqual([
    { id: 'events_not_pulled', why: expect.stringContaining('it may know that') },
  ]);
  expect(new Set(bodies)).toEqual(new Set(['{"client":"knows","latest":4}']));
});

it('without a database it says that it cannot see this', async () => {
  const report = await examine('away', nothing, async () => 'The doctor has no database here.');
  expect(report).toMatchObject({ verdict: 'right', findings: [] });
  expect(report.unseen).toEqual([{ id: 'events_not_pulled', why: 'The doctor has no database here.' }]);
});

it('the command looks into the database of its service, as long as clients can read from that', async () => {
  let service: TestApp | undefined;
  const issuer = await listen(passOn(() => service));
  let key = 'another key';
  const read = async () => {
    const token = createHmac('sha256', key).update('identity events v1 shop').digest('hex');
    await fetch(`${issuer}/sso/events?after=0`, { headers: { authorization: `Bearer ${token}` } }).catch(
      () => undefined,
    );
  };
  const client = createClients({ ...settings, issuer });
  const env = {
    IDENTITY_ISSUER: issuer,
    ...operatorSettings(await listen(watchNudges(read)(client)), 'right'),
  };
  service = await openApp({ env });
  try {
    const { databaseUrl } = service;
    const run = () =>
      runDoctor(['shop', '--json'], { ...env, DATABASE_URL: databaseUrl }).then(({ code, out }) => ({
        code,
        ...JSON.parse(out),
      }));
    const failing = await run();
    expect({ code: failing.code, ids: idsOf(failing) }).toEqual({ code: 1, ids: ['events_not_pulled'] });
    key = settings.secrets[0] ?? '';
    expect(await run()).toMatchObject({ code: 0, findings: [], unseen: [] });
    await service.close();
    service = undefined;
    const away = await run();
    expect(away).toMatchObject({ code: 0, findings: [] });
    expect(away.unseen).toEqual([
      { id: 'events_not_pulled', why: `The service does not answer at ${issuer}.` },
    ]);
  } finally {
    await service?.close();
  }
});
