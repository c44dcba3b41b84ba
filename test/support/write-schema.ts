// `npm run schema`: writes db/schema.ts from the database that the migrations make.
import { writeFile } from 'node:fs/promises';
import { startTestPostgres } from './postgres.ts';
import { buildSchema, schemaFile } from './schema.ts';

const server = await startTestPostgres();
try {
  await writeFile(schemaFile, await buildSchema(server.templateUrl));
} finally {
  await server.stop();
}
