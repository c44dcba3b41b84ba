// Reads `account.billing` of a signup (contract 7.236 to 7.240). Fills in the details that nobody has edited here. Only the
// signup that created the account may do so. Otherwise somebody who signs up with another person's email address could redirect
// that person's invoices. Wrong parts are left out, and the signup is not refused because of them.
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import {
  type DetailName,
  type DetailValues,
  lockBillingDetails,
  updateBillingDetails,
} from '../../../db/tables/billing-details.ts';
import { findReservation } from '../../../db/tables/reserved-addresses.ts';
import { type Contract, hasMadeAccount } from '../../../db/tables/service-contracts.ts';
import { findUserById } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { isObject } from '../../basics/is-object.ts';
import { spendAllowance } from '../../identity/ground/allowances.ts';
import type { Config } from '../../settings/config.ts';
import type { Trace } from '../../web/trace-context.ts';
import {
  allPointer,
  type GivenAddress,
  mayHideCountry,
  type Place,
  pointers,
  type Read,
  readAddress,
  readBuyerVatId,
  readCompany,
  readInvoiceEmail,
} from '../invoices/read-details.ts';
import { asGiven, settlePlace } from '../invoices/waiting-country.ts';
import { readCountry } from '../values/countries.ts';
import { deferInvoiceEmailLink, endInvoiceEmailLinks, type LinkMail } from './invoice-email.ts';
import { listChanged } from './save-details.ts';

type FromSignup = {
  contract: Pick<Contract, 'id' | 'accountId' | 'userId'>;
  billing: unknown;
  now: Date;
  trace: Trace | undefined;
};

/** Returns JSON pointers to the parts of the signup that were left out. */
export async function fillDetails(
  trx: Transaction<DB>,
  config: Pick<Config, 'production'>,
  { contract: { id, accountId, userId }, billing, now, trace }: FromSignup,
): Promise<string[]> {
  if (billing === undefined || billing === null) return [];
  if (!(await hasMadeAccount(trx, id))) return [allPointer];
  const present = await lockBillingDetails(trx, accountId);
  const details = asGiven(present);
  const isOpen = (name: DetailName) => !details.editedHere.includes(name);
  const { values, place, faulty } = readBilling(billing, config, {
    country: details.country,
    vatId: details.vatId,
    canMove: isOpen('address'),
  });
  const filled: DetailValues = { ...details };
  const given = (Object.keys(values) as DetailName[]).filter(isOpen);
  for (const name of given) Object.assign(filled, { [name]: values[name] });
  // If a signup names only a country, the stored address in that country stays.
  if (place && isOpen('address') && (place.address || place.country !== details.country)) {
    Object.assign(filled, place);
    if (place.address) given.push('address');
  }
  const settled = await settlePlace(trx, accountId, { details: present, given: filled, now });
  // `details.ignored` lists the parts that earlier signups gave wrongly. A part that this signup gives correctly is removed
  // from the list. But the address stays in the list while its country waits for an administrator.
  const isBlocked = settled.country === null && settled.waiting !== null;
  const stillIgnored = details.ignored.filter(
    (pointer) =>
      (isBlocked && mayHideCountry(pointer)) ||
      (pointer !== allPointer && !given.some((name) => pointers[name] === pointer)),
  );
  const edited = details.editedHere.map((name) => pointers[name]);
  const kept = faulty.filter((pointer) => !edited.includes(pointer));
  await updateBillingDetails(trx, accountId, {
    ...settled,
    editedHere: details.editedHere,
    ignored: [...new Set([...stillIgnored, ...kept])].sort(),
  });
  if (listChanged(details, filled).includes('invoiceEmail') && filled.invoiceEmail !== null) {
    await endInvoiceEmailLinks(trx, accountId);
    await askToProve(trx, { userId, recipient: filled.invoiceEmail, now, trace });
  }
  return faulty;
}

/**
 * Mails a link that proves the address for invoices. An email address gets at most two such mails a day, even if many signups
 * name it.
 */
async function askToProve(trx: Transaction<DB>, { userId, recipient, now, trace }: LinkMail): Promise<void> {
  const user = await findUserById(trx, userId);
  // The user's own email address needs no proof. A reserved address gets no mail with a link.
  if (!user || user.email === recipient || (await findReservation(trx, { email: recipient, now }))) return;
  try {
    await spendAllowance(trx, 'invoice-email-of-signup', recipient);
  } catch (error) {
    if (error instanceof AppError && error.code === 'rate_limited') return;
    throw error;
  }
  deferInvoiceEmailLink(trx, { userId, recipient, now, trace });
}

/**
 * `country` and `vatId` are the stored details. The signup may change the country only if `canMove`. A member that is missing,
 * null or empty gives nothing. The `place` in the result has the country even if the rest of the address is faulty.
 */
function readBilling(
  billing: unknown,
  config: Pick<Config, 'production'>,
  { country, vatId: present, canMove }: Pick<DetailValues, 'country' | 'vatId'> & { canMove: boolean },
): { values: Partial<DetailValues>; place: Place | undefined; faulty: string[] } {
  if (!isObject(billing)) return { values: {}, place: undefined, faulty: [allPointer] };
  const values: Partial<DetailValues> = {};
  const faulty: string[] = [];
  const take = <Name extends Exclude<DetailName, 'address'>>(
    name: Name,
    given: unknown,
    read: (given: string) => Read<DetailValues[Name]>,
  ) => {
    if (given === undefined || given === null) return;
    const found = typeof given === 'string' ? read(given) : undefined;
    if (!found || 'errors' in found) faulty.push(pointers[name]);
    else if (found.value !== null) values[name] = found.value;
  };
  const { company, address, vat_id: vatId, invoice_email: invoiceEmail } = billing;
  take('company', company, readCompany);
  const { place, isFaulty } = readPlace(address);
  if (isFaulty) faulty.push(pointers.address);
  const known = (canMove ? place?.country : undefined) ?? country ?? undefined;
  take('vatId', vatId, (given) => readBuyerVatId(given, known, present));
  take('invoiceEmail', invoiceEmail, (given) => readInvoiceEmail(given, config));
  return { values, place, faulty };
}

function readPlace(given: unknown): { place?: Place; isFaulty: boolean } {
  if (given === undefined || given === null) return { isFaulty: false };
  if (!isObject(given)) return { isFaulty: true };
  const names = ['line1', 'line2', 'postcode', 'city', 'country'] as const;
  const parts = names.map((name) => [name, given[name] ?? ''] as const);
  const read = parts.every(([, part]) => typeof part === 'string')
    ? readAddress(Object.fromEntries(parts) as GivenAddress)
    : undefined;
  if (read && 'value' in read)
    return { ...(read.value.country !== null && { place: read.value }), isFaulty: false };
  const country = typeof given.country === 'string' ? readCountry(given.country) : undefined;
  return { ...(country !== undefined && { place: { address: null, country } }), isFaulty: true };
}
