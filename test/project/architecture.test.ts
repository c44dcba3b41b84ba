import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import {
  findCircles,
  isIn,
  readImports,
  readSources,
  rooms,
  rules,
  type Source,
} from '../support/project/source-rules.ts';

describe('the source', () => {
  const sources = readSources();

  it('is found as a whole', () => {
    const files = sources.map(({ file }) => file);
    for (const file of [
      'app/root.tsx',
      'server/main.ts',
      'server/sso/envelope.ts',
      'db/postgres/client.ts',
    ]) {
      expect(files).toContain(file);
    }
    expect(files.some((file) => isIn(file, 'db/migrations/'))).toBe(true);
  });

  it.each(rules.map((rule) => [rule.name, rule] as const))('keeps the rule: %s', (_, { breaches }) => {
    expect(sources.flatMap(breaches)).toEqual([]);
  });

  it('has no circle of imports in app/, server/ or db/, type imports included', () => {
    expect(findCircles(sources)).toEqual([]);
  });

  it('has every import read that the compiler reads', () => {
    for (const source of sources) {
      const seen = readImports(source).map(({ name }) => name);
      // Only the compiler takes an augmented module (`declare module`) for an import.
      const augmented = [...source.text.matchAll(/^declare module '([^']+)'/gm)].map(([, name]) => name);
      const { importedFiles } = ts.preProcessFile(source.text, true, true);
      expect(seen.filter((name) => name !== 'unreadable').sort(), source.file).toEqual(
        importedFiles
          .map(({ fileName }) => fileName)
          .filter((name) => !augmented.includes(name))
          .sort(),
      );
    }
  });
});

