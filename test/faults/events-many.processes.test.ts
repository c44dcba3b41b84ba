// However many events are kept or wait for their numbers, a pull costs only as much as its page.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { connect } from '../support/database/postgres.ts';
import { addPerson, pull } from '../support/events/events.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import { shared } from '../support/run/shared.ts';

const kept = byForm({ short: 20_000, long: 1_000_000 });
// The limit for the long form. The limit for the short form is higher, because the short form runs beside other tests.
const limitMs = byForm({ short: 5_000, long: 50 });
const pulls = byForm({ short: 10, long: 50 });

const app = shared(openApp);

async function appendMany(client: string, isNumbered: boolean): Promise<void> {
  const { id, email } = await addPerson(app.db);
  const { db, close } = connect(app.databaseUrl, { statementTimeoutMs: 0 });
  await sql`
    insert into events (client, type, user_id, seq, numbered_at, body)
    select ${client}, 'profile.updated', ${id}, case when ${isNumbered} then n end, case when ${isNumbered} then now() end,
      jsonb_build_object('email', ${email}::text, 'name', 'Person ' || n, 'role', 'user', 'profile_updated_at',
        now() + n * interval '1 millisecond', 'capabilities', '["sell_products","manage_storefront"]'::jsonb,
        'verified_at', now())
    from generate_series(1, ${kept}::int) n`.execute(db);
  if (isNumbered)
    await sql`insert into event_sequences (client, latest) values (${client}, ${kept})
      on conflict (client) do update set latest = excluded.latest`.execute(db);
  await sql`analyze events`.execute(db);
  await close();
}

async function measure(client: string, after: () => number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < pulls; n++) {
    const startedAt = performance.now();
    const { events } = await pull(app, client, `?after=${after()}&limit=1000`);
    times.push(performance.now() - startedAt);
    expect(events).toHaveLength(1_000);
  }
  return times.sort((one, another) => one - another);
}

it(`a pull of 1,000 among ${kept} events takes its time in milliseconds`, { timeout: 900_000 }, async () => {
  await appendMany('marketplace', true);
  await measure('marketplace', () => 0);
  const times = await measure('marketplace', () => Math.floor(Math.random() * (kept - 1_000)));
  const [fastest = Number.NaN, median = Number.NaN] = [times[0], times[Math.floor(pulls / 2)]];
  noteFigures(`a pull of 1,000 among ${kept} events`, { fastest, median, worst: times.at(-1) ?? Number.NaN });
  expect(median).toBeLessThan(limitMs);
});

it(`a pull behind ${kept} events that wait for their numbers gets its page at once`, {
  timeout: 900_000,
}, async () => {
  await appendMany('crm_app', false);
  const startedAt = performance.now();
  const { events, latest } = await pull(app, 'crm_app', '?limit=1000');
  const firstMs = performance.now() - startedAt;
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_000 }, (_, n) => n + 1));
  expect(latest).toBeGreaterThan(1_000);
  noteFigures(`the first pull behind ${kept} events without a number`, { firstMs });
  expect(firstMs).toBeLessThan(byForm({ short: 15_000, long: 2_500 }));
});
