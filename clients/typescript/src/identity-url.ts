// `IDENTITY_URL` says service, client and secret in one setting. The whole of it goes into no error: it has the secret in it.

const userInfo = "(?:[\\w.~!$&'()*+,;=:-]|%[\\dA-Fa-f]{2})+";
const form = new RegExp(`^(https?://)([a-z0-9_]+):(${userInfo})@([^@/?#\\s]+/?)$`);

/** Undefined if it has another form. During a rotation, it has two secrets with a comma between them. */
export function readIdentityUrl(text: string | undefined) {
  const [, scheme, client, password, host] = form.exec(text ?? '') ?? [];
  if (!scheme || !client || !password || !host) return undefined;
  try {
    return { issuer: scheme + host, client, secrets: decodeURIComponent(password).split(',') };
  } catch {
    return undefined;
  }
}
