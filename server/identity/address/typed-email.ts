// The address that somebody typed to get a mail, kept in a cookie for the page that says that the mail is on its way. The
// browser gets the cookie whether we know the address or not. The page shows the address to whoever sends the cookie;
// nothing else depends on it.
import type { Dependencies } from '../../instance/dependencies.ts';
import { readEmailAddress } from '../ground/email-address.ts';
import { buildTokenCookie, readCookie } from '../ground/tokens.ts';

const cookie = 'identity_typed_email';
const lifeSeconds = 600;

/** The `Set-Cookie` value that keeps the typed address. */
export const keepTypedEmail = ({ config }: Pick<Dependencies, 'config'>, typed: string): string =>
  buildTokenCookie(config.issuer, cookie, readEmailAddress(typed) ?? '', lifeSeconds);

export const readTypedEmail = (
  { config }: Pick<Dependencies, 'config'>,
  request: Request,
): string | undefined => readEmailAddress(readCookie(request, config.issuer, cookie) ?? '');
