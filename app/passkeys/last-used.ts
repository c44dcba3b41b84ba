// The id of the passkey that this tab last used to log in, if the browser lets a page keep the id. The page after a refused login
// cannot learn the id from the form, because a refused form keeps no passkey.
const key = 'passkey';

export function keepLastUsed(id: string): void {
  try {
    sessionStorage.setItem(key, id);
  } catch {
    // Without the id, the password manager cannot be told to forget a passkey that nobody has here.
  }
}

export function findLastUsed(): string {
  try {
    return sessionStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
}
