// Payments, credits and the end of contracts (contract 7.161 to 7.164).
import { type Command, InvalidArgumentError } from 'commander';
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { findInvoice } from '../../../db/tables/invoices.ts';
import { findPayment } from '../../../db/tables/payments.ts';
import { isCurrency, minorDigits } from '../../basics/currencies.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { cancelContract } from '../../billing/invoices/invoicing.ts';
import { creditInvoice, reissueInvoice } from '../../billing/payments/credit.ts';
import {
  allocate,
  type Bookkeeper,
  payBack,
  payOpen,
  type Recorded,
  recordMoney,
} from '../../billing/payments/ledger.ts';
import { readPaidOn } from '../../billing/payments/paid-on.ts';
import { describeRecorded, type PaymentAnswer } from '../../billing/payments/payment-answer.ts';
import { methodSchema, numberSchema, paymentIdSchema } from '../../billing/payments/payment-message.ts';
import { maxAmount } from '../../billing/values/amounts.ts';
import { readDecimal, writeDecimal } from '../../billing/values/decimals.ts';
import { isTerminal, print } from '../../runtime/process.ts';
import { addReason, booksTrailOf, originOf, type Reason } from './act.ts';
import {
  CommandError,
  describeRefusal,
  now,
  requireAnswerable,
  requireYes,
  show,
  UsageError,
  withDatabase,
  writeJson,
} from './command.ts';

type Options = Reason & { yes: boolean };

/** What a command did, for programs and for people. */
type Said = { done: boolean; intent: string; id: string; words: string } & Record<string, unknown>;

type MoneyCommand = {
  name: string;
  description: string;
  arguments: [name: string, description: string, read?: (text: string) => string][];
  options?: (command: Command) => Command;
  /** For what cannot be undone: a question that names it. */
  question?: (id: string) => string;
  /** Scripts ran it before there was a question. */
  isAskedOnlyOnTerminal?: boolean;
  work: (
    trx: Transaction<DB>,
    by: Bookkeeper,
    given: string[],
    options: Options & Record<string, string | undefined>,
  ) => Promise<Said>;
};

const readNumberText = (text: string) => {
  const number = numberSchema.safeParse(text);
  if (!number.success) throw new InvalidArgumentError('Enter the number of an invoice.');
  return number.data;
};

const readMethod = (text: string) => {
  const method = methodSchema.safeParse(text);
  if (!method.success) throw new InvalidArgumentError(faultWords.method_length);
  return method.data;
};

