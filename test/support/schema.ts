import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import codegen from 'kysely-codegen';
import { openDatabase } from '../../db/client.ts';

export const schemaFile = fileURLToPath(new URL('../../db/schema.ts', import.meta.url));

/** The text of db/schema.ts as the database at `url` would have it. */
export async function buildSchema(url: string): Promise<string> {
  const { db, close } = openDatabase({
    url,
    poolSize: 1,
    preparedStatements: false,
    onError: () => undefined,
  });
  try {
    const text = await codegen.generate({
      db,
      dialect: new codegen.PostgresDialect(),
      excludePattern: 'kysely_*',
      outFile: null,
      // What a check constraint says and the introspection does not see.
      overrides: {
        columns: {
          'invoices.status': '"open" | "paid" | "void"',
          'mail_links.token_hash': 'Uint8Array',
          'pending_links.token_hash': 'Uint8Array',
          'service_contracts.price_interval': '"month" | "year" | null',
          'service_contracts.status': '"active" | "canceled" | "expired" | "past_due" | "trialing"',
          'webhook_requests.body_hash': 'Uint8Array',
          'sessions.token_hash': 'Uint8Array',
          'users.role': 'Generated<"admin" | "manager" | "user">',
        },
      },
    });
    return await format(text);
  } finally {
    await close();
  }
}

/** As `npm run check` wants it. */
async function format(text: string): Promise<string> {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const words = [biome, 'format', `--stdin-file-path=${schemaFile}`];
  const run = promisify(execFile)(process.execPath, words, { cwd: dirname(dirname(schemaFile)) });
  run.child.stdin?.end(text);
  return (await run).stdout;
}
