// This script asks the browser to use or make a passkey, and sends the answer with the person's form.
import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { keepLastUsed } from './last-used.ts';

// The offer of passkeys in the email field is renewed before the challenge of the offer expires.
const offerAgainMs = 4 * 60 * 1_000;

/** `part` is what `PasskeyForm` renders. If the browser does not support passkeys, `part` stays unchanged. */
export function enhance(part: HTMLElement): void {
  const form = part.querySelector('form');
  if (!form?.hidden || !browserSupportsWebAuthn()) return;
  const purpose = part.dataset.passkey ?? '';
  const isNew = purpose === 'add' || purpose === 'arrive';
  const button = form.querySelector('button');
  const error = form.querySelector<HTMLElement>('[data-fault]');
  let isBusy = false;

  form.hidden = false;
  for (const instead of part.querySelectorAll<HTMLElement>('[data-instead]')) instead.hidden = true;

  function show(words: string) {
    if (!error) return;
    error.textContent = words;
    error.hidden = words === '';
  }

  function send(answer: { id: string }) {
    if (purpose === 'login') keepLastUsed(answer.id);
    const field = form?.querySelector<HTMLInputElement>('[data-answer]');
    if (field) field.value = JSON.stringify(answer);
    form?.submit();
  }

  async function run() {
    isBusy = true;
    button?.setAttribute('aria-disabled', 'true');
    show('');
    try {
      const optionsJSON = await fetchOptions(purpose);
      send(await (isNew ? startRegistration({ optionsJSON }) : startAuthentication({ optionsJSON })));
    } catch (cause) {
      show(explain(cause, isNew, part.dataset.otherwise));
      button?.removeAttribute('aria-disabled');
      isBusy = false;
      void offer();
    }
  }

  /** Lets the browser offer passkeys in the email field, until somebody chooses one. */
  async function offer() {
    if (isBusy || purpose !== 'login' || !(await browserSupportsWebAuthnAutofill())) return;
    try {
      const optionsJSON = await fetchOptions(purpose);
      // A second request for a passkey would cancel the request that is under way.
      if (!isBusy) send(await startAuthentication({ optionsJSON, useBrowserAutofill: true }));
    } catch {
      // Nobody asked for this offer, and the button is still there. So an error needs no message.
    }
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!isBusy && takeAlong(form)) void run();
  });
  void offer();
  if (purpose === 'login') setInterval(() => void offer(), offerAgainMs);
}

/**
 * Copies what was typed in another form of the page. If the text is not valid, the browser says why, and this returns false.
 */
function takeAlong(form: HTMLFormElement): boolean {
  for (const copy of form.querySelectorAll<HTMLInputElement>('[data-as-typed]')) {
    const typed = document.querySelector<HTMLInputElement>(`input[name="${copy.name}"]:not([type="hidden"])`);
    if (!typed?.reportValidity()) return false;
    copy.value = typed.value;
  }
  return true;
}

class Refused extends Error {}

// The types on both sides come from the library, and the service checks what is sent.
// biome-ignore lint/suspicious/noExplicitAny: creation and request options come from one place.
async function fetchOptions(purpose: string): Promise<any> {
  const response = await fetch('/passkeys/options', {
    method: 'POST',
    // The token of a mail, if a link in that mail led here.
    body: new URLSearchParams({ purpose, token: new URLSearchParams(location.search).get('token') ?? '' }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer.detail);
  return answer;
}

function explain(cause: unknown, isNew: boolean, otherwise: string | undefined): string {
  if (cause instanceof Refused) return cause.message;
  const { name } = cause as Error;
  if (name === 'InvalidStateError') return 'That device already has a passkey for this account.';
  if (name !== 'NotAllowedError' && name !== 'AbortError')
    return otherwise ? `That did not work. Try again, or ${otherwise}.` : 'That did not work. Try again.';
  if (isNew) return 'No passkey was created. Try again when you are ready.';
  const hint = otherwise ? ` If it is not on this device, ${otherwise}.` : '';
  return `No passkey was used. Try again.${hint}`;
}
