// The secret of an authenticator app that is being set up. It is kept in a cookie that is sealed for the user and session. So a
// reload shows the same secret, and the database gets it only after a correct code.
import { base64url } from 'oslo/encoding';
import { seal, unseal } from '../../basics/sealing.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { buildTokenCookie, readCookie } from '../ground/tokens.ts';
import type { AnyActor } from '../session/actor.ts';

const cookie = 'identity_set_up';
const lifeSeconds = 600;

/**
 * A browser may keep the cookie after it has expired. So the sealed text begins with the time when the secret expires, as a
 * 64-bit float.
 */
const timeBytes = 8;

type Deps = Pick<Dependencies, 'config' | 'now'>;

/** Returns a `Set-Cookie` value. */
export async function keepSetUpSecret(
  { config, now }: Deps,
  actor: AnyActor,
  secret: Uint8Array,
): Promise<string> {
  const plain = new Uint8Array([...new Uint8Array(timeBytes), ...secret]);
  new DataView(plain.buffer).setFloat64(0, now().getTime() + lifeSeconds * 1_000);
  const sealed = await seal(config.encryptionKeys, contextOf(actor), plain);
  const text = base64url.encode(sealed, { includePadding: false });
  return buildTokenCookie(config.issuer, cookie, text, lifeSeconds);
}

export async function findSetUpSecret(
  { config, now }: Deps,
  actor: AnyActor,
): Promise<Uint8Array | undefined> {
  const sealed = decode(readCookie(actor.request, config.issuer, cookie) ?? '');
  const opened = sealed && (await unseal(config.encryptionKeys, contextOf(actor), sealed));
  if (!opened) return undefined;
  const until = new DataView(opened.plain.buffer).getFloat64(0);
  return now().getTime() < until ? opened.plain.slice(timeBytes) : undefined;
}

/** Returns a `Set-Cookie` value. */
export const forgetSetUpSecret = ({ config }: Pick<Deps, 'config'>): string =>
  buildTokenCookie(config.issuer, cookie, '', 0);

// The context differs from that of a stored secret, so that neither sealed text can pass for the other.
const contextOf = ({ session }: AnyActor) => `authenticator set-up ${session.user.id} ${session.id}`;

function decode(text: string): Uint8Array | undefined {
  // 75 characters are the base64url of a nonce, the expiry, a secret of 20 bytes and a tag.
  if (!/^[A-Za-z0-9_-]{75}$/.test(text)) return undefined;
  return base64url.decode(text, { strict: false });
}
