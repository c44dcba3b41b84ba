// The address that somebody typed to get a mail, for the page that says that the mail is on its way: a cookie of their
// browser, the same for every address. It is shown to whoever sends it, and decides nothing.
import type { Dependencies } from '../../instance/dependencies.ts';
import { readEmailAddress } from '../ground/email-address.ts';
import { buildTokenCookie, readCookie } from '../ground/tokens.ts';

const cookie = 'identity_typed_email';
const lifeSeconds = 600;

/** A `Set-Cookie` value. */
export const keepTypedEmail = ({ config }: Pick<Dependencies, 'config'>, typed: string): string =>
  buildTokenCookie(config.issuer, cookie, readEmailAddress(typed) ?? '', lifeSeconds);

export const readTypedEmail = (
  { config }: Pick<Dependencies, 'config'>,
  request: Request,
): string | undefined => readEmailAddress(readCookie(request, config.issuer, cookie) ?? '');
