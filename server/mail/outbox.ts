// Sends the mails in the outbox, each at least once, from any number of instances. If a mail fails, it is tried again for three
// days, with growing pauses. After that it is given up, with an error in the log.
import { isAboutBilling, isLetter } from '../../db/tables/mail-kinds.ts';
import {
  claimMails,
  deleteMail,
  type Lane,
  lanes,
  type MailRow,
  markMailFailed,
  markMailSent,
  postponeMail,
  setRecipient,
} from '../../db/tables/mails.ts';
import { findInvitation } from '../../db/tables/staff-invitations.ts';
import { findUserById } from '../../db/tables/users.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import {
  createInvitationToken,
  createMailToken,
  createNewAddressToken,
  createTakeBackToken,
  findLaunchedClient,
} from '../identity/ground/address-proof.ts';
import { composeBillingMail, findOrdered, findSellerName } from './billing-mails.ts';
import { describeAnswer } from './describe-answer.ts';
import { findReaders } from './greeting.ts';
import { layOut, styleOf } from './layout.ts';
import { letters } from './letters.ts';
import type { Mailer, Message } from './mailer.ts';
import { buildNotice, buildRest } from './notices.ts';

const batchSize = 10;
// The lease is longer than we wait for a mail server, so that no other worker takes a mail that is being sent.
export const leaseMs = 120_000;
const sendTimeoutMs = 90_000;
const firstPauseMs = 30_000;
const longestPauseMs = 6 * 60 * 60 * 1_000;
const giveUpAfterMs = 3 * 24 * 60 * 60 * 1_000;

/**
 * Sends until no mail is due, the mail server is away, or `signal` aborts. If there is no mailer (local mode), the mails are kept
 * instead.
 */
export async function sendDueMails(
  deps: Dependencies,
  mailer: Mailer | undefined,
  signal: AbortSignal,
  which: readonly Lane[] = lanes,
): Promise<void> {
  for (const lane of which) await sendLane(lane, deps, mailer, signal);
}

async function sendLane(
  lane: Lane,
  deps: Dependencies,
  mailer: Mailer | undefined,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const now = deps.now();
    const leaseEndsAt = new Date(now.getTime() + leaseMs);
    const mails = await claimMails(deps.db, { lane, now, leaseEndsAt, limit: batchSize });
    if (mails.length === 0) return;
    const readers = await findReaders(deps.db, mails, now);
    const send = (mail: MailRow) => {
      const { name: greeted = null, timeZone = null } = readers.get(mail.id) ?? {};
      return sendMail(deps, mailer, { ...mail, leaseEndsAt, greeted, timeZone }, signal);
    };
    const answered = await Promise.all(mails.map(send));
    // One batch is enough to notice that the server is away.
    if (!answered.includes(true)) return;
  }
}

type MailToReader = MailRow & { leaseEndsAt: Date; greeted: string | null; timeZone: string | null };

/** Returns whether the mail server answered, even with a refusal. */
async function sendMail(
  deps: Dependencies,
  mailer: Mailer | undefined,
  claimed: MailToReader,
  signal: AbortSignal,
): Promise<boolean> {
  const { db, now, metrics } = deps;
  const message = await composeMessage(deps, claimed);
  if (!message) {
    // A new password, a take-back or a payment has made this mail void.
    await deleteMail(db, claimed.id);
    return true;
  }
  if ('until' in message) {
    await postponeMail(db, claimed.id, { leaseEndsAt: claimed.leaseEndsAt, until: message.until });
    return true;
  }
  const mail = { ...claimed, recipient: message.to };
  const { includes } = message;
  if (includes !== undefined || mail.recipient !== claimed.recipient)
    await setRecipient(db, includes === undefined ? [mail.id] : [mail.id, includes], mail.recipient);
  if (!mailer) {
    await markMailSent(db, message, now(), message);
    metrics.countMail('sent');
    return true;
  }
  try {
    await sendInTime(mailer, message, signal);
  } catch (error) {
    // If the service is stopping, nothing is recorded: another worker takes the mail when the lease ends.
    if (!signal.aborted) await recordFailure(deps, mail, error);
    return (error as { responseCode?: number }).responseCode !== undefined;
  }
  await (isLast(mail) ? deleteMail(db, mail.id) : markMailSent(db, message, now()));
  metrics.countMail('sent');
  return true;
}

