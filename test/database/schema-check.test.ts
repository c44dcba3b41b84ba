// The start compares the database with what this version needs. If something is missing, the start fails with one sentence
// (contract 9.352 to 9.354).
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { readMigrationStatus } from '../../db/migration-status.ts';
import { migrations } from '../../db/migrations/list.ts';
import { openApp } from '../support/app/app.ts';
import { cloneDatabase, connect, type TestDatabase } from '../support/database/postgres.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

let database: TestDatabase;
beforeEach(async () => {
  database = await cloneDatabase(inject('templateUrl'));
});
afterEach(() => database.drop());

async function change(...statements: string[]): Promise<void> {
  const { db, close } = connect(database.url);
  for (const statement of statements) await sql.raw(statement).execute(db);
  await close();
}

/** Returns the message of a start that fails, or '' if the start succeeds. */
const start = () =>
  app.startInstance({ databaseUrl: database.url }).then(
    () => '',
    (error) => `${error.constructor.name}: ${error.message}`,
  );
const faultOf = async () => (await readMigrationStatus(database.url)).fault;

const lacks = 'This version does not start on this database, which lacks';
const although =
  'although all its migrations have run (docs/operate/troubleshoot.md, "The start refuses the database").';
const fromNewer = `insert into kysely_migration values ('m998-phones', '')`;
const otherBody =
  "create or replace function refuse_change_of_books() returns trigger language plpgsql as 'begin return new; end'";

describe('a start on a database that has run all migrations', () => {
  it.each([
    ['drop table waiting_periods cascade', 'the table waiting_periods'],
    ['alter table mails drop column last_error', 'the column last_error of mails'],
    ['drop trigger users_record_update on users', 'the trigger users_record_update of users'],
    ['alter table users disable trigger users_record_update', 'the trigger users_record_update of users'],
    ['drop index users_held_email_key', 'the unique index users_held_email_key of users'],
    // A restore makes what follows last, so a database lacks it if its restore was interrupted.
    [
      'alter table sessions drop constraint sessions_user_id_fkey',
      'the foreign key sessions_user_id_fkey of sessions',
    ],
    [
      'drop function write_change(text, text[], jsonb, jsonb)',
      'the function write_change(text, text[], jsonb, jsonb)',
    ],
    [otherBody, 'the function refuse_change_of_books() as it was made'],
  ])('is refused after: %s', async (statement, what) => {
    await change(statement);
    const said = await start();
    expect(said).toMatch(/^SchemaError: /);
    expect(said).toContain(`${lacks} `);
    expect(said).toContain(what);
    expect(said).toContain(although);
    expect(await faultOf()).toBe(said.replace('SchemaError: ', ''));
  });

  it('names five things at most', async () => {
    await change(
      'drop table waiting_periods, launches, nonces, mails, devices, sums_of_hours, allocations cascade',
    );
    expect(await start()).toMatch(
      new RegExp(`^SchemaError: ${lacks} (the \\w+ [^,]+, ){4}the [^,]+ and \\d+ more, `),
    );
  });

  // The database is newer than this version after a return to an older version, and while instances are replaced.
  it('goes on with what a newer version has added, and has given another body', async () => {
    await change(
      fromNewer,
      otherBody,
      'create table phones (number text primary key)',
      'alter table users add column phone text',
      `create function mind_phone() returns trigger language plpgsql as 'begin return new; end'`,
      'create trigger users_mind_phone before update on users for each row execute function mind_phone()',
      'create index users_phone_idx on users (phone)',
    );
    expect(await start()).toBe('');
    expect(await faultOf()).toBeUndefined();
    await change('drop table waiting_periods cascade');
    expect(await start()).toContain('the table waiting_periods');
  });

  // Contract 9.353.
  it('goes on with what an operator has added', async () => {
    await change('create table notes (note text)', 'create index mails_note_idx on mails (kind)');
    expect(await start()).toBe('');
  });

  // For example a schema named after the role, which comes first in the search path by default.
  it.each([
    'create schema authorization current_user',
    'create schema authorization current_user; alter table mails set schema identity',
  ])('goes on with a schema before the one that has its tables: %s', async (statement) => {
    await change(...statement.split('; '));
    expect(await start()).toBe('');
    expect(await faultOf()).toBeUndefined();
    await change('drop trigger users_record_update on users');
    expect(await start()).toContain('lacks the trigger users_record_update of users,');
  });
});

describe('a start on a database that this version cannot bring to the present', () => {
  const done = async () => {
    const { db, close } = connect(database.url);
    const { rows } = await sql`select name from kysely_migration order by name`.execute(db);
    await close();
    return rows;
  };

  it('is refused where it has a migration that this version does not know, and lacks one (contract 9.354)', async () => {
    await change(
      `delete from kysely_migration where name in ('m040-refused-forms', 'm041-freed-credit-notes') or name > 'm1'`,
      `insert into kysely_migration values ('m040-staff', '')`,
    );
    const before = await done();
    const said = await start();
    expect(said).toMatch(/^SchemaError: This version does not start on this database, /);
    expect(said).toContain('it has m040-staff, which this version does not know');
    expect(said).toContain('lacks m040-refused-forms, m041-freed-credit-notes, m100-baseline');
    expect(await faultOf()).toBe(said.replace('SchemaError: ', ''));
    expect(await done()).toEqual(before);
  });

  // Contract 9.356.
  it.each([
    "name > 'm041'",
    "name > 'm036'",
    "name >= 'm1' or name = 'm036-retention'",
    "name <> '2026-11-20-foundation'",
  ])('is refused where it is older than 0.6.0, without: %s', async (condition) => {
    await change(`delete from kysely_migration where ${condition}`);
    const before = await done();
    const said = await start();
    expect(said).toBe(
      'SchemaError: This version does not start on this database, which is older than 0.6.0: run `migrate` of version 0.6.0 on ' +
        'it first (docs/operate/upgrade.md, "From before 0.6.0").',
    );
    expect(await faultOf()).toBe(said.replace('SchemaError: ', ''));
    expect(await done()).toEqual(before);
  });

  it('is refused where one is missing before others that have run', async () => {
    const all: Record<string, Pick<(typeof migrations)['m100-baseline'], 'up'>> = migrations;
    try {
      all['m199-later'] = migrations['m100-baseline'];
      await change(
        `delete from kysely_migration where name = 'm100-baseline'`,
        `insert into kysely_migration values ('m199-later', '')`,
      );
      expect(await start()).toMatch(/SchemaError: .* it lacks m100-baseline /);
      expect(await faultOf()).toContain('lacks m100-baseline');
    } finally {
      delete all['m199-later'];
    }
  });
});
