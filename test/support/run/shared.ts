import { afterAll, beforeAll } from 'vitest';

/** What `open` opens, for all tests of a file or a `describe`, and closes after them. Its members are there once the first begins. */
export function shared<T extends object & { close?: () => Promise<void> }>(open: () => Promise<T>): T {
  const opened = {} as T;
  beforeAll(async () => {
    Object.assign(opened, await open());
  });
  afterAll(() => opened.close?.());
  return opened;
}