const readPaymentId = (text: string) => {
  if (!paymentIdSchema.safeParse(text).success && !/^invoice#\d+$/.test(text))
    throw new InvalidArgumentError('Enter the id of a payment.');
  return text;
};

const number: MoneyCommand['arguments'][number] = ['number', 'of the invoice', readNumberText];
const payment: MoneyCommand['arguments'][number] = ['id', 'of the payment', readPaymentId];

const commands: MoneyCommand[] = [
  {
    name: 'payment:record',
    description: 'record a payment that came in; it pays what is open of the invoice, and the rest waits',
    arguments: [['number', 'that the payer named', readNumberText]],
    options: (command) =>
      command
        .requiredOption('--amount <decimal>', 'such as 29.00')
        .option('--currency <code>', "an ISO 4217 code (default: the invoice's)")
        .option('--paid-at <day>', 'such as 2026-11-26 (default: today)')
        .option('--method <text>', 'such as transfer', readMethod)
        .option('--id <id>', 'counts once: with the same id and facts nothing is done again', readPaymentId),
    async work(
      trx,
      by,
      [named = ''],
      { amount: text = '', currency: code, method = null, id = uuidv7(), ...more },
    ) {
      const invoice = await findInvoice(trx, named);
      const currency = code ?? invoice?.currency;
      if (currency === undefined)
        throw new UsageError('There is no invoice with this number, so give --currency, too.');
      if (!isCurrency(currency)) throw new UsageError('--currency must be an ISO 4217 code, such as EUR.');
      const amount = readAmount(text, currency);
      const paidAt = await readPaidOn(trx, more.paidAt, by.now);
      if (!paidAt)
        throw new UsageError('--paid-at must be a day from 2000-01-01 to today, such as 2026-11-26.');
      const money = { id, kind: 'payment', of: null, currency, amount, paidAt, method } as const;
      const recorded = await recordMoney(trx, { ...money, reference: null, invoiceNumber: named }, by);
      return sayPaid(await describeRecorded(trx, recorded), recorded);
    },
  },
  {
    name: 'payment:allocate',
    description: 'pay an invoice with what is left of a payment',
    arguments: [payment, number],
    async work(trx, by, [paymentId = '', named = '']) {
      const amount = await allocate(trx, { paymentId, number: named }, by);
      const { currency, unallocated } = await requirePayment(trx, paymentId);
      const words = `${writeDecimal(amount, currency)} ${currency} of it pay invoice ${show(named)}. ${sayLeft(unallocated, currency)}`;
      return { done: true, intent: 'allocate', id: paymentId, amount, unallocated, invoice: named, words };
    },
  },
  {
    name: 'payment:paid-back',
    description: 'record that what is left of a payment was paid back',
    arguments: [payment],
    question: (id) => `Record that what is left of payment ${show(id)} was paid back?`,
    async work(trx, by, [paymentId = '']) {
      const amount = await payBack(trx, { paymentId, id: uuidv7(), paidAt: by.now }, by);
      const { currency } = await requirePayment(trx, paymentId);
      const words = `${writeDecimal(amount, currency)} ${currency} of it count as paid back.`;
      return { done: true, intent: 'paid-back', id: paymentId, amount, currency, words };
    },
  },
  {
    name: 'invoice:paid',
    description:
      'record a payment of what is open; if nothing is overdue any more, the contract becomes active again',
    arguments: [number],
    async work(trx, by, [named = '']) {
      const before = await findInvoice(trx, named);
      if (before?.status === 'void')
        throw new CommandError(`Nothing changed: invoice ${show(named)} is already void.`);
      if (before?.status === 'paid') return sayAlready('pay', named, 'paid');
      const recorded = await payOpen(trx, { number: named, id: uuidv7(), paidAt: by.now }, by);
      const { words: _, ...said } = sayPaid(await describeRecorded(trx, recorded), recorded);
      return { ...said, words: `Invoice ${show(named)} is paid.` } as Said;
    },
  },
  {
    name: 'invoice:void',
    description: 'credit all that is left of an invoice',
    arguments: [number],
    question: (named) => `Make invoice ${show(named)} void? What was paid of it waits for another invoice.`,
    isAskedOnlyOnTerminal: true,
    work: async (trx, by, [named = '']) =>
      (await findInvoice(trx, named))?.status === 'void'
        ? sayAlready('credit', named, 'void')
        : credit(trx, by, named, undefined),
  },
  {
    name: 'invoice:credit',
    description: 'credit an invoice, whole or in part, by a credit note',
    arguments: [number],
    options: (command) =>
      command.option('--amount <decimal>', 'with tax, such as 10.00 (default: all that is left)'),
    question: (named) => `Credit invoice ${show(named)}?`,
    work: (trx, by, [named = ''], { amount }) => credit(trx, by, named, amount),
  },
  {
    name: 'invoice:reissue',
    description: 'credit an invoice whole, and issue it anew to the customer as they are now',
    arguments: [number],
    question: (named) => `Credit invoice ${show(named)} whole, and issue it anew?`,
    async work(trx, by, [named = '']) {
      const { creditNote, invoice } = await reissueInvoice(trx, named, by);
      const words = `Invoice ${show(named)} is credited by ${creditNote}. The new one is ${invoice}.`;
      return { done: true, intent: 'reissue', id: named, credit_note: creditNote, invoice, words };
    },
  },
];

const sayAlready = (intent: string, id: string, state: string): Said => ({
  ...{ done: false, intent, id, words: `Invoice ${show(id)} was already ${state}.` },
});

async function credit(
  trx: Transaction<DB>,
  by: Bookkeeper,
  named: string,
  text: string | undefined,
): Promise<Said> {
  const before = await findInvoice(trx, named);
  const amount = text === undefined || !before ? undefined : readAmount(text, before.currency);
  const creditNote = await creditInvoice(trx, named, amount, by);
  const invoice = await findInvoice(trx, named);
  if (!invoice) throw new AppError('not_found');
  const { status, open, currency } = invoice;
  const left = status === 'void' ? 'is void' : `has ${writeDecimal(open, currency)} ${currency} open`;
  return {
    ...{ done: true, intent: 'credit', id: named, ...(creditNote && { credit_note: creditNote }) },
    invoice: { number: named, status, open },
    words: `Invoice ${show(named)} ${left}.${creditNote ? ` The credit note is ${creditNote}.` : ''}`,
  };
}

function readAmount(text: string, currency: string): number {
  const amount = readDecimal(text, minorDigits(currency));
  if (!amount || amount > maxAmount)
    throw new UsageError(
      '--amount must be above zero, such as 29.00, with as many digits as the currency has.',
    );
  return amount;
}

async function requirePayment(trx: Transaction<DB>, id: string) {
  const found = await findPayment(trx, id);
  if (!found) throw new AppError('not_found');
  return found;
}

const sayLeft = (unallocated: number, currency: string) =>
  unallocated > 0
    ? `${writeDecimal(unallocated, currency)} ${currency} wait: see payment:allocate and payment:paid-back.`
    : 'Nothing of it is left.';

function sayPaid(
  { payment_id: id, applied, ...answer }: PaymentAnswer,
  { payment: { currency } }: Recorded,
): Said {
  const { allocated, unallocated } = answer;
  const words = applied
    ? `Payment ${show(id)} is recorded. ${writeDecimal(allocated, currency)} ${currency} pay the invoice. ${sayLeft(unallocated, currency)}`
    : `Payment ${show(id)} had been recorded already.`;
  return { done: applied, intent: 'pay', id, ...answer, words };
}

export function addMoneyCommands(program: Command): void {
  for (const money of commands) add(program, money);

  const cancel = program
    .command('contract:cancel')
    .description('cancel a service contract permanently')
    .argument('<signup id>', "the CRM's id for it")
    .option('--yes', 'do not ask', false);
  addReason(cancel, { isRequired: false });
  cancel.action(async (signupId: string, options: Options) => {
    // Scripts ran it before there was a question.
    await requireYes(
      { yes: options.yes || !isTerminal() },
      `Cancel the contract of signup ${show(signupId)} for good?`,
    );
    const isCanceled = await withDatabase((db) =>
      cancelContract({ db, now }, signupId, booksTrailOf(options)),
    );
    if (isCanceled === undefined) throw new CommandError('There is no contract for this signup.');
    const words = isCanceled ? 'The contract is canceled.' : 'The contract had already ended.';
    print(options.json ? writeJson({ done: isCanceled, intent: 'cancel', id: signupId }) : words);
  });
}

function add(
  program: Command,
  { name, description, arguments: taken, options, question, isAskedOnlyOnTerminal, work }: MoneyCommand,
): void {
  const command = program.command(name).description(description);
  for (const [argument, about, read] of taken)
    read ? command.argument(`<${argument}>`, about, read) : command.argument(`<${argument}>`, about);
  options?.(command);
  if (question) command.option('--yes', 'do not ask', false);
  addReason(command, { isRequired: false });
  command.action(async (...rest: unknown[]) => {
    const given = rest.slice(0, taken.length) as string[];
    const asked = rest[taken.length] as Options & Record<string, string | undefined>;
    if (question) {
      if (!isAskedOnlyOnTerminal) requireAnswerable(asked);
      await requireYes({ yes: asked.yes || !isTerminal() }, question(given[0] ?? ''));
    }
    const { words, ...said } = await perform({ name, work }, given, asked);
    print(asked.json ? writeJson(said) : words);
  });
}

async function perform(
  { name, work }: Pick<MoneyCommand, 'name' | 'work'>,
  given: string[],
  options: Options & Record<string, string | undefined>,
): Promise<Said> {
  try {
    return await withDatabase((db) =>
      inTransaction(db, originOf(name, options), (trx) =>
        work(trx, { now: now(), recordedBy: 'operator', trail: booksTrailOf(options) }, given, options),
      ),
    );
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'not_found')
      throw new CommandError(
        name.startsWith('payment:')
          ? 'There is no payment with this id, or no invoice with this number.'
          : 'There is no invoice with this number.',
      );
    if (error.code === 'idempotency_key_reused')
      throw new CommandError(
        'A payment with this id is recorded already, with another amount, day or number.',
      );
    throw new CommandError(`Nothing changed: ${describeRefusal(error)}`);
  }
}
