import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { readConfig } from '../../server/settings/config.ts';
import { openApp, type TestApp } from '../support/app/app.ts';
import { sendPatiently } from '../support/app/patience.ts';
import { findFreePort, startService } from '../support/app/process.ts';
import { cookieOf } from '../support/app/visitor.ts';
import { countRows, findEmptyAccounts, whileInsertsFail } from '../support/database/database.ts';
import { makeFolder } from '../support/database/postgres.ts';
import { byForm } from '../support/faults/faults.ts';
import { buildHandOff, handOver } from '../support/marketplace/marketplace.ts';
import { shuffle } from '../support/run/random.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const other = shared(() => app.startInstance());

const countUsers = async (email: string) => {
  const { rows } = await sql<{ users: number; accounts: number; links: number }>`
    select count(distinct u.id)::int as users, count(distinct a.id)::int as accounts, count(l.*)::int as links
    from users u join accounts a on a.id = u.account_id left join external_links l on l.user_id = u.id
    where u.email like ${email}`.execute(app.db);
  return rows[0];
};

const rounds = byForm({ short: 15, long: 50 });
it('accepts a hand-off once if it arrives 16 times at once on two instances, in each of many rounds', async () => {
  for (let round = 0; round < rounds; round++) {
    const path = await buildHandOff(app, { id: `round-${round}` });
    const answers = await sendPatiently(
      Array.from({ length: 16 }, (_, at) => () => (at % 2 ? app : other).send(path)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([303, ...Array(15).fill(409)]);
    for (const answer of answers) {
      if (answer.status === 409) expect(JSON.parse(answer.text).code).toBe('nonce_replayed');
    }
  }
});

it('creates one user if 50 first hand-offs of one id arrive at once', async () => {
  const paths = await Promise.all(Array.from({ length: 50 }, () => buildHandOff(app, { id: 'herd' })));
  const answers = await sendPatiently(paths.map((path, at) => () => (at % 2 ? app : other).send(path)));
  expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(303));
  expect(await countUsers('herd@example.test')).toEqual({ users: 1, accounts: 1, links: 1 });
  expect(await findEmptyAccounts(app.db)).toEqual([]);
});

it('creates one user if 50 new ids with one address arrive at once', async () => {
  const ids = Array.from({ length: 50 }, (_, at) => `twin-${at}`);
  const answers = await sendPatiently(
    ids.map(
      (id, at) => () => handOver(at % 2 ? app : (other as TestApp), { id, email: 'twin@example.test' }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(49).fill(409)]);
  expect(await countUsers('twin@example.test')).toEqual({ users: 1, accounts: 1, links: 1 });
  expect(await findEmptyAccounts(app.db)).toEqual([]);
});

it('ends with the newest of 10 updates that arrive at once, in any order', async () => {
  await handOver(app, { id: 'updates' });
  for (let round = 0; round < 10; round++) {
    const versions = Array.from({ length: 10 }, (_, at) => ({
      id: 'updates',
      name: `Round ${round}, version ${at}`,
      profileUpdatedAt: new Date(Date.UTC(2026, 1, 1 + round, at)),
    }));
    const answers = await sendPatiently(shuffle(versions).map((version) => () => handOver(app, version)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(303));
    const { rows } = await sql<{ name: string }>`
      select name from users where email = 'updates@example.test'`.execute(app.db);
    expect(rows[0]?.name).toBe(`Round ${round}, version 9`);
  }
});

// Contract 6.9.
it('leaves nothing of a hand-off that fails at any step, not even a used nonce', async () => {
  const tables = ['accounts', 'users', 'external_links', 'pending_hand_offs', 'audit_events'];
  const counts = () => Promise.all(['nonces', ...tables].map((table) => countRows(app.db, table)));
  for (const table of tables) {
    const path = await buildHandOff(app, { id: `fails-at-${table}` });
    const before = await counts();
    const failed = await whileInsertsFail(app.db, table, { body: "raise exception 'no'" }, () =>
      app.send(path),
    );
    expect(failed.status, table).toBe(500);
    expect(await counts(), table).toEqual(before);
    expect((await app.send(path)).status, table).toBe(303);
  }
});

describe('after a restart', () => {
  it('refuses a hand-off that was used before the service, or Postgres, was killed (contract 9.109)', async () => {
    const folder = await makeFolder();
    const settings = { fsync: 'on' };
    const port = await findFreePort();
    let postgres = await startEmbeddedPostgres(join(folder, 'data'), { settings });
    const start = () => startService('node', port, { DATABASE_URL: postgres.url });
    let service = await start();
    const config = readConfig({ PORT: String(port) });
    const path = await buildHandOff({ config } as TestApp, { id: 'restart' });
    const send = async () => (await fetch(config.baseUrl + path, { redirect: 'manual' })).status;
    expect(await send()).toBe(303);

    service.child.kill('SIGKILL');
    await service.exited;
    service = await start();
    expect(await Promise.all(Array.from({ length: 16 }, send))).toEqual(Array(16).fill(409));

    process.kill(postgres.pid, 'SIGKILL');
    // The child processes of Postgres end a moment after their parent.
    await new Promise((done) => setTimeout(done, 1_000));
    expect(await send()).toBe(503);
    // Postgres gets its old port, so that the service finds it.
    postgres = await startEmbeddedPostgres(join(folder, 'data'), {
      settings: { ...settings, port: postgres.port },
    });
    let status = 503;
    for (let attempt = 0; status === 503 && attempt < 100; attempt++) {
      status = await send();
      await new Promise((done) => setTimeout(done, 100));
    }
    expect(status).toBe(409);
    service.child.kill('SIGTERM');
    await service.exited;
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  });
});

it('goes on with the session of a browser that comes back with 16 hand-offs at once', async () => {
  const cookie = cookieOf(await handOver(app, { id: 'comes-back' }));
  const sessions = await countRows(app.db, 'sessions');
  const answers = await Promise.all(
    Array.from({ length: 16 }, () => handOver(app, { id: 'comes-back' }, { cookie })),
  );
  for (const answer of answers) {
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/profile']);
    expect(answer.headers.get('set-cookie')).toBeNull();
  }
  expect(await countRows(app.db, 'sessions')).toBe(sessions);
  expect((await app.send('/sso/profile', { cookie })).status).toBe(200);
});
