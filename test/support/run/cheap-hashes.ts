// Takes the place of @node-rs/argon2 in the suites that log in thousands of times. There, hashes of the real cost would take a
// seventh of the processor. The suite `mocked` shows the real cost (contract 9.30).
import { createRequire } from 'node:module';

const real: typeof import('@node-rs/argon2') = createRequire(import.meta.url)('@node-rs/argon2');

export const { verify } = real;
export const hash: typeof real.hash = (password, options) =>
  real.hash(password, { ...options, memoryCost: 8, timeCost: 1 });
