// npm run bench:people [number]: how long staff wait for a search among that number of people, or among a million.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { openDatabase } from '../../db/postgres/client.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import { listAuditEvents } from '../../db/tables/audit-events.ts';
import { findUserById } from '../../db/tables/users.ts';
import { createRateLimits } from '../../server/ground/rate-limits.ts';
import { readConfig } from '../../server/settings/config.ts';
import { findPeople } from '../../server/staff/find-people.ts';
import { indexPeople } from '../../server/staff/index-people.ts';
import { describePerson } from '../../server/staff/person.ts';
import { makeFolder } from '../support/database/postgres.ts';
import { idOf } from './ids.ts';
import { fillBooks, fillMails, fillSums } from './staff-books.ts';
import { buildStaffPages, measureFiles } from './staff-pages.ts';

const people = Number(process.argv[2] ?? 1_000_000);
const rounds = 200;
/** The limits of p99 in milliseconds: for a search (contract 12.61), and for everything else that staff read. */
const lineOfSearch = 150;
const line = 100;

const half = Math.floor(people / 2);
/** The id of a person with a long history. */
const busyId = '0190f5a0-0001-7000-8000-0000000003e8';

/**
 * Adds people. Half are called Anna, the others Bert, and one person has both names. The older half belong to accounts called
 * "Altkunde", and their email addresses are not proved.
 */
async function fill(client: pg.Client): Promise<void> {
  const insert = (table: string, columns: string, values: string, where = '') =>
    client.query(
      `insert into ${table} (${columns}) select ${values} from generate_series(1, ${people}) n ${where}`,
    );
  const [account, user] = [idOf(0, 'n'), idOf(1, 'n')];
  const name = `case n when ${half} then 'Anna Bert' else (array['Anna', 'Bert'])[1 + n % 2] end`;
  const syllable = (seed: number) =>
    `(array['ber', 'gel', 'hof', 'kam', 'lin', 'mar', 'nau', 'ros', 'sta', 'wei'])[1 + (hashint4(n + ${seed}) & 1023) % 10]`;
  const surname = `initcap(${[1, 2, 3, 4].map(syllable).join(' || ')})`;
  await client.query('set session_replication_role = replica; set synchronous_commit = off');
  await insert(
    'accounts',
    'id, name, capabilities',
    `${account}, case when n <= ${half} then 'Altkunde' else 'Neukunde' end
      || (array[' Haus', ' Werk'])[1 + (hashint4(n + 5) & 1)] || (array[' Rot', ' Blau', ' Gelb'])[1 + n % 3] || ' GmbH',
      case when n % 100 = 0 then '{sell_products}'::text[] else '{}' end`,
  );
  await insert(
    'users',
    'id, account_id, email, holds_email, email_verified_at, name, role, suspended_at, frozen_at',
    `${user}, ${account}, 'kunde' || n || '@' || case when n % 20 < 10 then 'post' else 'mail' end || '.example.com',
      n % 10 > 0, case when n > ${half} and n % 10 > 0 then now() end, ${name} || ' ' || ${surname},
      case when n % 10000 = 3 then 'manager' else 'user' end, case when n in (7, 8, 9) then now() end,
      case when n in (7, 8, 9) then now() end`,
  );
  await insert('external_links', 'provider, external_id, user_id', `'marketplace', 'm-' || n, ${user}`);
  // Everybody has an event of one login. One person has twenty events a day, over the whole time for which events are kept.
  await insert(
    'audit_events',
    'id, at, type, user_id',
    `gen_random_uuid(), now() - random() * interval '399 days', 'login.succeeded', ${user}`,
  );
  await client.query(`insert into audit_events (id, at, type, user_id)
    select gen_random_uuid(), now() - n * interval '72 minutes', 'profile.updated', '${busyId}' from generate_series(1, 8000) n`);
  await client.query(`insert into changes (at, began_at, subject, row_id, user_id, kind, members, by, role)
    select now() - n * interval '72 minutes', now() - n * interval '72 minutes', 'user', '${busyId}', '${busyId}', 'changed',
      '{"name": {"from": "A", "to": "B"}}', 'person', 'bench' from generate_series(1, 8000) n`);
  await fillBooks(client, people);
  await fillSums(client);
  await fillMails(client, people);
  await client.query('insert into people_to_index (user_id) select id from users');
  await client.query('reset session_replication_role');
  await client.query('vacuum analyze');
}

const print = (text: string) => process.stdout.write(`${text}\n`);
/**
 * Returns a random multiple of ten: the number of a person. It is never the last person, so that a list has other people after
 * this one.
 */
const some = () => 10 * (1 + Math.floor(Math.random() * (people / 10 - 1)));

const addressOf = (n: number) => `kunde${n}@${n % 20 < 10 ? 'post' : 'mail'}.example.com`;

const invoiceNumber = (n: number) => `INV-${String(Math.max(1, n)).padStart(7, '0')}`;

type Query = Parameters<typeof findPeople>[1];

const more = '50 and more';

