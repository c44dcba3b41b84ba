// Describes `account.billing` of a signup for the API. signup-details.ts reads the data.
import { z } from 'zod';

const text = (maxLength: number, description: string) => ({ type: 'string', maxLength, description });

/** The schema accepts any value, because signup-details.ts leaves out wrong members. The properties are only documentation. */
export const signupBillingSchema = z.unknown().meta({
  type: ['object', 'null'],
  properties: {
    company: text(200, 'To whom invoices are made out, if not to the account’s name.'),
    address: {
      type: ['object', 'null'],
      properties: {
        line1: text(100, 'Such as street and number.'),
        line2: text(100, 'May be absent.'),
        postcode: text(100, 'The postal code. May be absent if addresses of the country have none.'),
        city: text(100, 'The city. May be absent if addresses of the country have none.'),
        country: text(
          2,
          'An ISO 3166-1 alpha-2 code, or UK or EL. It counts for the tax also if the rest of the address is left out.',
        ),
      },
    },
    vat_id: text(30, 'In the European Union with the prefix of its country.'),
    invoice_email: text(254, 'Gets invoices once somebody has used the link in a mail to it.'),
  },
  description:
    'Fills the billing details of the account, but for those that the customer has edited. What is wrong is left out, and named in `ignored` of the answer.',
});
