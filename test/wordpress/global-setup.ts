// One WordPress and one Postgres for the whole run.
import type { TestProject } from 'vitest/node';
import startPostgres from '../support/run/global-setup.ts';
import { type Installation, startWordPress } from './site.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    wordpress: Installation;
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { folder, port, stop } = await startWordPress();
  project.provide('wordpress', { folder, port });
  const stopPostgres = await startPostgres(project).catch(async (error) => {
    await stop();
    throw error;
  });
  return async () => {
    try {
      await stopPostgres();
    } finally {
      await stop();
    }
  };
}