/** Each kind of query, and how many people it has to find. Without `expected`, it has to find at least one. */
const kinds: [name: string, build: () => Query, expected?: number | typeof more][] = [
  ['nothing: the newest', () => ({ q: '' }), more],
  ['a filter of three people', () => ({ q: '', state: 'frozen' }), 3],
  ['a filter of the older half', () => ({ q: '', state: 'unproved' }), more],
  ['two filters that nobody is in', () => ({ q: '', role: 'manager', state: 'frozen' }), 0],
  ['a whole address', () => ({ q: addressOf(some() + 1) })],
  ['a whole address that was only typed', () => ({ q: addressOf(some()) })],
  ['a whole user id', () => ({ q: `0190f5a0-0001-7000-8000-${some().toString(16).padStart(12, '0')}` }), 1],
  ['a whole marketplace id', () => ({ q: `m-${some()}` }), 1],
  ['a whole signup id', () => ({ q: `signup_${some()}` }), 1],
  ['an invoice number', () => ({ q: invoiceNumber(some() / 10) }), 1],
  ['first name and surname', () => ({ q: 'Anna Berhofkamlin' })],
  ['a word that half have', () => ({ q: 'bert' }), more],
  ['a word that the older half have', () => ({ q: 'altkunde' }), more],
  ['two words that half have, and one person both', () => ({ q: 'anna bert' }), 1],
  ['two words that half have, and nobody both', () => ({ q: 'altkunde neukunde' }), 0],
  ['three words that a third have, and nobody two', () => ({ q: 'rot blau gelb' }), 0],
  ['five words that many have, and nobody all', () => ({ q: 'haus anna blau altkunde neukunde' }), 0],
  ['a letter that all have', () => ({ q: 'k' }), more],
  ['a beginning of a million different words', () => ({ q: 'kunde' }), more],
  ['two beginnings, with a word that the older half have', () => ({ q: 'kunde a altkunde' }), more],
  ['a common word, and a filter of three people', () => ({ q: 'kunde', state: 'frozen' }), 3],
  [
    'a common word and two filters, and nobody all',
    () => ({ q: 'neu', role: 'manager', state: 'unproved' }),
    0,
  ],
  ['forty words, and nobody all', () => ({ q: forty }), 0],
  ['every letter and digit, and nobody all', () => ({ q: letters }), 0],
  ['a word that nobody has', () => ({ q: 'zzyzx' }), 0],
];
const forty = 'al an be bl co ex ge gm ha ku ma ne po ro we be st si ga li na ho'
  .split(' ')
  .flatMap((w) => [w, `${w}r`])
  .slice(0, 40)
  .join(' ');
const letters = Array.from('abcdefghijklmnopqrstuvwxyz0123456789').join(' ');

const folder = await makeFolder();
const postgres = await startEmbeddedPostgres(join(folder, 'data'), {
  // npm run bench uses the same settings.
  settings: { synchronous_commit: 'off', shared_buffers: '2GB', max_wal_size: '4GB' },
});
const client = new pg.Client(postgres.url);
const database = openDatabase({
  url: postgres.url,
  poolSize: 4,
  preparedStatements: true,
  onError: () => undefined,
});
const limits = createRateLimits(database.db, () => undefined);
/** What the pages of staff read besides a search. */
const pages: [name: string, read: () => Promise<unknown>][] = [
  [
    'a person with 400 days of history',
    async () => describePerson({ ...limits, db: database.db, config: readConfig({}), now }, await findBusy()),
  ],
  ['audit: the newest', () => audit({})],
  ['audit by a person with 400 days of events', () => audit({ person: busyId })],
  ['audit by a kind that is rare', () => audit({ kind: 'staff.suspend' })],
  ['audit by a kind that is common, for a manager', () => audit({ kind: 'login.succeeded' }, true)],
  ['audit by somebody of the staff', () => audit({ staff: busyId })],
];
const now = () => new Date();
const audit = (asked: { person?: string; kind?: string; staff?: string }, isWithoutStaff = false) =>
  listAuditEvents(database.db, { ...asked, isWithoutStaff, limit: 51 });
async function findBusy() {
  const user = await findUserById(database.db, busyId);
  if (!user) throw new Error('nobody is busy');
  return user;
}

try {
  await migrate(postgres.url);
  await client.connect();
  await fill(client);
  const startedAt = performance.now();
  await indexPeople({ db: database.db });
  print(`${people} people indexed in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  await client.query('vacuum analyze person_words');
  const {
    rows: [size],
  } = await client.query(`select pg_size_pretty(pg_table_size('person_words')) as rows,
    pg_size_pretty(pg_indexes_size('person_words')) as indexes`);
  print(`person_words: ${size.rows} of rows, ${size.indexes} of indexes`);
  if (!(await measure())) process.exitCode = 1;
} finally {
  await client.end();
  await database.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measure(): Promise<boolean> {
  print('| Query | found | p50 | p99 |\n| --- | --- | --- | --- |');
  let isFast = true;
  const time = async (name: string, found: string, run: () => Promise<void>, most = line) => {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const startedAt = performance.now();
      await run();
      times.push(performance.now() - startedAt);
    }
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.ceil(share * rounds) - 1] ?? 0;
    if (at(0.99) > most) isFast = false;
    print(`| ${name} | ${found} | ${at(0.5).toFixed(1)} ms | ${at(0.99).toFixed(1)} ms |`);
  };
  for (const [name, build, expected] of kinds)
    await time(
      name,
      String(expected ?? 'some'),
      async () => {
        const query = build();
        const result = await findPeople({ db: database.db, now: () => new Date() }, query);
        const found = result.more ? more : result.people.length;
        if (expected === undefined ? found === 0 : found !== expected)
          throw new Error(`${name}: found ${found} by ${JSON.stringify(query)}`);
      },
      build().q === letters ? Number.POSITIVE_INFINITY : lineOfSearch,
    );
  for (const [name, read] of pages) await time(name, '–', async () => void (await read()));
  for (const page of buildStaffPages(database))
    await time(page.name, '–', async () => void (await page.read()), page.line);
  await measureFiles(postgres.url, print);
  return isFast;
}
