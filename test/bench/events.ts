// Measures the time from a change until a nudged client has pulled it. Two instances run on a busy machine. Each second, SQL
// makes fifty changes, each about somebody who was handed over to that client.
import { createHmac } from 'node:crypto';
import pg from 'pg';
import { findFreePort } from '../support/app/process.ts';
import { openTarget, takes } from '../support/events/nudge-target.ts';
import { percentile } from '../support/load/open-loop.ts';
import { settings } from './population.ts';
import { startService } from './servers.ts';
import { addRow, number } from './table.ts';

const perSecond = 50;
const seconds = Number(process.env.EVENTS_SECONDS ?? 30);
const client = 'marketplace';

export async function measureEvents(env: Record<string, string>): Promise<void> {
  const pool = new pg.Pool({ connectionString: env.DATABASE_URL, max: 4 });
  const committedAt = new Map<string, number>();
  const waits: number[] = [];
  let url = '';
  let after = 0;
  let pulling = Promise.resolve();
  const pull = async () => {
    const token = createHmac('sha256', settings.SSO_MARKETPLACE_SECRET)
      .update(`identity events v1 ${client}`)
      .digest('hex');
    for (;;) {
      const answer = await fetch(`${url}/sso/events?after=${after}&limit=1000`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const { events } = (await answer.json()) as { events: { seq: number; profile: { name: string } }[] };
      for (const { seq, profile } of events) {
        after = seq;
        const at = committedAt.get(profile.name);
        if (at !== undefined) waits.push(performance.now() - at);
      }
      if (events.length < 1_000) return;
    }
  };
  const target = await openTarget((response, nth, request) => {
    takes(response, nth, request);
    pulling = pulling.then(pull);
  });
  // Runs in local mode, which accepts an http URL on this machine.
  const port = await findFreePort();
  const local = {
    ...env,
    NODE_ENV: '',
    IDENTITY_ISSUER: `http://localhost:${port}`,
    SSO_MARKETPLACE_CALLBACK_URL: 'http://localhost:9/in',
    SSO_MARKETPLACE_EVENTS_URL: target.url,
  };
  const instances = [await startService('node', local), await startService('node', local)];
  url = instances[0]?.url ?? '';
  try {
    const changes: Promise<unknown>[] = [];
    const startedAt = performance.now();
    for (let made = 0; made < perSecond * seconds; made++) {
      const dueAt = startedAt + (made * 1_000) / perSecond;
      await new Promise((done) => setTimeout(done, dueAt - performance.now()));
      const name = `Change ${made}`;
      changes.push(
        pool
          .query('update users set name = $1 where email = $2', [name, `user-${1 + made}@example.com`])
          .then(() => committedAt.set(name, performance.now())),
      );
    }
    await Promise.all(changes);
    // Waits for the last nudge, which comes within two seconds.
    await new Promise((done) => setTimeout(done, 4_000));
    await pulling;
    addRow(
      `events: ${waits.length} of ${changes.length} changes pulled; from the change to its pull p50 ${number(percentile(waits, 0.5))} ms, p99 ${number(percentile(waits, 0.99))} ms; ${target.received.length} nudges`,
    );
  } finally {
    await Promise.all(instances.map((instance) => instance.stop()));
    await target.close();
    await pool.end();
  }
}
