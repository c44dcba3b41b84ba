// No log-out is lost when instances are killed while they tell of it (contract 14.73).
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { findFreePort, startService } from '../support/app/process.ts';
import { openBackChannel } from '../support/openid/back-channel.ts';
import { addOpenIdClient } from '../support/openid/client.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
// A try lasts so long that each kill interrupts some tries.
const target = shared(() =>
  openBackChannel((response) => {
    setTimeout(() => response.writeHead(200).end(), 300);
  }),
);

const count = 200;

it('each reaches the product although instances are killed, and the rest are made again', {
  timeout: 120_000,
}, async () => {
  const { name } = await addOpenIdClient(app, { backChannelUri: target.uri });
  const person = '0190f5a0-0000-7000-8000-000000000001';
  for (let kill = 0; kill < 2; kill++) {
    const port = await findFreePort();
    const env = { DATABASE_URL: app.databaseUrl, IDENTITY_ISSUER: app.config.issuer };
    const { child, exited } = await startService('node', port, env);
    const before = target.received.length;
    await sql`insert into log_outs (client_id, user_id, sid)
      select id, ${person}, ${`round-${kill}-`} || n from clients, generate_series(1, ${count}::int) n
        where name = ${name}`.execute(app.db);
    await vi.waitFor(() => expect(target.received.length).toBeGreaterThan(before + 40), 30_000);
    child.kill('SIGKILL');
    await exited;
  }
  const left = () => sql`select from log_outs where ended_at is null or failure is not null`.execute(app.db);
  await vi.waitFor(async () => expect((await left()).rows).toEqual([]), { timeout: 60_000, interval: 200 });
  const told = target.received.map(({ payload }) => payload.sid);
  expect(new Set(told).size).toBe(2 * count);
  expect(new Set(target.received.map(({ payload }) => payload.jti)).size).toBe(told.length);
  const { rows } = await sql`select from log_outs where attempts > 1`.execute(app.db);
  expect(rows.length, 'tries that a kill ended').toBeGreaterThan(0);
});
