// The address that somebody typed to get a mail, and the name of a sign-up, kept in cookies for the page that says that the mail
// is on its way. The browser gets the cookies whether we know the address or not. The page shows the address to whoever sends
// the cookie, and asks for the mail again with what is there (contract 2.129): the same request as if it were typed once more.

import { nameSchema } from '../../basics/names.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { readEmailAddress } from '../ground/email-address.ts';
import { buildTokenCookie, readCookie } from '../ground/tokens.ts';

const cookie = 'identity_typed_email';
const nameCookie = 'identity_typed_name';
const maxNameBytes = 1_000;
const lifeSeconds = 600;

/** The `Set-Cookie` value that keeps the typed address. */
export const keepTypedEmail = ({ config }: Pick<Dependencies, 'config'>, typed: string): string =>
  buildTokenCookie(config.issuer, cookie, readEmailAddress(typed) ?? '', lifeSeconds);

export const readTypedEmail = (
  { config }: Pick<Dependencies, 'config'>,
  request: Request,
): string | undefined => readEmailAddress(readCookie(request, config.issuer, cookie) ?? '');

/** The `Set-Cookie` value that keeps the typed name, or none if it is too long for a cookie. */
export function keepTypedName({ config }: Pick<Dependencies, 'config'>, typed: string): string {
  const name = nameSchema.safeParse(typed).data ?? '';
  const isShort = name !== '' && encodeURIComponent(name).length <= maxNameBytes;
  return buildTokenCookie(config.issuer, nameCookie, isShort ? name : '', isShort ? lifeSeconds : 0);
}

export const readTypedName = (
  { config }: Pick<Dependencies, 'config'>,
  request: Request,
): string | undefined => nameSchema.safeParse(readCookie(request, config.issuer, nameCookie)).data;
