// A process of a client on the kit for TypeScript, as test/support/clients/pulls.ts describes it. It uses Postgres on Node, and
// SQLite on Deno.
import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';
import {
  createIdentityClient,
  createSqlStores,
  type SqlOptions,
  type SqlQuery,
  sqlTables,
} from '../../../clients/typescript/src/index.ts';

const { ISSUER = '', SECRET = '', STORE = '', LOG = '', HANGS_AT } = process.env;
const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function openPostgres(): Promise<[SqlQuery, SqlOptions]> {
  const { Pool } = await import('pg');
  const pool = new Pool({ connectionString: STORE, max: 4 });
  return [(text, params) => pool.query(text, params), { dialect: 'postgres' }];
}

async function openSqlite(): Promise<[SqlQuery, SqlOptions]> {
  // The types of Node 20 do not know this module.
  const sqlite = 'node:sqlite';
  const { DatabaseSync } = await import(sqlite);
  const database = new DatabaseSync(STORE);
  database.exec('pragma busy_timeout = 10000');
  for (const table of sqlTables()) database.exec(table);
  return [async (text, params) => ({ rows: database.prepare(text).all(...params) }), { dialect: 'sqlite' }];
}

const stores = createSqlStores(...(await ('Deno' in globalThis ? openSqlite() : openPostgres())));
const identity = createIdentityClient({
  issuer: ISSUER,
  client: 'shop',
  secrets: [SECRET],
  callbackUrl: 'http://localhost:4000/sso/callback',
  loginUrl: 'http://localhost:4000/login',
  ...stores,
});

const hooks = {
  endSession() {},
  startOver() {},
  async apply({ seq }: { seq: number }) {
    appendFileSync(LOG, `begin ${seq}\n`);
    await wait(seq === Number(HANGS_AT) ? 600_000 : 2);
    appendFileSync(LOG, `end ${seq}\n`);
  },
};

process.stdout.write('ready\n');
for await (const pulls of createInterface(process.stdin)) {
  const results = Array.from({ length: Number(pulls) }, () => identity.pullEvents(hooks));
  process.stdout.write(`${JSON.stringify(await Promise.all(results))}\n`);
}
process.exit();
