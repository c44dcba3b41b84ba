// The check of new passwords, with a thread and a queue of its own (contract 9.246): what it takes of a processor, neither a request
// nor a login waits for. From the source it runs in place: a thread cannot read that.
import pLimit from 'p-limit';
import { AppError } from '../../basics/errors.ts';
import { findThread } from '../../runtime/files.ts';
import { openThread } from '../../runtime/thread.ts';
import type { Config } from '../../settings/config.ts';
import { findPasswordFault, type NewPassword } from './password-fault.ts';

export type PasswordCheck = {
  /**
   * What is wrong with a new password, for its owner to read, or undefined. Throws 503 `unavailable` at once if too many wait, and
   * 400 `invalid_request` if the client has gone before its turn.
   */
  findFault: (given: NewPassword, signal?: AbortSignal) => Promise<string | undefined>;
  /** Loads what the check needs, which takes a few tenths of a second, before anybody waits for it. */
  load: () => Promise<void>;
  close: () => Promise<void>;
};

// Whoever comes last waits for a second or two, if all those before them have a password that takes longest.
const maxWaiting = 16;

/** `file` is the script of the thread; without one the check runs in place. */
export function openPasswordCheck(file: URL | undefined = findThread('password-thread')): PasswordCheck {
  const thread =
    file && openThread<NewPassword, string | undefined>(file, { what: 'new passwords', longestMs: 10_000 });
  const turns = pLimit(1);
  const ask = (given: NewPassword) => (thread ? thread.ask(given) : findPasswordFault(given));
  return {
    async findFault(given, signal) {
      if (turns.pendingCount >= maxWaiting) throw busy();
      return turns(() => {
        if (signal?.aborted) throw new AppError('invalid_request', { detail: 'The request was canceled.' });
        return ask(given);
      });
    },
    async load() {
      await turns(() => ask({ password: 'a password to load', ourNames: [], ownNames: [] }));
    },
    close: async () => thread?.close(),
  };
}

const busy = () =>
  new AppError('unavailable', {
    detail: 'Too many people are setting a password right now. Nothing has been lost. Try again in a moment.',
    headers: { 'Retry-After': '2' },
  });

/** A new password, with the names that it must not be made of. */
export const withNames = (
  { name, baseUrl, clients }: Pick<Config, 'name' | 'baseUrl' | 'clients'>,
  { password, ...owner }: { password: string; email: string; name: string },
): NewPassword => ({
  password,
  ourNames: [
    'identity service',
    name,
    new URL(baseUrl).hostname,
    ...[...clients.values()].flatMap((client) => [client.name, client.title]),
  ],
  ownNames: [owner.email, owner.name],
});
