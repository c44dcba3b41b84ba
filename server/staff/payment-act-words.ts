// The words of forms and commands about invoices, payments and contracts, by the intent of the act.
import type { DetailValues } from '../../db/tables/billing-details.ts';
import type { Invoice } from '../../db/tables/invoices.ts';
import type { Payment } from '../../db/tables/payments.ts';
import type { Contract } from '../../db/tables/service-contracts.ts';
import type { Given } from '../acts/fields.ts';
import { sayDay } from '../basics/day-words.ts';
import type { ReissueSides } from '../billing/payments/reissue.ts';
import { formatAmount, writeDecimal } from '../billing/values/decimals.ts';
import { type ActWords, type CommandWords, unchanged } from './form-words.ts';
import { callBack, fieldsOfDetails, wordsOfDetails } from './people-act-words.ts';

const wrongAmount = '--amount must be above zero, such as 29.00, with as many digits as the currency has.';

function sayCredited(
  { number, status, open, currency }: Invoice,
  { creditNote }: { creditNote: string | null },
) {
  const left = status === 'void' ? 'is void' : `has ${writeDecimal(open, currency)} ${currency} open`;
  return `Invoice ${number} ${left}.${creditNote ? ` The credit note is ${creditNote}.` : ''}`;
}

const sayLeft = (unallocated: number, currency: string) =>
  unallocated > 0
    ? `${writeDecimal(unallocated, currency)} ${currency} waits: see payment:allocate and payment:paid-back.`
    : 'Nothing of it is left.';

/** `details` is null if they cannot be changed here: a country waits for a decision, or the customer has left. */
type ShownInvoice = Invoice & {
  today: string;
  sides: ReissueSides | undefined;
  details: DetailValues | null;
};

const leftOf = ({ unitAmount, credited }: Invoice) => unitAmount - credited;

const sayCredit = (invoice: Invoice, { credits }: Given) =>
  !invoice.hasDocument
    ? 'Make the invoice void'
    : credits === 'part'
      ? 'Credit a part'
      : `Credit all that is left: ${formatAmount(leftOf(invoice), invoice.currency)}`;

const decimals = ({ currency }: Invoice) => `In ${currency}, such as ${writeDecimal(2_900, currency)}`;

export const ofInvoice = {
  pay: {
    ask: 'Ask for the day, amount and text of the payment. It counts only if your bank has it.',
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
    ...callBack,
    label: (invoice, about) => sayCredit(invoice, about),
    button: ({ hasDocument }) => (hasDocument ? 'Issue the credit note' : 'Make it void'),
    to: (invoice, about) => sayCredit(invoice, about),
    notice: ({ hasDocument }) =>
      `${hasDocument ? 'The customer gets a credit note, and owes that much less. What they have paid too much then' : 'The customer owes nothing for it any more. What they have paid'} waits for another invoice, or to be paid back. This cannot be undone.`,
    outcome:
      'The invoice is credited. If more was paid than is owed now, the rest waits among unallocated payments.',
    isDanger: true,
    fields: (invoice, { credits }) =>
      credits === 'part'
        ? [
            {
              ...{ name: 'amount', label: 'Amount of the part, with tax', kind: 'decimal' },
              hint: decimals(invoice),
            },
          ]
        : [],
    command: {
      about: 'credit an invoice, whole or in part, by a credit note',
      takes: { amount: 'with tax, such as 10.00 (default: all that is left)' },
      wrong: { amount: wrongAmount },
      asks: ({ number }) => `Credit invoice ${number}?`,
      done: (invoice, { result }) => sayCredited(invoice, result),
      nothing: unchanged,
    },
  },
  reissue: {
    ...callBack,
    label: 'Issue it again',
    to: 'Issue the invoice again',
    notice: ({ sides, details }) =>
      details
        ? 'For a wrong name, address or VAT ID. Correct the billing details here. We credit this invoice whole, and issue a new one with them, for the same period and at the same price. What was paid counts for the new one. The customer gets both in one email. If you change a detail, it also counts for later invoices, and we email everybody in the account. This cannot be undone.'
        : sides?.isSame
          ? 'Nothing can be issued again now: buyer and tax would be the same, and a new country waits for a decision. Accept or refuse it on the page of the person. Then come back.'
          : 'We credit this invoice whole, and issue a new one to the customer as they are now, for the same period and at the same price. What was paid counts for the new one. The customer gets both in one email. This cannot be undone.',
    sides: ({ sides, details }) =>
      sides && !sides.isSame
        ? [
            { title: 'On this invoice', lines: sides.before },
            {
              title: details ? 'On the new one, as the details are now' : 'On the new one',
              lines: sides.after,
            },
          ]
        : undefined,
    isIdle: ({ sides, details }) => details === null && (sides?.isSame ?? false),
    fields: ({ details }) => (details ? fieldsOfDetails(details) : []),
    outcome: 'The invoice is credited, and a new one is issued.',
    isDanger: true,
    command: {
      about:
        'credit an invoice whole, and issue it anew to the customer as they are now; options change the billing details first, and then --why is needed',
      takes: wordsOfDetails,
      asks: ({ number }) => `Credit invoice ${number} whole, and issue it anew?`,
      done: ({ number }, { result }) =>
        `Invoice ${number} is credited by ${result.creditNote}. The new one is ${result.invoice}.`,
      nothing: unchanged,
    },
  },
} satisfies Record<string, ActWords<ShownInvoice, Invoice> & { ask: string }>;

