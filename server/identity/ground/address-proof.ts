// Tokens for the links in our mails: 256 random bits. The database stores only their SHA-256. A token has one purpose and works
// one time, before it expires, and only while its user still has the email address that the mail went to.

import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import type { DB } from '../../../db/schema.ts';
import {
  deferEndOfMailTokens,
  findKeptMailToken,
  findMailToken,
  insertHandedToken,
  insertInvitationToken,
  insertMailToken,
  insertNewAddressToken,
  insertPasswordToken,
  insertTakeBackToken,
  type KeptMailToken,
  type MailTokenEnd,
  type MailTokenPurpose,
} from '../../../db/tables/mail-tokens.ts';
import { deleteUnsentLetters } from '../../../db/tables/mails.ts';
import { deleteNewAddress } from '../../../db/tables/new-addresses.ts';
import { deletePendingEmailChange } from '../../../db/tables/pending-email-changes.ts';
import type { Clients } from '../../sso/clients.ts';
import type { Trace } from '../../web/trace-context.ts';
import { createToken, hashToken } from './tokens.ts';

/** Ends the links of all mails to the user, even of unsent mails. Take-back links go on working. `by` is the reason. */
export async function voidMails(trx: Transaction<DB>, userId: string, by: MailTokenEnd): Promise<void> {
  // Delete unsent mails before the tokens end. If a mail is being sent at this moment, the deletion waits until it is sent, and
  // the next statement then also ends the token in that mail.
  await deleteUnsentLetters(trx, userId);
  deferEndOfMailTokens(trx, userId, by);
  await deletePendingEmailChange(trx, userId);
  await deleteNewAddress(trx, userId);
}

/** Returns the name of the client that `path` leads to. The path must be a launch or a login by OpenID Connect. */
export function findLaunchedClient(path = ''): string | undefined {
  const launched = /^\/sso\/launch\/([a-z0-9_]+)(?:[?#]|$)/.exec(path);
  return (launched ?? /^\/oauth\/authorize\?(?:[^#]*&)?client_id=([a-z0-9_]+)(?:[&#]|$)/.exec(path))?.[1];
}

/**
 * A stranger may have chosen `next`. So this keeps only the name of a client, or the id of a pending hand-off. The kept path
 * has no `state`, so the client starts a new login.
 */
export function keepNext(clients: Clients, next: string | undefined): Record<string, string> {
  const client = clients.get(findLaunchedClient(next) ?? '');
  if (client?.kind === 'openid') return { next: `/oauth/authorize?client_id=${client.name}` };
  if (client) return { next: `/sso/launch/${client.name}` };
  const pending = /^\/continue\?id=[0-9a-f-]{36}$/.exec(next ?? '')?.[0];
  return pending ? { next: pending } : {};
}

/** Returns the trace id to keep with a mail. The log shows the id, but the mail does not. */
export const keepTrace = (trace: Trace | undefined): Record<string, string> =>
  trace ? { traceId: trace.traceId } : {};

/** Returns the only copy of the token, or undefined if the mail is void by now. */
export async function createMailToken(
  db: Database,
  purpose: MailTokenPurpose,
  mailId: string,
  expiresAt: Date,
): Promise<string | undefined> {
  const token = createToken();
  const row = { tokenHash: hashToken(token), mailId, purpose, expiresAt };
  return (await insertMailToken(db, row)) ? token : undefined;
}

/** Returns the only copy of the token. Undefined if the user can log in already, may not log in, or does not hold `email`. */
export async function createPasswordToken(
  db: Database,
  { mailId, email, expiresAt }: { mailId: string; email: string; expiresAt: Date },
): Promise<string | undefined> {
  const token = createToken();
  return (await insertPasswordToken(db, { tokenHash: hashToken(token), mailId, email, expiresAt }))
    ? token
    : undefined;
}

/** Makes the token of a link that an operator gives to the user. Returns the only copy of the token. */
export async function createHandedToken(
  trx: Transaction<DB>,
  { userId, email, now }: { userId: string; email: string; now: Date },
): Promise<string> {
  const token = createToken();
  const expiresAt = new Date(now.getTime() + 60 * 60 * 1_000);
  await insertHandedToken(trx, {
    tokenHash: hashToken(token),
    purpose: 'set_password',
    userId,
    email,
    expiresAt,
  });
  return token;
}

/** Returns the only copy of the token, or undefined if the mail is void by now. */
export async function createTakeBackToken(db: Database, mailId: string): Promise<string | undefined> {
  const token = createToken();
  return (await insertTakeBackToken(db, { tokenHash: hashToken(token), mailId })) ? token : undefined;
}

/** Returns the only copy of the token, or undefined if the mail is void by now. */
export async function createNewAddressToken(
  db: Database,
  purpose: MailTokenPurpose,
  mailId: string,
): Promise<string | undefined> {
  const token = createToken();
  const row = { tokenHash: hashToken(token), mailId, purpose };
  return (await insertNewAddressToken(db, row)) ? token : undefined;
}

/** Returns the only copy of the token, or undefined if the mail is void by now. */
export async function createInvitationToken(db: Database, mailId: string): Promise<string | undefined> {
  const token = createToken();
  return (await insertInvitationToken(db, { tokenHash: hashToken(token), mailId })) ? token : undefined;
}

/** Returns what `consumeMailToken` needs. The token is not used up. */
export async function openMailToken(db: Database, purpose: MailTokenPurpose, token: string, now: Date) {
  const key = { tokenHash: hashToken(token), purpose, now };
  const found = await findMailToken(db, key);
  return found && { ...key, ...found };
}

export type DeadLink = {
  /**
   * `other_account`: the link is for another account than the account that is logged in. `over`: the link has ended for any
   * other reason.
   */
  fate: MailTokenEnd | 'expired' | 'other_account' | 'over';
  email: string;
  name: string;
};

/**
 * Says why a link no longer works, or undefined if we do not know the token. Anybody with the token has read the mail, so they
 * may learn the reason.
 */
export async function explainDeadLink(
  db: Database,
  { purpose, token, now, userId }: { purpose: MailTokenPurpose; token: string; now: Date; userId?: string },
): Promise<DeadLink | undefined> {
  const kept = await findKeptMailToken(db, { tokenHash: hashToken(token), purpose });
  if (!kept) return undefined;
  const { email, name } = kept;
  return { fate: fateOf(kept, { purpose, now, userId }), email, name: name ?? '' };
}

function fateOf(
  kept: KeptMailToken,
  { purpose, now, userId }: { purpose: MailTokenPurpose; now: Date; userId: string | undefined },
): DeadLink['fate'] {
  const needsSession = purpose === 'verify_email' || purpose === 'change_email';
  if (kept.ended === 'used') return 'used';
  if (needsSession && userId !== undefined && userId !== kept.userId) return 'other_account';
  if (kept.ended) return kept.ended;
  if (kept.expiresAt <= now) return 'expired';
  const goesWithAddress = purpose === 'set_password' || purpose === 'verify_email';
  return goesWithAddress && kept.presentEmail !== kept.email ? 'address_changed' : 'over';
}
