import { rm } from 'node:fs/promises';
import { afterAll, beforeAll } from 'vitest';
import { makeFolder } from '../database/postgres.ts';

/**
 * Opens something for all tests of a file or a `describe`, and closes it after them. Its members exist from the start of the
 * first test.
 */
export function shared<T extends object & { close?: () => Promise<void> }>(open: () => Promise<T>): T {
  const opened = {} as T;
  beforeAll(async () => {
    Object.assign(opened, await open());
  });
  afterAll(() => opened.close?.());
  return opened;
}

/** A temporary folder for all tests of a file, which is removed after them. */
export async function sharedFolder(): Promise<string> {
  const folder = await makeFolder();
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
