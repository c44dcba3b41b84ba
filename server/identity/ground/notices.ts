// Tells owners what happened to their account. The mail contains no text that somebody could have typed.

import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { DB } from '../../../db/schema.ts';
import { findDeviceUse } from '../../../db/tables/devices.ts';
import type { NoticeKind } from '../../../db/tables/mail-kinds.ts';
import { deferMail, hasRecentMail } from '../../../db/tables/mails.ts';
import {
  findWorkingChangeOfAddress,
  insertTakeBackChange,
  type Told,
} from '../../../db/tables/take-back-changes.ts';
import type { User } from '../../../db/tables/users.ts';
import { daysAfter } from '../../basics/instant.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { readTrace } from '../../web/trace-context.ts';
import { keepTrace } from './address-proof.ts';
import { describeDevice, readDevice, userAgentOf } from './device.ts';
import { insertWithinLimits } from './notice-limits.ts';

type ToldUser = Pick<User, 'id' | 'email' | 'holdsEmail'>;

/**
 * Call it only for an address that the user holds. If a browser made the change, `request` is its request. `facts` say what has
 * changed, and must contain nothing that somebody typed.
 */
export async function notify(
  trx: Transaction<DB>,
  { now }: Pick<Dependencies, 'now'>,
  user: ToldUser,
  kind: NoticeKind,
  request?: Request,
  facts?: Record<string, string>,
): Promise<void> {
  const { id: userId, email, holdsEmail } = user;
  if (!holdsEmail) return;
  const { details, ...notice } = buildNotice({ userId, email }, kind, { at: now(), request });
  await insertWithinLimits(trx, { ...notice, details: { ...details, ...facts } });
}

/** Sends a notice to a mailbox whose address the owner may no longer hold. No limit applies. */
export async function notifyMailbox(
  trx: Transaction<DB>,
  { now }: Pick<Dependencies, 'now'>,
  mailbox: Mailbox,
  kind: NoticeKind,
  request?: Request,
): Promise<void> {
  deferMail(trx, buildNotice(mailbox, kind, { at: now(), request }));
}

type Mailbox = { userId: string; email: string };

const buildNotice = (
  { userId, email: recipient }: Mailbox,
  kind: NoticeKind,
  { at, request }: { at: Date; request?: Request | undefined },
) => ({ kind, userId, recipient, details: { at: at.toISOString(), ...describeRequest(request) }, now: at });

export const takeBackDays = 7;

/** Pass the time of the change as it is stored (`findTimeOfChange`). The window of a take-back may begin at that time. */
export async function notifyWithTakeBack(
  trx: Transaction<DB>,
  { now }: Pick<Dependencies, 'now'>,
  user: ToldUser,
  kind: Told,
  { at, request, what }: { at: Date; request?: Request; what?: string },
): Promise<void> {
  if (!user.holdsEmail) return;
  const { id: userId, email } = user;
  const change = uuidv7();
  const expiresAt = daysAfter(at, takeBackDays);
  const notice = { ...buildNotice({ userId, email }, kind, { at, request }), now: now() };
  const device = notice.details.device ?? null;
  await insertTakeBackChange(trx, { id: change, userId, email, what: kind, at, expiresAt, device });
  // The index of mails that people wait for contains each mail with `until`.
  const details = { ...notice.details, ...(what && { what }) };
  await insertWithinLimits(trx, { ...notice, details }, { change, until: expiresAt.toISOString() });
}

/** Counts against no limit. Strangers may ask for this mail, and must not use up the limit of notices to the owner. */
export async function repeatTakeBackMail(
  trx: Transaction<DB>,
  { now: clock }: Pick<Dependencies, 'now'>,
  { userId, email }: Mailbox,
  trace: Record<string, string>,
): Promise<void> {
  const now = clock();
  const told = await findWorkingChangeOfAddress(trx, { userId, email, worksUntil: now });
  if (!told) return;
  const { id: change, at, device, expiresAt } = told;
  const about = { at: at.toISOString(), ...(device !== null && { device }), ...trace };
  const details = { ...about, change, until: expiresAt.toISOString() };
  deferMail(trx, { kind: 'email_changed', userId, recipient: email, details, now });
}

const describeRequest = (request: Request | undefined): { device?: string; traceId?: string } =>
  request ? { device: describeDevice(userAgentOf(request)), ...keepTrace(readTrace(request)) } : {};

export async function notifyOnceADay(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now'>,
  user: User,
  kind: NoticeKind,
  request: Request,
): Promise<void> {
  const since = daysAfter(deps.now(), -1);
  if (await hasRecentMail(trx, { userId: user.id, kind, since })) return;
  await notify(trx, deps, user, kind, request);
}

/** Tells the owner about a login in a new browser: at most one time a day, and not at the account's very first login. */
export async function notifyNewBrowser(
  trx: Transaction<DB>,
  deps: Dependencies,
  user: User,
  request: Request,
): Promise<void> {
  const device = readDevice(deps, request) ?? new Uint8Array();
  if ((await findDeviceUse(trx, user.id, device)) !== 'others') return;
  await notifyOnceADay(trx, deps, user, 'new_browser', request);
}
