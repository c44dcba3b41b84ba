import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { isDatabaseAway } from '../../db/postgres/away.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { AuditEventType } from '../../db/tables/audit-event-types.ts';
import { deferAuditEvent, recordAuditEvent } from '../../db/tables/audit-events.ts';
import { consumeNonce } from '../../db/tables/nonces.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { connect } from '../support/database/postgres.ts';
import { openWire } from '../support/database/wire.ts';
import { shared } from '../support/run/shared.ts';

const client = shared(openFreshDatabase);
beforeEach(async () => {
  await client.db.deleteFrom('audit_events').execute();
  await client.db.deleteFrom('nonces').execute();
});

const types = Array.from({ length: 20 }, (_, n) => `test.${n}`);
const noUuid = 'nobody';

async function recorded(): Promise<string[]> {
  const rows = await client.db.selectFrom('audit_events').select('type').execute();
  return rows.map(({ type }) => type).sort();
}

it('statements sent at once in a transaction are all kept', async () => {
  await inTransaction(client.db, { by: 'service' }, async (trx) => {
    for (const type of types) deferAuditEvent(trx, { type: type as AuditEventType });
  });
  expect(await recorded()).toEqual([...types].sort());
});

it('statements sent at once are all undone if one of them fails, or the work around them', async () => {
  const withOneWrong = inTransaction(client.db, { by: 'service' }, async (trx) => {
    for (const [n, type] of types.entries())
      deferAuditEvent(trx, { type: type as AuditEventType, ...(n === 7 && { userId: noUuid }) });
  });
  await expect(withOneWrong).rejects.toMatchObject({ code: '22P02' });
  const withAnEnd = inTransaction(client.db, { by: 'service' }, async (trx) => {
    for (const type of types) deferAuditEvent(trx, { type: type as AuditEventType });
    throw new Error('changed my mind');
  });
  await expect(withAnEnd).rejects.toThrow('changed my mind');
  expect(await recorded()).toEqual([]);
});

it('a transaction fails with the error of its first failed statement', async () => {
  const work = inTransaction(client.db, { by: 'service' }, async (trx) => {
    deferAuditEvent(trx, { type: 'before' as AuditEventType });
    deferAuditEvent(trx, { type: 'wrong' as AuditEventType, userId: noUuid });
    deferAuditEvent(trx, { type: 'after' as AuditEventType });
    return consumeNonce(trx, {
      audience: 'test',
      nonce: '0123456789abcdef',
      issuedAt: new Date(),
      expiresAt: new Date(),
    });
  });
  await expect(work).rejects.toMatchObject({ code: '22P02' });
  expect(await recorded()).toEqual([]);
});

it('a transaction that swallowed a failure is not committed, and says which it was', async () => {
  const work = inTransaction(client.db, { by: 'service' }, async (trx) => {
    await sql`select 1 / 0`.execute(trx).catch(() => undefined);
    deferAuditEvent(trx, { type: 'after' as AuditEventType });
  });
  await expect(work).rejects.toMatchObject({ code: '22012' });
  const last = inTransaction(client.db, { by: 'service' }, async (trx) => {
    await sql`select 1 / 0`.execute(trx).catch(() => undefined);
  });
  await expect(last).rejects.toMatchObject({ code: '22012' });
  const alongside = inTransaction(client.db, { by: 'service' }, async (trx) => {
    const failing = sql`select 1 / 0`.execute(trx);
    deferAuditEvent(trx, { type: 'after' as AuditEventType });
    await failing;
  });
  await expect(alongside).rejects.toMatchObject({ code: '22012' });
  expect(await recorded()).toEqual([]);
});

it('statements sent at once each get their own answer', async () => {
  const nonces = types.map((type) => ({
    audience: 'test',
    nonce: `${type}-0123456789`,
    issuedAt: new Date(),
    expiresAt: new Date(Date.now() + 60_000),
  }));
  const use = (wanted: typeof nonces) =>
    inTransaction(client.db, { by: 'service' }, (trx) =>
      Promise.all(wanted.map((nonce) => consumeNonce(trx, nonce))),
    );
  expect(await use(nonces.slice(0, 5))).toEqual(Array(5).fill('fresh'));
  expect(await use(nonces)).toEqual([...Array(5).fill('used'), ...Array(15).fill('fresh')]);
});

it('a statement sent after the end of its transaction is refused', async () => {
  const trx = await inTransaction(client.db, { by: 'service' }, async (trx) => trx);
  expect(() => deferAuditEvent(trx, { type: 'late' as AuditEventType })).toThrow('is over');
  await expect(recordAuditEvent(trx, { type: 'late' as AuditEventType })).rejects.toThrow('is over');
  await expect(trx.deleteFrom('nonces').execute()).rejects.toThrow('is over');
  expect(await recorded()).toEqual([]);
});

it('a statement that was on its way when its transaction ended is not sent', async () => {
  for (let n = 0; n < 40; n++) {
    const work = inTransaction(client.db, { by: 'service' }, async (trx) => {
      const fails = async () => {
        for (let ticks = 0; ticks < n; ticks++) await undefined;
        throw new Error('changed my mind');
      };
      const late = sql`insert into audit_events (id, type) values (gen_random_uuid(), 'late')`.execute(trx);
      late.catch(() => undefined);
      await Promise.all([fails(), late]);
    });
    await expect(work).rejects.toThrow('changed my mind');
  }
  expect(await recorded()).toEqual([]);
});

it('a transaction fails if the connection is cut before its begin is answered', async () => {
  const wire = await openWire(client.url);
  const wired = connect(wire.url);
  await sql`select 1`.execute(wired.db);
  const work = inTransaction(wired.db, { by: 'service' }, async (trx) => {
    wire.cut();
    return deferAuditEvent(trx, { type: 'cut' as AuditEventType });
  });
  await expect(work).rejects.toSatisfy(isDatabaseAway);
  wire.restore();
  await inTransaction(wired.db, { by: 'service' }, async (trx) =>
    deferAuditEvent(trx, { type: 'sound' as AuditEventType }),
  );
  expect(await recorded()).toEqual(['sound']);
  await wired.close();
  wire.close();
});

it('if a transaction cannot say whom it works for, every later failure has that reason', async () => {
  const { db, close } = connect(client.url);
  const write = () =>
    inTransaction(db, { by: 'service' }, async (trx) => {
      await sql`delete from users where false`.execute(trx);
    });
  await write();
  // Behind a pooler, prepared statements can get lost.
  await sql`deallocate all`.execute(db);
  await expect(write()).rejects.toSatisfy(isDatabaseAway);
  await write();
  await close();
});
