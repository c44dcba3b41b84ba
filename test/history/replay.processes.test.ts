// The history alone gives each row as it is and as it was, however the row was changed, even by many requests at the same time.
import { rm } from 'node:fs/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatabaseClient } from '../../db/postgres/client.ts';
import { openApp, type TestApp } from '../support/app/app.ts';
import { type OtherRole, openOtherRole } from '../support/database/database-role.ts';
import { makeFolder } from '../support/database/postgres.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import {
  checkHistory,
  connectInUtc,
  listChanges,
  type Snapshot,
  takeSnapshot,
} from '../support/history/history.ts';
import { type Edits, makeEdits } from '../support/history/random-edits.ts';
import { createRandom, seed } from '../support/run/random.ts';

const count = byForm({ short: 200, long: 10_000 });
const instants = 200;

type Ground = {
  app: TestApp;
  other: OtherRole;
  reader: DatabaseClient;
  edits: Edits;
  close: () => Promise<void>;
};

async function openGround(): Promise<Ground> {
  const app = await openApp();
  const other = await openOtherRole(app.db, app.databaseUrl, 4);
  const reader = connectInUtc(app.databaseUrl);
  const folder = await makeFolder();
  const edits = { app, instances: [app, await app.startInstance()], other, folder, seed };
  const close = async () => {
    await Promise.all([reader.close(), other.close(), rm(folder, { recursive: true, force: true })]);
    await app.close();
  };
  return { app, other, reader, edits, close };
}

describe(`${count} random edits through every door, by 16 at once`, () => {
  let ground: Ground;
  const snapshots: Snapshot[] = [];
  beforeAll(
    async () => {
      ground = await openGround();
      const random = createRandom(seed - 1);
      let isOver = false;
      const look = async () => {
        const pause = byForm({ short: 20, long: 400 });
        while (!isOver || snapshots.length < instants) {
          snapshots.push(await takeSnapshot(ground.reader.db, random()));
          await new Promise((done) => setTimeout(done, isOver ? 0 : random() * 2 * pause));
        }
      };
      const work = makeEdits(ground.edits, { count }).finally(() => {
        isOver = true;
      });
      const startedAt = performance.now();
      const [made] = await Promise.all([work, look()]);
      noteFigures('edits', { ...made, seconds: (performance.now() - startedAt) / 1_000 });
    },
    byForm({ short: 120_000, long: 1_800_000 }),
  );
  afterAll(() => ground.close());

  it(`replayed, give each row as it is, and as it was at ${instants} random instants`, async () => {
    expect((await checkHistory(ground.reader.db, snapshots)).slice(0, 5)).toEqual([]);
    expect(snapshots.length).toBeGreaterThanOrEqual(instants);
    const changes = await listChanges(ground.reader.db);
    expect(changes.length).toBeGreaterThan(count / 3);
    expect(snapshots.filter(({ rows }) => rows.length > 0).length).toBeGreaterThan(instants / 2);
    for (const subject of ['user', 'account', 'link', 'contract'])
      expect(
        changes.some((change) => change.subject === subject && change.kind === 'changed'),
        subject,
      ).toBe(true);
  });

  it('each say who made them, and what caused them', async () => {
    const changes = await listChanges(ground.reader.db);
    // The changes of erased people keep only who made them.
    const gone = new Set(changes.flatMap(({ kind, userId }) => (kind === 'removed' ? [userId] : [])));
    const strange = changes.filter(({ by, role, cause, requestId, members, userId, byUser }) => {
      if ((by === 'database') !== (role === ground.other.role)) return true;
      if (by === 'database' || !members || gone.has(userId) || gone.has(byUser)) return false;
      return (by === 'person' ? requestId : cause) === null;
    });
    expect(strange.slice(0, 3)).toEqual([]);
    const authors = new Set(changes.map(({ by }) => by));
    expect([...authors]).toEqual(
      expect.arrayContaining(['person', 'marketplace', 'crm', 'service', 'database']),
    );
    expect(authors.has(null)).toBe(false);
  });
});

describe('the checker', () => {
  it.each([
    ['users', 'record_update', 'user'],
    ['users', 'record_change', 'user'],
    ['accounts', 'record_update', 'account'],
    ['external_links', 'record_change', 'link'],
    ['service_contracts', 'record_update', 'contract'],
  ])(
    'finds that a trigger is missing: %s_%s',
    async (table, name, subject) => {
      const ground = await openGround();
      try {
        await sql`drop trigger ${sql.id(`${table}_${name}`)} on ${sql.table(table)}`.execute(ground.app.db);
        // A few random edits may all miss the table of this trigger. So the test makes more edits until a fault shows.
        let faults: string[] = [];
        for (let round = 0; round < 10 && faults.length === 0; round++) {
          await makeEdits({ ...ground.edits, seed: seed + 100 * round }, { count: 80 });
          faults = (await checkHistory(ground.reader.db)).filter((fault) => fault.startsWith(`${subject} `));
        }
        expect(faults.length).toBeGreaterThan(0);
      } finally {
        await ground.close();
      }
    },
    120_000,
  );
});
