// What many instances share: migrations, the job sweep, and what must be unique.
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { deleteExpiredRows } from '../../db/expired-rows.ts';
import { migrations } from '../../db/migrations/list.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { consumeNonce } from '../../db/tables/nonces.ts';
import { sweep } from '../../server/doors/jobs/sweep.ts';
import { openApp } from '../support/app/app.ts';
import { readCatalog } from '../support/database/catalog.ts';
import { countRows } from '../support/database/database.ts';
import { buildNeeded, neededFile } from '../support/database/needed.ts';
import { connect, emptyDatabase, withOptions } from '../support/database/postgres.ts';
import { buildSchema, schemaFile } from '../support/database/schema.ts';
import { buildSchemaSql, schemaSqlFile } from '../support/database/schema-sql.ts';
import { addRow } from '../support/openid/log-outs.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

describe('migrations', () => {
  it('run once when 16 instances start at once on an empty database', async () => {
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    const starter = await openApp();
    try {
      const instances = await Promise.all(
        Array.from({ length: 16 }, () => starter.startInstance({ databaseUrl: url })),
      );
      for (const { send } of instances) expect((await send('/readyz')).status).toBe(200);
      // Logins run one after the other. On a busy machine, sixteen passwords hashed at the same time take longer than a login
      // may.
      const cookies: string[] = [];
      for (const [n, { login }] of instances.entries())
        cookies.push(await login(n % 2 ? 'admin@example.test' : 'manager@example.test'));
      for (const [index, cookie] of cookies.entries()) {
        const other = instances[(index + 1) % instances.length];
        expect((await other?.send('/sso/profile', { cookie }))?.status).toBe(200);
      }
      expect(await buildSchema(url)).toBe(await buildSchema(app.databaseUrl));
    } finally {
      await starter.close();
      await drop();
    }
  });

  it('wait for those of another instance, however long, and say so', async () => {
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    const { db, close } = connect(url);
    const starter = await openApp();
    const key = sql`hashtextextended('identity migrations', 0)`;
    try {
      // The timeout is set for the database. Behind a pooler, the service cannot set timeouts of its own.
      const name = sql.ref(new URL(url).pathname.slice(1));
      await sql`alter database ${name} set statement_timeout = '300ms'`.execute(db);
      await sql`select pg_advisory_lock(${key})`.execute(db);
      const starting = starter.startInstance({ databaseUrl: url });
      // 6.5 seconds is longer than any statement of a request may take.
      expect(await Promise.race([starting, sleep(6_500, 'waiting')])).toBe('waiting');
      await sql`select pg_advisory_unlock(${key})`.execute(db);
      expect((await (await starting).send('/readyz')).status).toBe(200);
      const said = starter.logged.map(({ message }) => message).filter((text) => text.includes('migrations'));
      expect(said).toEqual(["waiting for another instance's migrations"]);
    } finally {
      await starter.close();
      await close();
      await drop();
    }
  });

  it('are left to a newer version that had the lock first', async () => {
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    const { db, close } = connect(url);
    try {
      let waiting = Promise.resolve();
      await inTransaction(db, { by: 'service' }, async (trx) => {
        await sql`select pg_advisory_xact_lock(hashtextextended('identity migrations', 0))`.execute(trx);
        let sayWaits = () => {};
        const waits = new Promise<void>((done) => {
          sayWaits = done;
        });
        // This database gets only the record of the migrations, so the last argument turns off the check of the schema.
        waiting = migrate(url, sayWaits, async () => undefined);
        await waits;
        await sql`create table kysely_migration (name text, timestamp text)`.execute(trx);
        for (const name of [...Object.keys(migrations), 'm999-newer'])
          await sql`insert into kysely_migration values (${name}, '')`.execute(trx);
      });
      await waiting;
      expect(await readCatalog(db)).not.toHaveProperty('users');
    } finally {
      await close();
      await drop();
    }
  });

  it('change nothing when they have run already', async () => {
    const applied = () => sql`select * from kysely_migration`.execute(app.db);
    const before = await applied();
    await migrate(app.databaseUrl);
    expect((await applied()).rows).toEqual(before.rows);
  });

  it('do not wait for a session-level lock, which a pooler may leave behind', async () => {
    const kyselyLock = sql.lit(3853314791062309107n);
    await app.db.connection().execute(async (session) => {
      await sql`select pg_advisory_lock(${kyselyLock})`.execute(session);
      await migrate(app.databaseUrl);
      await sql`select pg_advisory_unlock(${kyselyLock})`.execute(session);
    });
  });

  it('make the schema that db/schema.ts declares (npm run schema writes it)', async () => {
    expect(await buildSchema(app.databaseUrl)).toBe(await readFile(schemaFile, 'utf8'));
  });

  it('make the database that db/schema.sql shows (npm run schema writes it)', async () => {
    const inForce = await buildSchemaSql(app.databaseUrl);
    expect(inForce, 'run npm run schema').toBe(await readFile(schemaSqlFile, 'utf8'));
  });

  it('make what db/needed.ts says that this version needs (npm run schema writes it)', async () => {
    expect(await buildNeeded(app.databaseUrl), 'run npm run schema').toBe(await readFile(neededFile, 'utf8'));
  });

  it('make what db/schema.sql makes by itself in an empty database', async () => {
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    const { db, close } = connect(url);
    try {
      const text = await readFile(schemaSqlFile, 'utf8');
      await sql.raw(text).execute(db);
      expect(await buildSchemaSql(url)).toBe(text);
      expect(await readCatalog(db)).toEqual(await readCatalog(app.db));
      // The text does not depend on the name of the schema.
      await sql`alter schema public rename to elsewhere`.execute(db);
      const moved = await buildSchemaSql(withOptions(url, '-c search_path=elsewhere'));
      expect(moved).toBe(text);
    } finally {
      await close();
      await drop();
    }
  });
});

