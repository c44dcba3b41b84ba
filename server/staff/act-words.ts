// What forms by which staff act say, by intent. In a notice `{name}` and `{email}` stand for the person's, which the page sets.

import type { Invoice } from '../../db/tables/invoices.ts';
import type { Given } from '../acts/fields.ts';
import { writeDecimal } from '../billing/values/decimals.ts';
import type { Person } from './person.ts';

/** A field of a form: `one` is a choice of several, `yes` a box to tick. Of choices, `{value}` stands for the value. */
export type FormField = {
  name: keyof Given;
  label: string;
  kind: 'text' | 'email' | 'decimal' | 'day' | 'one' | 'yes';
  hint?: string;
  /** What it holds at first. */
  value?: string;
  isOptional?: boolean;
  most?: number | string;
  choices?: { value: string; words: string }[];
};

/** `shown` is what the page shows, `about` which of the forms of an act it is. */
type Say<Shown> = string | ((shown: Shown, about: Given) => string);

export type ActWords<Shown> = {
  /** The button that opens the form. */
  label: Say<Shown>;
  /** The button that sends it, if it says something else. */
  button?: Say<Shown>;
  /** What the page that asks for a credential says one goes on to, if it says something else. */
  to?: Say<Shown>;
  /** What will happen, and what the person will notice. */
  notice: Say<Shown>;
  /** What has happened. It is true as well if there was nothing to do. */
  outcome: string;
  isDanger?: (about: Given) => boolean;
  fields?: (shown: Shown) => FormField[];
};

const always = () => true;

export const roleWords = { user: 'Customer', manager: 'Manager', admin: 'Administrator' };

/** `has` and `will`: whether the account has the right now, and once that is decided. */
const sayDecided = ({ account }: Person, has: boolean, will: boolean) =>
  has === will
    ? 'Only who decides it changes. {name} notices nothing now, and gets no email.'
    : `We email {name} that what the account may do has changed. ${account.others.length > 0 ? 'Everybody in the account sees' : 'They see'} it on their profile, and products learn it at once.`;

const hasIt = ({ account }: Person, { capability = '' }: Given) =>
  capability === 'verification' ? account.verifiedAt !== null : account.granted.includes(capability);

const marketplaceSaysIt = ({ links }: Person, { capability = '' }: Given) =>
  links.some(({ verified, capabilities }) =>
    capability === 'verification' ? verified === true : capabilities?.includes(capability),
  );