describe('the rules of the source', () => {
  it.each([
    ['app/routes/x.tsx', "import { readConfig } from '../../server/config.ts';"],
    ['app/x.ts', "import { type Config, readConfig } from '../server/config.ts';"],
    ['app/x.ts', "import config from '../server/config.ts';"],
    ['app/x.ts', "import type, { x } from '../server/config.ts';"],
    ['app/x.ts', "import * as users from '../db/users.ts';"],
    ['app/x.ts', "import '../db/users.ts';"],
    ['app/x.ts', "export { findUser } from '../db/users.ts';"],
    ['app/x.ts', "export * from '../db/users.ts';"],
    ['app/x.ts', "const users = await import('../db/users.ts');"],
    ['app/x.ts', "import {\n  type User,\n  findUser,\n} from '../db/users.ts';"],
    ['server/web/x.ts', "import { useState } from 'react';"],
    ['server/web/x.ts', "import type { ReactNode } from 'react';"],
    ['server/web/x.ts', "import { renderToString } from 'react-dom/server';"],
    ['server/trpc/x.ts', "import { redirect } from '@remix-run/node';"],
    ['server/web/x.ts', "import type { Page } from '../../app/components/page.tsx';"],
    ['server/runtime/x.ts', "const page = import('../../app/root.tsx');"],
    ['db/x.ts', "import type { Config } from '../server/config.ts';"],
    ['db/migrations/x.ts', "import { loader } from '../../app/root.tsx';"],
    ['server/web/x.ts', "import { openApp } from '../../test/support/app/app.ts';"],
    ['server/web/x.ts', "import pg from 'pg';"],
    ['db/tables/users.ts', "import type { Pool } from 'pg';"],
    ['db/x.ts', "import Cursor from 'pg/lib/query.js';"],
    ['server/web/x.ts', "import { readFile } from 'node:fs/promises';"],
    ['app/x.ts', "import { createHash } from 'node:crypto';"],
    ['db/tables/users.ts', "const fs = require('node:fs');"],
    ['server/web/x.ts', 'const it = await import(name);'],
    ['server/web/x.ts', 'const it = await import(`./$' + '{name}.ts`);'],
    ['db/migrations/x.ts', "import type { DB } from '../schema.ts';"],
    ['db/migrations/x.ts', "import { v7 } from 'uuid';"],
    ['server/sso/x.ts', "import { readConfig } from '../config.ts';"],
    ['server/sso/x.ts', "import type { Config } from '../config.ts';"],
    ['server/sso/x.ts', "import { parse } from 'cookie';"],
    ['server/sso/x.ts', "import { createHmac } from 'node:crypto';"],
    ['server/web/x.ts', 'const home = process.env.HOME;'],
    ['server/web/x.ts', "const home = process?.env['HOME'];"],
    ['server/web/x.ts', 'const { env } = process;'],
    ['app/x.ts', 'const text = `$' + '{process.version}`;'],
    ['db/tables/users.ts', 'await Deno.readTextFile(file);'],
    ['db/tables/users.ts', "return Buffer.from(text, 'hex');"],
    ['server/web/x.ts', 'const runtime = globalThis.Deno;'],
    ['server/web/x.ts', 'if (URL.canParse(text)) return new URL(text);'],
    ['server/web/x.ts', 'await db.transaction().execute(work);'],
    ['db/x.ts', 'const trx = await db.startTransaction().execute();'],
    ['db/x.ts', "db.selectFrom('users as u').selectAll('u')"],
    ['db/x.ts', 'query.returningAll().execute()'],
    ['server/web/x.ts', "await db.deleteFrom('nonces').execute();"],
    ['db/tables/live-sessions.ts', "await db.updateTable('sessions').set({ amr })"],
    ['db/tables/nonces.ts', 'await sql`delete from mails`.execute(db);'],
    ['db/tables/nonces.ts', 'await sql`\n  update mails set kind = 1`.execute(db);'],
    ['server/web/x.ts', 'deferSession(trx, session);'],
    ['server/identity/session/x.ts', "import { login } from '../login/login.ts';"],
    ['app/routes/x.tsx', 'const { procedures, endpoints } = context;'],
    ['app/routes/x.tsx', 'await context.endpoints.launch(request);'],
    ['server/identity/x.ts', ''],
    ['server/x.ts', ''],
    ['clients/doctor/x.ts', "import { login } from '../../server/identity/login/login.ts';"],
    ['server/identity/login/login.ts', 'deferUser(trx, user);'],
    ['db/tables/users.ts', "const f = (\n  db: Database,\n) => db.deleteFrom('users')"],
    [
      'db/tables/accounts.ts',
      'export async function f(db: Database, row: Row) {\n  await insert(db, row);\n}',
    ],
    [
      'db/tables/service-contracts.ts',
      'export async function f(db: Database) {\n  await sql`update x`.execute(db);\n}',
    ],
  ])('are broken in %s by: %s', (file, text) => {
    expect(rules.flatMap(({ breaches }) => breaches({ file, text }))).not.toEqual([]);
  });

  it.each([
    ['app/x.ts', "import type { Config } from '../server/config.ts';"],
    ['app/x.ts', "import { type Config, type ConfigError } from '../server/config.ts';"],
    ['app/x.ts', "export type { User } from '../db/users.ts';"],
    ['app/x.ts', "import { useState } from 'react';"],
    ['server/web/x.ts', "import { findUser } from '../../db/tables/users.ts';"],
    ['server/web/x.ts', "import { parse } from 'pg-connection-string';"],
    ['server/web/x.ts', "const { ZxcvbnFactory } = await import('@zxcvbn-ts/core');"],
    ['server/web/x.ts', "// process.env is read elsewhere; import pg from 'pg';"],
    ['server/web/x.ts', "const parsed = ipaddr.process(address); const why = 'ended by another process.';"],
    ['server/runtime/x.ts', "import process from 'node:process';\nprocess.exit(1);"],
    ['db/embedded/server.ts', "import { spawn } from 'node:child_process';\nconst it = await import(name);"],
    ['db/postgres/client.ts', "import pg from 'pg';"],
    ['server/identity/login/x.ts', "import { findSession } from '../session/sessions.ts';"],
    ['clients/doctor/x.ts', "import { sign } from '../../server/sso/hmac.ts';"],
    ['server/identity/session/sessions.ts', 'deferSession(trx, session);'],
    ['db/tables/users.ts', "async function f(trx: Transaction<DB>) {\n  await trx.updateTable('users');\n}"],
    ['db/tables/users.ts', "async function f(db: Database) {\n  return db.selectFrom('users');\n}"],
    [
      'db/tables/events.ts',
      'sql`insert into event_sequences as s on conflict do update set x = 1 for update skip locked`',
    ],
    ['db/tables/pending-logins.ts', "trx.deleteFrom('pending_logins');"],
    ['db/migrations/x.ts', "import { type Kysely, sql } from 'kysely';"],
    ['server/sso/x.ts', "import { HMAC } from 'oslo/crypto';\nimport { sign } from './hmac.ts';"],
  ])('are kept in %s by: %s', (file, text) => {
    expect(rules.flatMap(({ breaches }) => breaches({ file, text }))).toEqual([]);
  });

  it.each(rooms.slice(1).map((room, at) => [rooms[at] ?? '', room]))(
    'let server/%s take nothing from server/%s, which comes after it',
    (earlier, later) => {
      const find = (file: string, target: string) =>
        rules.flatMap(({ breaches }) =>
          breaches({
            file: `server/${file}/x.ts`,
            text: `import type { X } from '${'../'.repeat(file.split('/').length)}${target}/x.ts';`,
          }),
        );
      expect(find(earlier, later)).not.toEqual([]);
    },
  );

  it('each find exactly one of these breaches', () => {
    const shown: Source[] = [
      { file: 'app/x.ts', text: "import '../db/users.ts';" },
      {
        file: 'server/web/x.ts',
        text: "import 'react';\nimport '../../test/x.ts';\nimport 'node:fs';\nimport 'pg';\ndeferUser(db);",
      },
      {
        file: 'db/x.ts',
        text: "import '../server/config.ts';\nawait import(name);\nprocess.exit(1);\ndb.transaction();\nquery.selectAll();\nURL.canParse(text);",
      },
      { file: 'db/migrations/x.ts', text: "import 'uuid';" },
      { file: 'db/tables/users.ts', text: "async function f(db: Database) {\n  db.updateTable('users');\n}" },
      { file: 'db/tables/nonces.ts', text: "trx.deleteFrom('mails');" },
      { file: 'server/sso/x.ts', text: "import '../config.ts';" },
      { file: 'app/x.tsx', text: 'context.endpoints.launch();' },
      { file: 'server/x.ts', text: '' },
      { file: 'clients/doctor/x.ts', text: "import '../../db/x.ts';" },
    ];
    for (const { name, breaches } of rules) expect(shown.flatMap(breaches), name).toHaveLength(1);
  });
});

