// Makes a version for each change of the billing settings (contract 7.114 to 7.121). A new bank account or a new link for paying
// takes effect after 24 hours. Until then every administrator can stop it.
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
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { requireAllowance, spendAllowance } from '../../identity/ground/allowances.ts';
import { tellOtherAdministrators } from '../../identity/ground/tell-administrators.ts';
import { findOtherAccounts } from './other-accounts.ts';
import type { BillingSettings } from './settings.ts';

type Version = MadeVersion & { settings: BillingSettings };

export type Versions = { inForce: Version | undefined; pending: Version | undefined; newest: Version[] };

export async function findVersions(db: Database, limit = 2): Promise<Versions> {
  // A change adds one version that takes effect immediately, and at most one that takes effect later. So one of the two newest
  // versions is in force.
  const newest = (await listSettingsVersions(db, Math.max(2, limit))) as Version[];
  const left = newest.filter(({ stoppedAt }) => stoppedAt === null);
  const [first] = left;
  return {
    inForce: left.find(({ hasBegun }) => hasBegun),
    // Only the newest version can be pending, because the version in force has replaced all versions before it.
    pending: first && !first.hasBegun ? first : undefined,
    newest,
  };
}

export const basisOf = ({ inForce, pending, newest }: Versions) => [
  newest[0]?.version ?? 0,
  inForce?.version ?? 0,
  pending?.version ?? 0,
];

/** `done` is false if the settings are in force already, or pending. */
export type SetOutcome =
  | { done: false; version: number }
  | { done: true; version: number; pending?: { version: number; countsFrom: Date } };

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
    reason,
    details: { ...trail.details, ...details },
  });

/** Throws 422 `validation_failed` if a new text names a bank account other than the one in force. */
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
  const texts = listChangedTexts(inForce?.settings, settings);
  if (texts.length > 0)
    await tellOtherAdministrators(trx, deps, {
      kind: 'billing_texts_changed',
      actorId: trail.actorId,
      details: { what: texts.join(' ') },
    });
  const insert = (each: BillingSettings, begins: Begin) =>
    insertSettingsVersion(trx, {
      settings: each,
      begins,
      madeBy: trail.details.operator ?? 'staff',
      actorId: trail.actorId ?? null,
      why: trail.why,
    });
  const hasBankOf = (before: BillingSettings) => isSame(keepBank(settings, before), settings);
  const isLater = inForce !== undefined && !hasBankOf(inForce.settings);
  const { version } = await insert(isLater ? keepBank(settings, inForce.settings) : settings, 'now');
  if (!isLater) {
    deferSet(trx, trail, { version });
    return { done: true, version };
  }
  const isKnown = pending !== undefined && hasBankOf(pending.settings);
  const later = await insert(settings, isKnown ? { asVersion: pending.version } : { afterHours: 24 });
  deferSet(trx, trail, { version, pending: later.version, countsFrom: later.countsFrom.toISOString() });
  if (!isKnown)
    await tellOtherAdministrators(trx, deps, {
      kind: 'bank_details_changed',
      actorId: trail.actorId,
      // The person who made the change gets the mail too, because it says until when the change can be stopped.
      tellsActor: true,
      details: { countsAt: later.countsFrom.toISOString() },
    });
  return { done: true, version, pending: later };
}

/**
 * Returns the new settings, but with the bank account and the links that are in force. A removed plan is kept if it has a link.
 */
function keepBank(settings: BillingSettings, { seller, plans, payment }: BillingSettings): BillingSettings {
  const { iban, bic } = seller;
  const removed = Object.entries(plans).filter(
    ([name, { link }]) => link !== undefined && !Object.hasOwn(settings.plans, name),
  );
  return {
    ...settings,
    seller: { ...settings.seller, iban, bic },
    plans: Object.fromEntries([
      ...removed,
      ...Object.entries(settings.plans).map(([name, plan]) => [name, { ...plan, link: plans[name]?.link }]),
    ]),
    payment: { ...settings.payment, link: payment.link },
  };
}

/**
 * Returns texts that take effect on documents immediately. The keys are their names in the mail (server/mail/notice-words.ts).
 */
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

function listChangedTexts(before: BillingSettings | undefined, settings: BillingSettings): string[] {
  const [old, present] = [before && textsOf(before), textsOf(settings)];
  return (Object.keys(present) as PrintedText[]).filter(
    (name) => !isSame(old?.[name] ?? null, present[name] ?? null),
  );
}

/** Returns whether both are the same JSON, in any order of members. */
const isSame = (one: unknown, other: unknown): boolean => writeSorted(one) === writeSorted(other);

const writeSorted = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );

/** The caller has locked the versions. Throws 409 `edited_meanwhile` if no version is pending. */
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

/** `read` throws 422 for wrong settings. `nameField` converts a pointer into the settings to a field of the form. */
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
