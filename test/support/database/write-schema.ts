// `npm run schema`: writes db/schema.ts, db/schema.sql and db/needed.ts from the database that the migrations make.
import { writeFile } from 'node:fs/promises';
import { buildNeeded, neededFile } from './needed.ts';
import { startTestPostgres } from './postgres.ts';
import { buildSchema, schemaFile } from './schema.ts';
import { buildSchemaSql, schemaSqlFile } from './schema-sql.ts';

// The schema is not checked, because db/needed.ts does not know yet what a new migration makes.
const server = await startTestPostgres(async () => undefined);
try {
  await writeFile(schemaFile, await buildSchema(server.templateUrl));
  await writeFile(schemaSqlFile, await buildSchemaSql(server.templateUrl));
  await writeFile(neededFile, await buildNeeded(server.templateUrl));
} finally {
  await server.stop();
}