describe('a circle of imports', () => {
  const files = (texts: Record<string, string>) =>
    Object.entries(texts).map(([file, text]): Source => ({ file, text }));

  it.each<[string, Record<string, string>]>([
    ['from a file to itself', { 'db/x.ts': "import { x } from './x.ts';" }],
    ['in app/', { 'app/a.ts': "import './b.ts';", 'app/b.ts': "import './a.ts';" }],
    ['between two files', { 'server/a.ts': "import './b.ts';", 'server/b.ts': "import './a.ts';" }],
    [
      'made of types alone',
      {
        'server/a.ts': "import type { B } from './b.ts';",
        'server/b.ts': "export { type A } from './a.ts';",
      },
    ],
    [
      'across folders',
      {
        'server/web/a.ts': "import { b } from '../sso/b.ts';",
        'server/sso/b.ts': "type C = typeof import('../c.ts');",
        'server/c.ts': "export * from './web/a.ts';",
      },
    ],
    [
      'behind a file that is not part of it',
      { 'db/a.ts': "import './b.ts';", 'db/b.ts': "import './c.ts';", 'db/c.ts': "import './b.ts';" },
    ],
  ])('is found %s', (_, texts) => {
    expect(findCircles(files(texts))).toHaveLength(1);
  });

  it('is named once, by its shortest path', () => {
    const texts = {
      'db/a.ts': "import './b.ts';\nimport './c.ts';",
      'db/b.ts': "import './c.ts';",
      'db/c.ts': "import './a.ts';",
      'server/x.ts': "import './y.ts';",
      'server/y.ts': "import './x.ts';",
    };
    expect(findCircles(files(texts))).toEqual([
      'db/a.ts → db/c.ts → db/a.ts',
      'db/b.ts → db/c.ts → db/a.ts → db/b.ts',
      'server/x.ts → server/y.ts → server/x.ts',
    ]);
  });

  it.each<[string, Record<string, string>]>([
    [
      'two paths to one file',
      { 'db/a.ts': "import './b.ts';\nimport './c.ts';", 'db/b.ts': "import './c.ts';", 'db/c.ts': '' },
    ],
    ['a comment', { 'db/a.ts': "import './b.ts';", 'db/b.ts': "// import './a.ts';" }],
  ])('is not found in %s', (_, texts) => {
    expect(findCircles(files(texts))).toEqual([]);
  });
});