const ofPerson = {
  suspend: {
    label: 'Suspend the account',
    notice:
      'We email {name} that the account is suspended, and log them out everywhere. They cannot log in or open any product until you end the suspension.',
    outcome: 'The account is suspended. They are logged out everywhere.',
    isDanger: always,
  },
  freeze: {
    label: 'Freeze the account',
    notice:
      'For an owner who says that somebody else has got in. We log {name} out everywhere, and email every address that the account has, or can have back, that it is frozen. Nobody can log in until an administrator ends the freeze, and says which address is the owner’s. We tell all other administrators.',
    outcome: 'The account is frozen. They are logged out everywhere.',
    isDanger: always,
  },
  resume: {
    label: 'End the suspension',
    notice: 'We email {name} that they can log in again. Nothing else changes.',
    outcome: 'The account is not suspended. They can log in.',
  },
  thaw: {
    label: ({ frozenAt }) =>
      frozenAt ? 'End the freeze' : 'End the suspension, and say whose the account is',
    button: ({ frozenAt }) => (frozenAt ? 'End the freeze' : 'Give the account back'),
    notice: ({ frozenAt }) =>
      `${
        frozenAt
          ? 'We email every address below that the account is no longer frozen.'
          : 'We email the address that you choose that the account is no longer suspended.'
      } If you keep another address than {email}, the account moves there, what was changed meanwhile is undone, and we email that address a link that sets a password.`,
    outcome: 'The account is neither frozen nor suspended any more.',
    isDanger: always,
    fields: ({ email, mailboxes }) => [
      {
        name: 'keep',
        label: 'Which address is the owner’s?',
        kind: 'one',
        choices: mailboxes.map((value) => ({
          value,
          words: `{value} (${value === email ? 'now' : 'earlier'})`,
        })),
      },
      {
        name: 'removeFactors',
        label: 'Also remove passkeys, app and recovery codes, and end the password',
        kind: 'yes',
      },
    ],
  },
  'end-session': {
    label: 'Log them out there',
    notice: 'We log {name} out in this browser. They get no email, and can log in again at once.',
    outcome: 'They are logged out there.',
  },
  'end-sessions': {
    label: 'Log them out everywhere',
    notice: 'We log {name} out in every browser, and email them that we did. They can log in again at once.',
    outcome: 'They are logged out everywhere.',
  },
  'send-mail': {
    label: (_person, { kind }) =>
      kind === 'set-password' ? 'Send a link to set a password' : 'Send a link to prove the address',
    button: 'Send the link',
    notice: ({ holdsEmail }, { kind }) =>
      kind === 'prove-email'
        ? 'We email {email} a link that proves the address. Until it is used, nothing changes.'
        : holdsEmail
          ? 'We email {email} a link that sets a new password. It works for an hour. Until it is used, nothing changes.'
          : 'We email {email} a link that asks whose address it is, and sets a password. Until it is used, nothing changes.',
    outcome: 'The mail is on its way. Its state is below, under Mails.',
  },
  'remove-factors': {
    label: 'Remove second factors',
    button: 'Remove passkeys, app and codes',
    to: 'Remove the second factors',
    notice: ({ newAddress }) =>
      'We remove passkeys, the authenticator app and recovery codes, end the password, and log {name} out everywhere. We email {email} what we did, and a link that sets a new password. Nobody gets in without that mail.' +
      (newAddress ? ' This stops the change of the address that waits.' : ''),
    outcome: 'Passkeys, app and recovery codes are gone. The mail that sets a password is on its way.',
    isDanger: always,
  },
  'change-email': {
    label: 'Change the address',
    button: 'Send the links',
    to: 'Change the address',
    notice:
      'For somebody who lost their mailbox. We tell {email} at once, with a link that stops the change. The new address gets a link for 24 hours that moves the account there and sets a new password. Until it is used, nothing changes.',
    outcome: 'The links are on their way. Nothing changes until the new address uses its link.',
    isDanger: always,
    fields: () => [{ name: 'email', label: 'New address', kind: 'email' }],
  },
  verify: {
    label: ({ account }) => (account.verifiedAt ? 'Decide that it is verified' : 'Verify the account'),
    to: 'Verify the account',
    notice: (person) => sayDecided(person, person.account.verifiedAt !== null, true),
    outcome: 'The account is verified.',
  },
  unverify: {
    label: ({ account }) => (account.verifiedAt ? 'End the verification' : 'Decide that it is not verified'),
    button: 'Decide that it is not verified',
    notice: (person) => sayDecided(person, person.account.verifiedAt !== null, false),
    outcome: 'The account is not verified.',
    isDanger: always,
  },
  grant: {
    label: 'Allow it',
    notice: (person, about) => sayDecided(person, hasIt(person, about), true),
    outcome: 'The account is allowed to do it.',
  },
  revoke: {
    label: 'Do not allow it',
    notice: (person, about) => sayDecided(person, hasIt(person, about), false),
    outcome: 'The account is not allowed to do it.',
    isDanger: always,
  },
  undecide: {
    label: 'Leave it to the marketplace',
    notice: (person, about) => sayDecided(person, hasIt(person, about), marketplaceSaysIt(person, about)),
    outcome: 'The marketplace decides it from now on.',
  },
  'change-role': {
    label: 'Change the role',
    notice:
      'We email {name} that the role has changed, and log them out everywhere. Managers can look at everybody and help customers. Administrators can do everything.',
    outcome: 'The role has changed. They are logged out everywhere.',
    fields: ({ role }) => [
      {
        name: 'role',
        label: 'Role',
        kind: 'one',
        // Not the one they have: that would change nothing.
        choices: Object.entries(roleWords)
          .map(([value, words]) => ({ value, words }))
          .filter(({ value }) => value !== role),
      },
    ],
  },
  'plan-deletion': {
    label: 'Delete the account in 14 days',
    button: 'Plan the deletion',
    notice:
      'We email {name} that the account will be deleted in 14 days, with a link that takes it back. Until then they can log in and keep it, but cannot open any product. On that day profile and logins are deleted for good, and contracts are canceled.',
    outcome: 'The account will be deleted in 14 days, unless they keep it.',
    isDanger: always,
  },
  keep: {
    label: 'Keep the account',
    notice: 'We email {name} that the account will not be deleted. They can open products again.',
    outcome: 'The account stays.',
  },
  'remove-link': {
    label: 'Disconnect',
    to: 'Disconnect the marketplace account',
    notice:
      'We email {name} that the marketplace account is no longer connected. They can no longer log in from there, and whoever came in by it alone is logged out. The account loses what only the marketplace gives it.',
    outcome: 'The marketplace account is not connected any more.',
    isDanger: always,
  },
  'accept-country': {
    label: (_person, { country, accepted }) =>
      `${accepted === 'yes' ? 'Accept' : 'Refuse'} the new country, ${country}`,
    button: (_person, { accepted }) => `${accepted === 'yes' ? 'Accept' : 'Refuse'} the country`,
    to: 'Decide about the new country',
    notice: (_person, { accepted }) =>
      accepted === 'yes'
        ? 'Invoices from now on have the new address and VAT ID, and the tax of that country. The VAT ID is not checked. Earlier invoices stay: issue them again if they are wrong. The person sees the new address, and gets no email.'
        : 'Address, VAT ID and tax stay as they were, and reports of the CRM do not change the address any more. But where no country could be read, invoices stay held, and you are asked again when the person or the CRM says another. The person sees the address of before, and gets no email: tell them why.',
    outcome: 'Saved. Under Billing details you see the country that counts.',
    isDanger: ({ accepted }) => accepted === 'no',
  },
  'check-vat-id': {
    label: (_person, { checked }) => `Mark the VAT ID as ${checked === 'yes' ? '' : 'not '}checked`,
    button: (_person, { checked }) => `Mark as ${checked === 'yes' ? '' : 'not '}checked`,
    to: 'Save whether the VAT ID is checked',
    notice: (_person, { checked }) =>
      checked === 'yes'
        ? 'Invoices from now on may be without tax (reverse charge). The person sees that we have checked the ID, and gets no email. A changed ID has to be checked again.'
        : 'Invoices from now on are with tax. The person sees that we have not checked the ID, and gets no email.',
    outcome: 'Saved. Under Billing details you see whether the VAT ID counts as checked.',
    isDanger: ({ checked }) => checked === 'no',
  },
} satisfies Record<string, ActWords<Person>>;

