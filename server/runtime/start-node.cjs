// Starts the built service on Node. Passwords are hashed on the threads of libuv, four if nobody says otherwise: on
// fewer processors they push each other and all else out of the caches (measured at 5 to 10 % of the logins). More is
// the operator's word, as each takes 19 MiB while it hashes. Only CommonJS comes early enough: to load an ES module
// takes one of these threads already.
const { availableParallelism } = require('node:os');

process.env.UV_THREADPOOL_SIZE ??= String(Math.min(4, availableParallelism()));
import('../../build/service/main.js');
