// Random cases that can be repeated: a failed test prints its seed, and TEST_SEED sets it again.
import fc from 'fast-check';
import { beforeEach, onTestFailed } from 'vitest';

/** The seed: new for each test file and run, unless TEST_SEED sets it. */
export const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

fc.configureGlobal({ seed });

export { fc };

beforeEach(() => {
  onTestFailed(({ task }) => {
    process.stderr.write(`To repeat these random choices, set TEST_SEED=${seed} (in "${task.name}")\n`);
  });
});

/** Mulberry32: numbers from 0 to 1, always the same ones for the same seed. */
export function createRandom(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = createRandom(seed);

export function shuffle<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
