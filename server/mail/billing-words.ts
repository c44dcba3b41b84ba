// The words of mails about contracts, documents and money (contract 7.270 to 7.282). None of these words can be one that a
// customer typed.
import type { BillingMailKind } from '../../db/tables/mail-kinds.ts';
import type { MailMessage } from './layout.ts';
import { sayRenewable } from './letters.ts';
import { askSupport, passwordLines } from './notice-words.ts';
import { denyByPassword } from './notices.ts';

/** Amounts and days are texts, such as EUR 29.00 and 14 March 2026. */
export type BillingWords = {
  baseUrl: string;
  /**
   * Whether the reader has a login with us. People in an accounts department may have none. Their mails have no link to our
   * pages.
   */
  hasLogin: boolean;
  /** Set only if the reader has no way to log in yet. */
  setPassword: { url: string; life: string } | undefined;
  seller: string;
  sellerEmail: string;
  bank: { recipient: string; iban: string; bic: string | undefined } | undefined;
  /** The number of the document. `invoice` is the number of the invoice that the document is about. */
  number: string;
  invoice: string;
  /** The lost number that this invoice replaces. */
  replaces: string | undefined;
  /**
   * The canceled invoice that this invoice replaces, and the credit note that canceled it. `pdf` is undefined if the mail does not
   * deliver the credit note.
   */
  corrects: { invoice: string; creditNote: string; pdf: 'attached' | 'not_made' | undefined } | undefined;
  /** Whether the invoice has been canceled since it was issued. */
  isVoid: boolean;
  plan: string;
  period: string;
  total: string;
  /** Undefined if nothing remains to be paid. */
  open: string | undefined;
  due: string;
  /** The whole payment. `pays` is the part that pays the invoice, if the invoice gets less than the whole payment. */
  received: string;
  pays: string | undefined;
  /** Undefined if the contract has ended. */
  lastDay: string | undefined;
  /** Whether staff or a command canceled the contract. */
  isBySupport: boolean;
  hasSupport: boolean;
  price: string | undefined;
  /** The page where a customer goes on after a trial, if the settings name one. */
  goOn: string | undefined;
  /** `unverified` means that the address of the reader is not verified. */
  pdf: 'attached' | 'unverified' | 'not_made';
};

/** Says how much is still to be paid, and how. These rows are the same in each mail that asks for money (contract 7.502). */
const pay = ({ open, due, bank, invoice }: BillingWords, label = 'Still to pay'): [string, string][] =>
  open === undefined
    ? [[label, 'nothing']]
    : [
        [label, open],
        ['Due', due],
        ...(bank
          ? ([
              ['Recipient', bank.recipient],
              ['IBAN', bank.iban],
            ] as [string, string][])
          : []),
        ...(bank?.bic ? [['BIC', bank.bic] as [string, string]] : []),
        ...(bank ? [['Reference', invoice] as [string, string]] : []),
      ];

const sayEnter = (setPassword: BillingWords['setPassword']) => (setPassword ? 'Set a password' : 'Log in');

function where(
  words: BillingWords,
  what = 'invoice',
  attached = `The ${what} is attached as a PDF.`,
): string {
  const { pdf, hasLogin, setPassword, seller, sellerEmail, open, bank } = words;
  const asksWithoutBank = what === 'invoice' && open !== undefined && !bank;
  const enter = sayEnter(setPassword);
  if (pdf === 'not_made' && !hasLogin)
    return `No PDF is attached because it could not be made yet. Ask ${seller} for it: ${sellerEmail}.`;
  switch (pdf) {
    case 'attached':
      return `${attached}${asksWithoutBank ? ' The invoice says how to pay.' : ''}${setPassword ? ' To see it online as well, set a password.' : ''}`;
    case 'unverified':
      return `${enter} to see the ${what}${asksWithoutBank ? ' and how to pay' : ''}. The PDF is not attached because this email address is not verified${setPassword ? ' yet: setting a password verifies it' : ''}.`;
    case 'not_made':
      return `No PDF is attached because it could not be made yet. ${enter} to see the ${what}, and later to download the PDF.`;
  }
}