describe('the job sweep', () => {
  let now: Date;
  const services = () => ({ db: app.db }) as unknown as Parameters<typeof sweep>[0];
  const minute = 60_000;
  const daysAgo = (days: number, ms = 0) => new Date(now.getTime() - days * 86_400_000 + ms);

  const addNonce = (nonce: string, expires: Date) =>
    sql`insert into nonces values ('sweeper', ${nonce.padEnd(22, '.')}, ${expires})`.execute(app.db);
  const addSession = (created: Date, seen: Date, ended: Date | null) =>
    sql`insert into sessions (id, token_hash, user_id, created_at, last_seen_at, ended_at, address, user_agent)
      select ${uuidv7()}, sha256(${uuidv7()}), id, ${created}, ${seen}, ${ended}, '', '' from users where email = 'customer@example.test'`.execute(
      app.db,
    );
  const addLimit = (key: string, expires: Date | null) =>
    sql`insert into rate_limits values (${key}, 1, ${expires?.getTime() ?? null})`.execute(app.db);
  const rowsOf = async (table: 'nonces' | 'sessions' | 'rate_limits') =>
    (await sql`select * from ${sql.table(table)} order by 1, 2`.execute(app.db)).rows;

  beforeEach(async () => {
    now = new Date();
    await sql`truncate nonces, sessions, oidc_grants, rate_limits`.execute(app.db);
  });

  it('deletes expired rows, and only those', async () => {
    // Nonces are kept for ten minutes longer than they could be used.
    await addNonce('kept', daysAgo(0, -9 * minute));
    await addNonce('kept-longer', daysAgo(-1));
    await addSession(daysAgo(30, minute), daysAgo(30, minute), null);
    await addSession(daysAgo(29), daysAgo(29), daysAgo(29));
    await addSession(daysAgo(0), daysAgo(0), null);
    await addLimit('kept', daysAgo(0, minute));
    await addLimit('kept-for-ever', null);
    const look = async () => [await rowsOf('nonces'), await rowsOf('sessions'), await rowsOf('rate_limits')];
    const kept = await look();

    await addNonce('past', daysAgo(0, -11 * minute));
    await addSession(daysAgo(30, -1), daysAgo(0), null);
    await addSession(daysAgo(300), daysAgo(290), daysAgo(290));
    await addLimit('past', daysAgo(0, -1));
    await sweep(services());
    expect(await look()).toEqual(kept);
  });

  // Contract 9.23 and 9.100.
  it('deletes what else ages out, each after its time (docs/security/data.md)', async () => {
    const token = () => sql`sha256(${uuidv7()}::bytea)`;
    const user = sql`(select id from users where email = 'customer@example.test')`;
    const { id: client } = await addRow(app);
    const rows: [table: string, days: number, insert: (at: Date) => RawBuilder<unknown>][] = [
      ['audit_events', 400, (at) => sql`(id, at, type) values (${uuidv7()}, ${at}, 'sweeper')`],
      [
        'changes',
        400,
        (at) => sql`(at, subject, kind, erased_at, by, role)
          values (${at}, 'user', 'removed', ${at}, 'service', 'sweeper')`,
      ],
      [
        'devices',
        400,
        (at) => sql`(token_hash, user_id, last_login_at, is_last) values (${token()}, ${user}, ${at}, true)`,
      ],
      ['log_outs', 40, (at) => sql`(client_id, user_id, made_at) values (${client}, ${user}, ${at})`],
      ['launches', 400, (at) => sql`values (${uuidv7()}, 'crm_app', ${user}, ${uuidv7()}, ${at})`],
      [
        'mails',
        30,
        (at) => sql`(id, kind, user_id, recipient, created_at, next_attempt_at, sent_at)
          values (${uuidv7()}, 'welcome', ${user}, 'sweeper@example.test', ${at}, ${at}, ${at})`,
      ],
      ['mail_tokens', 30, (at) => sql`values (${token()}, 'set_password', ${user}, 'x@example.test', ${at})`],
      [
        'pending_email_changes',
        0,
        (at) => sql`select id, 'x@example.test', ${at}, ${at} from users
          where id not in (select user_id from pending_email_changes) limit 1`,
      ],
      [
        'new_addresses',
        0,
        (at) => sql`select ${uuidv7()}, id, 'x@example.test', ${at}, ${at} from users
          where id not in (select user_id from new_addresses) limit 1`,
      ],
      // Challenges are kept for ten minutes longer than they are valid.
      ['used_passkey_challenges', 10 / (24 * 60), (at) => sql`values (${token()}, ${at})`],
      ['webhook_requests', 30, (at) => sql`values (${uuidv7()}, ${token()}, 201, '{}', ${at})`],
      [
        'pending_hand_offs',
        0,
        (at) =>
          sql`values (${uuidv7()}, ${token()}, 'continue', 'marketplace', 'x', ${user}, ${uuidv7()}, '{}', '/', ${at})`,
      ],
    ];
    for (const [table, days, insert] of rows) {
      await sql`delete from ${sql.table(table)}`.execute(app.db);
      for (const ms of [minute, -minute])
        await sql`insert into ${sql.table(table)} ${insert(daysAgo(days, ms))}`.execute(app.db);
    }
    await sweep(services());
    for (const [table] of rows) expect(await countRows(app.db, table), table).toBe(1);
  });

  it('deletes in batches until none is left, even when many run at once', async () => {
    await addNonce('kept', daysAgo(-1));
    await sql`insert into nonces select 'sweeper', 'past-' || lpad(n::text, 20, '0'), ${daysAgo(1)}
      from generate_series(1, 2500) n`.execute(app.db);
    const past = { table: 'nonces', column: 'expires_at', before: sql`now()` };
    expect(await deleteExpiredRows(app.db, past, 1_000)).toBe(1_000);
    expect((await rowsOf('nonces')).length).toBe(1_501);
    await Promise.all(Array.from({ length: 8 }, () => sweep(services())));
    expect((await rowsOf('nonces')).length).toBe(1);
  });

  it('skips rows that another transaction has locked', async () => {
    await addNonce('past', daysAgo(1));
    await addNonce('held', daysAgo(1));
    await app.db.transaction().execute(async (trx) => {
      await sql`select 1 from nonces where nonce like 'held%' for update`.execute(trx);
      await sweep(services());
      expect(await rowsOf('nonces')).toHaveLength(1);
    });
    await sweep(services());
    expect(await rowsOf('nonces')).toHaveLength(0);
  });
});

