// `npm run schema`: writes db/schema.ts and db/schema.sql from the database that the migrations make.
import { writeFile } from 'node:fs/promises';
import { startTestPostgres } from './postgres.ts';
import { buildSchema, schemaFile } from './schema.ts';
import { buildSchemaSql, schemaSqlFile } from './schema-sql.ts';

const server = await startTestPostgres();
try {
  await writeFile(schemaFile, await buildSchema(server.templateUrl));
  await writeFile(schemaSqlFile, await buildSchemaSql(server.templateUrl));
} finally {
  await server.stop();
}
