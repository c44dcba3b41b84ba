// The CSV files that common banks export. Each is recognised by the names of its columns (contract 7.511). To add a bank, add a
// row.
import { minorDigits } from '../../basics/currencies.ts';

type Layout = {
  bank: string;
  /** The columns by which this layout is recognised. No other layout has all of them. */
  has: string[];
  day: string;
  /** Either one column with a sign, or one column for each direction. */
  amount: string | { out: string; in: string };
  /** Either a column, or the currency of the whole file. */
  currency: string;
  mark: ',' | '.';
  text: string[];
  /** The column with the payer. If another column has the recipient of outgoing money, `paid` is that column. */
  payer: string;
  paid?: string;
  /** The columns that tell two payments apart if their lines are otherwise equal. */
  id?: string[];
  /**
   * A line is booked if `column` matches `as`. Other lines are left out, for example if a payment was only announced, or was
   * declined.
   */
  isBooked?: { column: string; as: RegExp };
};

// All names are in a simple form: only small letters and digits, without accents.
const layouts: Layout[] = [
  {
    ...{ bank: 'Sparkasse', day: 'buchungstag', amount: 'betrag', currency: 'waehrung', mark: ',' },
    has: ['auftragskonto', 'beguenstigterzahlungspflichtiger', 'info'],
    ...{ text: ['verwendungszweck'], payer: 'beguenstigterzahlungspflichtiger', id: ['auftragskonto'] },
    isBooked: { column: 'info', as: /^(?!.*vorgemerkt)/i },
  },
  {
    ...{ bank: 'Volksbank', day: 'buchungstag', amount: 'betrag', currency: 'waehrung', mark: ',' },
    has: ['namezahlungsbeteiligter', 'ibanzahlungsbeteiligter'],
    ...{ text: ['verwendungszweck'], payer: 'namezahlungsbeteiligter', id: ['ibanauftragskonto'] },
  },
  {
    ...{ bank: 'Deutsche Bank', day: 'buchungstag', currency: 'wahrung', mark: ',' },
    ...{ has: ['wert', 'umsatzart', 'begunstigterauftraggeber'], amount: { out: 'soll', in: 'haben' } },
    ...{ text: ['verwendungszweck'], payer: 'begunstigterauftraggeber' },
  },
  {
    ...{ bank: 'DKB', day: 'buchungsdatum', amount: 'betrag', currency: 'EUR', mark: ',' },
    ...{ has: ['wertstellung', 'zahlungspflichtiger', 'umsatztyp'], text: ['verwendungszweck'] },
    ...{ payer: 'zahlungspflichtiger', paid: 'zahlungsempfangerin' },
    isBooked: { column: 'status', as: /^gebucht$/i },
  },
  {
    ...{ bank: 'ING', day: 'buchung', amount: 'betrag', currency: 'wahrung', mark: ',' },
    has: ['auftraggeberempfanger', 'buchungstext'],
    ...{ text: ['verwendungszweck'], payer: 'auftraggeberempfanger' },
  },
  {
    ...{ bank: 'N26', day: 'bookingdate', amount: 'amounteur', currency: 'EUR', mark: '.' },
    ...{ has: ['partnername', 'partneriban'], text: ['paymentreference'], payer: 'partnername' },
  },
  {
    ...{ bank: 'N26', day: 'date', amount: 'amounteur', currency: 'EUR', mark: '.' },
    ...{ has: ['payee', 'accountnumber'], text: ['paymentreference'], payer: 'payee' },
  },
  {
    ...{ bank: 'Wise', day: 'date', amount: 'amount', currency: 'currency', mark: '.' },
    ...{ has: ['transferwiseid'], text: ['paymentreference', 'description'], payer: 'payername' },
    ...{ paid: 'payeename', id: ['transferwiseid'] },
  },
  {
    ...{ bank: 'Revolut', day: 'datecompletedutc', amount: 'amount', currency: 'paymentcurrency', mark: '.' },
    ...{ has: ['id', 'reference', 'state'], text: ['reference', 'description'], payer: 'payer', id: ['id'] },
    isBooked: { column: 'state', as: /^completed$/i },
  },
  {
    ...{ bank: 'Revolut', day: 'completeddate', amount: 'amount', currency: 'currency', mark: '.' },
    ...{ has: ['starteddate', 'product', 'state'], text: ['description'], payer: 'description' },
    isBooked: { column: 'state', as: /^completed$/i },
  },
];

