// What is hashed on the main thread, and how many threads hash passwords.
//
// SHA-256 at once: Web Crypto hands every digest to another thread, which takes many times longer than the digest
// of something short.
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { environment } from './process.ts';

export function sha256(data: Uint8Array | string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(data).digest());
}

/**
 * How many passwords are hashed at once: each takes 19 MiB and a processor. Deno sets no bound of its own; on Node
 * start-node.cjs makes as many threads.
 */
export const passwordThreads = Math.max(
  1,
  Number.parseInt(environment.UV_THREADPOOL_SIZE ?? '', 10) || Math.min(4, availableParallelism()),
);
