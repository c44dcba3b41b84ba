// The script of pages with a form that takes a passkey.
import { platformAuthenticatorIsAvailable } from '@simplewebauthn/browser';
import { enhance } from './ceremony.ts';

for (const part of document.querySelectorAll<HTMLElement>('[data-passkey]')) enhance(part);

// A login tells the service whether this browser can add a passkey. If not, the service does not offer one.
const field = document.querySelector<HTMLInputElement>('[data-can-add-passkey]');
if (field)
  platformAuthenticatorIsAvailable().then(
    (isAvailable) => {
      if (isAvailable) field.value = 'yes';
    },
    () => undefined,
  );