export const ofPayment = {
  allocate: {
    ask: 'Ask for the number of the invoice, and the day, amount and text of the payment.',
    label: 'Allocate to an invoice',
    button: 'Allocate',
    to: 'Allocate the payment',
    notice:
      'It pays what is still to pay of that invoice. Anything above that stays unallocated. This cannot be undone.',
    outcome: 'It is allocated to the invoice, as far as the money goes.',
    fields: ({ waits, invoiceNumber, suggested }) => [
      {
        ...{ name: 'number', label: 'Number of the invoice', kind: 'text', most: 64 },
        value: (waits === 'left' && invoiceNumber) || suggested || '',
      },
    ],
    command: {
      about: 'pay an invoice with what is left of a payment',
      takes: { number: 'of the invoice' },
      done: ({ currency, unallocated }, { given, result: { amount } }) =>
        `${writeDecimal(amount, currency)} ${currency} of it pays invoice ${given.number}. ${sayLeft(unallocated, currency)}`,
      nothing: unchanged,
    },
  },
  'paid-back': {
    ask: 'You need not know who is calling: the money has gone back the way it came, never to a bank account that a caller names.',
    label: 'Record as paid back',
    button: 'Record that it was paid back',
    notice:
      'Pay it back at your bank or payment provider first. This only writes down that you did, and cannot be undone.',
    outcome: 'It counts as paid back.',
    isDanger: true,
    command: {
      about: 'record that what is left of a payment was paid back',
      asks: ({ id }) => `Record that what is left of payment ${id} was paid back?`,
      done: ({ currency }, { result: { amount } }) =>
        `${writeDecimal(amount, currency)} ${currency} of it counts as paid back.`,
      nothing: unchanged,
    },
  },
} satisfies Record<
  string,
  ActWords<{ waits: string | null; invoiceNumber: string | null; suggested: string | undefined }, Payment> & {
    ask: string;
  }
>;

type ShownContract = { status: Contract['status']; wouldEndOn: string | null };

export const ofContract = {
  'cancel-at-period-end': {
    ask: 'Ask for the number of an invoice, the name of the company and the plan.',
    at: 'contract',
    label: ({ wouldEndOn }) => `Cancel at the end of the period (${sayDay(wouldEndOn ?? '')})`,
    button: 'Cancel the contract',
    notice: ({ wouldEndOn }) =>
      `For a customer who asks for it. The contract goes on until ${sayDay(wouldEndOn ?? '')}, its last day, and until then they can keep it under Billing. No further period is charged. Open invoices still have to be paid. We email them that our support team canceled it at their request.`,
    outcome: 'The contract is canceled. Its last day is below, under Service contracts.',
    isDanger: true,
  },
  cancel: {
    ...callBack,
    at: 'contract',
    label: 'End it now',
    button: 'End the contract now',
    to: 'End the contract now',
    notice: ({ status }) =>
      `${status === 'trialing' ? 'The trial' : 'The contract'} ends at once and for good. Periods that have begun are charged, and nothing is paid back: credit an invoice for that. We email the customer that our support team has ended it.`,
    outcome: 'The contract has ended.',
    isDanger: true,
  },
} satisfies Record<string, ActWords<ShownContract, Contract> & { ask: string }>;

/** Words for commands whose form has another name, or that have no form. */
export const commandsOfMoney: Record<string, CommandWords> = {
  'payment:record': {
    about: 'record a payment that came in; it pays what is open of the invoice, and the rest waits',
    takes: {
      amount: 'such as 29.00',
      currency: "an ISO 4217 code (default: the invoice's)",
      paidAt: 'such as 2026-11-26 (default: today)',
      method: 'such as transfer',
      payment: 'counts once: with the same id and facts nothing is done again',
    },
    wrong: { amount: wrongAmount },
    done: ({ currency: present }, { given: { currency = present }, result }) =>
      `Payment ${result.payment_id} is recorded. ${writeDecimal(result.allocated, currency)} ${currency} pays the invoice. ` +
      sayLeft(result.unallocated, currency),
    nothing: (_invoice, { result }) => `Payment ${result.payment_id} had been recorded already.`,
  },
  'invoice:paid': {
    about: 'record a payment of what is open',
    goesFor: 'payment:record',
    done: ({ number }) => `Invoice ${number} is paid.`,
    nothing: ({ number, status }) =>
      status === 'void'
        ? `Nothing changed: invoice ${number} is already void.`
        : `Invoice ${number} was already paid.`,
  },
  'invoice:void': {
    about: 'credit all that is left of an invoice',
    goesFor: 'invoice:credit',
    asks: ({ number }) => `Make invoice ${number} void? What was paid of it waits for another invoice.`,
    done: (invoice, { result }) => sayCredited(invoice, result),
    nothing: ({ number }) => `Invoice ${number} was already void.`,
  },
  'contract:cancel': {
    about: 'end a service contract at once and permanently, or cancel it at the end of its period',
    takes: { kind: 'it goes on until then, and its customer can still keep it; a trial ends at once' },
    asks: ({ signupId }, { kind }) =>
      `Cancel the contract of signup ${signupId} ${kind === 'at_once' ? 'for good' : 'at the end of its period'}?`,
    done: (_contract, { result: { lastDay } }) =>
      `The contract is canceled.${lastDay ? ` Its last day is ${lastDay}.` : ''}`,
    nothing: (_contract, { given: { kind } }) =>
      kind === 'at_once'
        ? 'The contract had already ended.'
        : 'The contract is canceled already, or has ended.',
  },
};
