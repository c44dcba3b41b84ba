// Contract section 10 while instances and Postgres are killed. Writers make changes in every possible way. Clients crash after
// they have read events and before they have stored that. One client pulls only after nudges, and most nudges fail. The checker
// also has to find the faults of two wrong builds.
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../server/settings/config.ts';
import { openApp, reconnect, type TestApp, type TestInstance } from '../support/app/app.ts';
import { findFreePort, type RunningProcess, startService } from '../support/app/process.ts';
import { openOwnPostgres } from '../support/database/own-postgres.ts';
import { connect } from '../support/database/postgres.ts';
import { runEventChaos } from '../support/events/event-chaos.ts';
import type { Ask } from '../support/events/event-client.ts';
import { openNudgedClient } from '../support/events/nudged-client.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import { killedEnv } from '../support/faults/killed-load.ts';
import { createRandom, seed } from '../support/run/random.ts';

const kills = byForm({ short: 2, long: 20 });
const random = createRandom(seed);
// How long a test waits for a nudge that is refused. The changes of the writers make a nudge due about every second.
const refusal = { timeout: 60_000, interval: 100 };
const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

// The steps that undo a test, run from the last to the first.
const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

describe('each client ends equal to the master, without a gap or a double on the way, (contract 10.36)', () => {
  it(`when instances and Postgres are killed ${kills} times`, { timeout: 900_000 }, async () => {
    const postgres = await openOwnPostgres();
    undo.push(postgres.close);
    const instances: { port: number; process?: RunningProcess }[] = [];
    for (let n = 0; n < 2; n++) instances.push({ port: await findFreePort() });
    const nudged = await openNudgedClient('shop', random);
    undo.push(nudged.close);
    // The issuer of both instances is the URL of the first one, so the nudges of demo clients go to the first one.
    const env = {
      ...killedEnv,
      IDENTITY_ISSUER: `http://localhost:${instances[0]?.port}`,
      SSO_CLIENTS: nudged.name,
      SSO_SHOP_CALLBACK_URL: 'http://localhost:9/callback',
      SSO_SHOP_EVENTS_URL: nudged.url,
    };
    const start = async (instance: (typeof instances)[number]) => {
      const { templateUrl: DATABASE_URL } = postgres;
      instance.process = await startService('node', instance.port, { ...env, DATABASE_URL });
    };
    undo.push(async () => {
      for (const { process } of instances) {
        process?.child.kill('SIGKILL');
        await process?.exited;
      }
    });
    await Promise.all(instances.map(start));
    const { db, close } = connect(postgres.templateUrl, { poolSize: 8 });
    undo.push(close);

    const asks = instances.map(
      ({ port }): Ask =>
        async (path, init) => {
          try {
            const url = `http://localhost:${port}${path}`;
            const answer = await fetch(url, {
              ...init,
              redirect: 'manual',
              signal: AbortSignal.timeout(30_000),
            });
            return { status: answer.status, text: await answer.text() };
          } catch {
            return undefined;
          }
        },
    );
    const findFailure = async () => {
      const { rows } = await sql<{ failure: string; at: string }>`
        select failure, failed_at::text as at from event_deliveries where client = ${nudged.name}`.execute(
        db,
      );
      return rows[0] ?? { failure: undefined, at: undefined };
    };
    const { faults, figures } = await runEventChaos(
      { db, asks, config: readConfig(env), nudged },
      async () => {
        for (let times = 0; times < kills; times++) {
          await pause(byForm({ short: 1_000, long: 2_500 }) * (0.5 + random()));
          const isAway = times % 2 === 1;
          const before = isAway ? await findFailure() : undefined;
          if (isAway) await nudged.close();
          const victim = [instances[0], undefined, instances[1]][times % 3];
          if (victim) {
            victim.process?.child.kill('SIGKILL');
            await victim.process?.exited;
            await start(victim);
          } else {
            await postgres.kill();
            await postgres.start();
          }
          if (!isAway) continue;
          await expect
            .poll(async () => {
              const { failure, at } = await findFailure();
              return at !== before?.at && failure;
            }, refusal)
            .toBe('connection refused');
          await nudged.reopen();
        }
        await pause(1_000);
      },
    );
    noteFigures(`events, ${kills} kills`, figures);
    expect(faults).toEqual([]);
    expect(figures.events).toBeGreaterThan(100);
    expect(figures.erased).toBeGreaterThan(0);
    expect(figures.crashes).toBeGreaterThan(10);
    expect(figures['failed nudges']).toBeGreaterThan(0);
  });
});

