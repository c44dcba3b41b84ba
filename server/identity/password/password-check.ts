// The check of new passwords has its own thread and queue, so that no request or login waits for it (contract 9.246). If the
// service runs from source, the check has no thread, because a thread can load only built files.
import pLimit from 'p-limit';
import { Turns } from '../../../db/postgres/turns.ts';
import { AppError } from '../../basics/errors.ts';
import type { NewPassword, PasswordCheck } from '../../ground/dependencies.ts';
import { findThread } from '../../runtime/files.ts';
import { openThread } from '../../runtime/thread.ts';
import type { Config } from '../../settings/config.ts';
import type { Clients } from '../../sso/clients.ts';
import { findPasswordFault } from './password-fault.ts';

/** Thrown if the queue is full. The password was not checked. */
export class CheckIsFull extends AppError {
  constructor() {
    super('unavailable', {
      detail:
        'Too many people are setting a password right now. Nothing has been lost. Try again in a moment.',
      headers: { 'Retry-After': '2' },
    });
  }
}

const heapMebibytes = 128;
// The last password in the queue waits a second or two, even if each password before it takes as long as any password can take.
const maxWaiting = 16;
// Without this limit, somebody with one link could fill the queue, and nobody else could set a password.
const maxOfKey = 3;

/** `file` is the script of the thread. Without a file, the check runs in the thread of its caller. */
export function openPasswordCheck(file: URL | undefined = findThread('password-thread')): PasswordCheck {
  const thread =
    file &&
    openThread<NewPassword, string | undefined>(file, {
      what: 'new passwords',
      longestMs: 10_000,
      heapMebibytes,
    });
  const turns = pLimit(1);
  const places = new Turns({ each: maxOfKey, maxWaiting: { all: 0, each: 0 } });
  const ask = (given: NewPassword) => (thread ? thread.ask(given) : findPasswordFault(given));
  return {
    async findFault(given, { signal, keys = [] } = {}) {
      const leaves = await Promise.all(keys.map((key) => places.take(key)));
      try {
        if (leaves.includes(undefined) || turns.pendingCount >= maxWaiting) throw new CheckIsFull();
        return await turns(() => {
          if (signal?.aborted) throw new AppError('invalid_request', { detail: 'The request was canceled.' });
          return ask(given);
        });
      } finally {
        for (const leave of leaves) leave?.();
      }
    },
    async load() {
      await turns(() => ask({ password: 'a password to load', ourNames: [], ownNames: [] }));
    },
    close: async () => thread?.close(),
  };
}

export const withNames = (
  { name, baseUrl }: Pick<Config, 'name' | 'baseUrl'>,
  clients: Pick<Clients, 'list'>,
  { password, ...owner }: { password: string; email: string; name: string },
): NewPassword => ({
  password,
  ourNames: [
    'identity service',
    name,
    new URL(baseUrl).hostname,
    ...clients.list().flatMap((client) => [client.name, client.title]),
  ],
  ownNames: [owner.email, owner.name],
});
