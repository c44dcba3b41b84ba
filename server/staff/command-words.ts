// What commands that act say (contract 12.37 to 12.47), by the name of the command. The records of acts say what they take.
import type { Invoice } from '../../db/tables/invoices.ts';
import type { Payment } from '../../db/tables/payments.ts';
import type { User } from '../../db/tables/users.ts';
import type { Given } from '../acts/fields.ts';
import { writeDecimal } from '../billing/values/decimals.ts';
import { allCodeFactors, nameCodeFactors } from '../identity/factor/code-factors.ts';

/** `target` is as it is now, `given` what the command was given, `result` what the act returned. */
// biome-ignore lint/suspicious/noExplicitAny: each act returns what is its own
type Say<Thing> = (target: Thing, more: { given: Given; result: any }) => string;

/** What a command says. Characters that move a cursor are escaped in all of it. */
export type CommandWords<Thing> = {
  about: string;
  /** What it takes, by the field that gets it. */
  takes?: Given;
  /** What is said of such a field that was given wrongly. */
  wrong?: Given;
  /** For what cannot be undone: a question that names it. */
  asks?: (target: Thing, given: Given) => string;
  done: Say<Thing>;
  /** Of nothing to change, also as a refusal. */
  nothing: Say<Thing>;
  /** The refusal `not_allowed`. */
  notAllowed?: string;
};

const unchanged = () => 'Nothing to change.';

const onPerson: Record<string, CommandWords<User>> = {
  'user:suspend': {
    about: 'suspend a user and end their sessions at once',
    done: ({ email }) => `${email} is suspended.`,
    nothing: ({ email, frozenAt }) =>
      frozenAt ? 'This account is frozen: nobody gets in.' : `${email} is suspended already.`,
  },
  'user:freeze': {
    about: 'freeze an account that somebody else may have got into, until user:thaw says whose it is',
    done: ({ email }) => `${email} is frozen. user:thaw says whose the account is.`,
    nothing: ({ email }) => `${email} is frozen already.`,
  },
  'user:resume': {
    about: 'let a suspended user log in again',
    done: ({ email }) => `${email} can log in again.`,
    nothing: () => 'This user is not suspended.',
  },
  'user:end-session': {
    about: 'log a user out in one browser',
    takes: { session: 'the id of the session, as user:show --json prints it' },
    done: ({ email }) => `${email} is logged out there.`,
    nothing: ({ email }) => `${email} is not logged in there.`,
  },
  'user:end-sessions': {
    about: 'log a user out everywhere',
    done: ({ email }) => `${email} is logged out everywhere.`,
    nothing: ({ email }) => `${email} is not logged in anywhere.`,
  },
  'user:send-mail': {
    about: 'send a user the email that sets a password, or that proves the address',
    done: ({ email }) => `An email is on its way to ${email}.`,
    nothing: ({ email }) => `Nothing to send: ${email} is proved already.`,
    notAllowed: 'This user is suspended, frozen or leaving, and gets no such email.',
  },
  'user:remove-factors': {
    about:
      `remove the ${nameCodeFactors(allCodeFactors, 'and')}, recovery codes, passkeys and password of a person who has ` +
      'lost them, and email the link that sets a password',
    done: ({ email, hasPassword }) =>
      `${email} has no second factor any more, and is logged out everywhere. An email to set a password is on its way.` +
      (hasPassword ? ' The old password works until then: nobody else could look after the service.' : ''),
    nothing: () => 'This user has no second factor.',
  },
  'user:role': {
    about: 'give a user another role, and end their sessions',
    done: ({ email, role }) => `${email} has the role ${role}, and is logged out everywhere.`,
    nothing: ({ email, role }) => `${email} has the role ${role} already.`,
  },
  'user:keep': {
    about: 'keep a user whose deletion is planned',
    done: ({ email }) => `${email} stays.`,
    nothing: ({ email }) => `Nothing to change: no deletion of ${email} is planned.`,
  },
  'user:change-email': {
    about:
      'give a user who has lost their mailbox another address: the old one is told at once, the new one gets a link',
    takes: { email: 'the new address' },
    asks: ({ name, email }, given) => `Move the account of ${name} <${email}> to ${given.email}?`,
    done: ({ email }, { given }) =>
      `An email is on its way to ${given.email}. Nothing changes before its link is used; ${email} can stop it.`,
    nothing: unchanged,
    notAllowed: 'This user is staff, suspended or frozen, and gets no other address.',
  },
  'vat-id:checked': {
    about: 'say that you have checked the VAT id of an account; name somebody who belongs to it',
    takes: { vatId: 'the one that the account has', checked: 'it is not, or no longer, checked' },
    done: (user, { given }) => sayChecked(user, given),
    nothing: (user, { given }) => `Nothing to change. ${sayChecked(user, given)}`,
  },
  'country:accept': {
    about:
      'let the new country of a billing address count for the tax; name somebody who belongs to the account',
    takes: {
      country: 'the one that waits, such as US',
      accepted: 'refuse it: address, VAT id and tax stay as they were',
    },
    done: ({ email }, { given: { country, accepted } }) =>
      accepted === 'no'
        ? `${country} is refused: the account of ${email} stays as it was.`
        : `${country} counts for the tax of the account of ${email}.`,
    nothing: unchanged,
  },
  ...Object.fromEntries(
    [
      ['grant', 'give an account a capability, whatever the marketplace says'],
      ['revoke', 'take a capability from an account, whatever the marketplace says'],
      ['verify', 'say that an account is verified, whatever the marketplace says'],
      ['unverify', 'say that an account is not verified, whatever the marketplace says'],
      ['undecide', 'let the marketplace decide about a capability, or the verification, again'],
    ].map(([intent, about]): [string, CommandWords<User>] => [
      `account:${intent}`,
      {
        about: `${about}; name somebody who belongs to the account`,
        done: (user) => `Done. ${sayRights(user)}`,
        nothing: (user) => `Nothing to change. ${sayRights(user)}`,
      },
    ]),
  ),
};

