// Acts of administrators on the billing details of a person's account.
import {
  type BillingDetails,
  decideVatId,
  findBillingDetails,
  lockBillingDetails,
  noDetails,
} from '../../db/tables/billing-details.ts';
import type { User } from '../../db/tables/users.ts';
import { act, offerIf, person } from '../acts/act.ts';
import { readOneOf, readSome } from '../acts/fields.ts';
import { AppError } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import { decideWaiting } from '../billing/invoices/waiting-country.ts';
import { readCountry } from '../billing/values/countries.ts';
import { readVatIdOfAny } from '../billing/values/vat-ids.ts';
import { basisOfDetails, detailFields, detailOptions, editDetails } from './edit-details.ts';
import type { Person } from './person.ts';

const isDecided = (
  { hasCheckedVatId, hasRefusedVatId }: Pick<BillingDetails, 'hasCheckedVatId' | 'hasRefusedVatId'>,
  isChecked: boolean,
) => (isChecked ? hasCheckedVatId : hasRefusedVatId);

/** Decides whether the VAT id is accepted for reverse charge. The act is refused if the account has another VAT id by now. */
const checkVatId = act({
  about: person,
  right: { name: 'billing.checkVatId', isAboutAccount: true },
  event: 'staff.check_vat_id',
  offers: ({ billing }: Person) =>
    ['yes', 'no'].flatMap((checked) =>
      billing?.vatId && !isDecided(billing, checked === 'yes') ? [{ vatId: billing.vatId, checked }] : [],
    ),
  command: {
    name: 'vat-id:checked',
    takes: { vatId: '<vat id>', checked: { option: '--no', values: ['no', 'yes'] } },
    needsWhy: true,
  },
  fields: { vatId: (typed) => readVatIdOfAny(typed) ?? readSome(typed), checked: readOneOf('yes', 'no') },
  async formBasis(db, { account }) {
    const { vatId, hasCheckedVatId, hasRefusedVatId } =
      (await findBillingDetails(db, account.id)) ?? noDetails;
    return { vatId, hasCheckedVatId, hasRefusedVatId };
  },
  async do({ trx, target }, { vatId, checked }) {
    const isChecked = checked === 'yes';
    const accountId = target.account.id;
    const details = await lockBillingDetails(trx, accountId);
    if (details.vatId !== vatId) throw new AppError('edited_meanwhile', { detail: faultWords.vat_id_other });
    if (isDecided(details, isChecked)) return undefined;
    await decideVatId(trx, { accountId, vatId, isChecked });
    return { checked };
  },
});

/**
 * Decides whether an address that changes the tax is accepted. The act is refused if another address has replaced it since the
 * form was made.
 */
const acceptCountry = act({
  about: person,
  right: { name: 'billing.acceptCountry', isAboutAccount: true },
  event: 'staff.accept_country',
  offers: ({ billing }: Person) =>
    billing?.waiting
      ? ['yes', 'no'].map((accepted) => ({ country: billing.waiting?.country ?? '', accepted }))
      : [],
  command: {
    name: 'country:accept',
    takes: { country: '<country>', accepted: { option: '--no', values: ['no', 'yes'] } },
    needsWhy: true,
  },
  fields: { country: (typed) => readCountry(typed) ?? readSome(typed), accepted: readOneOf('yes', 'no') },
  async formBasis(db, { account }) {
    const { address, country, vatId, waiting } = (await findBillingDetails(db, account.id)) ?? noDetails;
    return { address, country, vatId, waiting };
  },
  async do({ trx, target }, { country, accepted }) {
    if (!(await decideWaiting(trx, target.account.id, { country, isAccepted: accepted === 'yes' })))
      throw new AppError('edited_meanwhile', { detail: faultWords.country_not_waiting });
    return { country, accepted };
  },
});

const editBillingDetails = act({
  about: person,
  right: { name: 'billing.editDetails', isAboutAccount: true },
  event: 'staff.edit_billing_details',
  offers: ({ billing, contracts, invoices }: Person) =>
    offerIf(billing !== null || contracts.length + invoices.length > 0),
  command: { name: 'billing-details:edit', takes: detailOptions, needsWhy: true },
  fields: detailFields((_db, { account }: User) => account.id),
  formBasis: async (db, { account }) => basisOfDetails(await findBillingDetails(db, account.id)),
  do: (context, read) => editDetails(context, context.target.account.id, read),
});

/** The acts, by the intent of their form. */
export const detailActs = {
  'check-vat-id': checkVatId,
  'accept-country': acceptCountry,
  'edit-billing-details': editBillingDetails,
};