/** Says where the new invoice and the credit note of a reissue are. After a day, the mail leaves without a PDF that failed. */
function whereBoth(words: BillingWords, creditNote: 'attached' | 'not_made' | undefined): string {
  const { pdf, hasLogin, setPassword, seller, sellerEmail } = words;
  if (creditNote === undefined || (pdf === 'not_made' && creditNote === pdf)) return where(words);
  if (creditNote === pdf)
    return where(words, 'invoice', 'The credit note and the new invoice are attached as PDFs.');
  const [there, missing] = pdf === 'attached' ? ['invoice', 'credit note'] : ['credit note', 'invoice'];
  return `The ${there} is attached as a PDF. The PDF of the ${missing} could not be made yet. ${hasLogin ? `${sayEnter(setPassword)} to see it.` : `Ask ${seller} for it: ${sellerEmail}.`}`;
}

/** Builds the button. It is outlined if the reader need not do anything. */
function see(
  { baseUrl, number, hasLogin, setPassword, open }: BillingWords,
  what = 'invoice',
): Pick<MailMessage, 'action' | 'after'> {
  if (!hasLogin) return {};
  const isQuiet = (what !== 'invoice' || open === undefined) && { isQuiet: true as const };
  return setPassword
    ? {
        action: { label: 'Set a password', url: setPassword.url, ...isQuiet },
        after: [sayRenewable(setPassword.life)],
      }
    : { action: { label: `See the ${what}`, url: `${baseUrl}/invoices/${number}`, ...isQuiet } };
}

const billing = ({ baseUrl, hasLogin }: BillingWords): Pick<MailMessage, 'action'> =>
  hasLogin ? { action: { label: 'Go to Billing', url: `${baseUrl}/profile/billing`, isQuiet: true } } : {};

const doubt = ({ baseUrl, hasLogin }: BillingWords): Pick<MailMessage, 'after' | 'denial'> =>
  hasLogin
    ? {
        after: ['If you did this, you are done.'],
        denial: denyByPassword(baseUrl, passwordLines('Then check Billing and Security in your account.')),
      }
    : {};

/**
 * Staff may end a contract immediately for reasons of their own. They cancel it for the end of a period only if the customer
 * asks, so a mail with a last day says that the customer asked.
 */
function sayWhoCanceled({ plan, hasLogin, isBySupport, lastDay }: BillingWords): string {
  if (!isBySupport)
    return hasLogin
      ? `You canceled your ${plan} contract.`
      : `Your ${plan} contract was canceled in your account.`;
  return lastDay === undefined
    ? `Our support team has ended your ${plan} contract.`
    : `At your request, our support team has canceled your ${plan} contract.`;
}

function remind(words: BillingWords, which: string, before = ''): MailMessage {
  const { action, after = [] } = see(words);
  return {
    subject: `${which}: invoice ${words.number} from ${words.seller} is overdue`,
    paragraphs: [
      `${before}Invoice ${words.number} from ${words.seller} was due on ${words.due}, and it has not been paid in full. Please pay ${words.open ?? words.total}${words.bank ? ' to this account' : ''}.`,
      where(words),
    ],
    facts: [['Invoice', words.number], ...pay(words)],
    ...(action && { action }),
    after: [...after, 'If you have paid in the last few days, you can ignore this email.'],
  };
}

const rowIf = (label: string, value: string | undefined): [string, string][] =>
  value === undefined ? [] : [[label, value]];

function sayIssued(words: BillingWords): Pick<MailMessage, 'subject' | 'paragraphs'> {
  const { seller, number, plan, replaces, corrects, open, due, isVoid } = words;
  const canceled = isVoid
    ? [`Invoice ${number} has been canceled since. Do not pay it: another email says what counts now.`]
    : [];
  if (corrects)
    return {
      subject: `Invoice ${number} from ${seller} replaces invoice ${corrects.invoice}`,
      paragraphs: [
        `${seller} has corrected invoice ${corrects.invoice} for ${plan}. Credit note ${corrects.creditNote} cancels it, and invoice ${number} replaces it.`,
        ...canceled,
        open === undefined
          ? `There is nothing to pay for invoice ${number}.`
          : `Please pay ${open} for invoice ${number} by ${due}. Do not pay invoice ${corrects.invoice}.`,
        whereBoth(words, corrects.pdf),
      ],
    };
  return {
    subject: `Invoice ${number} from ${seller}`,
    paragraphs: [
      `${seller} has issued an invoice for ${plan}.`,
      ...canceled,
      ...(replaces === undefined
        ? []
        : [`It takes the place of invoice ${replaces}, which is no longer valid. Do not pay both.`]),
      where(words),
    ],
  };
}

