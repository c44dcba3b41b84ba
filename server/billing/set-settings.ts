// Changes of the settings of billing (contract 7.114 to 7.122): each is a version. A new bank account or link counts after 24
// hours, and every administrator can stop it until then.
import type { Transaction } from 'kysely';
import type { Database } from '../../db/postgres/client.ts';
import type { DB } from '../../db/schema.ts';
import {
  type Begin,
  insertSettingsVersion,
  listSettingsVersions,
  lockSettingsVersions,
  type MadeVersion,
  stopSettingsVersion,
} from '../../db/tables/billing-settings.ts';
import { listAdmins } from '../../db/tables/deletions.ts';
import { deferMail } from '../../db/tables/mails.ts';
import { AppError } from '../basics/errors.ts';
import { requireAllowance, spendAllowance } from '../identity/ground/allowances.ts';
import { timeOf } from '../identity/ground/notice-limits.ts';
import type { Dependencies } from '../instance/dependencies.ts';
import { actOnBooks, type Bookkeeper } from '../staff/act-on-books.ts';
import type { Staff } from '../staff/staff.ts';
import type { BillingSettings } from './settings.ts';

/** How long before a new bank account or link counts. */
export const pauseHours = 24;

type Version = MadeVersion & { settings: BillingSettings };

/** What counts now, and what will: each is undefined if there is none. `newest` has the versions of which they are. */
export type Versions = { inForce: Version | undefined; pending: Version | undefined; newest: Version[] };

export async function findVersions(db: Database, limit = 2): Promise<Versions> {
  // Each change adds a version that counts at once, and at most one more: the two newest have what is in force.
  const newest = (await listSettingsVersions(db, Math.max(2, limit))) as Version[];
  const left = newest.filter(({ stoppedAt }) => stoppedAt === null);
  const [first] = left;
  return {
    inForce: left.find(({ hasBegun }) => hasBegun),
    // An older one would be replaced by what counts now before it could count.
    pending: first && !first.hasBegun ? first : undefined,
    newest,
  };
}

/** What forms about the settings are made from. */
export const see = ({ inForce, pending, newest }: Versions) => [
  newest[0]?.version ?? 0,
  inForce?.version ?? 0,
  pending?.version ?? 0,
];

/** `nothing`: they are so already, or will be. `pending` is the version that counts later, if there is one. */
export type SetOutcome =
  | { done: false; version: number }
  | { done: true; version: number; pending?: { version: number; countsFrom: Date } };

/** Makes these settings the ones that count. */
export async function setSettings(
  trx: Transaction<DB>,
  { now }: Pick<Dependencies, 'now'>,
  settings: BillingSettings,
  by: Bookkeeper,
): Promise<SetOutcome> {
  await lockSettingsVersions(trx);
  const { inForce, pending } = await findVersions(trx);
  const wanted = pending ?? inForce;
  if (wanted && isSame(wanted.settings, settings)) return { done: false, version: wanted.version };
  const insert = (each: BillingSettings, begins: Begin) =>
    insertSettingsVersion(trx, {
      settings: each,
      begins,
      madeBy: by.name,
      actorId: by.actorId,
      why: by.why,
    });
  const isLater = inForce !== undefined && !isSame(bankOf(inForce.settings), bankOf(settings));
  const { version } = await insert(isLater ? keepBank(settings, inForce.settings) : settings, 'now');
  if (!isLater) {
    by.record({ type: 'billing.set', details: { version } });
    return { done: true, version };
  }
  const isKnown = pending !== undefined && isSame(bankOf(pending.settings), bankOf(settings));
  const later = await insert(settings, isKnown ? { asVersion: pending.version } : { afterHours: pauseHours });
  by.record({
    type: 'billing.set',
    details: { version, pending: later.version, countsFrom: later.countsFrom.toISOString() },
  });
  if (!isKnown) await tellAdmins(trx, now(), later.countsFrom);
  return { done: true, version, pending: later };
}

/** Where customers pay to. */
const bankOf = ({ seller, payment }: BillingSettings) => ({
  iban: seller.iban,
  bic: seller.bic,
  link: payment.link,
});

function keepBank(settings: BillingSettings, present: BillingSettings): BillingSettings {
  const { iban, bic, link } = bankOf(present);
  return {
    ...settings,
    seller: { ...settings.seller, iban, bic },
    payment: { ...settings.payment, link },
  };
}

/** Whether two values are the same as JSON, in whatever order their members are. */
const isSame = (one: unknown, other: unknown): boolean => writeSorted(one) === writeSorted(other);

const writeSorted = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );

async function tellAdmins(trx: Transaction<DB>, now: Date, countsFrom: Date): Promise<void> {
  for (const { id: userId, email: recipient } of await listAdmins(trx))
    deferMail(trx, {
      kind: 'bank_details_changed',
      userId,
      recipient,
      details: { ...timeOf('bank_details_changed', now.toISOString()), countsAt: countsFrom.toISOString() },
      now,
    });
}

/** Stops what does not count yet. The caller has locked the versions. Throws 409 `edited_meanwhile` if nothing waits. */
async function stopPending(trx: Transaction<DB>, by: Bookkeeper): Promise<number> {
  const { pending } = await findVersions(trx);
  if (!pending || !(await stopSettingsVersion(trx, pending.version))) throw new AppError('edited_meanwhile');
  by.record({ type: 'billing.set', reason: 'stopped', details: { version: pending.version } });
  return pending.version;
}

type Asked = { why: string; seen: string };

/** Sets them for an administrator. `read` gives the settings, and throws 422 for what is wrong with them. */
export const setSettingsAsStaff = (
  deps: Dependencies,
  staff: Staff,
  asked: Asked,
  read: () => BillingSettings,
) =>
  actOnBooks(deps, staff, asked, {
    right: 'billing.setSettings',
    read,
    requireAllowance: () => requireAllowance(deps.db, 'billing.set', staff.session.user.id),
    lock: lockSettingsVersions,
    see: async (trx) => see(await findVersions(trx)),
    async act(trx, settings, by) {
      await spendAllowance(trx, 'billing.set', staff.session.user.id);
      return setSettings(trx, deps, settings, by);
    },
  });

export const stopSettingsAsStaff = (deps: Dependencies, staff: Staff, asked: Asked) =>
  actOnBooks(deps, staff, asked, {
    right: 'billing.stopSettings',
    read: () => undefined,
    lock: lockSettingsVersions,
    see: async (trx) => see(await findVersions(trx)),
    act: (trx, _, by) => stopPending(trx, by),
  });
