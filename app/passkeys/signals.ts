// Tells the browser which passkeys still work, so that password managers forget the others (contract 9.362). Many browsers
// cannot do this, and nothing here depends on it, so errors are ignored.
import { sendSignal } from '@simplewebauthn/browser';
import { findLastUsed } from './last-used.ts';

const { passkeySignals = '[]' } =
  document.querySelector<HTMLElement>('[data-passkey-signals]')?.dataset ?? {};

// Sends the signals one time only. If people came back to this page after using another passkey, the signals would be about
// that passkey.
const isShownAgain = history.state?.signalled === true;
if (!isShownAgain) {
  history.replaceState({ ...history.state, signalled: true }, '');
  for (const signal of JSON.parse(passkeySignals))
    sendSignal({ rpID: location.hostname, credentialID: findLastUsed(), ...signal }).catch(() => undefined);
}
