// `npm run schema` begins with this. It writes db/migrations/list.ts, and adds the digests of new migrations to the recorded
// digests.
import { writeFile } from 'node:fs/promises';
import process from 'node:process';
import { buildLanded, buildMigrationList, landedFile, migrationListFile } from './migration-list.ts';

try {
  await writeFile(landedFile, await buildLanded());
  await writeFile(migrationListFile, await buildMigrationList());
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
