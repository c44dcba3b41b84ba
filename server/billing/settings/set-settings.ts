// Changes of the settings of billing (contract 7.114 to 7.122): each is a version. A new bank account or link counts after 24
// hours, and every administrator can stop it until then.
import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import {
  type Begin,
  insertSettingsVersion,
  listSettingsVersions,
  lockSettingsVersions,
  type MadeVersion,
  stopSettingsVersion,
} from '../../../db/tables/billing-settings.ts';
import { act, type PaymentTrail, type Subject } from '../../acts/act.ts';
import { tellOtherAdministrators } from '../../acts/tell-administrators.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { requireAllowance, spendAllowance } from '../../identity/ground/allowances.ts';
import { findOtherAccounts } from './other-accounts.ts';
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
export const basisOf = ({ inForce, pending, newest }: Versions) => [
  newest[0]?.version ?? 0,
  inForce?.version ?? 0,
  pending?.version ?? 0,
];

/** `nothing`: they are so already, or will be. `pending` is the version that counts later, if there is one. */
export type SetOutcome =
  | { done: false; version: number }
  | { done: true; version: number; pending?: { version: number; countsFrom: Date } };

/** What the audit keeps of who sets them. */
type SettingsTrail = PaymentTrail & { why: string };

const deferSet = (
  trx: Transaction<DB>,
  trail: SettingsTrail,
  details: { version: number; pending?: number; countsFrom?: string },
  reason?: 'stopped',
) =>
  deferAuditEvent(trx, {
    ...trail,
    type: 'billing.set',
    ...(reason && { reason }),
    details: { ...trail.details, ...details },
  });

/**
 * Makes these settings the ones that count. Throws 422 `validation_failed` where a new text names a bank account that is not the one
 * in force.
 */
export async function setSettings(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now'>,
  settings: BillingSettings,
  trail: SettingsTrail,
): Promise<SetOutcome> {
  await lockSettingsVersions(trx);
  const { inForce, pending } = await findVersions(trx);
  const wanted = pending ?? inForce;
  if (wanted && isSame(wanted.settings, settings)) return { done: false, version: wanted.version };
  const errors = findOtherAccounts(settings, inForce?.settings);
  if (errors.length > 0) throw new AppError('validation_failed', { errors });
  await tellOfTexts(trx, deps, { before: inForce?.settings, settings, actorId: trail.actorId });
  const insert = (each: BillingSettings, begins: Begin) =>
    insertSettingsVersion(trx, {
      settings: each,
      begins,
      madeBy: trail.details.operator ?? 'staff',
      actorId: trail.actorId ?? null,
      why: trail.why,
    });
  const isLater = inForce !== undefined && !isSame(bankOf(inForce.settings), bankOf(settings));
  const { version } = await insert(isLater ? keepBank(settings, inForce.settings) : settings, 'now');
  if (!isLater) {
    deferSet(trx, trail, { version });
    return { done: true, version };
  }
  const isKnown = pending !== undefined && isSame(bankOf(pending.settings), bankOf(settings));
  const later = await insert(settings, isKnown ? { asVersion: pending.version } : { afterHours: pauseHours });
  deferSet(trx, trail, { version, pending: later.version, countsFrom: later.countsFrom.toISOString() });
  if (!isKnown)
    await tellOtherAdministrators(trx, deps, {
      kind: 'bank_details_changed',
      actorId: trail.actorId,
      // It says until when the change can be stopped.
      tellsActor: true,
      details: { countsAt: later.countsFrom.toISOString() },
    });
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

/** What documents print at once of what administrators typed, by the names that the mail has for it (server/mail/notices.ts). */
const textsOf = ({ seller, plans, tax, payment }: BillingSettings) => ({
  name: seller.name,
  address: seller.address,
  contact: [seller.email, seller.vat_id, seller.tax_number],
  foot: seller.foot,
  plans: Object.fromEntries(
    Object.entries(plans).map(([plan, { title, description }]) => [plan, { title, description }]),
  ),
  payment: payment.text,
  tax: [tax.reverse_charge_words, ...tax.rules.map(({ country, words }) => ({ country, words }))],
});

export type PrintedText = keyof ReturnType<typeof textsOf>;

async function tellOfTexts(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now'>,
  {
    before,
    settings,
    actorId,
  }: { before: BillingSettings | undefined; settings: BillingSettings; actorId: string | undefined },
): Promise<void> {
  const [old, present] = [before && textsOf(before), textsOf(settings)];
  const changed = (Object.keys(present) as PrintedText[]).filter(
    (name) => !isSame(old?.[name] ?? null, present[name] ?? null),
  );
  if (changed.length === 0) return;
  await tellOtherAdministrators(trx, deps, {
    kind: 'billing_texts_changed',
    actorId,
    details: { what: changed.join(' ') },
  });
}

/** Whether two values are the same as JSON, in whatever order their members are. */
const isSame = (one: unknown, other: unknown): boolean => writeSorted(one) === writeSorted(other);

const writeSorted = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );

/** Stops what does not count yet. The caller has locked the versions. Throws 409 `edited_meanwhile` if nothing waits. */
async function stopPending(trx: Transaction<DB>, trail: SettingsTrail): Promise<number> {
  const { pending } = await findVersions(trx);
  if (!pending || !(await stopSettingsVersion(trx, pending.version))) throw new AppError('edited_meanwhile');
  deferSet(trx, trail, { version: pending.version }, 'stopped');
  return pending.version;
}

const settings: Subject<Versions> = {
  name: 'settings',
  keys: [],
  find: async (db) => ({ thing: await findVersions(db), accountId: null, userId: null }),
  lock: lockSettingsVersions,
  answer: (result) => result,
};

/**
 * Sets them. `read` gives the settings, and throws 422 for what is wrong with them. `nameField` names where in the form a pointer
 * into the settings is.
 */
export const stateSetSettings = (
  read: () => BillingSettings,
  nameField: (pointer: string) => string = (pointer) => pointer,
) =>
  act({
    about: settings,
    right: { name: 'billing.setSettings' },
    fields: { kind: read },
    formBasis: (_db, versions) => basisOf(versions),
    requireAllowance: ({ db }, _versions, actorId) => requireAllowance(db, 'billing.set', actorId),
    async do({ trx, deps, author, by }, { kind: wanted }) {
      if (author.by === 'staff') await spendAllowance(trx, 'billing.set', author.actorId);
      try {
        return await setSettings(trx, deps, wanted, { ...by.trail, why: author.why ?? '' });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error;
        const errors = error.errors.map(({ pointer, detail }) => ({ pointer: nameField(pointer), detail }));
        throw new AppError('validation_failed', { errors });
      }
    },
  });

export const stopSettings = act({
  about: settings,
  right: { name: 'billing.stopSettings' },
  fields: {},
  formBasis: (_db, versions) => basisOf(versions),
  do: async ({ trx, author, by }) => ({
    version: await stopPending(trx, { ...by.trail, why: author.why ?? '' }),
  }),
});