/** Returns the names of the banks, such as Sparkasse. A refusal lists them. */
export const knownBanks = [...new Set(layouts.map(({ bank }) => bank))];

const fold = (name: string) =>
  name
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');

/** What a line in a bank's file says. `amount` has a sign and is in minor units. */
export type BankLine = {
  day: string;
  amount: number | undefined;
  currency: string;
  text: string;
  payer: string;
  id: string;
};

/** Returns undefined for a line that is no booking, such as the last line of the file or an announced payment. */
export type ReadLine = (fields: string[]) => BankLine | undefined;

/** Returns undefined if no bank that we know has these columns. */
export function findLayout(header: string[]): ReadLine | undefined {
  const names = header.map(fold);
  const layout = layouts.find(({ has, day, amount, text: [text = ''] }) =>
    [...has, day, text, ...(typeof amount === 'string' ? [amount] : [amount.in])].every((each) =>
      names.includes(each),
    ),
  );
  return layout && ((fields) => readLine(layout, names, fields));
}

function readLine(layout: Layout, names: string[], fields: string[]): BankLine | undefined {
  // ING has two columns with the same name for the currency. The last one belongs to the amount.
  const field = (name = '') => (fields[names.lastIndexOf(name)] ?? '').trim();
  const { day, amount, currency, mark, text, payer, paid, id = [], isBooked } = layout;
  const code = /^[A-Z]{3}$/.test(currency) ? currency : field(currency).toUpperCase();
  const [isOut, written] =
    typeof amount === 'string'
      ? [false, field(amount)]
      : [field(amount.in) === '', field(amount.in) || field(amount.out)];
  if (isBooked && !isBooked.as.test(field(isBooked.column))) return undefined;
  if (written === '' && !/\d/.test(field(day))) return undefined;
  const read = readSigned(written, mark, minorDigits(code));
  const signed = read !== undefined && isOut ? -Math.abs(read) : read;
  const other = paid && signed !== undefined && signed < 0 ? paid : payer;
  return {
    ...{ day: readDay(field(day)), amount: signed, currency: code },
    text: text.map(field).filter(Boolean).join(' '),
    payer: field(other),
    id: id.map(field).join(' '),
  };
}

/**
 * Reads 1.234,56 or 1,234.56. The amount may have a sign before or behind it, a currency, and marks or spaces between thousands.
 */
export function readSigned(written: string, mark: ',' | '.', digits: number): number | undefined {
  const bare = written.replace(/[\s\p{Zs}€'’]|[A-Z]{3}/gu, '').replaceAll('−', '-');
  const [, before, whole = '', part = '', behind] =
    (mark === ','
      ? /^([+-]?)(\d{1,13}|\d{1,3}(?:\.\d{3})+)(?:,(\d{1,4}))?(-?)$/
      : /^([+-]?)(\d{1,13}|\d{1,3}(?:,\d{3})+)(?:\.(\d{1,4}))?(-?)$/
    ).exec(bare) ?? [];
  // Some banks write more decimals than the currency has. Such an amount is accepted if the additional decimals are zeros.
  const [kept, more] = [part.slice(0, digits), part.slice(digits)];
  if (!whole || /[1-9]/.test(more)) return undefined;
  const amount = Number(whole.replace(/[.,]/g, '') + kept.padEnd(digits, '0'));
  return (before === '-') !== (behind === '-') ? -amount : amount;
}

/** Reads 2026-11-26, with or without a time, 26.11.2026, 26.11.26 and 26-11-2026. Other text stays as it is. */
export const readDay = (text: string): string =>
  text
    .replace(/^(\d{4}-\d\d-\d\d)[ T].*$/, '$1')
    .replace(
      /^(\d{1,2})[.-](\d{1,2})[.-](\d{4}|\d\d)$/,
      (_, day: string, month: string, year: string) =>
        `${year.padStart(4, '20')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
    );
