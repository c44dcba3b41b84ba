// Prints how many hashes ended before an HMAC. A program of its own, because its environment sizes its thread pool.
import { hashPassword } from '../../../server/identity/password/passwords.ts';
import { hashingThreads } from '../../../server/runtime/hashing-threads.ts';
import { sign } from '../../../server/sso/hmac.ts';

const ended: string[] = [];
await Promise.all([
  ...Array.from({ length: 12 }, () => hashPassword('blue kettle').then(() => ended.push('password'))),
  sign('secret', 'message').then(() => ended.push('HMAC')),
]);
process.stdout.write(JSON.stringify({ hashingThreads, hashesBefore: ended.indexOf('HMAC') }));
