// The forms of secrets, and the values that everybody may know.

/** The defaults in local mode. Production refuses them. */
export const localSecrets = {
  IDENTITY_SSO_SECRET: 'local-identity-sso-secret-do-not-use',
  MARKETPLACE_SSO_SECRET: 'local-marketplace-sso-secret-do-not-use',
  // This is local-encryption-key-do-not-use! in base64.
  IDENTITY_ENCRYPTION_KEY: 'bG9jYWwtZW5jcnlwdGlvbi1rZXktZG8tbm90LXVzZSE=',
  CRM_SIGNUPS_SECRET: 'whsec_bG9jYWwtY3JtLXNpZ251cHMtc2VjcmV0LWRvLW5vdC11c2U=',
  PAYMENTS_SECRET: 'whsec_bG9jYWwtcGF5bWVudHMtc2VjcmV0LWRvLW5vdC11c2U=',
};
// The secrets of the published test vectors and of the example of payments. The other secrets in both match `placeholder`.
const knownSecrets = new Set([
  ...Object.values(localSecrets),
  'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  'whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=',
]);
export const minSecretBytes = 32;
const placeholder =
  /change.?(?:me|it|this)|replace.?(?:me|this)|placeholder|do.?not.?use|your.?(?:own.?)?secret|example|dummy|insecure|^(?:test|local|dev|demo)[-_]|^(.{1,4})\1+$/i;

/** Returns whether somebody has published the secret, or meant it to be replaced. */
export function isPlaceholder(secret: string, form: 'whsec' | 'key' | undefined): boolean {
  if (knownSecrets.has(secret)) return true;
  // In a random key, nearly all bytes differ.
  if (form === 'key') return new Set(decodeKey(secret)).size < 16;
  return form === undefined && placeholder.test(secret);
}

/** A key is 32 bytes in canonical base64. */
export function decodeKey(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text)) return undefined;
  const bytes = atob(text);
  return btoa(bytes) === text ? Uint8Array.from(bytes, (char) => char.charCodeAt(0)) : undefined;
}

/** Standard Webhooks 1.0: `whsec_` and the key in canonical base64. */
export function isWebhookSecret(secret: string): boolean {
  const text = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  if (!text || text.length % 4 !== 0) return false;
  const bytes = atob(text);
  return bytes.length >= 24 && bytes.length <= 64 && btoa(bytes) === text;
}

/** Lists the spellings of a key. Two settings must not have the same key in two spellings. */
export function spellingsOfKey(secret: string): string[] {
  if (!isWebhookSecret(secret)) return [secret];
  const text = secret.slice('whsec_'.length);
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return [secret, text, new TextDecoder().decode(bytes)];
}
