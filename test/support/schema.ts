import { fileURLToPath } from 'node:url';
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
    return await codegen.generate({
      db,
      dialect: new codegen.PostgresDialect(),
      excludePattern: 'kysely_*',
      outFile: null,
      // What a check constraint says and the introspection does not see.
      overrides: {
        columns: {
          'sessions.token_hash': 'Uint8Array',
          'users.role': 'Generated<"admin" | "manager" | "user">',
        },
      },
    });
  } finally {
    await close();
  }
}
