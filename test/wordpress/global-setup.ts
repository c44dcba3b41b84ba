// One WordPress for the whole run.
import type { TestProject } from 'vitest/node';
import { type Installation, startWordPress } from './site.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    wordpress: Installation;
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { folder, port, stop } = await startWordPress();
  project.provide('wordpress', { folder, port });
  return stop;
}
