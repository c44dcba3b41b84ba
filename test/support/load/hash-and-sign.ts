// Prints how many password hashes ended before an HMAC that was started after them. It is a program of its own, because the
// size of the thread pool comes from the environment of the process.
import { hashPassword } from '../../../server/identity/password/passwords.ts';
import { hashingThreads } from '../../../server/runtime/hashing-threads.ts';
import { sign } from '../../../server/sso/hmac.ts';

const ended: string[] = [];
await Promise.all([
  ...Array.from({ length: 12 }, () => hashPassword('blue kettle').then(() => ended.push('password'))),
  sign('secret', 'message').then(() => ended.push('HMAC')),
]);
process.stdout.write(JSON.stringify({ hashingThreads, hashesBefore: ended.indexOf('HMAC') }));
