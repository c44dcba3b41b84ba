// `npm run schema` begins with this: it writes db/migrations/list.ts, which write-schema.ts then imports.
import { writeFile } from 'node:fs/promises';
import { buildMigrationList, migrationListFile } from './migration-list.ts';

await writeFile(migrationListFile, await buildMigrationList());
