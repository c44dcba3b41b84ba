// A test that prints to the console fails: the code under test must write to its log.
import { afterEach, beforeEach, expect, vi } from 'vitest';

const methods = ['debug', 'error', 'info', 'log', 'warn'] as const;
const printed: unknown[][] = [];

beforeEach(() => {
  for (const method of methods) {
    vi.spyOn(console, method).mockImplementation((...words) => {
      printed.push(words);
    });
  }
});

afterEach(() => {
  vi.restoreAllMocks();
  expect(printed.splice(0), 'printed to the console').toEqual([]);
});
