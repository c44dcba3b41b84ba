// One Postgres for the whole run, on a free port; test files clone its migrated template.
import type { TestProject } from 'vitest/node';
import { startTestPostgres } from '../database/postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    templateUrl: string;
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTestPostgres();
  project.provide('templateUrl', server.templateUrl);
  return server.stop;
}
