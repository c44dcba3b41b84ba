// Checks what all stores of the kit for TypeScript have to do. vitest runs the checks in memory and on Postgres, and Deno runs
// them on SQLite.
import process from 'node:process';
import {
  createSqlStores,
  type Profile,
  type Stores,
  sqlTables,
} from '../../../clients/typescript/src/index.ts';

const id = '0190f5a0-0000-7000-8000-000000000001';

export const profileOf = (name: string, ms: number): Profile => ({
  id,
  email: 'zoe@example.test',
  name,
  role: 'customer',
  account: { capabilities: [] },
  profile_updated_at: new Date(Date.UTC(2026, 0, 1, 0, 0, 0, ms)).toISOString(),
});

const shuffled = <T>(items: T[]) => items.toSorted(() => Math.random() - 0.5);
const times = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

export async function readPosition({ position }: Stores): Promise<number | undefined> {
  const claim = await position.claim();
  await claim?.release();
  return claim?.position;
}

/** The result of each check: its name, what was found, and what is expected. */
export async function checkStores(stores: Required<Stores>) {
  const { nonces, profiles, endedLogins, sessions, position } = stores;
  const results: [what: string, was: unknown, expected: unknown][] = [];
  const check = (what: string, was: unknown, expected: unknown) => results.push([what, was, expected]);
  const later = Math.floor(Date.now() / 1_000) + 600;

  const used = await times(16, () => nonces.consume('AAAA', later));
  check('of 16 at once one uses a nonce', used.filter(Boolean).length, 1);
  check('nonces differ by their case', await nonces.consume('aaaa', later), true);
  check('a nonce is used for good', await nonces.consume('AAAA', later), false);

  check('nobody is known at first', await profiles.find(id), undefined);
  const versions = shuffled(Array.from({ length: 16 }, (_, n) => profileOf(`Version ${n}`, n)));
  await times(16, (n) => profiles.apply(versions[n] ?? profileOf('none', 0)));
  check(
    'the newest profile stays, in whatever order they come',
    (await profiles.find(id))?.name,
    'Version 15',
  );
  const asked = await Promise.all([14, 15, 16].map((ms) => profiles.isNewer(profileOf('Asked', ms))));
  check('a later one is newer, and to ask changes nothing', asked, [false, false, true]);
  check('an older one is not applied', await profiles.apply(profileOf('Older', 14)), false);
  check('nor the same again', await profiles.apply(profileOf('Same', 15)), false);
  check('a newer one is', await profiles.apply(profileOf('Newer', 16)), true);
  check(
    'of 16 at once one is newer',
    (await times(16, () => profiles.apply(profileOf('New', 17)))).filter(Boolean).length,
    1,
  );
  check('as it was given', await profiles.find(id), profileOf('New', 17));
  await profiles.forget(id);
  check('forgotten', await profiles.find(id), undefined);
  check('nobody is newer than forgotten', await profiles.isNewer(profileOf('Again', 18)), false);
  check('nobody comes back', await profiles.apply(profileOf('Again', 18)), false);
  check('still forgotten', await profiles.find(id), undefined);
  await profiles.forgetAll();
  check('all is new after all was forgotten', await profiles.apply(profileOf('First', 1)), true);

  check('a login has not ended', await endedLogins.has('c2lk'), false);
  await times(2, () => endedLogins.add('c2lk', later));
  check('it has ended', [await endedLogins.has('c2lk'), await endedLogins.has('C2lk')], [true, false]);

  const now = later - 600;
  const start = (name: string, sid: string | undefined, userId: string, expiresAt = later) =>
    sessions.add({ id: name, sid, userId, expiresAt }, now);
  const live = async () => {
    const found = await Promise.all(['a', 'A', 'b', 'c', 'd'].map((name) => sessions.find(name)));
    return found.map((session) => session?.id ?? '-').join('');
  };
  await start('d', 'old', 'otto', now - 1);
  await start('a', 'one', 'zoe');
  await start('A', 'One', 'otto');
  await start('b', 'two', 'zoe');
  await start('c', undefined, 'ada');
  check('a session is as it was given', await sessions.find('a'), {
    id: 'a',
    sid: 'one',
    userId: 'zoe',
    expiresAt: later,
  });
  check('also without a login', (await sessions.find('c'))?.sid, undefined);
  check('one that has expired is swept, and names differ by their case', await live(), 'aAbc-');
  await sessions.endLogin('one');
  check('the sessions of a login end', await live(), '-Abc-');
  await sessions.endPerson('zoe');
  check('the sessions of a person end', await live(), '-A-c-');
  await sessions.end('A');
  check('a session ends', await live(), '---c-');
  await times(16, (n) => start(`s${n}`, 'many', 'ada'));
  await sessions.endAll();
  check('all end', [await live(), await sessions.find('s7')], ['-----', undefined]);

  const first = await position.claim();
  check('the position is 0 at first', first?.position, 0);
  const second = position.claim();
  check('it moves far', await first?.advance(1_000_000_000_017), true);
  await first?.release();
  const turn = await second;
  check('whoever waited for it goes on from there', turn?.position, 1_000_000_000_017);
  check('it moves back where that is right', await turn?.advance(5), true);
  await turn?.release();
  let [holding, most, held] = [0, 0, 0];
  await times(16, async () => {
    const claim = await position.claim();
    if (!claim) return;
    most = Math.max(most, ++holding);
    await claim.advance(claim.position + 1);
    held += 1;
    holding -= 1;
    await claim.release();
  });
  check('of 16 at once one at a time holds it', most, 1);
  check('and each moves it', await readPosition(stores), 5 + held);
  return results.map(([what, was, expected]) => ({
    what,
    was: JSON.stringify(was),
    expected: JSON.stringify(expected),
  }));
}

/** Checks the stores on SQLite, with a driver that Deno has and Node 20 does not. */
async function checkSqlite() {
  // The types of Node 20 do not know this module.
  const sqlite = 'node:sqlite';
  const { DatabaseSync } = await import(sqlite);
  const database = new DatabaseSync(':memory:');
  for (const table of [...sqlTables(), ...sqlTables()]) database.exec(table);
  const stores = createSqlStores(async (text, params) => ({ rows: database.prepare(text).all(...params) }), {
    dialect: 'sqlite',
  });
  const results = await checkStores(stores);
  await stores.sweep(new Date(Date.now() + 3_600_000));
  const count = database.prepare('select count(*) as count from identity_nonces').get();
  return [...results, { what: 'swept', was: JSON.stringify(count), expected: '{"count":0}' }];
}

if ('Deno' in globalThis) process.stdout.write(JSON.stringify(await checkSqlite()));
