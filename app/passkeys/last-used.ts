// The id of the passkey that this tab last used to log in. It is empty if the browser lets no page store it. The page after a
// refused login needs the id, because a refused form keeps no passkey.
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