async function composeMessage(
  deps: Dependencies,
  mail: MailToReader,
): Promise<Message | { until: Date } | undefined> {
  const { db, config, clients, now } = deps;
  const { id, kind, recipient: to, details, greeted, timeZone } = mail;
  const { name, baseUrl, supportUrl } = config;
  const style = styleOf(config);
  if (isAboutBilling(kind)) {
    const composed = await composeBillingMail(deps, { id, kind, details });
    if (!composed || 'until' in composed) return composed;
    const { message, ...rest } = composed;
    return { id, ...rest, ...layOut(message, style, rest.to === to ? greeted : null) };
  }
  if (!isLetter(kind)) {
    // Until 1.2.0: unsent mails may come from 1.0.0 or 0.6.0, which have other names for the time. Mails of new kinds have
    // `since` or `foundAt` instead of `at`. Because 1.0.0 fails on a mail without `at`, it does not send kinds that it does not
    // know.
    const {
      at = details.invitedAt ?? details.since ?? details.foundAt ?? details.time ?? '',
      device,
      until,
      who,
      by,
    } = details;
    const { countsAt, was, role, what, to: decided, contract, invitation, client } = details;
    const token = until && (await createTakeBackToken(db, id));
    const takeBack = token && until ? { link: `${baseUrl}/take-back?token=${token}`, until } : undefined;
    // This summary mail reports other changes, too. So it is sent even if its link is void.
    if (details.rest)
      return { id, to, ...layOut(buildRest({ baseUrl, at, timeZone, takeBack }), style, greeted) };
    if (until && !token) return undefined;
    const hasSupport = supportUrl !== undefined;
    // `who` and `by` can be ids of users who have been erased.
    const nameOf = async (userId: string) =>
      (await findUserById(db, userId))?.email ?? 'Somebody who is not here any more';
    const notice = buildNotice(kind, {
      baseUrl,
      at,
      timeZone,
      device,
      hasSupport,
      who: who ? { id: who, name: await nameOf(who) } : undefined,
      by: by && (by === 'command' ? 'A command on the server' : await nameOf(by)),
      ...{ countsAt, was, role, what, to: decided, client, takeBack },
      ordered: contract ? await findOrdered(deps, contract) : undefined,
      invited: invitation && (await findInvitation(db, invitation))?.email,
    });
    return { id, to, ...layOut(notice, style, greeted) };
  }
  const { build, purpose, path, life = '', lifeMs = 0 } = letters[kind];
  const expiresAt = new Date(now().getTime() + lifeMs);
  const isAboutNewAddress = purpose === 'new_address' || purpose === 'stop_new_address';
  const token =
    purpose &&
    (isAboutNewAddress
      ? await createNewAddressToken(db, purpose, id)
      : purpose === 'invitation'
        ? await createInvitationToken(db, id)
        : await createMailToken(db, purpose, id, expiresAt));
  if (purpose && !token) return undefined;
  const query = new URLSearchParams({ ...(token && { token }), ...(details.next && { next: details.next }) });
  const link = `${baseUrl}${path}${query.size > 0 ? `?${query}` : ''}`;
  const seller = kind === 'invoice_email' ? await findSellerName(db) : undefined;
  const ordered = details.contract ? await findOrdered(deps, details.contract) : undefined;
  const product = clients.get(findLaunchedClient(details.next) ?? '')?.title;
  const written = build({ link, life, name, product, seller, ordered, role: details.role });
  return { id, to, ...layOut(written, style, greeted) };
}

/** This is the last mail to an erased person. Their address is deleted with it. */
const isLast = ({ kind }: MailRow) => kind === 'account_deleted';

async function recordFailure(
  { db, now, log, metrics }: Dependencies,
  mail: MailRow,
  error: unknown,
): Promise<void> {
  const at = now().getTime();
  // A mail server may quote the mail in its answer, including the token.
  const message = (error instanceof Error ? error.message : String(error))
    .replaceAll(/[\w-]{43}/g, '…')
    .slice(0, 500);
  const hasGivenUp = at - mail.createdAt.getTime() >= giveUpAfterMs;
  const pauseMs = Math.min(firstPauseMs * 2 ** (mail.attempts - 1), longestPauseMs);
  if (hasGivenUp && isLast(mail)) await deleteMail(db, mail.id);
  else {
    await markMailFailed(db, mail.id, {
      error: message,
      ...(hasGivenUp ? { givenUpAt: new Date(at) } : { nextAttemptAt: new Date(at + pauseMs) }),
    });
  }
  metrics.countMail(hasGivenUp ? 'given_up' : isAboutMail(error) ? 'refused' : 'failed');
  // The error's message is not logged, because mail servers often quote the recipient's address in it.
  const { code, responseCode, response } = error as {
    code?: string;
    responseCode?: number;
    response?: string;
  };
  const { traceId } = mail.details;
  const answer = describeAnswer(response, mail.recipient);
  const { id: mailId, kind, attempts } = mail;
  const fields = { mailId, traceId, kind, attempts, code, responseCode, answer };
  if (hasGivenUp) log.error(fields, 'mail given up');
  else log.info(fields, 'mail not sent yet');
}

/** Returns whether the server refused this mail because of its addresses or content, as nodemailer's code says. */
const isAboutMail = (error: unknown) =>
  ['EENVELOPE', 'EMESSAGE'].includes((error as { code?: string }).code ?? '');

/** Sends the message. Rejects if sending fails or takes too long, or if `signal` aborts. */
function sendInTime(mailer: Mailer, message: Message, signal: AbortSignal): Promise<void> {
  return new Promise<void>((done, failed) => {
    const giveUp = () => failed(new Error('the mail server took too long'));
    const timer = setTimeout(giveUp, sendTimeoutMs);
    signal.addEventListener('abort', giveUp);
    // AbortSignal.any is not used, because Node would keep the signals that it makes in memory until `signal` is gone.
    const letGo = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    };
    mailer.send(message).finally(letGo).then(done, failed);
  });
}
