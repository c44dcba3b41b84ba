// Keeps typed email addresses in cookies, even if no user has such an address. One cookie is for the page that says that a mail
// is on its way (contract 2.129), and for /forgot-password (contract 2.173). The other cookie is for /forgot-password only, and
// comes from the last try to log in or the last logout (contract 2.138).

import { nameSchema } from '../../basics/names.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { readEmailAddress } from '../ground/email-address.ts';
import { buildTokenCookie, readCookie } from '../ground/tokens.ts';

const cookie = 'identity_typed_email';
const loginCookie = 'identity_login_email';
const nameCookie = 'identity_typed_name';
const maxNameBytes = 1_000;
const lifeSeconds = 600;

type Config = Pick<Dependencies, 'config'>;

const keepIn =
  (name: string) =>
  /** Returns a `Set-Cookie` value. */
  ({ config }: Config, email: string): string =>
    buildTokenCookie(config.issuer, name, readEmailAddress(email) ?? '', lifeSeconds);

const readFrom =
  (name: string) =>
  ({ config }: Config, request: Request): string | undefined =>
    readEmailAddress(readCookie(request, config.issuer, name) ?? '');

export const keepTypedEmail = keepIn(cookie);
export const readTypedEmail = readFrom(cookie);
/** Keeps nothing if the text is not an email address. */
export const keepLoginEmail = (deps: Config, email: string): string[] =>
  readEmailAddress(email) ? [keepIn(loginCookie)(deps, email)] : [];
export const readLoginEmail = readFrom(loginCookie);

/** Returns a `Set-Cookie` value. If the name is too long for the cookie, the value deletes the cookie. */
export function keepTypedName({ config }: Config, typed: string): string {
  const name = nameSchema.safeParse(typed).data ?? '';
  const isShort = name !== '' && encodeURIComponent(name).length <= maxNameBytes;
  return buildTokenCookie(config.issuer, nameCookie, isShort ? name : '', isShort ? lifeSeconds : 0);
}

export const readTypedName = ({ config }: Config, request: Request): string | undefined =>
  nameSchema.safeParse(readCookie(request, config.issuer, nameCookie)).data;
