// The script of pages with a form that asks for a passkey.
import { platformAuthenticatorIsAvailable } from '@simplewebauthn/browser';
import { enhance } from './ceremony.ts';

for (const part of document.querySelectorAll<HTMLElement>('[data-passkey]')) enhance(part);

// Tells the service at a login whether this browser can add a passkey, because the service offers a passkey only to such a
// browser.
const field = document.querySelector<HTMLInputElement>('[data-can-add-passkey]');
if (field)
  platformAuthenticatorIsAvailable().then(
    (isAvailable) => {
      if (isAvailable) field.value = 'yes';
    },
    () => undefined,
  );
