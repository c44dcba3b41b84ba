// AES-256-GCM of Web Crypto, with a random 96-bit nonce in front. A text sealed for one context does not open for another.

type Keys = readonly Uint8Array[];

const nonceBytes = 12;

/** Seals with the first key. */
export async function seal(keys: Keys, context: string, plain: Uint8Array): Promise<Uint8Array> {
  const [key] = keys;
  if (!key) throw new Error('There is no key to encrypt with.');
  const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
  const sealed = await crypto.subtle.encrypt(algorithm(nonce, context), await load(key), own(plain));
  return new Uint8Array([...nonce, ...new Uint8Array(sealed)]);
}

/**
 * If `isCurrent` is false, an older key sealed the text, so the caller should seal it again. Returns undefined if no key opens
 * the text in this context.
 */
export async function unseal(
  keys: Keys,
  context: string,
  sealed: Uint8Array,
): Promise<{ plain: Uint8Array; isCurrent: boolean } | undefined> {
  const bytes = own(sealed);
  const [nonce, cipher] = [bytes.slice(0, nonceBytes), bytes.slice(nonceBytes)];
  for (const key of keys) {
    const plain = await crypto.subtle
      .decrypt(algorithm(nonce, context), await load(key), cipher)
      .catch(() => undefined);
    if (plain) return { plain: new Uint8Array(plain), isCurrent: key === keys[0] };
  }
  return undefined;
}

const algorithm = (iv: Uint8Array<ArrayBuffer>, context: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode(context),
});

const load = (key: Uint8Array) =>
  crypto.subtle.importKey('raw', own(key), 'AES-GCM', false, ['encrypt', 'decrypt']);

/** Web Crypto's types ask for bytes in their own memory. */
const own = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);
