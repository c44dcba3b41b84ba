// The stores of the kit for TypeScript on MariaDB, by the driver and the sample of its README. Needs Debian's mariadb-server.
import { rm } from 'node:fs/promises';
import { createPool } from 'mysql2/promise';
import { beforeEach, expect, it } from 'vitest';
import { createSqlStores, type Stores } from '../../clients/typescript/src/index.ts';
import { openShop } from '../support/clients/kit-shop.ts';
import { checkStores, profileOf } from '../support/clients/kit-stores.ts';
import { socketOf, startMariadb } from '../support/database/mariadb.ts';
import { makeFolder } from '../support/database/postgres.ts';
import { requirePrograms } from '../support/machines/programs.ts';
import { readCodeBlocks, readOurFile } from '../support/project/documents.ts';
import { shared } from '../support/run/shared.ts';

const kit = 'clients/typescript';

const mariadb = shared(async () => {
  requirePrograms('/usr/sbin/mariadbd');
  const folder = await makeFolder();
  const server = await startMariadb(folder, 'shop');
  const pool = createPool({
    socketPath: socketOf(folder),
    user: 'root',
    database: 'shop',
    connectionLimit: 8,
    multipleStatements: true,
  });
  async function close() {
    await pool.end();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return { pool, close };
});

const schema = readOurFile(`${kit}/schema.sql`);
const sample = readCodeBlocks({ path: kit, text: readOurFile(`${kit}/README.md`) }).find(({ code }) =>
  code.includes("dialect: 'mysql'"),
);

/** The stores of the README's sample, unchanged, on the tables of `schema.sql`. */
let stores: Required<Stores> & { sweep: (now?: Date) => Promise<void> };
beforeEach(async () => {
  for (const name of ['nonces', 'ended_logins', 'profiles', 'position', 'sessions'])
    await mariadb.pool.query(`drop table if exists identity_${name}`);
  // Runs the schema two times, because the second time has to change nothing.
  await mariadb.pool.query(schema + schema);
  const make = new Function('createSqlStores', 'pool', `${sample?.code}; return stores;`);
  stores = make(createSqlStores, mariadb.pool);
});

it('keep what they have to keep (contract 13.131)', async () => {
  const results = await checkStores(stores);
  expect(results.filter(({ was, expected }) => was !== expected)).toEqual([]);
  expect(results.length).toBeGreaterThan(19);
  const counted = async () => {
    const text =
      'select (select count(*) from identity_nonces) + (select count(*) from identity_ended_logins)';
    const [rows] = await mariadb.pool.query({ sql: text, rowsAsArray: true });
    return Number((rows as unknown[][])[0]?.[0]);
  };
  expect(await counted()).toBe(3);
  // A sweep by a process whose clock is ten minutes ahead deletes nothing too early.
  await stores.sweep(new Date(Date.now() + 1_190_000));
  expect(await counted()).toBe(3);
  await stores.sweep(new Date(Date.now() + 1_201_000));
  expect(await counted()).toBe(0);
});

it('keep each name as it was given, by connections of any character set', async () => {
  const { pool } = mariadb;
  for (const charset of ['utf8mb4', 'latin1']) {
    const given = profileOf(`Zoë 😀 '\\"${'字'.repeat(190)}`, charset.length);
    const connection = await pool.getConnection();
    await connection.query(`set names ${charset}`);
    const kept = new Function('createSqlStores', 'pool', `${sample?.code}; return stores;`)(
      createSqlStores,
      connection,
    ) as Required<Stores>;
    await kept.profiles.forgetAll();
    await kept.profiles.apply(given);
    expect(await kept.profiles.find(given.id)).toEqual(given);
    expect(await stores.profiles.find(given.id)).toEqual(given);
    const [rows] = await pool.query('select profile from identity_profiles');
    expect(String((rows as { profile: string }[])[0]?.profile)).toMatch(/^[ -~]+$/);
    connection.destroy();
  }
});

it('refuse with 503 a person whose row cannot be read (contract 13.132)', async () => {
  const shop = openShop({ stores });
  const browser = shop.openBrowser();
  await browser.logIn();
  await mariadb.pool.query("update identity_profiles set profile = '{\"id'");
  const answer = (await shop.identity.requireLogin(browser.request('/'))) as Response;
  expect([answer.status, answer.headers.get('identity-refusal')]).toEqual([503, 'store_unavailable']);
});

it('leave the position to a pull that has taken over', async () => {
  const claim = await stores.position.claim();
  await mariadb.pool.query("update identity_position set holder = 'another', signs = signs + 1");
  expect(await claim?.advance(99)).toBe(false);
  await claim?.release();
  const [rows] = await mariadb.pool.query('select seq, holder from identity_position');
  expect(rows).toEqual([{ seq: 0, holder: 'another' }]);
});

it('start one session of 16 callbacks at once', async () => {
  const shop = openShop({ stores });
  const browser = shop.openBrowser();
  const callback = await shop.fake.handOff(await browser.start());
  const twins = Array.from({ length: 16 }, () => shop.openBrowser(new Map(browser.cookies)));
  const answers = await Promise.all(twins.map((twin) => twin.open(callback)));
  expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(15).fill(409)]);
  const people = await Promise.all(twins.map((twin) => twin.person()));
  expect(people.filter((person) => person)).toHaveLength(1);
});

it('log nobody in and nobody out while a table is away (contract 13.132)', async () => {
  const shop = openShop({ stores });
  const [browser, late] = [shop.openBrowser(), shop.openBrowser()];
  await browser.logIn();
  const callback = await shop.fake.handOff(await late.start());
  await mariadb.pool.query('rename table identity_sessions to elsewhere');
  const required = await shop.identity.requireLogin(browser.request('/'));
  const received = await late.open(callback);
  for (const answer of [required as Response, received])
    expect([answer.status, answer.headers.get('identity-refusal'), answer.headers.getSetCookie()]).toEqual([
      503,
      'store_unavailable',
      [],
    ]);
  await mariadb.pool.query('rename table elsewhere to identity_sessions');
  expect(await browser.person()).toBeDefined();
  expect(await late.person()).toBeUndefined();
});
