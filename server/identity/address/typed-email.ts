// Keeps the typed address for the page that says that the mail is on its way (contract 2.129), even if no user has it.

import { nameSchema } from '../../basics/names.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { readEmailAddress } from '../ground/email-address.ts';
import { buildTokenCookie, readCookie } from '../ground/tokens.ts';

const cookie = 'identity_typed_email';
const nameCookie = 'identity_typed_name';
const maxNameBytes = 1_000;
const lifeSeconds = 600;

/** Returns a `Set-Cookie` value. */
export const keepTypedEmail = ({ config }: Pick<Dependencies, 'config'>, typed: string): string =>
  buildTokenCookie(config.issuer, cookie, readEmailAddress(typed) ?? '', lifeSeconds);

export const readTypedEmail = (
  { config }: Pick<Dependencies, 'config'>,
  request: Request,
): string | undefined => readEmailAddress(readCookie(request, config.issuer, cookie) ?? '');

/** Drops the cookie if the name is too long for it. Returns a `Set-Cookie` value. */
export function keepTypedName({ config }: Pick<Dependencies, 'config'>, typed: string): string {
  const name = nameSchema.safeParse(typed).data ?? '';
  const isShort = name !== '' && encodeURIComponent(name).length <= maxNameBytes;
  return buildTokenCookie(config.issuer, nameCookie, isShort ? name : '', isShort ? lifeSeconds : 0);
}

export const readTypedName = (
  { config }: Pick<Dependencies, 'config'>,
  request: Request,
): string | undefined => nameSchema.safeParse(readCookie(request, config.issuer, nameCookie)).data;