describe('a nonce', () => {
  const times = { issuedAt: new Date(), expiresAt: new Date(Date.now() + 360_000) };
  const consume = async (audience: string, nonce: string) =>
    (await consumeNonce(app.db, { audience, nonce, ...times })) === 'fresh';

  it('is used up by exactly one of 32 requests at once', async () => {
    const results = await Promise.all(Array.from({ length: 32 }, () => consume('one', 'A'.repeat(22))));
    expect(results.filter((isFirst) => isFirst)).toHaveLength(1);
    expect(await consume('one', 'A'.repeat(22))).toBe(false);
  });

  it('belongs to one audience, and is compared byte for byte', async () => {
    const nonce = 'b'.repeat(22);
    expect(await consume('one', nonce)).toBe(true);
    expect(await consume('another', nonce)).toBe(true);
    expect(await consume('one', nonce.toUpperCase())).toBe(true);
    expect(await consume('one', nonce)).toBe(false);
  });
});

describe('a held email address', () => {
  const add = (email: string) =>
    sql`insert into users (id, account_id, email, holds_email, name)
      select ${uuidv7()}, account_id, ${email}, true, 'Somebody' from users limit 1`.execute(app.db);

  it('goes to exactly one of 16 users who ask for it at once', async () => {
    const results = await Promise.allSettled(Array.from({ length: 16 }, () => add('new@example.test')));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results)
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ code: '23505', constraint: 'users_held_email_key' });
    const changed = sql`update users set email = 'admin@example.test' where email = 'new@example.test'`;
    await expect(changed.execute(app.db)).rejects.toMatchObject({ constraint: 'users_held_email_key' });
  });

  it('stands for one person, in every spelling of its canonical form', async () => {
    await sql`update users set email = 'zoë@xn--bcher-kva.example' where email = 'customer@example.test'`.execute(
      app.db,
    );
    const ids = new Set<string>();
    for (const email of ['zoë@bücher.example', 'ZOË@BÜCHER.example', 'Zoë@XN--BCHER-KVA.Example']) {
      const cookie = await app.login(email);
      ids.add(JSON.parse((await app.send('/sso/profile', { cookie })).text).id);
    }
    expect(ids.size).toBe(1);
    // To the service, these are other email addresses: it ignores what mail providers do with dots and `+`.
    for (const email of ['zoë+x@bücher.example', 'z.oë@bücher.example'])
      await expect(app.login(email)).rejects.toThrow(/401/);
  });
});
