// GET /.well-known/security.txt (RFC 9116): says where to report a weakness.
import { AppError } from '../../basics/errors.ts';
import { daysAfter } from '../../basics/instant.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { respond } from '../../web/answers.ts';

// The file expires this many days after each answer. RFC 9116 asks for less than a year.
const validDays = 180;

/** Throws 404 `not_configured` if no contact is set. */
export function securityTxt({ config, now }: Dependencies): Response {
  const { securityContact, baseUrl } = config;
  if (!securityContact) throw new AppError('not_configured');
  const expires = daysAfter(now(), validDays).toISOString();
  const lines = [
    `Contact: ${securityContact}`,
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}/.well-known/security.txt`,
  ];
  return respond(200, { 'Content-Type': 'text/plain; charset=utf-8' }, `${lines.join('\n')}\n`);
}