export const billingMails: Record<BillingMailKind, (words: BillingWords) => MailMessage> = {
  invoice_issued: (words) => ({
    ...sayIssued(words),
    facts: [
      ['Invoice', words.number],
      ...rowIf('Takes the place of', words.corrects?.invoice ?? words.replaces),
      ...rowIf('Credit note', words.corrects?.creditNote),
      ['Period', words.period],
      ['Total', words.total],
      ...pay(words, 'To pay'),
    ],
    ...see(words),
  }),
  invoice_reminder_1: (words) => remind(words, 'Reminder'),
  invoice_reminder_2: (words) => remind(words, 'Second reminder', 'We reminded you of this invoice before. '),
  payment_received: (words) => ({
    subject: `Payment received for invoice ${words.number} from ${words.seller}`,
    paragraphs: [`Thank you. ${words.seller} has received a payment.`, where(words)],
    facts: [
      ['Invoice', words.number],
      [
        'Received',
        words.pays === undefined
          ? words.received
          : `${words.received}, of which ${words.pays} pays this invoice`,
      ],
      ...pay(words),
    ],
    ...see(words),
  }),
  credit_note_issued: (words) => ({
    subject: `Credit note ${words.number} from ${words.seller}`,
    paragraphs: [
      `${words.seller} has issued a credit note for invoice ${words.invoice}.`,
      where(words, 'credit note'),
    ],
    facts: [['Credit note', words.number], ['Invoice', words.invoice], ['Total', words.total], ...pay(words)],
    ...see(words, 'credit note'),
  }),
  trial_ends: (words) => ({
    subject: `Your trial ends on ${words.lastDay}`,
    paragraphs: [
      `Your trial of ${words.plan} from ${words.seller} ends by itself: you do not need to cancel it. Nothing is charged unless you go on.`,
      words.goOn === undefined
        ? `To go on after the trial, ask ${words.seller}: ${words.sellerEmail}.`
        : 'To go on after the trial, use this link:',
    ],
    facts: [
      ['Last day', words.lastDay ?? ''],
      ...(words.price === undefined ? [] : ([['Price if you go on', words.price]] as [string, string][])),
    ],
    ...(words.goOn === undefined
      ? billing(words)
      : { action: { label: 'Go on after the trial', url: words.goOn } }),
  }),
  contract_cancel_asked: (words) => ({
    subject: 'Your contract has been canceled',
    paragraphs:
      words.lastDay === undefined
        ? [
            `${sayWhoCanceled(words)} ${words.isBySupport ? 'Nothing more will be charged. If an invoice is open, it still has to be paid.' : 'It has ended.'}`,
          ]
        : [
            sayWhoCanceled(words),
            `You can use everything until then. You will not be charged again. An invoice that is open still has to be paid.${words.hasLogin ? ' Until the last day you can keep the contract under Billing.' : ''}`,
          ],
    ...(words.lastDay !== undefined && { facts: [['Last day', words.lastDay]] }),
    ...billing(words),
    ...(words.isBySupport
      ? { after: [`If you have a question about this, ${askSupport(words.hasSupport)}.`] }
      : doubt(words)),
  }),
  contract_kept: (words) => ({
    subject: 'Your cancellation has been withdrawn',
    paragraphs: [
      `${words.hasLogin ? 'You withdrew your cancellation.' : 'The cancellation was withdrawn in your account.'} Your ${words.plan} contract goes on, and you will be charged as before.`,
    ],
    ...billing(words),
    ...doubt(words),
  }),
};
