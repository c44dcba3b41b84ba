import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { claimNudges, recordNudge, recordPull } from '../../db/tables/event-deliveries.ts';
import { answerMetrics } from '../../server/metrics/answer.ts';
import { openBackend } from '../support/app/backend.ts';
import { scrape } from '../support/app/metrics.ts';
import { appendEvents } from '../support/events/client-events.ts';
import { shared } from '../support/run/shared.ts';

const callback = 'http://localhost:9/cb';
const backend = shared(() =>
  openBackend({
    env: {
      SSO_CLIENTS: 'told,pulling,deaf',
      SSO_TOLD_CALLBACK_URL: callback,
      SSO_TOLD_EVENTS_URL: 'http://localhost:9/events',
      SSO_PULLING_CALLBACK_URL: callback,
      SSO_DEAF_CALLBACK_URL: callback,
    },
  }),
);

/**
 * Moves the clock on by six seconds before each read, because the metrics are read from the database at most every five
 * seconds.
 */
let skipped = 0;
const now = performance.now.bind(performance);
async function look() {
  skipped += 6_000;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + skipped);
  const { deps, config } = backend.backend;
  const { valueFor, samples } = await scrape({
    fetchMetrics: (request) => answerMetrics(deps.metrics, request, config),
  });
  spy.mockRestore();
  const read = (name: string, client: string) => valueFor(name, { client });
  return {
    samples,
    read,
    progress: (client: string) =>
      ['latest', 'acknowledged', 'behind'].map((what) => read(`identity_client_events_${what}`, client)),
  };
}

it('is a number for each client: newest, read, behind, and how old the oldest is', async () => {
  const { db } = backend;
  for (const client of ['told', 'pulling', 'deaf', 'unknown']) await appendEvents(db, client, 5);
  await sql`update events set occurred_at = now() - interval '1 hour' where seq <= 3`.execute(db);
  await recordPull(db, { client: 'pulling', after: 3 });
  const first = await look();
  expect(first.progress('told')).toEqual([5, 0, 5]);
  expect(first.progress('pulling')).toEqual([5, 3, 2]);
  const oldest = 'identity_client_events_oldest_seconds';
  expect(Math.round((first.read(oldest, 'told') ?? 0) / 60)).toBe(60);
  expect(first.read(oldest, 'pulling')).toBeLessThan(60);
  const pulledAt = first.read('identity_client_last_pull_timestamp_seconds', 'pulling') ?? 0;
  expect(Math.abs(Date.now() / 1_000 - pulledAt)).toBeLessThan(60);

  await recordPull(db, { client: 'pulling', after: 5 });
  const second = await look();
  expect(second.progress('pulling')).toEqual([5, 5, 0]);
  expect(second.read(oldest, 'pulling')).toBe(0);
});

it('leaves out how far a client is that neither pulls nor is told', async () => {
  const { progress, read } = await look();
  expect(progress('deaf')).toEqual([5, undefined, undefined]);
  expect(read('identity_client_events_oldest_seconds', 'deaf')).toBeUndefined();
});

it('has no client that is not configured', async () => {
  const { samples } = await look();
  expect(samples.filter(({ labels }) => labels.client === 'unknown')).toEqual([]);
});

it('says that nudges fail until one is taken, or the client has read by itself what they were about', async () => {
  const { db } = backend;
  const isFailing = async () => (await look()).read('identity_nudges_failing', 'told');
  const lastSuccess = async () =>
    (await look()).read('identity_nudges_last_success_timestamp_seconds', 'told');
  const [nudge] = await claimNudges(db, ['told']);
  if (!nudge) throw new Error('no nudge is due');
  expect(await isFailing()).toBe(0);
  expect(await lastSuccess()).toBeUndefined();
  await recordNudge(db, nudge, 'HTTP 500');
  expect(await isFailing()).toBe(1);
  await recordNudge(db, nudge, undefined);
  expect(await isFailing()).toBe(0);
  expect(Math.abs(Date.now() / 1_000 - ((await lastSuccess()) ?? 0))).toBeLessThan(60);
  await recordNudge(db, nudge, 'HTTP 500');
  expect(await isFailing()).toBe(1);
  await recordPull(db, { client: 'told', after: 5 });
  expect(await isFailing()).toBe(0);
});
