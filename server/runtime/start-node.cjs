// Starts the built service on Node.
// One pool of threads hashes passwords, makes HMACs, looks up hosts and reads files. The pool gets two threads more than hashing
// may take (hashing-threads.ts), so that nothing else waits for passwords.
// This is CommonJS because loading an ES module starts the pool, and the pool's size cannot change after that.
const { readdirSync, stat } = require('node:fs');
const { availableParallelism, platform, setPriority } = require('node:os');

const hashingThreads =
  Number.parseInt(process.env.PASSWORD_HASHING_THREADS ?? '', 10) || Math.min(4, availableParallelism() + 1);
process.env.UV_THREADPOOL_SIZE ||= String(hashingThreads + 2);

// The threads that hash have a lower priority than the thread that answers requests (docs/inside/decisions/argon2-threads.md has
// the figures). Linux identifies threads by the ids of processes.
const lowPriority = 10;
const listThreads = () => (platform() === 'linux' ? readdirSync('/proc/self/task') : []);
const others = listThreads();
// Starts the pool.
stat('/', () => {
  for (const id of listThreads()) if (!others.includes(id)) setPriority(Number(id), lowPriority);
  import('../../build/service/main.js');
});
