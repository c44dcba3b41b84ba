// The runtime's own fetch sends nudges. Node and Deno report its failures in different ways.
import { sql } from 'kysely';
import { expect, inject, it } from 'vitest';
import { findFreePort, startService } from '../support/app/process.ts';
import { cloneDatabase, connect } from '../support/database/postgres.ts';
import { appendEvents } from '../support/events/client-events.ts';
import { answers, drops, hangs, openTarget, takes } from '../support/events/nudge-target.ts';

it('the service on Deno nudges, says why it could not, and stops at once while a client hangs', async () => {
  const database = await cloneDatabase(inject('templateUrl'));
  const { db, close } = connect(database.url);
  const other = await openTarget(takes);
  const targets = {
    taking: await openTarget(takes),
    failing: await openTarget(answers(500)),
    redirecting: await openTarget(answers(302, { location: other.url })),
    dropping: await openTarget(drops),
    hanging: await openTarget(hangs),
  };
  const urls = {
    ...Object.fromEntries(Object.entries(targets).map(([name, { url }]) => [name, url])),
    down: `http://127.0.0.1:${await findFreePort()}/`,
  };
  const names = Object.keys(urls);
  const service = await startService('deno', await findFreePort(), {
    DATABASE_URL: database.url,
    SSO_CLIENTS: names.join(),
    ...Object.fromEntries(
      Object.entries(urls).map(([name, url]) => [`SSO_${name.toUpperCase()}_EVENTS_URL`, url]),
    ),
  });
  for (const name of names) await appendEvents(db, name, 2);
  const readFailures = async () => {
    const { rows } = await sql<{ client: string; failure: string | null }>`
      select client, failure from event_deliveries where client <> 'hanging'
        and (failure is not null or succeeded_at is not null)`.execute(db);
    return Object.fromEntries(rows.map(({ client, failure }) => [client, failure]));
  };
  await expect.poll(readFailures, { timeout: 30_000 }).toEqual({
    taking: null,
    failing: 'HTTP 500',
    redirecting: 'redirected',
    dropping: 'connection dropped',
    down: 'connection refused',
  });
  expect(targets.taking.received).toMatchObject([{ body: '{"client":"taking","latest":2}' }]);
  expect(targets.taking.received[0]?.headers['user-agent']).toMatch(/^identity-service\//);
  // On a busy machine, the service may have nudged this client a second time by now.
  expect(new Set(targets.hanging.numbers())).toEqual(new Set([2]));
  expect(other.received).toEqual([]);

  const startedAt = performance.now();
  service.child.kill('SIGTERM');
  expect(await service.exited, service.output()).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  await close();
  for (const target of [other, ...Object.values(targets)]) await target.close();
  await database.drop();
});