const sayChecked = ({ email }: User, { vatId, checked }: Given) =>
  `The VAT id ${vatId} of the account of ${email} is ${checked === 'no' ? 'not ' : ''}checked.`;

function sayRights({ email, account }: User): string {
  const names = [...account.capabilities].sort().join(', ') || 'no capability';
  return `The account of ${email} has ${names}, and is ${account.verifiedAt ? '' : 'not '}verified.`;
}

const wrongAmount = '--amount must be above zero, such as 29.00, with as many digits as the currency has.';

const ofPayment = {
  amount: 'such as 29.00',
  currency: "an ISO 4217 code (default: the invoice's)",
  paidAt: 'such as 2026-11-26 (default: today)',
  method: 'such as transfer',
  payment: 'counts once: with the same id and facts nothing is done again',
};

const onInvoice: Record<string, CommandWords<Invoice>> = {
  'payment:record': {
    about: 'record a payment that came in; it pays what is open of the invoice, and the rest waits',
    takes: ofPayment,
    wrong: { amount: wrongAmount },
    done: ({ currency: present }, { given: { currency = present }, result }) =>
      `Payment ${result.payment_id} is recorded. ${writeDecimal(result.allocated, currency)} ${currency} pay the invoice. ` +
      sayLeft(result.unallocated, currency),
    nothing: (_invoice, { result }) => `Payment ${result.payment_id} had been recorded already.`,
  },
  'invoice:paid': {
    about:
      'record a payment of what is open; if nothing is overdue any more, the contract becomes active again',
    done: ({ number }) => `Invoice ${number} is paid.`,
    nothing: ({ number, status }) =>
      status === 'void'
        ? `Nothing changed: invoice ${number} is already void.`
        : `Invoice ${number} was already paid.`,
  },
  'invoice:void': {
    about: 'credit all that is left of an invoice',
    asks: ({ number }) => `Make invoice ${number} void? What was paid of it waits for another invoice.`,
    done: (invoice, { result }) => sayCredited(invoice, result),
    nothing: ({ number }) => `Invoice ${number} was already void.`,
  },
  'invoice:credit': {
    about: 'credit an invoice, whole or in part, by a credit note',
    takes: { amount: 'with tax, such as 10.00 (default: all that is left)' },
    wrong: { amount: wrongAmount },
    asks: ({ number }) => `Credit invoice ${number}?`,
    done: (invoice, { result }) => sayCredited(invoice, result),
    nothing: unchanged,
  },
  'invoice:reissue': {
    about: 'credit an invoice whole, and issue it anew to the customer as they are now',
    asks: ({ number }) => `Credit invoice ${number} whole, and issue it anew?`,
    done: ({ number }, { result }) =>
      `Invoice ${number} is credited by ${result.creditNote}. The new one is ${result.invoice}.`,
    nothing: unchanged,
  },
};

function sayCredited(
  { number, status, open, currency }: Invoice,
  { creditNote }: { creditNote: string | null },
) {
  const left = status === 'void' ? 'is void' : `has ${writeDecimal(open, currency)} ${currency} open`;
  return `Invoice ${number} ${left}.${creditNote ? ` The credit note is ${creditNote}.` : ''}`;
}

const sayLeft = (unallocated: number, currency: string) =>
  unallocated > 0
    ? `${writeDecimal(unallocated, currency)} ${currency} wait: see payment:allocate and payment:paid-back.`
    : 'Nothing of it is left.';

const onPayment: Record<string, CommandWords<Payment>> = {
  'payment:allocate': {
    about: 'pay an invoice with what is left of a payment',
    takes: { number: 'of the invoice' },
    done: ({ currency, unallocated }, { given, result: { amount } }) =>
      `${writeDecimal(amount, currency)} ${currency} of it pay invoice ${given.number}. ${sayLeft(unallocated, currency)}`,
    nothing: unchanged,
  },
  'payment:paid-back': {
    about: 'record that what is left of a payment was paid back',
    asks: ({ id }) => `Record that what is left of payment ${id} was paid back?`,
    done: ({ currency }, { result: { amount } }) =>
      `${writeDecimal(amount, currency)} ${currency} of it count as paid back.`,
    nothing: unchanged,
  },
};

// biome-ignore lint/suspicious/noExplicitAny: each is about what its act is about
export const commandWords: Record<string, CommandWords<any>> = {
  ...{ ...onPerson, ...onInvoice, ...onPayment },
  'contract:cancel': {
    about: 'cancel a service contract permanently',
    asks: ({ signupId }) => `Cancel the contract of signup ${signupId} for good?`,
    done: () => 'The contract is canceled.',
    nothing: () => 'The contract had already ended.',
  },
  'mail:retry': {
    about: 'send an email that failed or was given up again',
    done: () => 'It will be sent again.',
    nothing: () => 'There is nothing to do: it has not failed, or is tried within two minutes.',
  },
  'mail:give-up': {
    about: 'do not try an email any more',
    done: () => 'It is given up.',
    nothing: () => 'It had been given up already.',
    notAllowed: 'Nothing changed: this email guards an account, so it is never given up by hand.',
  },
};
