// New passwords that take long to check, and the built thread that checks them.
import type { PasswordCheck } from '../../../server/ground/dependencies.ts';
import { openPasswordCheck } from '../../../server/identity/password/password-check.ts';

const cut = (text: string, length: number) => Array.from(text).slice(0, length).join('').trim();
const growing = (signs: string) =>
  cut(Array.from({ length: 30 }, (_, at) => signs.repeat(20).slice(0, at + 3)).join(' '), 200);

/** The name and the password whose check takes longest. Each is as long as it may be. */
export const worstName = growing('1');
export const worstPassword = '12'.repeat(64);

/** Pairs of a password and its owner, each as long as it may be. */
export function* listWorstPasswords(): Iterable<{ password: string; name: string; email: string }> {
  const names = ['1', '!1', 'il1', 'a4@', '2n', '\ufdfa', 'İ', '\u{1d7cf}', 'password monkey '].map(growing);
  const passwords = [
    ...['1', '12', '!1|7', '4@310$7', '(|)|_|', '2n^^|-|', '\ufdfa', '\u{1d7cf}', 'abcab', '19901'],
    ...['p4$$w0rdm0nk3ydr4g0nl3tm31n', 'qwertyuiopasdfghjkl;', '1'.repeat(58).concat('qwerty')],
  ].map((signs) => cut(signs.repeat(128), 128));
  for (const name of names)
    for (const password of passwords.flatMap((each) => [each, cut(each, 32)]))
      yield { password, name, email: `${cut(name, 9)}@x` };
}

/** Opens the check with its thread, which only the build can start. */
export const openBuiltPasswordCheck = (): PasswordCheck =>
  openPasswordCheck(new URL('../../../build/service/password-thread.js', import.meta.url));
