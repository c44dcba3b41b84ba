// Reads and saves billing details from the forms of people in the account and of administrators (contract 7.230 to 7.241, and
// 7.441).
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import {
  type DetailName,
  type DetailValues,
  lockBillingDetails,
  noDetails,
  updateBillingDetails,
} from '../../../db/tables/billing-details.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Config } from '../../settings/config.ts';
import { type GivenDetails, mayHideCountry, pointers, readDetails } from '../invoices/read-details.ts';
import { asGiven, settlePlace } from '../invoices/waiting-country.ts';

/** If a detail is not given, it stays as it is. */
export type SomeDetails = { [Name in keyof GivenDetails]?: string | undefined };

/**
 * `details.ignored` lists the details that a signup gave wrongly. `decides` says which of them no signup may fill in later: all
 * of them (`all`), or only the ones that change here (`changed`). Returns undefined if nothing changes. Throws 422
 * `validation_failed`.
 */
export async function saveDetails(
  trx: Transaction<DB>,
  { config, now }: Pick<Dependencies, 'config' | 'now'>,
  accountId: string,
  given: SomeDetails,
  decides: 'all' | 'changed' = 'all',
): Promise<{ changed: DetailName[]; value: DetailValues } | undefined> {
  const details = await lockBillingDetails(trx, accountId);
  // Reads the details again under the lock, because another person may have changed some of them.
  const value = readGiven(asGiven(details), given, config);
  const settled = await settlePlace(trx, accountId, { details, given: value, now: now() });
  const changed = listChanged(asGiven(details), value);
  // A detail that is decided here is removed from `details.ignored`, the list of details that a signup gave wrongly. But while
  // the account has no country, a wrong address stays in the list.
  const isDecided = (pointer: string) =>
    decides === 'all' || changed.some((name) => pointers[name].startsWith(pointer));
  const ignored = details.ignored.filter(
    (pointer) => !isDecided(pointer) || (settled.country === null && mayHideCountry(pointer)),
  );
  if (changed.length === 0 && ignored.length === details.ignored.length) return undefined;
  const right = details.ignored.filter((pointer) => !ignored.includes(pointer));
  // Saving the form does not confirm an address for invoices that a signup named. That takes a separate click.
  const seen = right.flatMap(nameOf).filter((name) => name !== 'invoiceEmail');
  const decided = [...changed, ...seen];
  await updateBillingDetails(trx, accountId, {
    ...settled,
    editedHere: [...new Set([...details.editedHere, ...decided])].sort(),
    ignored,
    now: now(),
  });
  return { changed, value };
}

/** Checks only the details that are given. Throws 422 `validation_failed`. */
export function readGiven(
  known: DetailValues,
  given: SomeDetails,
  config: Pick<Config, 'production'>,
): DetailValues {
  const named = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined));
  const isGiven = (...names: (keyof GivenDetails)[]) => names.some((name) => Object.hasOwn(named, name));
  const read = readDetails({ ...spellDetails(known), ...named }, config, { known, isGiven });
  if ('errors' in read) throw new AppError('validation_failed', { errors: read.errors });
  // A country can be changed, but not removed.
  return { ...read.value, country: read.value.country ?? known.country };
}

function spellDetails({ company, address, country, vatId, invoiceEmail }: DetailValues): GivenDetails {
  return {
    company: company ?? '',
    line1: address?.line1 ?? '',
    line2: address?.line2 ?? '',
    postcode: address?.postcode ?? '',
    city: address?.city ?? '',
    country: country ?? '',
    vatId: vatId ?? '',
    invoiceEmail: invoiceEmail ?? '',
  };
}

const names: DetailName[] = ['company', 'address', 'vatId', 'invoiceEmail'];

export const listChanged = (before: DetailValues, after: DetailValues): DetailName[] => {
  const spell = ({ address, country }: DetailValues) =>
    JSON.stringify(Object.values(spellDetails({ ...noDetails, address, country })));
  return names.filter((name) =>
    name === 'address' ? spell(before) !== spell(after) : before[name] !== after[name],
  );
};

const nameOf = (pointer: string): DetailName[] => names.filter((name) => pointers[name] === pointer);
