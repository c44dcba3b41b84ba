// The id of the passkey that this tab last used to log in, if the browser lets a page keep the id. The answer to the login
// cannot name the passkey, because no form keeps one.
const key = 'passkey';

export function keepLastUsed(id: string): void {
  try {
    sessionStorage.setItem(key, id);
  } catch {
    // If the id is not kept, an unknown passkey stays in the password manager.
  }
}

export function findLastUsed(): string {
  try {
    return sessionStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
}
