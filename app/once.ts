// Forms that work only once (contract 9.287). The service would refuse the same form a second time.

/** By the path of a page: `true` if all its forms work only once, or the intents of the forms that do. */
export const onceForms: Record<string, true | readonly string[]> = {
  // Each of these forms uses up a link of a mail, a hand-off, a login that waits for a code, or a set-up.
  '/signup/confirm': true,
  '/set-password': true,
  '/invitation': true,
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
  // Recovery codes are shown only once. What was removed or ended cannot be removed or ended again.
  '/profile/authenticator': ['renew-codes', 'turn-off'],
  '/profile/passkeys': ['remove'],
  '/profile/security': ['password', 'end-session', 'remove-link'],
  '/profile/billing': ['cancel', 'keep-contract'],
  // Each of these forms changes the facts that it shows, so the same form does not fit a second time.
  '/admin/people/:id': true,
  '/admin/people/:id/:tab': true,
  '/admin/invoices/:number': true,
  '/admin/billing/unallocated': true,
  '/admin/billing/settings': true,
  '/admin/mails': true,
  // Forms that make a secret are not listed, because no answer with a secret is kept (contract 13.111).
  '/admin/clients/:client': [
    'set-client',
    'end-client-secret',
    'turn-client-off',
    'turn-client-on',
    'confirm-client',
  ],
  '/admin/invitations': true,
};

/** Pages with a form that asks for a passkey, such as the form for a credential before a change. */
const passkeyPages = new Set([
  '/login',
  '/profile/authenticator',
  '/profile/passkeys',
  '/profile/passkeys/offer',
  '/profile/security',
  '/profile/billing',
  '/profile/email',
  '/profile/delete',
  '/profile/data',
  '/admin/files',
  '/admin/billing/import',
]);

/** A form with one of these fields uses up the challenge of a passkey, or a code. */
const onceFields = ['passkey', 'confirmPasskey', 'confirmCode'];

export const hasOnceForms = (pattern: string): boolean =>
  Object.hasOwn(onceForms, pattern) || passkeyPages.has(pattern);

/** `pattern` is the path of the page. */
export function worksOnce(pattern: string, body: Uint8Array): boolean {
  const once = onceForms[pattern];
  if (once === true) return true;
  if (!hasOnceForms(pattern)) return false;
  const fields = new URLSearchParams(new TextDecoder().decode(body));
  const hasPasskey = passkeyPages.has(pattern) && onceFields.some((name) => fields.has(name));
  return hasPasskey || (once?.includes(fields.get('intent') ?? '') ?? false);
}
