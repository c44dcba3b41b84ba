// Forms that work once (contract 9.286): sent again, they would be refused, though they have done what they are for.

/** By the path of the page: all forms of it, or those with one of these intents. */
export const onceForms: Record<string, true | readonly string[]> = {
  // The link of a mail, a hand-off or a login that waits, and a set-up are used up.
  '/signup/confirm': true,
  '/set-password': true,
  '/login/code': true,
  '/continue': true,
  '/take-back': true,
  '/new-address': true,
  '/stop-new-address': true,
  '/verify-email/confirm': true,
  '/profile/email/confirm': true,
  '/invoice-email/confirm': true,
  '/profile/authenticator/set-up': true,
  '/profile/passkeys/add': true,
  // Recovery codes are shown once; what is removed or ended is not there any more.
  '/profile/authenticator': ['renew-codes', 'turn-off'],
  '/profile/passkeys': ['remove'],
  '/profile/security': ['password', 'end-session', 'remove-link'],
  '/profile/billing': ['cancel', 'keep-contract'],
  // The page has changed since its form was made.
  '/admin/people/:id': true,
  '/admin/invoices/:number': true,
  '/admin/billing/unallocated': true,
  '/admin/billing/settings': true,
  '/admin/mails': true,
};

/** A challenge of a passkey is used up, whatever form it comes with. */
const onceFields = ['passkey', 'confirmPasskey'];

/** `pattern` is the path of the page; `body` is as it was sent. */
export function worksOnce(pattern: string, body: Uint8Array): boolean {
  const once = onceForms[pattern];
  if (once === true) return true;
  const fields = new URLSearchParams(new TextDecoder().decode(body));
  return onceFields.some((name) => fields.has(name)) || (once?.includes(fields.get('intent') ?? '') ?? false);
}
