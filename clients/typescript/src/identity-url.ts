// `IDENTITY_URL` gives service, client and secret in one setting. No error may quote it, because it contains the secret.

const userInfo = "(?:[\\w.~!$&'()*+,;=:-]|%[\\dA-Fa-f]{2})+";
const form = new RegExp(`^(https?://)([a-z0-9_]+):(${userInfo})@([^@/?#\\s]+/?)$`);

/** Undefined if the text has another form. During a rotation, it has two secrets with a comma between them. */
export function readIdentityUrl(text: string | undefined) {
  const [, scheme, client, password, host] = form.exec(text ?? '') ?? [];
  if (!scheme || !client || !password || !host) return undefined;
  try {
    return { issuer: scheme + host, client, secrets: decodeURIComponent(password).split(',') };
  } catch {
    return undefined;
  }
}
