// Mails that tell the owner what happened to their account: what, when, and from which kind of browser. Only to a held
// address, and without any text that somebody could have typed.
import { findDeviceUse } from '../../db/devices.ts';
import type { NoticeKind } from '../../db/mail-kinds.ts';
import { hasRecentMail, insertMail } from '../../db/mails.ts';
import type { Database } from '../../db/postgres/client.ts';
import type { User } from '../../db/users.ts';
import { readTrace } from '../http/trace-context.ts';
import { daysAfter } from '../instant.ts';
import type { Services } from '../services.ts';
import { keepTrace } from './address-proof.ts';
import { describeDevice, readDevice, userAgentOf } from './device.ts';

/** `request` is the one that did it, if a person's browser did. */
export async function notify(
  trx: Database,
  { now }: Pick<Services, 'now'>,
  user: Pick<User, 'id' | 'email' | 'holdsEmail'>,
  kind: NoticeKind,
  request?: Request,
): Promise<void> {
  if (!user.holdsEmail) return;
  const at = now();
  await insertMail(trx, {
    kind,
    userId: user.id,
    recipient: user.email,
    details: {
      at: at.toISOString(),
      ...(request && { device: describeDevice(userAgentOf(request)), ...keepTrace(readTrace(request)) }),
    },
    now: at,
  });
}

/** The same, once a day at most. */
export async function notifyOnceADay(
  trx: Database,
  services: Pick<Services, 'now'>,
  user: User,
  kind: NoticeKind,
  request: Request,
): Promise<void> {
  const since = daysAfter(services.now(), -1);
  if (await hasRecentMail(trx, { userId: user.id, kind, since })) return;
  await notify(trx, services, user, kind, request);
}

/** Once a day at most, and not at the first login of all. */
export async function notifyNewBrowser(
  trx: Database,
  services: Services,
  user: User,
  request: Request,
): Promise<void> {
  const device = readDevice(services, request) ?? new Uint8Array();
  if ((await findDeviceUse(trx, user.id, device)) !== 'others') return;
  await notifyOnceADay(trx, services, user, 'new_browser', request);
}
