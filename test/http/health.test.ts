// Contract 9.136: GET /healthz is about the process, GET /readyz about what the process needs.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openApp, type TestApp } from '../support/app/app.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

it('the health endpoints answer without a login, and are never cached', async () => {
  for (const path of ['/healthz', '/readyz']) {
    const answer = await app.send(path);
    expect(answer).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  }
});

it('the service is ready only with every migration applied', async () => {
  const { rows } = await sql<{ name: string; timestamp: string }>`delete from kysely_migration
    returning *`.execute(app.db);
  expect(rows).not.toHaveLength(0);
  await expectNotReady(app.send);
  for (const { name, timestamp } of rows)
    await sql`insert into kysely_migration values (${name}, ${timestamp})`.execute(app.db);
  expect((await app.send('/readyz')).status).toBe(200);
  await sql`alter table kysely_migration rename to elsewhere`.execute(app.db);
  await expectNotReady(app.send);
  await sql`alter table elsewhere rename to kysely_migration`.execute(app.db);
});

it('the service is not ready while it drains, and closes its connections', async () => {
  const { send, drain } = await app.startInstance();
  expect((await send('/readyz')).headers.get('connection')).toBeNull();
  drain();
  await expectNotReady(send);
  const answer = await send('/login');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('connection')).toBe('close');
  expect((await app.send('/readyz')).status).toBe(200);
});

async function expectNotReady(send: TestApp['send']): Promise<void> {
  const answer = await send('/readyz');
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(JSON.parse(answer.text).code).toBe('unavailable');
  expect((await send('/healthz')).status).toBe(200);
}
