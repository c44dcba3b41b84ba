// By default, Node hashes on one thread more than there are processors, so that no processor idles, but on at most four
// threads, because each hash takes 19 MiB.
import { availableParallelism } from 'node:os';
import { environment } from './process.ts';

const isDeno = 'Deno' in globalThis;
const wanted =
  Number.parseInt(environment.PASSWORD_HASHING_THREADS ?? '', 10) ||
  Math.min(4, availableParallelism() + (isDeno ? 0 : 1));
// On Node, one pool of threads hashes passwords, makes HMACs and looks up hosts (start-node.cjs). Deno's pool grows as needed.
const poolSize = isDeno
  ? Number.POSITIVE_INFINITY
  : Number.parseInt(environment.UV_THREADPOOL_SIZE ?? '', 10) || 4;

/** Leaves at least two threads of Node's pool free, if the pool has more than two. */
export const hashingThreads = Math.max(1, Math.min(wanted, poolSize - 2));