describe('the checker finds', () => {
  async function open(): Promise<{ app: TestApp; asks: Ask[] }> {
    const app = await openApp();
    undo.push(app.close);
    return { app, asks: [app, await app.startInstance()].map(askOf) };
  }
  const askOf =
    ({ send }: TestInstance): Ask =>
    async (path, init) => {
      const { status, text } = await send(path, init);
      return { status, text };
    };

  const run = async (
    { app, asks }: Awaited<ReturnType<typeof open>>,
    until: (hasFault: () => boolean) => Promise<void>,
  ) => (await runEventChaos({ db: connectTo(app), asks, config: app.config }, until)).faults;
  const connectTo = ({ databaseUrl }: TestApp) => {
    const { db, close } = connect(databaseUrl, { poolSize: 8 });
    undo.push(close);
    return db;
  };

  /** Delays each run of the numbering before it records its last number. */
  const slowDown = async ({ db }: TestApp, longestSeconds: number) => {
    await sql`create function slow_down() returns trigger language plpgsql as ${sql.lit(`
      begin
        perform pg_sleep(random() * ${longestSeconds});
        return new;
      end`)}`.execute(db);
    await sql`create trigger slow_down before insert on event_sequences for each row execute function slow_down()`.execute(
      db,
    );
  };

  it('nothing in a right build, also where numbering is slow', async () => {
    const opened = await open();
    await slowDown(opened.app, 0.05);
    expect(await run(opened, () => pause(byForm({ short: 2_000, long: 20_000 })))).toEqual([]);
  });

  it('the fault of a build without the lock of the sequencer', { timeout: 300_000 }, async () => {
    const { app, asks } = await open();
    // Numbering is slow enough for two runs to overlap, even on a busy machine.
    await slowDown(app, 0.5);
    // Postgres finds these functions before its own. `pg_advisory_xact_lock` locks nothing. `max` gives 0, so that no event
    // waits for an older event about the same person (`held`). Such a wait would keep events in order even without the lock.
    await sql`create schema unlocked`.execute(app.db);
    await sql`create function unlocked.pg_advisory_xact_lock(bigint) returns void language sql as 'select'`.execute(
      app.db,
    );
    await sql`create function unlocked.zero(bigint, bigint) returns bigint language sql as 'select 0::bigint'`.execute(
      app.db,
    );
    await sql`create aggregate unlocked.max(bigint) (sfunc = unlocked.zero, stype = bigint)`.execute(app.db);
    const name = new URL(app.databaseUrl).pathname.slice(1);
    await sql`alter database ${sql.ref(name)} set search_path = unlocked, pg_catalog, public`.execute(app.db);
    await reconnect(app);
    // The fault shows only if two runs of numbering overlap and share out the changes of one person.
    const faults = await run({ app, asks }, async (hasFault) => {
      for (let seconds = 0; seconds < 120 && !hasFault(); seconds++) await pause(1_000);
    });
    expect(faults.join('\n')).toMatch(/the profile of \S+ goes back/);
  });

  const triggers: [trigger: string, table: string, inShort: boolean][] = [
    ['users_tell_clients_of_profile', 'users', true],
    ['users_tell_clients_of_suspension', 'users', false],
    ['users_tell_clients_of_deletion', 'users', false],
    ['sessions_tell_clients', 'sessions', false],
    ['launches_tell_client', 'launches', false],
    ['service_contracts_tell_crm_of_new', 'service_contracts', false],
    ['service_contracts_tell_crm', 'service_contracts', false],
  ];
  it.each(triggers.filter(([, , inShort]) => byForm({ short: inShort, long: true })))(
    'the fault of a database without the trigger %s',
    { timeout: 180_000 },
    async (trigger, table) => {
      const opened = await open();
      await sql`drop trigger ${sql.ref(trigger)} on ${sql.table(table)}`.execute(opened.app.db);
      expect(await run(opened, () => pause(byForm({ short: 2_000, long: 10_000 })))).not.toEqual([]);
    },
  );
});