type ShownInvoice = Invoice & { today: string };

const decimals = ({ currency }: Invoice) => `In ${currency}, such as ${writeDecimal(2_900, currency)}`;

const ofInvoice = {
  pay: {
    label: 'Record a payment',
    button: 'Record the payment',
    notice: ({ open }) =>
      open > 0
        ? 'It pays what is still to pay. Anything above that waits until you say what it pays, or that it was paid back.'
        : 'Nothing is left to pay here. The payment waits until you say what it pays, or that it was paid back.',
    outcome: 'The payment is recorded.',
    fields: (invoice) => [
      {
        ...{ name: 'amount', label: 'Amount', kind: 'decimal', hint: decimals(invoice) },
        ...(invoice.open > 0 && { value: writeDecimal(invoice.open, invoice.currency) }),
      },
      { name: 'paidAt', label: 'Paid on', kind: 'day', value: invoice.today, most: invoice.today },
      {
        ...{ name: 'method', label: 'How it was paid (optional)', kind: 'text', most: 60, isOptional: true },
        hint: 'Such as transfer or cash',
      },
    ],
  },
  credit: {
    label: ({ hasDocument }) => (hasDocument ? 'Credit the invoice' : 'Make the invoice void'),
    button: ({ hasDocument }) => (hasDocument ? 'Issue the credit note' : 'Make it void'),
    to: 'Credit the invoice',
    notice: ({ hasDocument }) =>
      `${hasDocument ? 'The customer gets a credit note, and owes that much less. What they have paid too much then' : 'The customer owes nothing for it any more. What they have paid'} waits for another invoice, or to be paid back. This cannot be undone.`,
    outcome: 'The invoice is credited.',
    isDanger: always,
    fields: ({ hasDocument, currency, unitAmount, credited }) =>
      hasDocument
        ? [
            {
              ...{ name: 'amount', label: 'Amount with tax (optional)', kind: 'decimal', isOptional: true },
              hint: `Leave it empty to credit all that is left: ${currency} ${writeDecimal(unitAmount - credited, currency)}`,
            },
          ]
        : [],
  },
  reissue: {
    label: 'Issue it again',
    to: 'Issue the invoice again',
    notice:
      'For a wrong name, address or VAT ID. Ask the customer to change it under Billing, and mark a new VAT ID as checked, before you go on. We credit this invoice whole, and issue a new one with their present details, for the same period and at the same price. What was paid counts for the new one. The customer gets both. This cannot be undone.',
    outcome: 'The invoice is credited, and a new one is issued.',
    isDanger: always,
  },
} satisfies Record<string, ActWords<ShownInvoice>>;

const ofPayment = {
  allocate: {
    label: 'Allocate to an invoice',
    button: 'Allocate',
    to: 'Allocate the payment',
    notice: 'It pays what is still to pay of that invoice. Anything above that stays unallocated.',
    outcome: 'It is allocated to the invoice, as far as the money goes.',
    fields: ({ waits, invoiceNumber }) => [
      {
        ...{ name: 'number', label: 'Number of the invoice', kind: 'text', most: 64 },
        ...(waits === 'left' && { value: invoiceNumber ?? '' }),
      },
    ],
  },
  'paid-back': {
    label: 'Record as paid back',
    button: 'Record that it was paid back',
    notice:
      'Pay it back at your bank or payment provider first. This only writes down that you did, and cannot be undone.',
    outcome: 'It counts as paid back.',
    isDanger: always,
  },
} satisfies Record<string, ActWords<{ waits: string | null; invoiceNumber: string | null }>>;

const ofMail = {
  retry: {
    label: 'Send again',
    to: 'Send the mail again',
    notice: 'It is tried now, and for three more days. The person gets it as if it were new.',
    outcome: 'The mail is sent again now. If it was just being tried, it is tried again within two minutes.',
  },
  'give-up': {
    label: 'Give up',
    button: 'Give up the mail',
    notice:
      'It is not tried any more. The person does not get it, and reads in their activity that we stopped trying.',
    outcome: 'The mail is given up. If it was just being sent, it may still arrive.',
    isDanger: always,
  },
} satisfies Record<string, ActWords<unknown>>;

// biome-ignore lint/suspicious/noExplicitAny: each is shown what its act is about
export const actWords: Record<string, ActWords<any>> = { ...ofPerson, ...ofInvoice, ...ofPayment, ...ofMail };
